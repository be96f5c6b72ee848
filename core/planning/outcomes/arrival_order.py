"""In which orders a coordinator meets members that share a bucket, while some of them join.

For every target it fills a hash table for the assignor: first with the members that it knows, in
the order of its own table, then with the one whose heartbeat asks for the target, if that one is
new. Its own table goes by other bits of the hashes, so of those that share a bucket a newcomer is
the last at first, and stands anywhere among them later. When members join, its own table may grow,
and that may turn the order of those that were there before.

Source: GroupMetadataManager.consumerGroupHeartbeat; TargetAssignmentBuilder; TimelineHashMap.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from kgroups.assignors.order.hash_maps import grown_orders
from kgroups.assignors.order.java_order import grown_capacity
from kgroups.core.planning.outcomes.coordinator_batches import Batch, stages
from kgroups.core.planning.outcomes.ids import bucket
from kgroups.core.planning.outcomes.newcomer_ids import MAX_COMBINATIONS, Drawn, bucket_classes
from kgroups.core.planning.roster import Roster

# Arrivals that are told apart.
MAX_ARRIVALS: Final = 512

# That a target is made in a later heartbeat than the newcomer's: its own came too soon after the
# target before (`group.consumer.assignment.interval.ms`).
LATE_WEIGHT: Final = 0.1

Order = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Arrival:
    """One way in which members that join are met.

    Args:
        buckets: of those whose ids are not known, in a table of `capacity`.
        orders: of all members by their names in the roster, one for each target.
    """

    buckets: Mapping[str, int]
    orders: tuple[Order, ...]
    weight: float
    capacity: int


def arrivals(
    roster: Roster, unknown: Sequence[str], batches: Sequence[Batch]
) -> list[Arrival] | None:
    """Every order in which members may be met; None if there are too many.

    Args:
        unknown: names of those that join whose ids are not known.
        batches: in which the coordinator takes in what happens.
    """
    capacity = grown_capacity(len(roster.seats))
    if capacity ** len(unknown) > MAX_COMBINATIONS:
        return None
    present = {
        name: bucket(name, capacity)
        for name in (seat.member.member_id for seat in roster.seats)
        if name not in unknown
    }
    arrivals_by_orders: dict[tuple[Order, ...], Arrival] = {}
    met = list(_met(roster, batches))
    stand = _standing(roster, sorted(set(present.values())), capacity)
    for drawn, chance in bucket_classes(capacity, len(unknown), stand):
        buckets = dict(zip(unknown, drawn, strict=True))
        for orders, share in _orders(roster, {**present, **buckets}, met):
            weight = share * chance
            before = arrivals_by_orders.get(orders)
            arrivals_by_orders[orders] = (
                Arrival(buckets, orders, weight, capacity)
                if before is None
                else replace(before, weight=before.weight + weight)
            )
            if len(arrivals_by_orders) > MAX_ARRIVALS:
                return None
    return list(arrivals_by_orders.values())


def _standing(roster: Roster, present: Sequence[int], capacity: int) -> Callable[[Drawn], Hashable]:
    """Where newcomers stand that have these buckets: equal where nobody can tell the difference.

    Args:
        present: buckets of the others, ascending, each once.
    """
    # In a table that grows meanwhile, buckets that stand alike now did not before.
    if capacity > grown_capacity(sum(not seat.joins for seat in roster.seats)):
        return lambda drawn: drawn

    def stand(drawn: Drawn) -> Hashable:
        places = sorted(set(drawn))
        spots = [(bisect_left(present, place), place in present) for place in drawn]
        return (*spots, *map(places.index, drawn))

    return stand


def _orders(
    roster: Roster, buckets: Mapping[str, int], met: Sequence[tuple[frozenset[str], list[str]]]
) -> Iterator[tuple[tuple[Order, ...], float]]:
    """The orders at each target, and how likely they are with these buckets.

    Args:
        met: who is there at each, and who of them joins with it.
    """
    least = grown_capacity(min(len(present) for present, _ in met))
    joining = [seat.member.member_id for seat in roster.seats if seat.joins]
    arranged = [
        order
        for before in _known_orders(roster, len(joining))
        for order in _arranged(before, joining, buckets, least)
    ]
    for order in arranged:
        choices = [_at_target(order, present, fresh, buckets) for present, fresh in met]
        for chosen in product(*choices):
            weight = 1.0
            for _, chance in chosen:
                weight *= chance
            yield tuple(order for order, _ in chosen), weight / len(arranged)


def _met(roster: Roster, batches: Sequence[Batch]) -> Iterator[tuple[frozenset[str], list[str]]]:
    """At each target who is there, and who of them joins with it."""
    before = frozenset(seat.member.member_id for seat in roster.seats if not seat.joins)
    for stage in stages(roster, batches):
        present = frozenset(seat.member.member_id for seat in stage.seats)
        yield present, [name for name in present if name not in before]
        before |= present


def _known_orders(roster: Roster, joining: int) -> Iterator[list[str]]:
    """The orders that the coordinator's own table may give those that are there."""
    listed = [member.member_id for member in roster.group.members or ()]
    staying = {seat.member.member_id for seat in roster.seats if not seat.joins}
    for order in grown_orders(listed, len(listed) + joining):
        yield [name for name in order if name in staying]


def _arranged(
    before: Sequence[str], joining: Sequence[str], buckets: Mapping[str, int], capacity: int
) -> Iterator[list[str]]:
    """Everywhere that newcomers can stand among those that share their buckets."""
    held: dict[int, tuple[list[str], list[str]]] = {}
    for names, place in ((before, 0), (joining, 1)):
        for name in names:
            held.setdefault(buckets[name] & (capacity - 1), ([], []))[place].append(name)
    for parts in product(*(mixed(old, new) for old, new in held.values())):
        yield [name for part in parts for name in part]


def mixed(old: Sequence[str], new: Sequence[str]) -> list[Order]:
    """The orders of one bucket: `old` as they are, each of `new` anywhere among them."""
    orders: list[Order] = [tuple(old)]
    for name in new:
        orders = [(*o[:at], name, *o[at:]) for o in orders for at in range(len(o), -1, -1)]
    return orders


def _at_target(
    order: Sequence[str], present: frozenset[str], fresh: Sequence[str], buckets: Mapping[str, int]
) -> list[tuple[Order, float]]:
    """The orders at one target: one of those that join asks for it, or somebody later."""
    mask = grown_capacity(len(present)) - 1
    there = [name for name in order if name in present]
    asked = [[*(name for name in there if name != last), last] for last in fresh]
    chances: dict[Order, float] = {}
    for arranged in [*asked, there]:
        chance = LATE_WEIGHT if fresh and arranged is there else 1.0
        met = tuple(sorted(arranged, key=lambda name: buckets[name] & mask))
        chances[met] = chances.get(met, 0.0) + chance
    total = sum(chances.values())
    return [(met, chance / total) for met, chance in chances.items()]
