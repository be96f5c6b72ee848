"""`reset-offsets` on the real broker: every target, every refusal, and the way back."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli.process import finish, start, typed
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.protocols import PROTOCOLS
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    expire_records,
    fetch_offsets,
    produce,
)

pytestmark = pytest.mark.kafka

TOPIC = "reset-t"
START = {(TOPIC, 0): 20, (TOPIC, 1): 5}


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """A topic whose partitions hold 10..50, 0..30 and nothing."""
    create_topics(cluster_address, {TOPIC: 3})
    produce(cluster_address, {(TOPIC, 0): 50, (TOPIC, 1): 30})
    expire_records(cluster_address, {(TOPIC, 0): 10})
    return cluster_address


@pytest.fixture
def group(address: str, request: pytest.FixtureRequest) -> str:
    """An empty group that committed two partitions."""
    name = f"reset {abs(hash(request.node.name))}"
    commit_offsets(address, {name: START}, metadata="memo")
    return name


def reset(address: str, folder: Path, *args: str) -> Outcome:
    """The end of a reset, as JSON."""
    return run("-b", address, "reset-offsets", *args, "--undo-dir", str(folder), "-o", "json")


CASES: dict[str, tuple[list[str], dict[int, int]]] = {
    "earliest": (["--all-topics"], {0: 10, 1: 0}),
    "latest": (["--topic", TOPIC], {0: 50, 1: 30, 2: 0}),
    "current": (["--all-topics"], {0: 20, 1: 5}),
    "15": (["--topic", f"{TOPIC}:0"], {0: 15, 1: 5}),
    "40": (["--topic", f"{TOPIC}:0-1", "--clamp"], {0: 40, 1: 30}),
    "+10": (["--all-topics"], {0: 30, 1: 15}),
    "-15": (["--all-topics"], {0: 10, 1: 0}),
    "1h": (["--all-topics"], {0: 10, 1: 0}),
    "2001-01-01T00:00:00Z": (["--topic", TOPIC], {0: 10, 1: 0, 2: 0}),
    "2101-01-01T00:00:00+01:00": (["--all-topics"], {0: 50, 1: 30}),
}


@pytest.mark.parametrize("target", CASES)
def test_target(address: str, group: str, tmp_path: Path, target: str, client: str) -> None:
    """The broker holds what the target says, a dry run said the same, and undo restores."""
    scope, wanted = CASES[target]
    line = (group, "--to", target, *scope)
    planned = reset(address, tmp_path, *line, "--dry-run").by("topic", "partition")
    assert fetch_offsets(address, group) == START
    assert list(tmp_path.iterdir()) == []
    outcome = reset(address, tmp_path, *line, "--yes")
    assert (outcome.exit_code, outcome.document["errors"]) == (0, [])
    assert fetch_offsets(address, group) == {(TOPIC, n): offset for n, offset in wanted.items()}
    done = outcome.by("topic", "partition")
    assert {at: row["new_offset"] for at, row in done.items()} == {
        at: row["new_offset"] for at, row in planned.items()
    }
    changed = [row for row in done.values() if row["result"] == "done"]
    assert all(row["lag_after"] is not None for row in changed)
    undo = outcome.document["summary"]["undo_file"]
    if target == "current":
        assert undo is None
        return
    assert f"note: undo file: {undo}\n" in outcome.stderr
    assert Path(undo).stat().st_mode & 0o077 == 0
    back = run("-b", address, "reset-offsets", "--undo", undo, "--no-undo", "--yes", "-o", "json")
    if client == "librdkafka" and (TOPIC, 2) in done:  # it cannot delete the new commit
        assert back.exit_code == 1
        assert "not supported through librdkafka" in back.stderr
        return
    assert back.exit_code == 0
    assert back.document["summary"]["undo_file"] is None
    assert fetch_offsets(address, group) == START
    described = run("-b", address, "describe", group, "-o", "json").document["items"][0]
    memo = "memo" if client == "auto" else ""  # librdkafka cannot read it
    committed = [row for row in described["offsets"] if row["committed_offset"] is not None]
    assert {row["metadata"] for row in committed} == {memo}


@pytest.mark.usefixtures("client")
def test_clamped_rows_say_so(address: str, group: str, tmp_path: Path) -> None:
    """An offset outside the log is refused, or with --clamp moved to its edge, in that row only."""
    line = (group, "--to", "40", "--all-topics", "--dry-run")
    outcome = reset(address, tmp_path, *line)
    assert outcome.exit_code == 4
    found = outcome.by("topic", "partition")
    assert [found[TOPIC, n]["error"] for n in (0, 1)] == [None, "OFFSET_OUT_OF_RANGE"]
    found = reset(address, tmp_path, *line, "--clamp").by("topic", "partition")
    assert [found[TOPIC, n]["clamped"] for n in (0, 1)] == [False, True]
    assert found[TOPIC, 1]["note"] == "40 requested, the log ends at 30"
    table = run("-b", address, "reset-offsets", *line, "--clamp")
    assert "40 requested, the log ends at 30" in table.stdout


@pytest.mark.usefixtures("client")
def test_file_of_either_form(address: str, group: str, tmp_path: Path) -> None:
    """Offsets come from the file, for the groups that it names."""
    three, four = tmp_path / "three.csv", tmp_path / "four.csv"
    three.write_text(f"{TOPIC},0,33\n{TOPIC},2,0\n")
    four.write_text(f"{group},{TOPIC},1,44\nanother,{TOPIC},0,1\n")
    assert reset(address, tmp_path, group, "--to", f"file:{three}", "--yes").exit_code == 0
    assert fetch_offsets(address, group) == {(TOPIC, 0): 33, (TOPIC, 1): 5, (TOPIC, 2): 0}
    assert reset(address, tmp_path, group, "--to", f"file:{four}", "--yes").exit_code == 0
    assert fetch_offsets(address, group)[TOPIC, 1] == 30
    four.write_text(f"{group},{TOPIC},1\ng,{TOPIC},0,7\n")
    assert reset(address, tmp_path, group, "--to", f"file:{four}", "--yes").exit_code == 2


@pytest.mark.usefixtures("client")
def test_another_group(address: str, group: str, tmp_path: Path) -> None:
    """A group is put where another one stands, partitions named only where asked."""
    commit_offsets(address, {"reset-other": {(TOPIC, 0): 41, (TOPIC, 1): 11}})
    line = (group, "--to", "group:reset-other", "--yes")
    assert reset(address, tmp_path, *line, "--topic", f"{TOPIC}:1").exit_code == 0
    assert fetch_offsets(address, group) == {(TOPIC, 0): 20, (TOPIC, 1): 11}
    assert reset(address, tmp_path, *line).exit_code == 0
    assert fetch_offsets(address, group) == {(TOPIC, 0): 41, (TOPIC, 1): 11}
    missing = reset(address, tmp_path, group, "--to", "group:reset-nobody", "--yes")
    assert missing.exit_code == 5


@pytest.mark.usefixtures("client")
def test_only_lagging(address: str, group: str, tmp_path: Path) -> None:
    """Partitions that are read to the end stay out of it."""
    commit_offsets(address, {group: {(TOPIC, 1): 30}})
    line = (group, "--to", "earliest", "--all-topics", "--only-lagging", "--yes")
    assert set(reset(address, tmp_path, *line).by("topic", "partition")) == {(TOPIC, 0)}
    assert fetch_offsets(address, group) == {(TOPIC, 0): 10, (TOPIC, 1): 30}


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["--to", "earliest", "--topic", "reset-nope"], 5, "`reset-nope`"),
        (["--to", "earliest", "--topic", f"{TOPIC}:7"], 5, f"`{TOPIC}-7`"),
        (["--to", "+1", "--topic", TOPIC], 5, "no committed offset"),
        (["reset-unknown", "--to", "earliest", "--topic", TOPIC], 5, "`reset-unknown`"),
    ],
)
@pytest.mark.usefixtures("client")
def test_nothing_is_written_if_a_part_cannot_be(
    address: str, group: str, tmp_path: Path, args: list[str], code: int, said: str
) -> None:
    """One row that cannot be reset keeps all others, and no undo file is left."""
    outcome = reset(address, tmp_path, group, *args, "--yes")
    assert outcome.exit_code == code
    assert said in outcome.stderr
    assert fetch_offsets(address, group) == START
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("client")
def test_keep_going(address: str, group: str, tmp_path: Path) -> None:
    """What can be reset is, if asked; the exit code is that of the rest."""
    line = ("--to", "latest", "--topic", f"{TOPIC}:0", "--yes", "--keep-going")
    outcome = reset(address, tmp_path, group, "reset-unknown", *line)
    assert outcome.exit_code == 5
    assert set(outcome.results) == {"failed", "done"}
    assert fetch_offsets(address, group)[TOPIC, 0] == 50


@pytest.fixture(scope="module", params=PROTOCOLS)
def alive(address: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A group with a member."""
    name = f"reset-alive-{request.param}"
    members = [MemberSpec("reset-app", (TOPIC,))]
    with LiveGroup(address, name, members, protocol=request.param) as live:
        live.wait_stable(3)
        yield name


