"""The command line on the real broker: live classic and KIP-848 groups, odd names, refusals."""

import json
import os
import pty
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgroups.cli.completion import live_names
from tests.cli.test_startup import imported
from tests.support.cli.process import finish, start
from tests.support.cli.runner import Outcome, run
from tests.support.endings.program import run_program
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.child import WAIT_S
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.workload import commit_offsets, create_topics, produce

pytestmark = pytest.mark.kafka

ORDERS, AUDIT = "cli-orders", "cli-audit"
CLASSIC, KIP848 = "cli-classic", "cli-kip848"
ODD_NAMES = (
    "cli two words",
    "cli 'single' \"double\"",
    "cli-gruppe-äöü-組",
    "-cli-dash",
    "cli,a;b|c",
)


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> Iterator[str]:
    """A cluster with two live groups that committed one partition each, and idle groups."""
    server = kafka.bootstrap
    create_topics(server, {ORDERS: 3, AUDIT: 2})
    produce(server, {(ORDERS, 0): 30, (ORDERS, 1): 20, (ORDERS, 2): 10})
    commit_offsets(server, {name: {(ORDERS, 0): 5, (ORDERS, 1): 20} for name in ODD_NAMES})
    members = [MemberSpec("cli-one", (ORDERS, AUDIT)), MemberSpec("cli-two", (ORDERS, AUDIT))]
    with (
        LiveGroup(server, CLASSIC, members) as classic,
        LiveGroup(server, KIP848, members, protocol="consumer") as kip848,
    ):
        for group in (classic.wait_stable(5), kip848.wait_stable(5)):
            owner = next(m for m in group.members if (ORDERS, 0) in m.assignment)
            owner.commit({(ORDERS, 0): 12})
        yield server


def ask(address: str, *args: str) -> Outcome:
    """The end of a command that asks the broker."""
    return run("-b", address, *args)


def items(address: str, *args: str) -> dict[str, dict[str, Any]]:
    """Items of the JSON document of a command, by group."""
    return {item["group"]: item for item in ask(address, *args, "-o", "json").document["items"]}


def test_list_shows_both_protocols(address: str, kafka: KafkaCluster, client: str) -> None:
    """Type, state and coordinator of live groups and of those that only committed."""
    found = items(address, "list")
    host, port = kafka.bootstrap.split(":")
    at = {"id": 1, "host": host, "port": int(port)}
    assert found[CLASSIC] == {
        "group": CLASSIC,
        "type": "classic",
        "state": "Stable",
        "protocol_type": "consumer",
        "coordinator": at if client == "auto" else None,  # librdkafka asks no broker apart
    }
    assert (found[KIP848]["type"], found[KIP848]["state"]) == ("consumer", "Stable")
    assert {found[name]["state"] for name in ODD_NAMES} == {"Empty"}


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ("--state stable --type classic", {CLASSIC}),
        ("--type consumer", {KIP848}),
        (f"--topic {AUDIT}", {CLASSIC, KIP848}),
        ("cli-k*", {KIP848}),
        ("kip848", {KIP848}),
    ],
)
@pytest.mark.usefixtures("client")
def test_list_filters(address: str, filters: str, wanted: set[str]) -> None:
    """Filters leave the groups that fit all of them."""
    names = set(items(address, "list", *filters.split()))
    assert {name for name in names if "cli" in name} == wanted


@pytest.mark.usefixtures("client")
def test_describe_offsets(address: str) -> None:
    """Committed partitions have a lag, others none unless it is said what to assume."""
    item = items(address, "describe", CLASSIC)[CLASSIC]
    rows = {(row["topic"], row["partition"]): row for row in item["offsets"]}
    assert len(rows) == 5
    first = rows[ORDERS, 0]
    assert (first["committed_offset"], first["log_end_offset"], first["lag"]) == (12, 30, 18)
    assert first["client_id"] in ("cli-one", "cli-two")
    assert first["member_id"].startswith(first["client_id"])
    never = rows[ORDERS, 1]
    assert (never["committed_offset"], never["lag"], never["lag_status"]) == (
        None,
        None,
        "no_commit",
    )
    assert item["unknown_partitions"] == 4
    from_start = items(address, "describe", CLASSIC, "--uncommitted", "start")[CLASSIC]
    assert from_start["lag"] == 18 + 20 + 10


