"""`copy-offsets --checkpoints`: offsets that MirrorMaker 2 has translated, as it writes them."""

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer

from kgroups.cli.interruption import Interruption
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce

pytestmark = pytest.mark.kafka

CHECKPOINTS, PLAIN, BROKEN = "src.checkpoints.internal", "src-plain", "src-broken"
HERE = "src.mm-orders"
THERE = "mm-orders"


class Spot(NamedTuple):
    """A checkpoint as it is to be written; no offsets: a tombstone."""

    group: str
    partition: int
    upstream: int | None
    offset: int = 0
    metadata: str = ""


def text(value: str) -> bytes:
    """A string with its length in two bytes."""
    return struct.pack(">h", len(value)) + value.encode()


def write_checkpoints(address: str, spots: Iterable[Spot]) -> None:
    """Records in the layout of MirrorMaker 2."""
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    for group, partition, upstream, offset, metadata in spots:
        key = text(group) + text(HERE) + struct.pack(">i", partition)
        value = struct.pack(">hqq", 0, upstream or 0, offset) + text(metadata)
        producer.produce(CHECKPOINTS, None if upstream is None else value, key)
    assert producer.flush(60) == 0


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """The target cluster: mirrored records, and topics of checkpoints and of something else."""
    create_topics(cluster_address, {CHECKPOINTS: 1, PLAIN: 1, BROKEN: 1, HERE: 3})
    produce(cluster_address, {(HERE, 0): 60, (HERE, 1): 60, (HERE, 2): 60, (PLAIN, 0): 2})
    producer = Producer({"bootstrap.servers": cluster_address, "log_level": 0})
    key = text("g") + text(HERE) + struct.pack(">i", 0)
    producer.produce(BROKEN, struct.pack(">hq", 0, 1), key)
    assert producer.flush(60) == 0
    return cluster_address


@pytest.fixture(scope="module")
def source() -> Iterator[str]:
    """The source cluster."""
    with Sandbox(topics={THERE: 3}) as cluster:
        produce(cluster.bootstrap_servers, {(THERE, number): 100 for number in range(3)})
        yield cluster.bootstrap_servers


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A group of this test's own."""
    return f"mm-{abs(hash(request.node.name))}"


def copy(address: str, folder: Path, *args: str, topic: str = CHECKPOINTS) -> Outcome:
    """The end of a copy, as JSON."""
    line = ("copy-offsets", "--checkpoints", topic, "--undo-dir", str(folder), "-o", "json")
    return run("-b", address, *line, *args)


def test_without_the_source(address: str, name: str, tmp_path: Path) -> None:
    """The newest checkpoint of each partition, with metadata; undo takes them away."""
    write_checkpoints(
        address,
        [
            Spot(name, 0, 10, 11),
            Spot(name, 1, 20, 21),
            Spot(name, 0, 30, 31, "memo"),
            Spot(name, 2, 5, 6),
            Spot(name, 2, None),
            Spot(f"{name}-other", 0, 1, 1),
        ],
    )
    commit_offsets(address, {name: {(HERE, 1): 50}})
    dry = copy(address, tmp_path, "--from", name, "--dry-run")
    assert set(dry.results) == {"planned"}
    assert fetch_offsets(address, name) == {(HERE, 1): 50}
    outcome = copy(address, tmp_path, "--from", name, "--yes", "--verify")
    assert (outcome.exit_code, outcome.document["errors"]) == (0, []), outcome.stderr
    assert fetch_offsets(address, name) == {(HERE, 0): 31, (HERE, 1): 21}
    found = outcome.by("group", "partition")
    assert (found[name, 1]["old_offset"], found[name, 1]["new_offset"]) == (50, 21)
    assert found[name, 0]["note"] == "checkpoint at 30"
    (told,) = outcome.document["summary"]["checkpoints"]
    assert (told["translated"], told["missing"], told["read_again"]) == (2, None, None)
    assert f"{name}: 2 partitions translated\n" in outcome.stderr
    described = run("-b", address, "describe", name, "-o", "json").document["items"][0]
    assert [row["metadata"] for row in described["offsets"][:2]] == ["memo", ""]
    again = copy(address, tmp_path, "--from", name, "--yes")
    assert set(again.results) == {"skipped"}
    undo = outcome.document["summary"]["undo_file"]
    assert run("-b", address, "reset-offsets", "--undo", undo, "--no-undo", "--yes").exit_code == 0
    assert fetch_offsets(address, name) == {(HERE, 1): 50}