@pytest.mark.usefixtures("client")
def test_live_members_are_named(address: str, alive: str, group: str, tmp_path: Path) -> None:
    """A group with members is refused with their names and hosts; the other one is left alone."""
    line = (alive, group, "--to", "earliest", "--topic", TOPIC, "--yes")
    outcome = reset(address, tmp_path, *line)
    assert outcome.exit_code == 4
    assert "1 member: reset-app on /127.0.0.1" in outcome.stderr
    results = {item["group"]: item["result"] for item in outcome.document["items"]}
    assert results == {alive: "refused", group: "skipped"}
    assert fetch_offsets(address, group) == START


@pytest.mark.usefixtures("client")
def test_a_dry_run_plans_for_live_members(address: str, alive: str, tmp_path: Path) -> None:
    """Each partition with its new offset, and with the members that would refuse it."""
    line = (alive, "--to", "earliest", "--topic", TOPIC, "--dry-run")
    outcome = reset(address, tmp_path, *line)
    assert outcome.exit_code == 4
    assert "1 member: reset-app on /127.0.0.1" in outcome.stderr
    items = outcome.document["items"]
    assert [(item["partition"], item["new_offset"]) for item in items] == [(0, 10), (1, 0), (2, 0)]
    assert {(item["result"], item["error"]) for item in items} == {("refused", "NON_EMPTY_GROUP")}
    assert [error["target"] for error in outcome.document["errors"]] == [alive]