def test_describe_a_kip_848_group(address: str) -> None:
    """Epochs and target assignment, which only this protocol has."""
    args = ("describe", KIP848, "--members", "--state")
    item = items(address, *args)[KIP848]
    assert (item["type"], item["assignor"], item["member_count"]) == ("consumer", "uniform", 2)
    assert item["group_epoch"] == item["target_epoch"] > 0
    for member in item["members"]:
        assert member["member_protocol"] == "consumer"
        assert member["target_assignment"] == member["assignment"]
        assert set(member["subscription"]) == {ORDERS, AUDIT}
    assert sum(member["partitions"] for member in item["members"]) == 5


@pytest.mark.share(4)
@pytest.mark.parametrize("view", [[], ["--members"], ["--state"], ["--offsets", "--verbose"]])
@pytest.mark.parametrize("form", ["table", "csv", "jsonl", "yaml"])
@pytest.mark.usefixtures("client")
def test_every_view_in_every_form(address: str, view: list[str], form: str) -> None:
    """Both groups are in every view and form, and nothing but notes is on stderr."""
    outcome = ask(address, "describe", CLASSIC, KIP848, *view, "-o", form)
    assert outcome.exit_code == 0
    lines = outcome.stderr.splitlines()
    notes = [line for line in lines if not line.startswith("note: using librdkafka (")]
    assert all(note.startswith("note: `") and " has no commit for " in note for note in notes)
    assert not notes or form == "table"
    assert CLASSIC in outcome.stdout
    assert KIP848 in outcome.stdout


@pytest.mark.usefixtures("client")
def test_unknown_group_is_named_and_others_are_shown(address: str) -> None:
    """Exit code 5, the name on stderr, the other group on stdout."""
    outcome = ask(address, "describe", "cli-nobody", CLASSIC)
    assert outcome.exit_code == 5
    assert "`cli-nobody`: no such group" in outcome.stderr
    assert CLASSIC in outcome.stdout
    assert "cli-nobody" not in outcome.stdout


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.usefixtures("client")
def test_odd_names(address: str, name: str) -> None:
    """A name is taken as it is, whatever is in it."""
    (item,) = ask(address, "-o", "json", "describe", "--", name).document["items"]
    assert (item["group"], item["lag"]) == (name, 25)


@pytest.mark.usefixtures("client")
def test_list_agrees_with_the_official_tool(address: str, official: WarmTools) -> None:
    """Same groups with same states, row by row."""
    answer = official.groups_tool(address, "--list", "--state", "--type")
    lines = [line for line in answer.stdout.splitlines()[1:] if line.strip()]
    theirs = {tuple(line.rsplit(None, 2)) for line in lines}
    ours = {
        (name, str(item["type"]).capitalize(), item["state"])
        for name, item in items(address, "list").items()
        if item["type"] in ("classic", "consumer") and item["protocol_type"] in ("", "consumer")
    }
    found = {(name.strip(), kind, state) for name, kind, state in theirs}
    # librdkafka has no name for states in which a KIP-848 group is rebalancing.
    unnamed = {name for name, _, state in ours if state is None}
    told = {name for name, _, state in found if state in ("Assigning", "Reconciling")}
    assert unnamed <= told
    assert {one for one in found if one[0] not in unnamed} == {
        one for one in ours if one[0] not in unnamed
    }


@pytest.mark.parametrize("group", [CLASSIC, KIP848])
@pytest.mark.usefixtures("client")
def test_describe_agrees_with_the_official_tool(
    address: str, official: WarmTools, group: str
) -> None:
    """Same partitions with same commit, end, lag and owner, row by row."""
    answer = official.groups_tool(address, "--describe", "--group", group)
    theirs = [line.split() for line in answer.stdout.splitlines() if line.strip()][1:]
    rows = items(address, "describe", group)[group]["offsets"]
    fields = ("topic", "partition", "committed_offset", "log_end_offset", "lag")
    owner = ("member_id", "host", "client_id")
    ours = [
        [group, *("-" if row[f] is None else str(row[f]) for f in (*fields, *owner))]
        for row in rows
    ]
    assert sorted(ours) == sorted(theirs)


@pytest.mark.parametrize("group", [CLASSIC, KIP848])
def test_members_are_in_the_official_tools_order(
    address: str, official: WarmTools, group: str
) -> None:
    """The order of the broker's answer is kept: it decides what later rebalances do."""
    answer = official.groups_tool(address, "--describe", "--members", "--group", group)
    theirs = [line.split()[1] for line in answer.stdout.splitlines() if line.startswith(group)]
    item = items(address, "describe", group, "--members")[group]
    assert [member["member_id"] for member in item["members"]] == theirs