def test_beside_the_source(address: str, source: str, name: str, tmp_path: Path) -> None:
    """What is missing is a failed row; what would be read twice is counted, by group."""
    one, two = f"{name}-1", f"{name}-2"
    write_checkpoints(address, [Spot(one, 0, 10, 9), Spot(one, 1, 20, 21), Spot(two, 0, 40, 41)])
    commit_offsets(source, {one: {(THERE, 0): 14, (THERE, 1): 20, (THERE, 2): 7}})
    line = ("--from", f"{name}-*", "--to", f"{name}-new-*", "--to-bootstrap-server", address)
    held = copy(source, tmp_path, *line, "--yes")
    assert held.exit_code == 5
    assert fetch_offsets(address, f"{name}-new-1") == {}
    outcome = copy(source, tmp_path, *line, "--yes", "--keep-going", "--verify")
    assert outcome.exit_code == 5
    assert outcome.document["cluster"]["bootstrap"] == address
    new, other = f"{name}-new-1", f"{name}-new-2"
    assert fetch_offsets(address, new) == {(HERE, 0): 9, (HERE, 1): 21}
    assert fetch_offsets(address, other) == {(HERE, 0): 41}
    found = outcome.by("group", "partition")
    assert found[new, 0]["note"] == "checkpoint at 10, source at 14: 4 read twice"
    assert (found[new, 2]["result"], found[new, 2]["error"]) == ("failed", "NO_CHECKPOINT")
    first, second = outcome.document["summary"]["checkpoints"]
    assert (first["group"], first["translated"], first["missing"]) == (new, 2, 1)
    assert (first["read_again"], second["read_again"]) == (4, None)
    assert first["partitions"][2] == {
        "topic": HERE,
        "partition": 2,
        "checkpoint_offset": None,
        "source_offset": 7,
        "new_offset": None,
        "read_again": None,
    }
    told = f"{new}: 2 partitions translated, 1 without checkpoint, 4 records read twice\n"
    assert told in outcome.stderr
    scoped = copy(source, tmp_path, *line, "--topic", f"{HERE}:0", "--yes")
    assert scoped.exit_code == 0, scoped.stderr


def test_verified(address: str, name: str, tmp_path: Path, monkeypatch: Any) -> None:
    """A newer checkpoint, written meanwhile, is told."""
    write_checkpoints(address, [Spot(name, 0, 10, 11), Spot(name, 1, 10, 11)])
    look = Interruption.look
    looks: list[int] = []

    def then_look(self: Any, read: Any, otherwise: Any) -> Any:
        looks.append(1)
        if len(looks) == 3:  # what was written was read back, and then explained
            write_checkpoints(address, [Spot(name, 0, 12, 13)])
        return look(self, read, otherwise)

    monkeypatch.setattr(Interruption, "look", then_look)
    outcome = copy(address, tmp_path, "--from", name, "--yes", "--verify")
    found = outcome.by("group", "partition")
    assert (outcome.exit_code, found[name, 1]["result"]) == (1, "done")
    assert (found[name, 0]["result"], found[name, 0]["error"]) == ("failed", "SOURCE_MOVED")


def test_groups_without_checkpoints(address: str, name: str, tmp_path: Path) -> None:
    """A named one is not found, and holds others back; nor is a topic without checkpoints."""
    write_checkpoints(address, [Spot(name, 0, 10, 11)])
    alone = copy(address, tmp_path, "--from", f"{name}-no", "--yes")
    assert alone.exit_code == 5
    assert f"`{CHECKPOINTS}` has no checkpoint of group `{name}-no`\n" in alone.stderr
    pairs = ("--map", f"{name}={name}-a", "--map", f"{name}-no={name}-b", "--yes")
    assert copy(address, tmp_path, *pairs).exit_code == 5
    assert fetch_offsets(address, f"{name}-a") == {}
    assert copy(address, tmp_path, *pairs, "--keep-going").exit_code == 5
    assert fetch_offsets(address, f"{name}-a") == {(HERE, 0): 11}
    assert copy(address, tmp_path, "--from", f"{name}-no*", "--yes").exit_code == 5
    other = copy(address, tmp_path, "--from", name, "--topic", THERE, "--yes")
    assert (other.exit_code, f"for `{THERE}`" in other.stderr) == (5, True)


@pytest.mark.parametrize(
    ("topic", "exit_code", "told"),
    [
        ("", 2, "--checkpoints must name a topic"),
        ("a b", 5, "not a valid topic name"),
        ("src-nowhere", 5, "no such topic: `src-nowhere`"),
        (PLAIN, 2, f"record 0 of `{PLAIN}-0` is not a checkpoint: "),
        (BROKEN, 2, f"record 0 of `{BROKEN}-0` is not a checkpoint: the bytes end within a field"),
    ],
)
def test_no_checkpoints(
    address: str, tmp_path: Path, topic: str, exit_code: int, told: str
) -> None:
    """Another topic, or broken records: one sentence, and nothing is written."""
    outcome = copy(address, tmp_path, "--from", "g", "--yes", topic=topic)
    assert outcome.exit_code == exit_code
    assert told in outcome.stderr
    assert outcome.stderr.count("error: ") == 1
    assert list(tmp_path.iterdir()) == []


def test_saved_plan(address: str, name: str, tmp_path: Path) -> None:
    """What was translated is applied later, whatever checkpoints come meanwhile."""
    write_checkpoints(address, [Spot(name, 0, 10, 11)])
    file = tmp_path / "plan.json"
    dry = copy(address, tmp_path, "--from", name, "--dry-run", "--plan", str(file))
    assert dry.exit_code == 0, dry.stderr
    write_checkpoints(address, [Spot(name, 0, 20, 21)])
    done = run("-b", address, "apply", str(file), "--yes", "--no-undo", "-o", "json")
    assert done.exit_code == 0, done.stderr
    assert fetch_offsets(address, name) == {(HERE, 0): 11}
