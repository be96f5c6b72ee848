"""Figures of a plan: how even it is and what it costs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgroups.core.planning.moves import Assigned, Move


@dataclass(frozen=True, slots=True)
class Metrics:
    """One assignment in figures.

    Args:
        partitions: partitions that the group's topics have.
        members: members after the changes.
        kept: partitions that stay where they are.
        moved: partitions that had an owner and get another, whether it stays or leaves.
        forced: those of `moved` whose owner leaves or no longer subscribes.
        newly_assigned: partitions that had no owner and get one.
        lost: partitions that had an owner and get none.
        partitions_min, partitions_max: of one member; None without members.
        stddev: population standard deviation of the members' partition counts.
        idle_members: members without a partition.
        unassigned: partitions of subscribed topics that nobody gets.
        lag_max: of one member, in records; None if no lag is known.
        lag_stddev: population standard deviation of the members' lags; None likewise.
        unknown_lag_partitions: assigned partitions whose lag is not known and not in the above.
        topic_spread: largest excess of a member in one topic over an even share of that topic.
        rounds: rebalances until the group is settled.
        blockers: things that stand in the way of a move to the other protocol.
    """

    partitions: int
    members: int
    kept: int
    moved: int
    forced: int
    newly_assigned: int
    lost: int
    partitions_min: int | None
    partitions_max: int | None
    stddev: float | None
    idle_members: int
    unassigned: int
    lag_max: int | None
    lag_stddev: float | None
    unknown_lag_partitions: int
    topic_spread: int
    rounds: int
    blockers: int = 0


def measure(
    after: Assigned,
    moves: Sequence[Move],
    *,
    wanted: Mapping[str, int],
    subscribers: Mapping[str, int],
    forced: frozenset[tuple[str, int]],
    lags: Mapping[tuple[str, int], int | None],
    rounds: int,
) -> Metrics:
    """The figures of a plan.

    Args:
        after: member id to topic to partitions, members without any included.
        moves: every partition with its owners before and after.
        wanted: partitions of each subscribed topic that exists.
        subscribers: members that subscribe to each topic.
        forced: partitions that had to leave their owner.
        lags: records to be read by partition; None or absent where not known.
    """
    counts = [sum(map(len, topics.values())) for topics in after.values()]
    member_lags = [member_lag(topics, lags) for topics in after.values()]
    known = [lag for lag in member_lags if lag is not None]
    assigned = {
        (t, p) for topics in after.values() for t, numbers in topics.items() for p in numbers
    }
    kinds = [move.kind for move in moves]
    changed = [m for m in moves if m.kind in ("moved", "revoked_first")]
    all_partitions = {(topic, p) for topic, count in wanted.items() for p in range(count)}
    return Metrics(
        partitions=len(all_partitions),
        members=len(after),
        kept=kinds.count("kept"),
        moved=len(changed),
        forced=sum((move.topic, move.partition) in forced for move in changed),
        newly_assigned=kinds.count("newly_assigned"),
        lost=kinds.count("lost"),
        partitions_min=min(counts, default=None),
        partitions_max=max(counts, default=None),
        stddev=deviation(counts),
        idle_members=counts.count(0),
        unassigned=len(all_partitions - assigned),
        lag_max=max(known, default=None),
        lag_stddev=deviation(known) if len(known) == len(member_lags) else None,
        unknown_lag_partitions=sum(lags.get(key) is None for key in assigned),
        topic_spread=_topic_spread(after, wanted, subscribers),
        rounds=rounds,
    )


def member_lag(
    topics: Mapping[str, Iterable[int]], lags: Mapping[tuple[str, int], int | None]
) -> int | None:
    """Records that a member has to read: 0 without partitions, None if none of them is known."""
    each = [lags.get((topic, p)) for topic, numbers in topics.items() for p in numbers]
    known = [lag for lag in each if lag is not None]
    return sum(known) if known or not each else None


def deviation(values: Sequence[int]) -> float | None:
    """Population standard deviation; None for no values."""
    if not values:
        return None
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def _topic_spread(
    after: Assigned, wanted: Mapping[str, int], subscribers: Mapping[str, int]
) -> int:
    """max over topics of (most partitions of one member - ceil(partitions / subscribers))."""
    largest: dict[str, int] = {}
    for topics in after.values():
        for topic, numbers in topics.items():
            largest[topic] = max(largest.get(topic, 0), len(numbers))
    excess = [
        most - -(-wanted[topic] // subscribers[topic])
        for topic, most in largest.items()
        if wanted.get(topic) and subscribers.get(topic)
    ]
    return max(excess, default=0)