@pytest.mark.usefixtures("client")
def test_delete_refuses_a_group_with_members(address: str) -> None:
    """Exit code 4, and the empty group beside it is left alone."""
    commit_offsets(address, {"cli-idle": {(ORDERS, 0): 1}})
    for group in (CLASSIC, KIP848):
        outcome = ask(address, "delete", group, "cli-idle", "--yes", "-o", "json")
        assert outcome.exit_code == 4
        results = {item["group"]: item["result"] for item in outcome.document["items"]}
        assert results == {group: "refused", "cli-idle": "skipped"}
    assert {CLASSIC, KIP848, "cli-idle"} <= set(items(address, "list"))


@pytest.mark.usefixtures("client")
def test_delete_keeps_going_if_asked(address: str) -> None:
    """The empty group goes, the live one and every other stay; the exit code is the refusal's."""
    commit_offsets(address, {"cli-going": {(ORDERS, 0): 1}})
    before = set(items(address, "list"))
    outcome = ask(address, "delete", KIP848, "cli-going", "--yes", "--keep-going", "-o", "json")
    assert outcome.exit_code == 4
    results = {item["group"]: item["result"] for item in outcome.document["items"]}
    assert results == {KIP848: "refused", "cli-going": "done"}
    assert before - set(items(address, "list")) == {"cli-going"}


@pytest.mark.usefixtures("client")
def test_delete_an_empty_group(address: str) -> None:
    """It is gone, and a second time it is unknown."""
    commit_offsets(address, {"cli-gone": {(ORDERS, 0): 1}})
    assert ask(address, "delete", "cli-gone", "--yes").exit_code == 0
    assert "cli-gone" not in items(address, "list")
    assert ask(address, "delete", "cli-gone", "--yes").exit_code == 5


@pytest.mark.usefixtures("client")
def test_delete_dry_run_changes_nothing(address: str) -> None:
    """The plan is shown, and every group is still there."""
    before = set(items(address, "list"))
    outcome = ask(address, "delete", "--state", "Empty", "--dry-run", "-o", "json")
    assert outcome.exit_code == 0
    assert set(outcome.results) == {"planned"}
    assert set(items(address, "list")) == before


@pytest.mark.parametrize(("answer", "code", "left"), [("n\n", 130, True), ("y\n", 0, False)])
def test_delete_asks_on_a_terminal(address: str, answer: str, code: int, left: bool) -> None:
    """The plan is shown, the answer is taken; no is no."""
    name = f"cli-asked-{code}"
    commit_offsets(address, {name: {(ORDERS, 0): 1}})
    leader, follower = pty.openpty()
    try:
        os.write(leader, answer.encode())
        found, _, stderr = finish("-b", address, "delete", name, stdin=follower)
    finally:
        os.close(leader)
        os.close(follower)
    assert found == code
    assert re.search(rf"^{name} +delete +planned", stderr, re.MULTILINE)
    assert "Delete 1 group and its committed offsets?" in stderr
    assert (name in items(address, "list")) is left


def test_coordinator(address: str) -> None:
    """The partition and broker are those that describe shows, for a group that exists or not."""
    told = ask(address, "coordinator", CLASSIC, "cli-never-was").stderr
    assert told.splitlines()[-1] == "note: no such group: `cli-never-was`"
    placed = items(address, "coordinator", CLASSIC, "cli-never-was")
    described = items(address, "describe", CLASSIC, "--state")[CLASSIC]
    for field in ("offsets_partition", "coordinator"):
        assert placed[CLASSIC][field] == described[field]
    assert placed["cli-never-was"]["coordinator"] == described["coordinator"]
    offline = run("coordinator", CLASSIC, "--partitions", "50", "-o", "json").document["items"]
    assert offline[0]["offsets_partition"] == placed[CLASSIC]["offsets_partition"]


def test_snapshot_tells_what_the_cluster_told(address: str, tmp_path: Path) -> None:
    """Describing the saved file gives the items of the live cluster."""
    file = str(tmp_path / "cluster.json")
    outcome = ask(address, "snapshot", "save", file)
    assert (outcome.exit_code, outcome.stdout) == (0, "")
    args = ("describe", CLASSIC, KIP848, "--members", "--offsets", "--state")
    assert items(address, *args) == items(address, *args, "--from", file)


