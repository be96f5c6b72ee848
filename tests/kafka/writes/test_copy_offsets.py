"""`copy-offsets`: in one cluster by offset, to another one by the time of the next record."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kgroups.cli.interruption import Interruption
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    expire_records,
    fetch_offsets,
    produce,
)

pytestmark = pytest.mark.kafka

TOPIC, SAME = "copy-t", "copy-same"
BASE_MS = 1_790_000_000_000


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """A topic whose record `n` of partition 0 is of BASE_MS + 10 n; partition 2 has none."""
    create_topics(cluster_address, {TOPIC: 4, SAME: 2})
    produce_at(cluster_address, 0, range(50))
    produce_at(cluster_address, 1, range(30))
    produce_at(cluster_address, 3, range(5))
    produce(cluster_address, {(SAME, 0): 20, (SAME, 1): 20})
    expire_records(cluster_address, {(TOPIC, 0): 10})
    return cluster_address


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """Another cluster with the same records at other offsets: 7 older ones come first."""
    with Sandbox(brokers=2, topics={TOPIC: 3}) as cluster:
        produce_at(cluster.bootstrap_servers, 0, [*range(-7, 0), *range(50)])
        produce_at(cluster.bootstrap_servers, 1, [*range(-3, 0), *range(25)])
        yield cluster.bootstrap_servers


def produce_at(address: str, partition: int, numbers: Any) -> None:
    """Records of BASE_MS + 10 ms times their number."""
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    for number in numbers:
        producer.produce(TOPIC, b"r", partition=partition, timestamp=BASE_MS + 10 * number)
    assert producer.flush(60) == 0


@pytest.fixture
def names(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Two groups of this test's own."""
    name = f"copy {abs(hash(request.node.name))}"
    return name, f"{name} new"


def copy(address: str, folder: Path, source: str, target: str, *args: str) -> Outcome:
    """The end of a copy, as JSON."""
    line = ("copy-offsets", "--from", source, "--to", target, "--undo-dir", str(folder))
    return run("-b", address, *line, *args, "-o", "json")


def test_in_one_cluster(address: str, names: tuple[str, str], tmp_path: Path) -> None:
    """Offsets and metadata are copied to a group that was not there; undo takes them away."""
    old, new = names
    start = {(SAME, 0): 4, (SAME, 1): 20, (TOPIC, 1): 3}
    commit_offsets(address, {old: start}, metadata="memo")
    dry = copy(address, tmp_path, old, new, "--dry-run")
    assert set(dry.results) == {"planned"}
    assert list(tmp_path.iterdir()) == []
    outcome = copy(address, tmp_path, old, new, "--yes")
    assert (outcome.exit_code, outcome.document["errors"]) == (0, [])
    assert fetch_offsets(address, new) == start
    described = run("-b", address, "describe", new, "-o", "json").document["items"][0]
    committed = [row for row in described["offsets"] if row["committed_offset"] is not None]
    assert {row["metadata"] for row in committed} == {"memo"}
    assert set(copy(address, tmp_path, old, new, "--yes").results) == {"skipped"}
    undo = outcome.document["summary"]["undo_file"]
    back = run("-b", address, "reset-offsets", "--undo", undo, "--no-undo", "--yes", "-o", "json")
    assert back.exit_code == 0
    assert set(back.results) == {"done"}
    assert fetch_offsets(address, new) == {}


def test_scope_and_clamping(address: str, names: tuple[str, str], tmp_path: Path) -> None:
    """Only what is named; an expired offset is moved to the start of the log, and says so."""
    old, new = names
    commit_offsets(address, {old: {(TOPIC, 0): 3, (TOPIC, 1): 3, (SAME, 0): 1}})
    outcome = copy(address, tmp_path, old, new, "--topic", f"{TOPIC}:0", "--topic", SAME, "--yes")
    assert fetch_offsets(address, new) == {(TOPIC, 0): 10, (SAME, 0): 1}
    assert outcome.by("topic", "partition")[TOPIC, 0]["clamped"]
    assert copy(address, tmp_path, old, new, "--topic", "copy-nope", "--yes").exit_code == 5
    assert copy(address, tmp_path, old, new, "--topic", f"{SAME}:1", "--yes").exit_code == 5


