"""Members that come with something new one after another, with a rebalance in between.

Each member whose subscription changes joins again by itself, while the others still come with
what they knew; what such a round gave stays. So a strategy that starts from what was before may
end differently by who was first: every order is played, and the different ends are the outcomes.
librdkafka's cooperative members also find a topic under their pattern one by one, each by its own
metadata; Java's look at the metadata again before they join.

Source: librdkafka's rd_kafka_cgrp_metadata_update_check; ConsumerCoordinator
.ensureActivePatternSubscription; KIP-429.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from kgroups.core.planning.assignor_request import Holdings, Round, next_round
from kgroups.core.planning.leaders.strategies import COOPERATIVE, Strategy
from kgroups.core.planning.moves import RoundStep
from kgroups.core.planning.outcomes.outcome import (
    Failure,
    Outcome,
    Outcomes,
    canonical,
    gathered,
)
from kgroups.core.planning.outcomes.visible import STICKY_FAMILY
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.planning.settle import MAX_ROUNDS, Ends, Settled

# Rounds that are played at most.
MOST_ROUNDS: Final = 1_000

# Of two members the ends of real groups were always among ours. With more of them rounds in which
# some know the topic and others do not are tied differently by librdkafka in about one of 20 cases.
SURE_FINDERS: Final = 2

# From a group and what it brings to what one round gives.
PlayRound = Callable[[Roster, Round], Ends]


def finders_of(roster: Roster, strategy: Strategy) -> frozenset[str]:
    """Ids of the members that come with something new, each in its own time."""
    alone = strategy.leader_client == "librdkafka" and strategy.assignor.name in COOPERATIVE
    return frozenset(
        seat.member.member_id
        for seat in roster.seats
        if not seat.joins and (seat.changed or (alone and _finds(seat)))
    )


def _finds(seat: Seat) -> bool:
    """Whether its pattern stands for more topics than it now subscribes to."""
    known = set(seat.member.subscription or ())
    return seat.pattern is not None and not set(seat.topics) <= known


def is_raced(roster: Roster, strategy: Strategy) -> bool:
    """Whether it matters which member comes first with what is new, and all ids are known."""
    return (
        strategy.protocol != "consumer"
        and (strategy.assignor.name in STICKY_FAMILY or _fails_in_between(strategy))
        and len(finders_of(roster, strategy)) > 1
        and all(seat.id_known or not seat.joins for seat in roster.seats)
    )


def _fails_in_between(strategy: Strategy) -> bool:
    """Whether the leader fails while some come with what is new and others do not."""
    return strategy.leader_client == "kafka-python" and strategy.assignor.name == "roundrobin"


def race_outcomes(roster: Roster, brought: Round, strategy: Strategy, play: PlayRound) -> Outcomes:
    """Every way in which the group can end, whichever of its members comes first.

    Args:
        brought: what the members own before.
        play: one round of the rebalance.
    """
    finders = finders_of(roster, strategy)
    known = {seat.member.member_id: seat.member.subscription or () for seat in roster.seats}
    race = _Race(roster, strategy, known, [], [])
    open_ = [
        _State(late, brought.held, brought.generation, (), 1.0)
        for late in _later(finders, moved=False)
    ]
    seen: set[object] = set()
    rounds = 0
    complete = True
    last: _State | None = None
    while open_ and rounds < MOST_ROUNDS:
        state = open_.pop(0)
        rounds += 1
        for after in race.after(state, play):
            last = after
            if len(after.steps) == MAX_ROUNDS:
                complete = False
                continue
            key = (after.late, canonical(after.held))
            if key not in seen:
                seen.add(key)
                open_.append(after)
    if last is not None and not race.ends and not race.failures:  # it goes round and round
        shares = {
            member: {topic: tuple(numbers) for topic, numbers in topics.items()}
            for member, topics in last.held.items()
        }
        race.ends.append(Outcome(Settled(shares, last.steps, (), settled=False), last.share))
        complete = False
    alone = strategy.leader_client == "librdkafka"
    # A sarama member begins anew when it comes, which is not played.
    anew = strategy.leader_client == "sarama" and strategy.protocol == "cooperative"
    sure = (len(finders) <= SURE_FINDERS or not alone) and not anew
    return gathered(race.ends, race.failures, complete=complete and sure and not open_)


@dataclass(frozen=True, slots=True)
class _State:
    """A group between two rounds of a race: who still comes with what it knew, and what is held."""

    late: frozenset[str]
    held: Mapping[str, Holdings]
    generation: int
    steps: tuple[RoundStep, ...]
    share: float


@dataclass(frozen=True, slots=True)
class _Race:
    """A race and what came of it so far."""

    roster: Roster
    strategy: Strategy
    known: Mapping[str, tuple[str, ...]]
    ends: list[Outcome]
    failures: list[Failure]

    def after(self, state: _State, play: PlayRound) -> Iterator[_State]:
        """The states that one more round leads to; where nothing more happens, an end is noted."""
        protocol = self.strategy.protocol
        roster = _still_unaware(self.roster, state.late, self.known)
        found = play(roster, next_round(roster, state.held, state.generation, protocol))
        for failed in found.failures:
            self.failures.append(Failure(failed.message, state.share, failed))
        for settled in found.each:
            steps = state.steps + settled.steps
            moved = protocol == "cooperative" and bool(settled.steps[-1].revoked)
            if not moved and not state.late:
                end = Settled(settled.shares, steps, settled.faults)
                self.ends.append(Outcome(end, state.share))
                continue
            for late in _later(state.late, moved=moved):
                yield _State(late, settled.shares, state.generation + 1, steps, state.share / 2)


def _later(late: frozenset[str], *, moved: bool) -> Iterator[frozenset[str]]:
    """Who may still be unaware in the next round: all at once first.

    Args:
        moved: whether there is a next round even if nobody comes with anything.
    """
    for size in range(len(late) + (1 if moved else 0)):
        yield from map(frozenset, combinations(sorted(late), size))


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
