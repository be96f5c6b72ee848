"""In which racks brokers place partitions that do not exist yet: every way in which they may.

Replicas are dealt to racks in a circle, so that partitions that are created together depend on each
other. KRaft's controller begins at any rack, in the order of their names, and shuffles the racks
when each broker has led a partition. Controllers of ZooKeeper's time dealt to brokers, one of each
rack in turn, beginning at any of them. A snapshot does not tell which it is: both are tried. All
brokers are taken to be up.

Source: StripedReplicaPlacer.RackList.place (KRaft); AdminUtils.assignReplicasToBrokersRackAware and
.getRackAlternatedBrokerList (ZooKeeper, before Kafka 4).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, permutations, product
from itertools import combinations as subsets
from typing import Final

from kgroups.core.planning.assignor_request import PartitionRacks
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.visible_order import STICKY_FAMILY
from kgroups.core.planning.roster import Roster

Rack = str | None
Placement = tuple[tuple[Rack, ...], ...]

# With more racks there are too many orders to shuffle them into; anything may come of it then.
MOST_SHUFFLED = 5

MOST_PLACEMENTS: Final = 64


def placements(racks: Sequence[Rack], partitions: int, replicas: int) -> Iterator[Placement]:
    """Each different way once: the racks of each partition, in order; the likelier ones first.

    Args:
        racks: of the brokers, in the order of their ids.
        partitions: that are created together.
    """
    seen: set[Placement] = set()
    copies = min(replicas, len(racks))
    for ways in (_striped(racks, partitions, copies), _alternated(racks, partitions, copies)):
        for placement in ways:
            if placement not in seen:
                seen.add(placement)
                yield placement


@dataclass(frozen=True, slots=True)
class _Circle:
    """Where KRaft's controller is with the racks.

    Args:
        offset: the rack that leads next.
        epoch: partitions since racks were shuffled.
        given: for each rack the epoch in which it was asked last, and how many brokers it gave.
            Shuffling forgets neither, so that a rack may have none left for the first partitions.
    """

    order: tuple[Rack, ...]
    offset: int
    epoch: int
    given: Mapping[Rack, tuple[int, int]]


def _striped(racks: Sequence[Rack], partitions: int, replicas: int) -> Iterator[Placement]:
    """As KRaft's controller does."""
    names = tuple(sorted(set(racks), key=_named))
    if partitions > len(racks) > 1 and len(names) > MOST_SHUFFLED:
        sets = [_sorted(racks) for size in range(1, replicas + 1) for racks in subsets(names, size)]
        yield from product(sets, repeat=partitions)
        return
    sizes = {name: racks.count(name) for name in names}
    for start in range(len(names)):
        circle = _Circle(names, start, 0, dict.fromkeys(names, (0, 0)))
        yield from _dealt(circle, sizes, partitions, replicas)


def _dealt(
    circle: _Circle, sizes: Mapping[Rack, int], partitions: int, replicas: int
) -> Iterator[Placement]:
    """All that may follow."""
    if not partitions:
        yield ()
        return
    brokers = sum(sizes.values())
    ways = [circle]
    if circle.epoch == brokers > 1:
        ways = [replace(circle, order=order, epoch=0) for order in permutations(circle.order)]
    for way in ways:
        chosen, after = _place(way, sizes, replicas)
        for rest in _dealt(after, sizes, partitions - 1, replicas):
            yield (chosen, *rest)


def _place(
    circle: _Circle, sizes: Mapping[Rack, int], replicas: int
) -> tuple[tuple[Rack, ...], _Circle]:
    """The racks of one partition: first the leader's, then one after the other from the offset."""
    order, given = circle.order, dict(circle.given)
    offset = circle.offset % len(order)

    def has_one(rack: Rack) -> bool:
        asked, count = given[rack]
        count = count if asked == circle.epoch else 0
        given[rack] = (circle.epoch, min(count + 1, sizes[rack]))
        return count < sizes[rack]

    leads = offset
    while not has_one(order[leads]):
        leads = (leads + 1) % len(order)
    chosen, place, passed = [order[leads]], offset, False
    while len(chosen) < replicas:
        if place == leads and not passed:
            passed = True
        elif has_one(order[place]):
            chosen.append(order[place])
        place = (place + 1) % len(order)
    return _sorted(set(chosen)), _Circle(order, offset + 1, circle.epoch + 1, given)


