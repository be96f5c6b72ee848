"""Plans of resets, refusals and answers, on paper."""

from dataclasses import replace

import pytest

from kgroups.core.errors import ItemError
from kgroups.core.offsets.change import (
    Change,
    Key,
    blocked_group,
    members_text,
    whole_groups,
)
from kgroups.core.offsets.reset import Known, committed_partitions, plan_reset
from kgroups.core.offsets.result import apply_answers, skip_planned
from kgroups.core.offsets.targets import Target
from kgroups.core.snapshot import CommittedOffset, Group, Member, PartitionLog, Topic

UNREADABLE = PartitionLog(error="KAFKA_STORAGE_ERROR")
LOGS = {
    "t": Topic(
        "t",
        {
            0: PartitionLog(10, 100),
            1: PartitionLog(10, 100),
            2: UNREADABLE,
        },
    )
}
GROUP = Group(
    "g", "classic", "Empty", members=(), offsets={"t": {0: CommittedOffset(40, 3, "memo")}}
)
KNOWN = Known(LOGS, at_time={("t", 0): 55, ("t", 1): None}, given={("t", 0): 70})


@pytest.mark.parametrize(
    ("target", "partition", "new", "lag_after", "clamped"),
    [
        (Target("earliest"), 0, 10, 90, False),
        (Target("latest"), 0, 100, 0, False),
        (Target("offset", 60), 0, 60, 40, False),
        (Target("offset", 5), 0, 10, 90, True),
        (Target("offset", 500), 0, 100, 0, True),
        (Target("shift", 5), 0, 45, 55, False),
        (Target("shift", -500), 0, 10, 90, True),
        (Target("time", 1), 0, 55, 45, False),
        (Target("time", 1), 1, 100, 0, False),
        (Target("file", name="f"), 0, 70, 30, False),
        (Target("earliest"), 1, 10, 90, False),
    ],
)
def test_plan(target: Target, partition: int, new: int, lag_after: int, *, clamped: bool) -> None:
    """The new offset, moved into the log where it must be, and the lag that follows."""
    (change,) = plan_reset(GROUP, [("t", partition)], target, KNOWN)
    assert change.new == CommittedOffset(new)
    assert (change.lag_after, change.clamped, change.result) == (lag_after, clamped, "planned")
    assert change.lag_before == (60 if partition == 0 else None)
    assert (change.note is not None) is (clamped or (target.kind == "time" and partition == 1))


@pytest.mark.parametrize(
    ("target", "at", "code", "exit_code"),
    [
        (Target("shift", 1), ("t", 1), "NO_COMMITTED_OFFSET", 5),
        (Target("current"), ("t", 1), "NO_COMMITTED_OFFSET", 5),
        (Target("earliest"), ("t", 2), "KAFKA_STORAGE_ERROR", 3),
        (Target("earliest"), ("t", 7), "UNKNOWN_TOPIC_OR_PARTITION", 5),
        (Target("earliest"), ("gone", 0), "UNKNOWN_TOPIC_OR_PARTITION", 5),
    ],
)
def test_plan_that_cannot_be(
    target: Target, at: tuple[str, int], code: str, exit_code: int
) -> None:
    """What cannot be reset is a failed row with its own code."""
    (change,) = plan_reset(GROUP, [at], target, KNOWN)
    assert change.result == "failed"
    assert change.error is not None
    assert (change.error.code, change.error.exit_code) == (code, exit_code)


def test_what_stands_there_is_left() -> None:
    """A partition at its target is skipped; one without lag is left out if asked."""
    (change,) = plan_reset(GROUP, [("t", 0)], Target("current"), KNOWN)
    assert change.result == "skipped"
    both = [("t", 0), ("t", 1)]
    lagging = plan_reset(GROUP, both, Target("latest"), KNOWN, only_lagging=True)
    assert [row.partition for row in lagging] == [0]
    assert committed_partitions(GROUP) == [("t", 0)]


MEMBERS = tuple(
    Member(f"id-{n}", f"app-{n}", f"/10.0.0.{n}", instance_id="till" if n == 0 else None)
    for n in range(7)
)


@pytest.mark.parametrize(
    ("group", "code", "exit_code"),
    [
        (None, "GROUP_ID_NOT_FOUND", 5),
        (replace(GROUP, state="Dead", offsets={}), "GROUP_ID_NOT_FOUND", 5),
        (replace(GROUP, state="Stable", members=MEMBERS), "NON_EMPTY_GROUP", 4),
        (replace(GROUP, state="PreparingRebalance"), "NON_EMPTY_GROUP", 4),
        (replace(GROUP, offsets=None), "FAILED", 3),
    ],
)
def test_blocked(group: Group | None, code: str, exit_code: int) -> None:
    """Groups whose commits cannot be changed are refused as a whole."""
    change = blocked_group("g", group)
    assert change is not None
    assert change.error is not None
    assert (change.error.code, change.error.exit_code) == (code, exit_code)
    assert change.result == ("refused" if exit_code == 4 else "failed")


def test_not_blocked() -> None:
    """An empty group can be changed; a failure of the look at it blocks it."""
    assert blocked_group("g", GROUP) is None
    failure = ItemError("g", "GROUP_AUTHORIZATION_FAILED", "no", exit_code=3)
    blocked = blocked_group("g", GROUP, [failure])
    assert blocked is not None
    assert blocked.error == failure


def test_members_are_named() -> None:
    """The first few with their hosts, static ones by their instance, the rest counted."""
    text = members_text(MEMBERS)
    assert text.startswith("7 members: till on /10.0.0.0, app-1 on /10.0.0.1")
    assert text.endswith("2 more")
    assert members_text(MEMBERS[1:2]) == "1 member: app-1 on /10.0.0.1"


def test_answers() -> None:
    """Each row has its own answer; one that is missing is none."""
    rows = [Change("g", "t", n, new=CommittedOffset(5)) for n in range(4)]
    refusal = ItemError("g t-1", "NON_EMPTY_GROUP", "no", exit_code=4)
    applied = apply_answers(
        rows, {("g", "t", 0): None, ("g", "t", 1): refusal, ("g", "t", 3): None}
    )
    assert [row.result for row in applied] == ["done", "refused", "failed", "done"]
    kept = whole_groups({("g", "t", n): None for n in range(4)}, {"g": 4, "h": 1})
    assert kept == {("g", None, None): None}
    assert [row.result for row in apply_answers(rows, kept, lambda row: row.whole)] == ["done"] * 4
    partly: dict[Key, ItemError | None]
    partly = {("g", "t", 0): None, ("g", "t", 1): refusal, ("g", "t", 3): None}
    assert whole_groups(partly, {"g": 3}) == partly
    assert whole_groups({("g", "t", 0): None}, {"g": 4}) == {("g", "t", 0): None}
    assert [row.result for row in skip_planned([*rows[:1], applied[1]])] == ["skipped", "refused"]
