"""The plan of a copy: the same commits here, the same time in another cluster."""

import pytest

from kgroups.core.offsets.copy import Moment, copied_partitions, plan_copy, plan_copy_by_time
from kgroups.core.offsets.scope import parse_scope
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic

LOGS = {"t": Topic("t", {number: PartitionLog(10, 50, leader=1) for number in range(3)})}
SOURCE = Group(
    "a",
    "classic",
    "Stable",
    offsets={"t": {0: CommittedOffset(20, 3, "memo"), 1: CommittedOffset(2, 3, "x")}},
)
NEW = Group("b", "classic", "Empty", members=(), offsets={"t": {0: CommittedOffset(20)}})


def test_scope() -> None:
    """An empty scope is everything that is committed."""
    assert copied_partitions(SOURCE, parse_scope([])) == [("t", 0), ("t", 1)]
    assert copied_partitions(SOURCE, parse_scope(["t:1,2"])) == [("t", 1)]


def test_here() -> None:
    """Metadata and epoch go along, but not to an offset that had to be moved."""
    nobody = Group("c", "classic", "Empty", members=(), offsets={})
    first, second = plan_copy(nobody, SOURCE, [("t", 0), ("t", 1)], LOGS)
    assert first.new == CommittedOffset(20, 3, "memo")
    assert (second.new, second.clamped) == (CommittedOffset(10), True)
    (same,) = plan_copy(NEW, SOURCE, [("t", 0)], LOGS)
    assert same.result == "skipped"


@pytest.mark.parametrize(
    ("moment", "found", "new", "result", "code"),
    [
        (Moment(1_000), 30, 30, "planned", None),
        (Moment(1_000), 20, 20, "skipped", None),
        (Moment(1_000), None, 50, "planned", None),
        (Moment(1_000, at_end=True), 44, 44, "planned", None),
        (Moment(at_end=True), None, None, "failed", "NO_RECORD"),
        (Moment(1_000), "NOT_LEADER_OR_FOLLOWER", None, "failed", "NOT_LEADER_OR_FOLLOWER"),
        (
            Moment(error="TOPIC_AUTHORIZATION_FAILED"),
            None,
            None,
            "failed",
            "TOPIC_AUTHORIZATION_FAILED",
        ),
    ],
)
def test_elsewhere(
    moment: Moment, found: int | str | None, new: int | None, result: str, code: str | None
) -> None:
    """By what that cluster has at the time; what cannot be told is a failed row."""
    (change,) = plan_copy_by_time(NEW, {("t", 0): moment}, {("t", 0): found}, LOGS)
    assert (change.new and change.new.offset, change.result) == (new, result)
    assert (change.error and change.error.code) == code
    (lost,) = plan_copy_by_time(NEW, {("u", 0): Moment(1)}, {}, LOGS)
    assert lost.error is not None
    assert lost.error.exit_code == 5
