"""Members that learn of a new topic one after another, with a rebalance in between.

Seen with librdkafka's cooperative members: each finds a topic under its pattern by its own
metadata and joins again, while the others still come with what they knew; what such a round gave
stays. So the end depends on who found the topic first, and on who found it between two rounds:
every order is played, and the different ends are the outcomes.

Source: librdkafka's rd_kafka_cgrp_metadata_update_check; KIP-429.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from kgroups.core.planning.assignor_request import Round
from kgroups.core.planning.moves import RoundStep
from kgroups.core.planning.outcomes.outcome import Outcome, Outcomes, canonical, same_ends
from kgroups.core.planning.roster import Roster
from kgroups.core.planning.settle import MAX_ROUNDS, Settled

# Rounds that are played at most.
MOST_ROUNDS: Final = 3_000

# Of two members the ends of real groups were always among ours. With more of them rounds in which
# some know the topic and others do not are tied differently by librdkafka in about one of 20 cases.
SURE_FINDERS: Final = 2

# From a group and what it brings to what one round gives.
PlayRound = Callable[[Roster, Round], Settled]


def finders_of(roster: Roster) -> tuple[str, ...]:
    """Ids of the members whose pattern stands for more topics than they now subscribe to."""
    return tuple(
        seat.member.member_id
        for seat in roster.seats
        if not seat.joins
        and seat.pattern is not None
        and not set(seat.topics) <= set(seat.member.subscription or ())
    )


def race_outcomes(roster: Roster, brought: Round, play: PlayRound) -> Outcomes:
    """Every way in which the group can end, whoever of its members finds the topics first.

    Args:
        brought: what the members own before.
        play: one round of the rebalance.
    """
    finders = frozenset(finders_of(roster))
    known = {seat.member.member_id: seat.member.subscription or () for seat in roster.seats}
    ends: list[Outcome] = []
    seen: set[object] = set()
    # What still may happen: who is unaware, what is held, the rounds so far, how likely it is.
    open_: list[_State] = [_State(late, brought, (), 1.0) for late in _later(finders, moved=False)]
    rounds = 0
    while open_ and rounds < MOST_ROUNDS:
        state = open_.pop(0)
        rounds += 1
        settled = play(_still_unaware(roster, state.late, known), state.held)
        steps = state.steps + settled.steps
        moved = bool(settled.steps[-1].revoked)
        if not moved and not state.late:
            ends.append(Outcome(Settled(settled.shares, steps, settled.faults), state.share))
            continue
        if len(steps) == MAX_ROUNDS:
            continue
        held = Round(settled.shares, state.held.generation + 1)
        for late in _later(state.late, moved=moved):
            key = (late, canonical(settled.shares))
            if key not in seen:
                seen.add(key)
                open_.append(_State(late, held, steps, state.share / 2))
    return Outcomes(same_ends(ends), complete=not open_ and len(finders) <= SURE_FINDERS)


@dataclass(frozen=True, slots=True)
class _State:
    """A group between two rounds of a race."""

    late: frozenset[str]
    held: Round
    steps: tuple[RoundStep, ...]
    share: float


def _later(late: frozenset[str], *, moved: bool) -> Iterator[frozenset[str]]:
    """Who may still be unaware in the next round: all at once first.

    Args:
        moved: whether there is a next round even if nobody finds anything.
    """
    for size in range(len(late) + (1 if moved else 0)):
        yield from map(frozenset, combinations(sorted(late), size))


def race_notes(outcomes: Outcomes) -> list[str]:
    """What is to be said of such outcomes."""
    if not outcomes.complete:
        return [
            "librdkafka members find a new topic one after another, and what each gets depends on"
            " the order: the outcomes are the likely ones, not all there are"
        ]
    if len(outcomes.each) < 2:
        return []
    return [
        "librdkafka members find a new topic one after another, and what each gets depends on the"
        f" order: {len(outcomes.each)} outcomes are possible, shown is one of them"
    ]


def _still_unaware(
    roster: Roster, late: frozenset[str], known: Mapping[str, tuple[str, ...]]
) -> Roster:
    """The group while some of its members do not know the new topics yet."""
    seats = tuple(
        replace(seat, topics=known[seat.member.member_id])
        if seat.member.member_id in late
        else seat
        for seat in roster.seats
    )
    return replace(roster, seats=seats)
