"""Which partitions are stalled between two looks, and how many rebalances were seen."""

from dataclasses import replace

import pytest

from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.lag.group_times import GroupTimes, Times, group_times
from kgroups.core.rounds import rounds_of
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)

M = Member("m", "c", "/h", subscription=("t",), assignment={"t": (0,)}, generation=3)
N = replace(M, member_id="n")


def look(
    commit: int | None,
    end: int,
    *,
    start: int = 0,
    state: str = "Stable",
    members: tuple[Member, ...] = (M,),
) -> ClusterSnapshot:
    """One partition of a group with these members."""
    offsets = {} if commit is None else {"t": {0: CommittedOffset(commit)}}
    group = Group("g", "classic", state, members=members, offsets=offsets)
    topics = {"t": Topic("t", {0: PartitionLog(start, end, leader=1)})}
    return ClusterSnapshot(1_000, (group,), topics)


def between(
    before: ClusterSnapshot, now: ClusterSnapshot, times: Times | None = None
) -> GroupTimes:
    """What two looks tell of the group."""
    now = replace(now, captured_at_ms=11_000)
    (group,) = now.groups
    given = replace(times or Times(), before=before)
    return group_times(now, group, offset_rows(now, group), given)


CASES = [
    ("it stands still while records wait", look(5, 9), look(5, 9), 1, 0),
    ("its records expire meanwhile", look(5, 9), look(5, 12, start=8), 1, 0),
    ("it moves", look(5, 9), look(6, 12), 0, 0),
    ("all is read", look(9, 9), look(9, 9), 0, 0),
    ("records came only just now", look(5, 5), look(5, 9), 0, 0),
    ("nothing is committed", look(None, 9), look(None, 9), 0, 0),
    ("committed only just now", look(None, 9), look(5, 9), 0, 0),
    ("nobody owns it", look(5, 9, members=()), look(5, 9, members=()), 0, 0),
    ("a new owner", look(5, 9, members=(N,)), look(5, 9), None, 1),
    ("a new owner that reads", look(5, 9, members=(N,)), look(6, 9), 0, 1),
    ("it rebalances", look(5, 9), look(5, 9, state="PreparingRebalance"), None, 0),
    ("a new generation", look(5, 9), look(5, 9, members=(replace(M, generation=4),)), None, 1),
    ("the group is new", replace(look(5, 9), groups=()), look(5, 9), None, None),
]


@pytest.mark.parametrize(
    ("before", "now", "stalled", "rebalances"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_two_looks(
    before: ClusterSnapshot, now: ClusterSnapshot, stalled: int | None, rebalances: int | None
) -> None:
    """Only what its owner had time to read is stalled; what a rebalance interrupted is open."""
    found = between(before, now)
    assert (found.stalled_partitions, found.rebalances) == (stalled, rebalances)


def test_a_gap() -> None:
    """No reader gets past the control records of a transaction by reading."""
    gaps = frozenset({("t", 0, 5)})
    assert between(look(5, 9), look(5, 9), Times(gaps=gaps)).stalled_partitions == 0


def test_rebalances_in_between() -> None:
    """Members that came and went between two looks that are alike."""
    (group,) = look(5, 9).groups
    other = rounds_of(replace(group, members=(M, N)))
    times = Times(between=({"g": other}, {"g": other}, {}, {"g": rounds_of(group)}))
    found = between(look(5, 9), look(5, 9), times)
    assert (found.rebalances, found.stalled_partitions) == (2, None)