def _alternated(racks: Sequence[Rack], partitions: int, replicas: int) -> Iterator[Placement]:
    """As controllers did in ZooKeeper's time."""
    brokers = _in_turn(racks)
    count = len(brokers)
    shifts = range(count)
    # Partitions that are added have numbers from any one on: where a multiple of brokers comes.
    crossings = [-at % count for at in range(min(partitions, count))]
    if replicas == 1:
        shifts, crossings = range(1), [0]
    for first in range(count):
        for shift in shifts:
            for crossing in crossings:
                yield tuple(
                    _alternated_one(
                        brokers,
                        (first + number) % count,
                        shift + (number + crossing) // count,
                        replicas,
                    )
                    for number in range(partitions)
                )


def _alternated_one(
    brokers: Sequence[Rack], first: int, shift: int, replicas: int
) -> tuple[Rack, ...]:
    count, all_racks = len(brokers), len(set(brokers))
    chosen, racks = [first], {brokers[first]}
    number = 0
    while len(chosen) < replicas:
        place = (first + 1 + (shift * all_racks + number) % (count - 1)) % count
        number += 1
        crowded = brokers[place] in racks and len(racks) < all_racks
        if place not in chosen and not crowded:
            chosen.append(place)
            racks.add(brokers[place])
    return _sorted(racks)


def _in_turn(racks: Sequence[Rack]) -> list[Rack]:
    """Brokers by their racks: one of each rack in turn, racks in the order of their names."""
    left = {name: racks.count(name) for name in sorted(set(racks), key=_named)}
    dealt: list[Rack] = []
    while any(left.values()):
        for name in left:
            if left[name]:
                left[name] -= 1
                dealt.append(name)
    return dealt


def _named(rack: Rack) -> str:
    """Brokers without a rack come first."""
    return rack or ""


def _sorted(racks: Iterable[Rack]) -> tuple[Rack, ...]:
    return tuple(sorted(racks, key=_named))


def places_new_partitions(roster: Roster, strategy: Strategy) -> bool:
    """Whether it makes a difference in which racks brokers place partitions to come."""
    return len(list(islice(rack_placements(roster, strategy), 2))) > 1


def rack_placements(roster: Roster, strategy: Strategy) -> Iterator[PartitionRacks]:
    """Every way in which brokers may place the partitions that do not exist yet."""
    topics = list(_topic_placements(roster, strategy)) if _looks_at_racks(roster, strategy) else []
    for chosen in product(*topics):
        yield {partition: racks for placed in chosen for partition, racks in placed.items()}


def _looks_at_racks(roster: Roster, strategy: Strategy) -> bool:
    """Whether racks of partitions make a difference to this strategy, for these members."""
    racks = {rack for rack in roster.broker_racks.values() if rack}
    name, library = strategy.assignor.name, strategy.leader_client
    if strategy.runs_on_broker or not any(seat.member.rack in racks for seat in roster.seats):
        return False
    if strategy.balances_racks:
        return True
    if library == "java":
        return name == "range" or name in STICKY_FAMILY
    return library is None or (library == "librdkafka" and name in ("range", "cooperative-sticky"))


def _topic_placements(roster: Roster, strategy: Strategy) -> Iterator[list[PartitionRacks]]:
    """Of each topic with partitions that do not exist yet, every way in which they may be placed.

    All partitions of a topic that is created have as many replicas. To who balances racks those of
    leaders count, which may be any.
    """
    racks = list(roster.broker_racks.values())
    led = [(rack,) for rack in dict.fromkeys(racks)]
    for name in roster.subscribed():
        logs = roster.topics[name].partitions
        new = [(name, n) for n, log in logs.items() if not log.racks and log.leader is None]
        sizes = {len(log.racks) for log in logs.values() if log.racks}
        wanted = sorted({min(size, len(racks)) for size in sizes or range(1, len(racks) + 1)})
        if not new or not racks:
            continue
        placed = (
            product(led, repeat=len(new))
            if strategy.balances_racks
            else chain.from_iterable(placements(racks, len(new), size) for size in wanted)
        )
        choices = (dict(zip(new, chosen, strict=True)) for chosen in placed)
        yield list(islice(choices, MOST_PLACEMENTS + 1))