def test_the_broker_refuses_a_group_that_came_alive(address: str, alive: str) -> None:
    """A write that passes the look at the group is refused by the broker, and the row says so."""
    from kgroups.core.kafka.admin import ClusterAdmin
    from kgroups.core.kafka.config.settings import ClientSettings
    from kgroups.core.kafka.writes.group_writes import write_commits
    from kgroups.core.snapshot import CommittedOffset

    with ClusterAdmin(ClientSettings(address)) as admin:
        answers = write_commits(admin, {alive: {(TOPIC, 0): CommittedOffset(11)}})
    error = answers[alive, TOPIC, 0]
    assert error is not None
    assert error.exit_code == 4
    assert fetch_offsets(address, alive) == {}


@pytest.mark.parametrize(("answer", "code"), [("n\n", 130), ("y\n", 0)])
def test_preview_on_a_terminal(
    address: str, group: str, tmp_path: Path, answer: str, code: int
) -> None:
    """The plan is shown on stderr and the answer taken; no is no."""
    line = ("reset-offsets", group, "--to", "earliest", "--all-topics")
    with typed(answer) as terminal:
        found, _, stderr = finish("-b", address, *line, "--undo-dir", str(tmp_path), stdin=terminal)
    assert found == code
    assert "LAG-AFTER" in stderr
    assert "Reset offsets of 2 partitions in 1 group?" in stderr
    moved = {(TOPIC, 0): 10, (TOPIC, 1): 0}
    assert fetch_offsets(address, group) == (moved if code == 0 else START)
    assert len(list(tmp_path.iterdir())) == (1 if code == 0 else 0)


def test_killed_before_the_answer(address: str, group: str, tmp_path: Path) -> None:
    """A command that dies at its question has written nothing."""
    line = ("-b", address, "reset-offsets", group, "--to", "earliest", "--all-topics")
    options = ("--undo-dir", str(tmp_path))
    with typed() as terminal, start(*line, *options, stdin=terminal) as process:
        process.text_until("?", stream="stderr")
        process.kill()
    assert fetch_offsets(address, group) == START
    assert list(tmp_path.iterdir()) == []


def test_undo_is_of_its_cluster(address: str, group: str, tmp_path: Path) -> None:
    """A file of another cluster is refused; the file holds no setting of the client."""
    outcome = reset(address, tmp_path, group, "--to", "latest", "--all-topics", "--yes")
    path = Path(outcome.document["summary"]["undo_file"])
    document = json.loads(path.read_text())
    expected = {"schema", "command", "cluster_id", "created_at", "topic_ids", "rows"}
    assert set(document) == expected
    path.write_text(json.dumps({**document, "cluster_id": "elsewhere"}))
    back = reset(address, tmp_path, "--undo", str(path), "--yes")
    assert back.exit_code == 2
    assert fetch_offsets(address, group) == {(TOPIC, 0): 50, (TOPIC, 1): 30}


def test_a_folder_that_cannot_be_written(address: str, group: str, tmp_path: Path) -> None:
    """Without an undo file nothing is written."""
    occupied = tmp_path / "file"
    occupied.write_text("")
    outcome = reset(address, occupied, group, "--to", "latest", "--all-topics", "--yes")
    assert outcome.exit_code == 2
    assert fetch_offsets(address, group) == START


def test_all_groups_of_many(address: str, tmp_path: Path) -> None:
    """Hundreds of groups in one go, each row done, and back."""
    long = ("--timeout", "60s")
    names = [f"reset-many-{number:03}" for number in range(600)]
    commit_offsets(address, {name: {(TOPIC, 0): 20} for name in names})
    outcome = reset(address, tmp_path, *names, "--to", "latest", "--all-topics", "--yes", *long)
    assert outcome.exit_code == 0
    assert outcome.document["summary"]["done"] == 600
    undo = outcome.document["summary"]["undo_file"]
    back = reset(address, tmp_path, "--undo", undo, "--yes", "--no-undo")
    assert back.exit_code == 2  # --undo-dir and --no-undo at once
    assert fetch_offsets(address, names[599]) == {(TOPIC, 0): 50}
    assert reset(address, tmp_path, "--undo", undo, "--yes", *long).exit_code == 0
    assert fetch_offsets(address, names[599]) == {(TOPIC, 0): 20}