def test_many_groups(address: str, names: tuple[str, str], tmp_path: Path) -> None:
    """By pattern, by pairs and from a file; a group that is not there holds the others back."""
    name, _ = names
    commit_offsets(address, {f"{name}-{n}": {(SAME, 0): n} for n in (1, 2)})
    line = ("-b", address, "copy-offsets", "--undo-dir", str(tmp_path), "-o", "json")
    done = run(*line, "--from", f"{name}-*", "--to", f"new {name}-*-x", "--yes", "--verify")
    assert (done.exit_code, done.document["errors"]) == (0, []), done.stderr
    for n in (1, 2):
        assert fetch_offsets(address, f"new {name}-{n}-x") == {(SAME, 0): n}
    pairs = ("--map", f"{name}-1={name}-a", "--map", f"{name}-none={name}-b")
    refused = run(*line, *pairs, "--yes")
    assert refused.exit_code == 5
    assert fetch_offsets(address, f"{name}-a") == {}
    assert run(*line, *pairs, "--yes", "--keep-going").exit_code == 5
    assert fetch_offsets(address, f"{name}-a") == {(SAME, 0): 1}
    file = tmp_path / "map.csv"
    file.write_text(f"{name}-1,{name}-c\n\n{name}-2,{name}-d\n")
    assert run(*line, "--map-file", str(file), "--yes").exit_code == 0
    assert fetch_offsets(address, f"{name}-d") == {(SAME, 0): 2}


@pytest.mark.parametrize("side", ["source", "target"])
def test_verified_on_both_sides(
    address: str, names: tuple[str, str], tmp_path: Path, side: str, monkeypatch: Any
) -> None:
    """Who commits between the write and the second look is told."""
    old, new = names
    commit_offsets(address, {old: {(SAME, 0): 4, (SAME, 1): 5}})
    meanwhile = {old if side == "source" else new: {(SAME, 0): 9}}
    look = Interruption.look
    looks: list[int] = []

    def then_look(self: Any, read: Any, otherwise: Any) -> Any:
        looks.append(1)
        if len(looks) == 3:  # what was written was read back, and then explained
            commit_offsets(address, meanwhile)
        return look(self, read, otherwise)

    monkeypatch.setattr(Interruption, "look", then_look)
    outcome = copy(address, tmp_path, old, new, "--yes", "--verify")
    found = outcome.by("topic", "partition")
    assert (outcome.exit_code, found[SAME, 1]["result"]) == (1, "done")
    wanted = {"source": "SOURCE_MOVED", "target": "OVERWRITTEN"}[side]
    assert (found[SAME, 0]["result"], found[SAME, 0]["error"]) == ("failed", wanted)
    assert "9" in outcome.stderr


def test_many_to_another_cluster(
    address: str, elsewhere: str, names: tuple[str, str], tmp_path: Path
) -> None:
    """Under their own names; groups at different places of one partition as well."""
    name, _ = names
    commit_offsets(address, {f"{name}-{n}": {(TOPIC, 0): 20 + n} for n in (1, 2)})
    line = ("--from", f"{name}-*", "--to-bootstrap-server", elsewhere, "--verify", "--yes")
    done = run("-b", address, "copy-offsets", *line, "--undo-dir", str(tmp_path), "-o", "json")
    assert (done.exit_code, done.document["errors"]) == (0, []), done.stderr
    for n in (1, 2):
        assert fetch_offsets(elsewhere, f"{name}-{n}") == {(TOPIC, 0): 27 + n}


