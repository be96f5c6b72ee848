"""`reset-offsets --to next` and `--to first` on the embedded cluster."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import ClusterSnapshot, PartitionLog, Topic
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.workload import commit_offsets, expire_records, fetch_offsets

START = {("t", 0): 5, ("t", 1): 0, ("t", 2): 10, ("gap", 0): 10}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Ten records in `t-0` (the first two gone) and in `t-2`, none in `t-1`, a gap in `gap`."""
    file: Path = tmp_path_factory.mktemp("skip") / "gap.json"
    gap = Topic("gap", {0: PartitionLog(0, 100, leader=1)})
    write_snapshot(ClusterSnapshot(1, (), {"gap": gap}), file)
    with Sandbox(brokers=1, topics={"t": 3}, snapshot=file) as sandbox:
        address = sandbox.bootstrap_servers
        producer = Producer({"bootstrap.servers": address})
        for number in range(10):
            version = b"2" if number in (8, 9) else b"1"
            producer.produce(
                "t",
                b"secret",
                key=b"k%d" % number if number else b"\xff",
                headers=[("v", version), ("n", b"%d" % number)],
                partition=0,
                timestamp=1_700_000_000_000 + number,
            )
            producer.produce("t", b"secret", partition=2)
        assert producer.flush(60) == 0
        expire_records(address, {("t", 0): 2})
        yield address


@pytest.fixture
def group(address: str, request: pytest.FixtureRequest) -> str:
    """An empty group."""
    name = f"skip {abs(hash(request.node.name))}"
    commit_offsets(address, {name: START})
    return name


def reset(address: str, folder: Path, *args: str) -> Outcome:
    """The end of a reset, as JSON."""
    return run("reset-offsets", *args, "-b", address, "--undo-dir", str(folder), "-o", "json")


def only(outcome: Outcome) -> dict[str, Any]:
    """The only item."""
    (item,) = outcome.document["items"]
    found: dict[str, Any] = item
    return found


def test_past_the_next_record(address: str, group: str, tmp_path: Path) -> None:
    """What is skipped is told and its value is not; the way back is the usual one."""
    words = (group, "--to", "next", "--topic", "t:0")
    planned = reset(address, tmp_path, *words, "--dry-run")
    item = only(planned)
    note = "skips 1 record: 5 (written 2023-11-14T22:13:20.005Z, key of 2 bytes)"
    assert (item["old_offset"], item["new_offset"], item["note"]) == (5, 6, note)
    assert item["passed_record_count"] == 1
    assert item["passed_records"] == [
        {"offset": 5, "written_at": "2023-11-14T22:13:20.005Z", "key_size": 2, "value_size": 6}
    ]
    assert "secret" not in planned.stdout + planned.stderr
    assert fetch_offsets(address, group)["t", 0] == 5
    assert only(reset(address, tmp_path, *words, "--yes"))["result"] == "done"
    assert fetch_offsets(address, group) == {**START, ("t", 0): 6}
    assert reset(address, tmp_path, "--undo", "last", "--yes").exit_code == 0
    assert fetch_offsets(address, group) == START


def test_several(address: str, group: str, tmp_path: Path) -> None:
    """Exactly so many; the row names the first of them."""
    item = only(reset(address, tmp_path, group, "--to", "next:5", "--topic", "t:0", "--yes"))
    assert (item["new_offset"], item["passed_record_count"]) == (10, 5)
    assert str(item["note"]).endswith(", 2 more")


def test_too_few_records(address: str, group: str, tmp_path: Path) -> None:
    """The row is refused with how many there are; where all is read nothing is to be done."""
    few = reset(address, tmp_path, group, "--to", "next:6", "--topic", "t:0", "--yes")
    assert (few.exit_code, only(few)["error"]) == (4, "TOO_FEW_RECORDS")
    assert "only 5 of 6 records found: the log ends at 10" in few.stderr
    for at in ("t:1", "t:2", "gap"):
        outcome = reset(address, tmp_path, group, "--to", "next", "--topic", at, "--yes")
        assert (outcome.exit_code, only(outcome)["result"]) == (0, "skipped")
        assert "no record to skip" in str(only(outcome)["note"])
    assert fetch_offsets(address, group) == START


def test_from_below_the_log_start(address: str, group: str, tmp_path: Path) -> None:
    """Records that are gone count for nothing."""
    commit_offsets(address, {group: {("t", 0): 0}})
    item = only(reset(address, tmp_path, group, "--to", "next", "--topic", "t:0", "--dry-run"))
    assert (item["new_offset"], item["passed_record_count"]) == (3, 1)


@pytest.mark.parametrize(
    ("words", "offset", "passed"),
    [
        (("--where-header", "v=2"), 8, 3),
        (("--where-key", "k7"), 7, 2),
        (("--where-key", "0x6b37"), 7, 2),
        (("--where-key", "k9", "--where-header", "v=2"), 9, 4),
        (("--where-key", "k5"), 5, 0),
    ],
)
def test_the_first_like_this(
    address: str, group: str, tmp_path: Path, words: tuple[str, ...], offset: int, passed: int
) -> None:
    """From the commit on, that record is the next one."""
    outcome = reset(address, tmp_path, group, "--to", "first", *words, "--topic", "t:0", "--yes")
    item = only(outcome)
    assert (outcome.exit_code, item["new_offset"]) == (0, offset)
    assert item["passed_record_count"] == passed
    assert fetch_offsets(address, group)["t", 0] == offset


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--where-key", "k3"), "no such record among 5 records: the log ends at 10"),
        (("--where-header", "w=2"), "no such record among 5 records: the log ends at 10"),
        (
            ("--where-key", "k9", "--limit", "3"),
            "no such record among 3 records: looked up to 8 (written 2023-11-14T22:13:20.007Z)",
        ),
    ],
)
def test_none_like_this(
    address: str, group: str, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    """It says how far it looked, and changes nothing."""
    outcome = reset(address, tmp_path, group, "--to", "first", *words, "--topic", "t:0", "--yes")
    assert outcome.exit_code == 5
    assert told in outcome.stderr
    assert fetch_offsets(address, group) == START


@pytest.mark.parametrize(
    "words",
    [
        ("--to", "first"),
        ("--to", "next", "--where-key", "k"),
        ("--to", "latest", "--limit", "5"),
        ("--to", "first", "--where-header", "v"),
        ("--to", "first", "--where-key", "k", "--limit", "many"),
        ("--undo", "last", "--where-key", "k"),
    ],
)
def test_options_that_do_not_go_together(words: tuple[str, ...]) -> None:
    """They are refused before a cluster is asked."""
    target = () if "--undo" in words else ("app", "--all-topics")
    assert run("reset-offsets", *target, *words, "-b", "127.0.0.1:1").exit_code == 2


def test_a_group_without_a_commit_there(address: str, group: str, tmp_path: Path) -> None:
    """There is no record to start from."""
    commit_offsets(address, {f"{group} 2": {("t", 1): 0}})
    outcome = reset(address, tmp_path, f"{group} 2", "--to", "next", "--topic", "t:0", "--yes")
    assert (outcome.exit_code, only(outcome)["error"]) == (5, "NO_COMMITTED_OFFSET")
