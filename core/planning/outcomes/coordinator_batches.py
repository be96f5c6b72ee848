"""How a coordinator takes in what happens to a KIP-848 group: one event after the other.

A member that joins, or changes its subscription, says so in a heartbeat of its own, and each makes
the coordinator compute a new target, which starts from the one before. Within
`group.consumer.assignment.interval.ms` of the last target none is computed, so that some events
may share one. Members that leave are events, too, where there are several: a session is over when
it is over, and those that stay send heartbeats meanwhile. One that leaves, and topics that change,
are taken in together, before or with the first of them.

A pattern that is new to the group is looked up beside that. Until then its members are there
without topics, and only when it is known there is reason for a target.

Source: GroupMetadataManager.consumerGroupHeartbeat, updateTargetAssignment,
maybeUpdateRegularExpressions; KIP-848.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations, product
from typing import Final

from kgroups.core.planning.roster import Roster, Seat

# Strategies that start from nothing every time.
WITHOUT_MEMORY: Final = frozenset({"range"})

MOST_SEQUENCES: Final = 75  # those of four different events

# How much likelier a target of its own for every event is than each other sequence.
ONE_BY_ONE: Final = 4.0

Batch = frozenset[str]


Weighted = Sequence[tuple[tuple[Batch, ...], float]]


def sequences(roster: Roster, strategy_name: str) -> tuple[Weighted, bool]:
    """Every sequence in which a coordinator may take in what happens to this group.

    Returns:
        Batches of names of seats and patterns, with weights that sum up to 1, and whether these
        are all. A first batch without events: what is no event makes a target of its own.
    """
    events = _events(roster)
    lookups = _lookups(roster)
    at_once = bool(events) and _changes_at_once(roster)
    if len(events) + at_once < 2 or strategy_name in WITHOUT_MEMORY:
        together = (frozenset(events),) if events else ()
        return [(together, 1.0)], True
    kinds = {
        seat.member.member_id: (_known_kind(seat), lookups.get(seat.member.member_id))
        for seat in roster.seats
    }
    every = (*events, *dict.fromkeys(lookups.values()))
    admitted: list[tuple[Batch, ...]] = []
    complete = True
    for sequence in _batches(every, kinds, lookups):
        ways = list(_by_last(sequence, roster))
        ways += [(Batch(), *way) for way in ways] if at_once else []
        if len(admitted) + len(ways) > MOST_SEQUENCES:
            complete = False
            break
        admitted += ways
    most = max(map(len, admitted))
    weights = [ONE_BY_ONE if len(batches) == most else 1.0 for batches in admitted]
    total = sum(weights)
    return [(b, weight / total) for b, weight in zip(admitted, weights, strict=True)], complete


def _events(roster: Roster) -> list[str]:
    events = [seat.member.member_id for seat in roster.seats if seat.joins or seat.changed]
    return events + ([seat.member.member_id for seat in roster.left] if _part(roster) else [])


def _part(roster: Roster) -> bool:
    """Whether several members leave, and not all at the same time."""
    return len(roster.left) > 1


def _lookups(roster: Roster) -> dict[str, str]:
    """Members that come with a pattern that nobody has now, and the event that it is looked up."""
    patterns = {member.subscription_regex for member in roster.group.members or ()}
    return {
        seat.member.member_id: _lookup(seat)
        for seat in roster.seats
        if (seat.joins or seat.changed) and seat.pattern and seat.sent_pattern not in patterns
    }


def _lookup(seat: Seat) -> str:
    return f"pattern {seat.sent_pattern}"


def _by_last(sequence: Sequence[Batch], roster: Roster) -> Iterator[tuple[Batch, ...]]:
    """The sequence for each that may be the last to leave of those that share a target.

    Each leaves by itself, and with the last of them the coordinator looks whether the others are
    alike; it makes a difference where they do not leave the same pattern behind.
    """
    ways: list[list[Batch]] = []
    for batch in sequence:
        patterns = {
            seat.member.subscription_regex: seat.member.member_id
            for seat in roster.left
            if seat.member.member_id in batch
        }
        lasts = [_last(name) for name in patterns.values()] if len(patterns) > 1 else []
        ways.append([batch | {last} for last in lasts] or [batch])
    yield from product(*ways)


def _last(member_id: str) -> str:
    return f"last {member_id}"


def _known_kind(seat: Seat) -> object:
    """Equal for members of which it does not matter which one comes first.

    All their ids are tried, and nobody can tell one from the other.
    """
    return seat.member.member_id if seat.id_known else seat.kind


def _batches(
    events: Sequence[str],
    kinds: Mapping[str, object],
    lookups: Mapping[str, str],
    come: Batch = frozenset(),
) -> Iterator[tuple[Batch, ...]]:
    """The events in batches, in every order, alike ones in the order given; small batches first.

    Args:
        lookups: members whose pattern has to be looked up, and the event that it is.
        come: events taken in before.
    """
    if not events:
        yield ()
        return
    for size in range(1, len(events) + 1):
        for chosen in combinations(events, size):
            left = [name for name in events if name not in chosen]
            so_far = come.union(chosen)
            if _makes_a_target(chosen, so_far, lookups) and _in_order(chosen, left, events, kinds):
                for rest in _batches(left, kinds, lookups, so_far):
                    yield (frozenset(chosen), *rest)


def _makes_a_target(chosen: Sequence[str], come: Batch, lookups: Mapping[str, str]) -> bool:
    """Whether patterns are looked up for somebody, and not all that happens is that some wait."""
    asked = {lookup for name, lookup in lookups.items() if name in come}
    if any(name in lookups.values() and name not in asked for name in chosen):
        return False
    return any(lookups.get(name, name) in come for name in chosen)


def _in_order(
    chosen: Sequence[str], left: Sequence[str], events: Sequence[str], kinds: Mapping[str, object]
) -> bool:
    """Whether no event that is left stands before an alike one that was chosen."""
    place = {name: index for index, name in enumerate(events)}
    return all(
        kinds.get(later, later) != kinds.get(name, name) or place[name] < place[later]
        for name in chosen
        for later in left
    )


def stages(roster: Roster, batches: Sequence[Batch]) -> Iterator[Roster]:
    """The group each time that the coordinator computes a target; `left` are those who just did.

    Args:
        batches: names of seats, and lookups of patterns, that are taken in together, with who of
            them is the last to leave.
    """
    pending: set[str] = set().union(*batches)
    gone: set[str] = set()
    for batch in batches:
        pending -= batch
        stage = before(roster, pending)
        left = [seat for seat in stage.left if seat.member.member_id not in gone]
        last = [seat for seat in left if _last(seat.member.member_id) in batch]
        yield replace(stage, left=tuple(last or left))
        gone.update(seat.member.member_id for seat in left)
    if not batches:
        yield roster


def _changes_at_once(roster: Roster) -> bool:
    """Whether something happens that is no event of a member that stays or joins."""
    present = [seat for seat in roster.seats if not seat.joins]
    return (
        (bool(roster.left) and not _part(roster))
        or roster.topics_changed
        or any(set(seat.topics) != set(seat.read_before) for seat in present if not seat.changed)
    )


def before(roster: Roster, pending: Set[str]) -> Roster:
    """The group while these events, ids of members among them, have not happened yet."""
    left = tuple(seat for seat in roster.left if seat.member.member_id not in pending)
    listed = {member.member_id: at for at, member in enumerate(roster.group.members or ())}
    present = [*roster.seats, *(seat for seat in roster.left if seat not in left)]
    seats = []
    for seat in sorted(present, key=lambda seat: listed.get(seat.member.member_id, len(listed))):
        if seat.member.member_id not in pending:
            waits = seat.pattern is not None and _lookup(seat) in pending
            seats.append(replace(seat, topics=()) if waits else seat)
        elif not seat.joins:
            seats.append(replace(seat, topics=seat.read_before, changed=False))
    return replace(roster, seats=tuple(seats), left=left)
