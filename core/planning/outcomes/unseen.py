"""What only leaders see: racks of partitions to come, and what Python clients know.

Brokers place new partitions at random, so that strategies that look at racks may do any of several
things. A leader of a Python client takes equal subscriptions for different ones where members name
their topics in different orders, which their sets decide, or where it knows a topic that nobody
subscribes to, as one that subscribes by a pattern does.

Source: StripedReplicaPlacer; kafka-python 3.0.12 and aiokafka 0.14,
_are_subscriptions_identical of their sticky assignors.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Final

from kgroups.assignors.spec import TopicPartition
from kgroups.core.planning.assignor_request import PartitionRacks
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.visible import STICKY_FAMILY
from kgroups.core.planning.roster import Roster

PYTHON: Final = frozenset({"kafka-python", "aiokafka"})
UNLIKE_WEIGHT: Final = 0.25
MOST_PLACEMENTS: Final = 64


@dataclass(frozen=True, slots=True)
class Unseen:
    """One of the things that may be.

    Args:
        unlike, racks: as of `build_request`.
        weight: how likely it is.
    """

    unlike: bool
    racks: PartitionRacks
    weight: float


def unseen(roster: Roster, strategy: Strategy) -> tuple[list[Unseen], bool]:
    """Everything that may be, and whether that is all."""
    likeness = [(False, 1.0)]
    if strategy.leader_client in PYTHON and strategy.assignor.name in STICKY_FAMILY:
        likeness = [(False, 1 - UNLIKE_WEIGHT), (True, UNLIKE_WEIGHT)]
    placements = list(islice(_placements(roster, strategy), MOST_PLACEMENTS + 1))
    complete = len(placements) <= MOST_PLACEMENTS
    placements = placements[:MOST_PLACEMENTS]
    return [
        Unseen(unlike, racks, weight / len(placements))
        for (unlike, weight), racks in product(likeness, placements)
    ], complete


def places_new_partitions(roster: Roster, strategy: Strategy) -> bool:
    """Whether it makes a difference in which racks brokers place partitions to come."""
    return len(list(islice(_placements(roster, strategy), 2))) > 1


def _placements(roster: Roster, strategy: Strategy) -> Iterator[PartitionRacks]:
    """Every way in which brokers may place the partitions that do not exist yet."""
    added = dict(_added(roster)) if _looks_at_racks(roster, strategy) else {}
    for chosen in product(*added.values()):
        yield dict(zip(added, chosen, strict=True))


def _looks_at_racks(roster: Roster, strategy: Strategy) -> bool:
    """Whether racks of partitions make a difference to this strategy, for these members."""
    known = {rack for rack in roster.broker_racks if rack}
    name, library = strategy.assignor.name, strategy.leader_client
    if strategy.runs_on_broker or not any(seat.member.rack in known for seat in roster.seats):
        return False
    if library == "java":
        return name == "range" or name in STICKY_FAMILY
    return library is None or (library == "librdkafka" and name == "range")


def _added(
    roster: Roster,
) -> Iterator[tuple[TopicPartition, list[tuple[str | None, ...]]]]:
    """Partitions that do not exist yet, each with the racks that its replicas may be in."""
    racks = sorted(set(roster.broker_racks), key=str)
    for name in roster.subscribed():
        logs = roster.topics[name].partitions
        sizes = {len(log.racks) for log in logs.values() if log.racks}
        wanted = {min(size, len(racks)) for size in sizes or range(1, len(racks) + 1)}
        options = [chosen for size in sorted(wanted) for chosen in combinations(racks, size)]
        for number, log in logs.items():
            if not log.racks and log.leader is None and options:
                yield (name, number), options
