"""The plan of deleting records: what stays, what is lost, who has not read it."""

import pytest

from kgroups.core.errors import ItemError
from kgroups.core.offsets.record_deletions import (
    RecordDeletion,
    plan_deletions,
    verify_deletions,
)
from kgroups.core.offsets.reset import Known
from kgroups.core.offsets.result import apply_answers
from kgroups.core.offsets.targets import Target, parse_target
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic

LOGS = {
    "t": Topic(
        "t",
        {
            0: PartitionLog(10, 50, leader=1),
            1: PartitionLog(0, 0, leader=1),
            2: PartitionLog(error="LEADER_NOT_AVAILABLE"),
        },
    )
}


def plan(target: Target, known: Known | None = None, number: int = 0) -> RecordDeletion:
    """The plan of one partition."""
    (deletion,) = plan_deletions([("t", number)], target, known or Known(LOGS))
    return deletion


@pytest.mark.parametrize(
    ("text", "stays", "lost", "result", "clamped"),
    [
        ("latest", 50, 40, "planned", False),
        ("30", 30, 20, "planned", False),
        ("5", 10, 0, "skipped", False),
        ("80", 50, 40, "planned", True),
        ("+3", 13, 3, "planned", False),
        ("+90", 50, 40, "planned", True),
        ("-4", 46, 36, "planned", False),
        ("-90", 10, 0, "skipped", False),
    ],
)
def test_target(text: str, stays: int, lost: int, result: str, clamped: bool) -> None:
    """Offsets and shifts, from either end, within the log."""
    deletion = plan(parse_target(text, 0))
    assert (deletion.new_start, deletion.deleted_records) == (stays, lost)
    assert (deletion.result, deletion.clamped) == (result, clamped)
    assert plan(parse_target(text, 0), number=1).result == "skipped"
    lost_leader = plan(parse_target(text, 0), number=2)
    assert (lost_leader.result, lost_leader.deleted_records) == ("failed", None)
    assert lost_leader.error is not None
    assert lost_leader.error.exit_code == 3


def test_time_file_and_group() -> None:
    """A time that no record reaches empties the log; a partition of which nothing is said stays."""
    time = Target("time", 5)
    assert plan(time, Known(LOGS, at_time={("t", 0): 20})).new_start == 20
    assert plan(time, Known(LOGS, at_time={("t", 0): None})).new_start == 50
    for kind in (Target("file"), Target("group")):
        assert plan(kind, Known(LOGS, given={("t", 0): 12})).deleted_records == 2
        silent = plan(kind)
        assert (silent.result, silent.note) == ("skipped", "not in the file")
    missing = plan(time, Known({}))
    assert missing.error is not None
    assert missing.error.exit_code == 5


def test_who_has_not_read_it() -> None:
    """The groups that are furthest behind, counted from the start of the log."""
    readers = [
        Group(name, "classic", "Empty", offsets={"t": {0: CommittedOffset(offset)}})
        for name, offset in (("a", 0), ("b", 25), ("c", 29), ("d", 30), ("e", 28))
    ]
    (deletion,) = plan_deletions([("t", 0)], Target("offset", 30), Known(LOGS), readers)
    assert deletion.note == "unread by a (20), b (5), e (2), 1 more groups"


def test_answers_and_the_look_back() -> None:
    """A row without answer failed; one whose log does not show it is not done."""
    rows = [RecordDeletion("t", number, 10, 30, 50) for number in (0, 1, 3, 4)]
    refused = ItemError("t-1", "POLICY_VIOLATION", "no", exit_code=1)
    applied = apply_answers(rows, {("t", 0): None, ("t", 1): refused, ("t", 4): None})
    assert [row.result for row in applied] == ["done", "failed", "failed", "done"]
    after = {"t": Topic("t", {0: PartitionLog(30, 50), 4: PartitionLog(12, 50)})}
    checked = verify_deletions(applied, after)
    assert [row.result for row in checked] == ["done", "failed", "failed", "failed"]
    assert checked[3].error is not None
    assert checked[3].error.code == "NOT_VERIFIED"
    blind = verify_deletions(applied, None)
    assert [row.note for row in blind if row.result == "done"] == [
        "deleted, but could not be read back"
    ] * 2