def test_to_another_cluster(
    address: str, elsewhere: str, names: tuple[str, str], tmp_path: Path
) -> None:
    """The next record there is the same one, at its own offset; all read is all read there."""
    old, new = names
    commit_offsets(address, {old: {(TOPIC, 0): 25, (TOPIC, 1): 30}})
    line = (old, new, "--to-bootstrap-server", elsewhere)
    dry = copy(address, tmp_path, *line, "--dry-run")
    assert dry.exit_code == 0
    assert run("-b", elsewhere, "list", new, "-o", "json").document["items"] == []
    outcome = copy(address, tmp_path, *line, "--yes")
    assert outcome.document["errors"] == []
    assert outcome.exit_code == 0
    assert fetch_offsets(elsewhere, new) == {(TOPIC, 0): 32, (TOPIC, 1): 28}
    assert outcome.document["cluster"]["bootstrap"] == elsewhere
    found = outcome.by("topic", "partition")
    assert found[TOPIC, 0]["note"] == "next record is from 2026-09-21T14:13:20.250Z"
    assert found[TOPIC, 1]["note"].endswith("no record there is that recent, set to the log end")
    assert [found[TOPIC, n]["lag_after"] for n in (0, 1)] == [25, 0]
    undo = outcome.document["summary"]["undo_file"]
    assert run("-b", address, "reset-offsets", "--undo", undo, "--yes").exit_code == 2
    back = run("-b", elsewhere, "reset-offsets", "--undo", undo, "--yes", "--no-undo")
    assert back.exit_code == 0


def test_expired_and_empty_logs_by_time(
    address: str, elsewhere: str, names: tuple[str, str], tmp_path: Path
) -> None:
    """Expired: the oldest record counts; a log without records, or none there, is a failed row."""
    old, new = names
    commit_offsets(address, {old: {(TOPIC, 0): 2, (TOPIC, 2): 0, (TOPIC, 3): 1}})
    line = (old, new, "--to-bootstrap-server", elsewhere, "--yes")
    outcome = copy(address, tmp_path, *line)
    assert outcome.exit_code == 5
    found = outcome.by("topic", "partition")
    assert {n: found[TOPIC, n]["error"] for n in (0, 2, 3)} == {
        0: None,
        2: "NO_RECORD",
        3: "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert found[TOPIC, 0]["result"] == "skipped"
    assert copy(address, tmp_path, *line, "--keep-going").exit_code == 5
    assert fetch_offsets(elsewhere, new) == {(TOPIC, 0): 17}


def test_from_another_cluster_to_this_one(
    address: str, elsewhere: str, names: tuple[str, str], tmp_path: Path
) -> None:
    """The other way round, with the address in a settings file."""
    old, new = names
    commit_offsets(elsewhere, {old: {(TOPIC, 0): 7 + 40, (TOPIC, 1): 0}})
    settings = tmp_path / "there.properties"
    settings.write_text(f"bootstrap.servers={address}\n")
    outcome = copy(elsewhere, tmp_path, old, new, "--to-command-config", str(settings), "--yes")
    assert (outcome.exit_code, outcome.document["errors"]) == (0, [])
    assert fetch_offsets(address, new) == {(TOPIC, 0): 40, (TOPIC, 1): 0}


def test_refusals(address: str, names: tuple[str, str], tmp_path: Path) -> None:
    """A group at work may be copied but not be put anywhere; unknown ones are not found."""
    old, new = names
    with LiveGroup(address, old, [MemberSpec("copy-app", (SAME,))]) as live:
        live.wait_stable(2).members[0].commit({(SAME, 0): 3})
        assert copy(address, tmp_path, old, new, "--yes").exit_code == 0
        assert fetch_offsets(address, new) == {(SAME, 0): 3}
        commit_offsets(address, {new: {(SAME, 0): 9}})
        outcome = copy(address, tmp_path, new, old, "--yes")
        assert outcome.exit_code == 4
        assert "1 member: copy-app on /127.0.0.1" in outcome.stderr
        assert fetch_offsets(address, old) == {(SAME, 0): 3}
    assert copy(address, tmp_path, "copy-nobody", new, "--yes").exit_code == 5
    assert copy(address, tmp_path, new, new, "--yes").exit_code == 2
