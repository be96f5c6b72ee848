"""How a coordinator takes in what happens to a KIP-848 group: one event after the other.

A member that joins, or changes its subscription, says so in a heartbeat of its own, and each makes
the coordinator compute a new target, which starts from the one before. Within
`group.consumer.assignment.interval.ms` of the last target none is computed, so that some events
may share one. Members that leave, and topics that change, are taken in together, before.

Source: GroupMetadataManager.consumerGroupHeartbeat, updateTargetAssignment; KIP-848.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from kgroups.core.planning.roster import Roster, Seat

# Strategies that start from nothing every time.
WITHOUT_MEMORY: Final = frozenset({"range"})

MOST_SEQUENCES: Final = 75  # those of four different events

# How much likelier a target of its own for every event is than each other sequence.
ONE_BY_ONE: Final = 4.0

Batch = frozenset[str]


@dataclass(frozen=True, slots=True)
class Sequences:
    """In which batches events may be taken in: names of seats; weights sum up to 1.

    Args:
        complete: whether there are no others.
    """

    each: tuple[tuple[tuple[Batch, ...], float], ...]
    complete: bool = True


def sequences(roster: Roster, strategy_name: str) -> Sequences:
    """Every sequence in which a coordinator may take in what happens to this group."""
    events = _events(roster)
    if len(events) < 2 or strategy_name in WITHOUT_MEMORY:
        together = (frozenset(events),) if events else ()
        return Sequences(((together, 1.0),))
    kinds = {seat.member.member_id: _kind(seat) for seat in roster.seats}
    found: list[tuple[Batch, ...]] = []
    complete = True
    for sequence in _batches(tuple(events), kinds):
        if len(found) == MOST_SEQUENCES:
            complete = False
            break
        found.append(sequence)
    weights = [ONE_BY_ONE if len(each) == len(events) else 1.0 for each in found]
    total = sum(weights)
    return Sequences(
        tuple((each, weight / total) for each, weight in zip(found, weights, strict=True)), complete
    )


def _events(roster: Roster) -> list[str]:
    return [seat.member.member_id for seat in roster.seats if seat.joins or seat.changed]


def _kind(seat: Seat) -> object:
    """Equal for members of which it does not matter which one comes first: all ids are tried."""
    if not seat.joins or seat.id_known:
        return seat.member.member_id
    return (seat.member.instance_id, seat.member.rack, seat.topics)


def _batches(events: Sequence[str], kinds: Mapping[str, object]) -> Iterator[tuple[Batch, ...]]:
    """The events in batches, in every order, alike ones in the order given; small batches first."""
    if not events:
        yield ()
        return
    for size in range(1, len(events) + 1):
        for chosen in combinations(events, size):
            left = [name for name in events if name not in chosen]
            if _in_order(chosen, left, events, kinds):
                for rest in _batches(left, kinds):
                    yield (frozenset(chosen), *rest)


def _in_order(
    chosen: Sequence[str], left: Sequence[str], events: Sequence[str], kinds: Mapping[str, object]
) -> bool:
    """Whether no event that is left stands before an alike one that was chosen."""
    place = {name: index for index, name in enumerate(events)}
    return all(
        kinds[later] != kinds[name] or place[name] < place[later]
        for name in chosen
        for later in left
    )


def stages(roster: Roster, batches: Sequence[Batch]) -> Iterator[Roster]:
    """The group each time that the coordinator computes a target.

    Args:
        batches: names of seats whose events are taken in together.
    """
    pending: set[str] = set().union(*batches)
    if pending and _changes_at_once(roster):
        yield _without(roster, pending)
    for batch in batches:
        pending -= batch
        yield _without(roster, pending)
    if not batches:
        yield roster


def _changes_at_once(roster: Roster) -> bool:
    """Whether something happens that is no event of a member that stays or joins."""
    present = [seat for seat in roster.seats if not seat.joins]
    return (
        bool(roster.leavers)
        or roster.topics_changed
        or any(set(seat.topics) != set(seat.read_before) for seat in present if not seat.changed)
    )


def _without(roster: Roster, pending: set[str]) -> Roster:
    """The group while these events have not happened yet."""
    seats = [
        replace(seat, topics=seat.read_before) if seat.member.member_id in pending else seat
        for seat in roster.seats
        if not (seat.joins and seat.member.member_id in pending)
    ]
    return replace(roster, seats=tuple(seats))