def test_plan_of_a_settled_group_moves_nothing(address: str) -> None:
    """The next rebalance of a range group that lacks nothing gives everybody what it has."""
    (item,) = ask(address, "plan", CLASSIC, "-o", "json").document["items"]
    assert item["metrics"]["moved"] == 0
    described = items(address, "describe", CLASSIC, "--members")[CLASSIC]
    now = {member["member_id"]: member["assignment"] for member in described["members"]}
    assert {member["member_id"]: member["assignment"] for member in item["members"]} == now


def test_plan_shows_who_gets_work_from_a_third_member(address: str) -> None:
    """Range gives the first members by id; with three of them each gets one of three partitions."""
    args = ("plan", CLASSIC, "--add-members", "1", "--assignor", "range,roundrobin", "-o", "json")
    plans = ask(address, *args).document["items"]
    assert [plan["assignor"] for plan in plans] == ["range", "roundrobin"]
    for plan in plans:
        assert plan["metrics"]["partitions_max"] <= 2
        assert sum(member["partitions"] for member in plan["members"]) == 5


@pytest.mark.slow("a start of Spark; reports over captures are in every run")
@pytest.mark.spark
def test_lag_report_agrees_with_describe(address: str, tmp_path: Path) -> None:
    """Spark's lag of each group is what describe sums up; its own noise stays off the screen."""
    file = str(tmp_path / "cluster.json")
    ask(address, "snapshot", "save", file)
    # The session's broker has whatever groups other tests left there, thousands perhaps.
    args = ("lag", "report", "--from", file, "-o", "jsonl", "--top", "100000")
    code, stdout, stderr = finish(*args)
    assert code == 0
    spark = {row["group"]: row["lag"] for row in map(json.loads, stdout.splitlines())}
    assert spark[ODD_NAMES[0]] == 25
    assert spark[CLASSIC] == 18
    assert "starting Spark" in stderr
    assert "WARN" not in stderr


def test_head(address: str) -> None:
    """A reader that goes away is no error."""
    with start("-b", address, "describe", "--all-groups", "-o", "jsonl") as process:
        assert process.stdout is not None
        assert process.line()
        process.stdout.close()
        assert process.communicate(timeout=WAIT_S)[1] == ""
        assert process.returncode == 0


def test_no_confluent_kafka_and_no_tables_of_rich(address: str) -> None:
    """`list` and `describe` go over the wire client alone."""
    unwanted = {"confluent_kafka", "pyspark", "pandas", "pyarrow", "numpy", "rich.table"}
    assert unwanted.isdisjoint(imported("-b", address, "list"))
    assert unwanted.isdisjoint(imported("-b", address, "describe", CLASSIC))


def test_names_complete(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Completion knows the groups and the topics that they read."""
    # Half a second is too little on a busy machine, and then it keeps quiet.
    monkeypatch.setattr(live_names, "BUDGET_MS", 60_000)

    def complete(kind: str, line: str) -> set[str]:
        outcome = run("complete-names", kind, f"kgroups -b {address} {line}")
        assert (outcome.exit_code, outcome.stderr) == (0, "")
        return set(outcome.stdout.splitlines())

    assert complete("groups", "describe cli-") >= {CLASSIC, KIP848}
    assert complete("topics", "list --topic cli-") >= {ORDERS, AUDIT}


def test_unreachable() -> None:
    """Nobody listens: exit code 3 at once, one sentence with the address, and a hint."""
    code, stdout, stderr = finish("list", "-b", "127.0.0.1:1", "--timeout", "5s")
    assert (code, stdout) == (3, "")
    error, blank, hint = stderr.splitlines()
    assert error.startswith("error: ")
    assert "127.0.0.1:1" in error
    assert blank == ""
    assert hint.startswith("hint: ")


def test_a_server_that_never_answers(tmp_path: Path) -> None:
    """Somebody accepts and says nothing: exit code 3 within the timeout."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        ending = run_program(["list", "-b", address, "--timeout", "500ms"], tmp_path)
    assert (ending.code, ending.stdout) == (3, b"")
    assert address in ending.said
    assert ending.waited_s is None or ending.waited_s < 0.5 + 2


def test_plan_reads_topics_that_no_group_names(address: str, kafka: KafkaCluster) -> None:
    """A pattern and a subscription on paper are resolved against the cluster's topics."""
    create_topics(kafka.bootstrap, {"cli-unread": 3})
    for change in (["--pattern", "cli-unr.*"], ["--subscribe", "+cli-unread"]):
        plan = ask(address, "plan", CLASSIC, *change, "-o", "json").document["items"][0]
        planned = [member["assignment"].get("cli-unread", []) for member in plan["members"]]
        assert sorted(number for numbers in planned for number in numbers) == [0, 1, 2]
