"""Figures of a plan: how even it is and what it costs."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

from kgroups.core.conditions.fields import Field, Fields, Values
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.lag.rules import partition_lag
from kgroups.core.planning.moves import Assigned, Move
from kgroups.core.planning.roster import Roster
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition

PARTITIONS: Final = "partitions"


def _figure(
    meaning: str, unit: str | None = None, *, of: str | None = None, by_size: bool = False
) -> Any:
    """A figure that conditions may name.

    Args:
        meaning: a phrase without a full stop.
        unit: what it counts, or is in.
        of: the figure that it is a part of.
        by_size: whether it follows from the sizes of shares, whichever partitions are in them.
    """
    return field(metadata={"field": (unit, meaning, of), "by_size": by_size})


@dataclass(frozen=True, slots=True)
class Metrics:
    """One assignment in figures; what each means stands beside it."""

    partitions: int = _figure("partitions that the group's topics have", PARTITIONS, by_size=True)
    member_count: int = _figure("members after the changes", "members", by_size=True)
    kept: int = _figure("partitions that stay where they are", PARTITIONS, of=PARTITIONS)
    moved: int = _figure(
        "partitions that had an owner and get another, whether it stays or leaves",
        PARTITIONS,
        of=PARTITIONS,
    )
    forced: int = _figure(
        "those of `moved` whose owner leaves or no longer subscribes", PARTITIONS, of=PARTITIONS
    )
    newly_assigned: int = _figure(
        "partitions that had no owner and get one", PARTITIONS, of=PARTITIONS, by_size=True
    )
    newly_unassigned: int = _figure(
        "partitions that had an owner and get none", PARTITIONS, of=PARTITIONS, by_size=True
    )
    partitions_min: int | None = _figure(
        "least partitions of a member; unknown without members",
        PARTITIONS,
        of=PARTITIONS,
        by_size=True,
    )
    partitions_max: int | None = _figure(
        "most partitions of a member; unknown without members",
        PARTITIONS,
        of=PARTITIONS,
        by_size=True,
    )
    stddev: float | None = _figure(
        "population standard deviation of the members' partition counts", PARTITIONS, by_size=True
    )
    idle_members: int = _figure(
        "members without a partition", "members", of="member_count", by_size=True
    )
    unassigned: int = _figure(
        "partitions of subscribed topics that nobody gets", PARTITIONS, of=PARTITIONS, by_size=True
    )
    member_lag_max: int | None = _figure("largest lag of a member; unknown if no lag is", "records")
    member_lag_stddev: float | None = _figure(
        "population standard deviation of the members' lags", "records"
    )
    unknown_partitions: int = _figure(
        "assigned partitions whose lag is not known and not in the above",
        PARTITIONS,
        of=PARTITIONS,
    )
    topic_spread: int = _figure(
        "largest excess of a member in one topic over an even share of that topic", PARTITIONS
    )
    rounds: int = _figure("rebalances until the group is settled", "rebalances")
    blockers: int = _figure(
        "what stands in the way of a move to another protocol; 0 of other plans", by_size=True
    )


PLAN_FIELDS: Final = Fields(
    "a plan",
    (Field(figure.name, "number", *figure.metadata["field"]) for figure in fields(Metrics)),
)
"""Figures that conditions on a plan may name."""
BY_SIZE: Final = frozenset(figure.name for figure in fields(Metrics) if figure.metadata["by_size"])


def values_of(metrics: Metrics, *, sizes_only: bool) -> Values:
    """The figures, for conditions.

    Args:
        sizes_only: whether only those that follow from the sizes of shares are known: those of a
            plan whose confidence is `counts`.
    """
    names = BY_SIZE if sizes_only else PLAN_FIELDS.names
    return {name: getattr(metrics, name) for name in names}


def measure(
    after: Assigned,
    moves: Sequence[Move],
    *,
    wanted: Mapping[str, int],
    subscriptions: Iterable[Iterable[str]],
    forced: frozenset[TopicPartition],
    lags: Mapping[TopicPartition, int | None],
    rounds: int,
) -> Metrics:
    """The figures of a plan.

    Args:
        after: member id to topic to partitions, members without any included.
        moves: every partition with its owners before and after.
        wanted: partitions of each subscribed topic that exists.
        subscriptions: topics of each member.
        forced: partitions that had to leave their owner.
        lags: records to be read by partition; None or absent where not known.
    """
    counts = [sum(map(len, topics.values())) for topics in after.values()]
    member_lags = [member_lag(topics, lags) for topics in after.values()]
    lags_known = [lag for lag in member_lags if lag is not None]
    assigned = {
        (t, p) for topics in after.values() for t, numbers in topics.items() for p in numbers
    }
    kinds = [move.kind for move in moves]
    changed = [m for m in moves if m.kind in ("moved", "revoked_first")]
    all_partitions = {(topic, p) for topic, count in wanted.items() for p in range(count)}
    return Metrics(
        partitions=len(all_partitions),
        member_count=len(after),
        kept=kinds.count("kept"),
        moved=len(changed),
        forced=sum((move.topic, move.partition) in forced for move in changed),
        newly_assigned=kinds.count("newly_assigned"),
        newly_unassigned=kinds.count("newly_unassigned"),
        partitions_min=min(counts, default=None),
        partitions_max=max(counts, default=None),
        stddev=deviation(counts),
        idle_members=counts.count(0),
        unassigned=len(all_partitions - assigned),
        member_lag_max=max(lags_known, default=None),
        member_lag_stddev=deviation(lags_known) if len(lags_known) == len(member_lags) else None,
        unknown_partitions=sum(lags.get(key) is None for key in assigned),
        topic_spread=_topic_spread(after, wanted, subscriptions),
        rounds=rounds,
        blockers=0,
    )


def member_lag(
    topics: Mapping[str, Iterable[int]], lags: Mapping[TopicPartition, int | None]
) -> int | None:
    """Records that a member has to read: 0 without partitions, None if none of them is known."""
    read = [lags.get((topic, p)) for topic, numbers in topics.items() for p in numbers]
    numbers_known = [lag for lag in read if lag is not None]
    return sum(numbers_known) if numbers_known or not read else None


def deviation(values: Sequence[int]) -> float | None:
    """Population standard deviation; None for no values."""
    if not values:
        return None
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def _topic_spread(
    after: Assigned, wanted: Mapping[str, int], subscriptions: Iterable[Iterable[str]]
) -> int:
    """max over topics of (most partitions of one member - ceil(partitions / subscribers))."""
    subscribers = Counter(topic for topics in subscriptions for topic in set(topics))
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


def lag_by_partition(
    snapshot: ClusterSnapshot, group: Group, roster: Roster
) -> dict[TopicPartition, int | None]:
    """Records to be read in each partition that the group reads or will read.

    A partition that only the plan adds is empty. None where the lag is not known.
    """
    lags: dict[TopicPartition, int | None] = {
        (row.topic, row.partition): row.lag for row in offset_rows(snapshot, group)
    }
    for name in roster.subscribed():
        present = snapshot.topics[name].partitions if name in snapshot.topics else {}
        for number, log in roster.topics[name].partitions.items():
            key = (name, number)
            if number not in present:
                lags[key] = 0
            elif key not in lags:
                lags[key], *_ = partition_lag(
                    None, log.log_start_offset, log.log_end_offset, error=log.error
                )
    return lags
