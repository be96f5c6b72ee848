"""Members of a classic group that join, leave or bring something new, together or one by one.

What happens to a group need not meet in one rebalance: of two members that join, one may come when
the first already has its share, and members that leave do so one after another. Each member whose
subscription changes joins again by itself, while the others still come with what they knew. What a
round gave stays. So a strategy that starts from what was before may end differently by who came
with whom: every sequence is played, and the different ends are the outcomes.

Cooperative members of librdkafka and franz-go also find a topic under their pattern one by one,
each by its own metadata; Java's look at the metadata again before they join. Members that join an
empty group are waited for (`group.initial.rebalance.delay.ms`) and come together.

Source: ClassicGroup.canRebalance, GroupMetadataManager.prepareRebalance; librdkafka's
rd_kafka_cgrp_metadata_update_check; franz-go's groupConsumer.findNewAssignments;
ConsumerCoordinator.ensureActivePatternSubscription; KIP-429, KIP-134 (the delay).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from kgroups.assignors.spec import Fault
from kgroups.core.planning.assignor_request import Holdings, Round, next_round
from kgroups.core.planning.leaders.libraries import PYTHON
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.moves import RoundStep, as_shares, ownership
from kgroups.core.planning.outcomes.change_order import (
    FIND_ALONE,
    LEARNS,
    MOST_EVENTS,
    events_of,
    finders_of,
    foreign_topics,
    is_raced,
    later_ones,
    may_be_late,
    without_events,
    without_topics,
)
from kgroups.core.planning.outcomes.missed_rounds import discarders, may_miss, misses
from kgroups.core.planning.outcomes.outcome import Failure, Outcome, Outcomes, Settled
from kgroups.core.planning.roster import Roster
from kgroups.core.planning.settle import MAX_ROUNDS

# Of two members the ends of real groups were always among ours. With more of them rounds in which
# some know the topic and others do not are tied differently by librdkafka in about one of 20 cases.
SURE_FINDERS: Final = 2

KNOWN: Final = 9.0  # how much likelier it is that a leader knows what it has read before
KEPT: Final = 19.0  # that nobody misses a round

# In how many rounds of a rebalance a Java leader may lack topics that it does not read, or members
# may miss what they are given. Each needs a coincidence, three of them one coincidence too many: a
# leader that asked for all topics is up to date for `metadata.max.age.ms`, and a member that was
# late has its answer at once.
LAPSES: Final = 2
RACED_LAPSES: Final = 1  # where several changes race: there are many ways without

# In how many runs a leader's choices are tried in each round, once not every way can be tried.
SAMPLED_RUNS: Final = 8

# And in a round after one that somebody missed.
MISSED_RUNS: Final = 64

# From a group, what it brings, and how many answers of a leader are looked at, to what one round
# gives.
PlayRound = Callable[[Roster, Round, int], Outcomes]


def is_played(roster: Roster, strategy: Strategy) -> bool:
    """Whether rounds are played one by one: what happens between them makes a difference."""
    if strategy.runs_on_broker:
        return False
    late = may_be_late(roster, strategy) or bool(foreign_topics(roster, strategy))
    return late or may_miss(roster, strategy) or is_raced(roster, strategy)


def race_ends(
    roster: Roster, brought: Round, strategy: Strategy, play: PlayRound, rounds: int
) -> Outcomes:
    """Every way in which the group can end, whatever meets in one rebalance.

    Args:
        brought: what the members own before.
        rounds: that are played at most, one for each of the answers that a leader may give.
    """
    events = events_of(roster, strategy)
    foreign, raced = foreign_topics(roster, strategy), is_raced(roster, strategy)
    race = _Race(roster, strategy, len(events), foreign, raced)
    # There is no time to try who of them throws something away in which round.
    race.sampled = raced and bool(discarders(roster, strategy))
    waiting: dict[object, _State] = {}
    sure = is_sure(roster, strategy)
    lapses = 0 if not sure else RACED_LAPSES if raced else LAPSES
    rounds = rounds if sure else rounds // 2  # it will not be complete anyway
    for late, weight in _starts(roster, strategy):
        start = _State(late, brought.held, brought.generation, (), weight, lapses, {})
        _queue(waiting, race.key(start), start)
    seen: set[object] = set()
    while waiting and rounds > 0:
        key = max(waiting, key=lambda key: waiting[key].weight)
        state = waiting.pop(key)
        seen.add(key)
        answers = race.answers
        for after in race.after(state, play, max(rounds, 1)):
            key_after = race.key(after)
            if key_after not in seen:
                _queue(waiting, key_after, after)
        rounds -= max(race.answers - answers, 1)
    if waiting and not race.ends and not race.failures:
        race.follow(max(waiting.values(), key=_nearness), play)
    if not race.ends and not race.failures and race.last is not None:
        last = race.last  # it goes round and round
        end = Settled(as_shares(last.held), last.steps, settled=False)
        race.ends.append(Outcome(end, last.weight))
        race.complete = False
    complete = race.complete and not waiting and sure
    if race.sampled:  # then the same must come of all that were
        complete = complete and len({ownership(end.settled.shares) for end in race.ends}) == 1
    return Outcomes(tuple(race.ends), tuple(race.failures), complete).in_parts()


def is_sure(roster: Roster, strategy: Strategy) -> bool:
    """Whether every way was played, where there is time for it."""
    finders, leader = finders_of(roster, strategy), strategy.leader_client
    if len(events_of(roster, strategy)) > MOST_EVENTS:
        return False
    if leader == "librdkafka" and len(finders) > SURE_FINDERS:
        return False
    # Of those that find topics alone, some were where no way that was played puts them.
    changed = {seat.member.member_id for seat in roster.seats if seat.changed}
    alone = leader in FIND_ALONE and strategy.protocol == "cooperative"
    if not alone and not finders <= changed:
        return False
    # A sarama member begins anew when it comes with other topics, which is not played.
    if leader == "sarama" and strategy.protocol == "cooperative" and finders:
        return False
    # Until the last of them has left, one of another library may lead.
    libraries = roster.evidence.libraries.values()
    return not roster.leavers or leader is None or all(leader in libs for libs in libraries)


@dataclass(frozen=True, slots=True)
class _State:
    """A group between two rounds of a race: what has not come yet, and what is held.

    Args:
        lapses: how often something may still go wrong: the leader does not know topics that it does
            not read, or members miss a round.
        missed: members that have what they were given in an older generation.
    """

    late: frozenset[str]
    held: Mapping[str, Holdings]
    generation: int
    steps: tuple[RoundStep, ...]
    weight: float
    lapses: int
    missed: Mapping[str, int]
    faults: tuple[Fault, ...] = ()


def _nearness(state: _State) -> tuple[bool, float]:
    """Greatest for what is nearest to an end: everything has come, then what is likeliest."""
    return (not state.late, state.weight)


def _queue(waiting: dict[object, _State], key: object, state: _State) -> None:
    """Equal states are one, as likely as both."""
    before = waiting.get(key)
    waiting[key] = state if before is None else replace(before, weight=before.weight + state.weight)


@dataclass(slots=True)
class _Race:
    """A race and what came of it so far; `sampled` if not everybody was tried who may miss a round.

    Args:
        foreign: topics that a leader may not know in a round, one set for each that may lead.
        raced: whether there are so many ways that nobody misses a round in any of them.
        last: the group after the newest round that everybody had come to.
    """

    roster: Roster
    strategy: Strategy
    events: int
    foreign: Sequence[frozenset[str]] = ()
    raced: bool = False
    ends: list[Outcome] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    last: _State | None = None
    complete: bool = True
    answers: int = 0
    sampled: bool = False

    def key(self, state: _State) -> object:
        """Equal for states of which the same comes.

        A Python leader looks at generations only where two members claim the same.
        """
        held = ownership(state.held)
        behind = frozenset((name, state.generation - then) for name, then in state.missed.items())
        if behind and self.strategy.leader_client in PYTHON:
            owned = {(topic, number) for topic, number, _ in held}
            behind = behind if len(owned) < len(held) else frozenset()
        return (state.late, held, state.lapses, behind)

    def after(self, state: _State, play: PlayRound, most: int) -> Iterator[_State]:
        """The states that one more round leads to; where nothing more happens, an end is noted."""
        roster = without_events(self.roster, state.late, self.strategy)
        foreign = self.foreign if state.lapses else ()
        native = replace(state, weight=state.weight * KNOWN / (KNOWN + 1)) if foreign else state
        yield from self._after_round(native, roster, play, most)
        weight = (state.weight - native.weight) / max(len(foreign), 1)
        for unknown in foreign:
            less = without_topics(roster, unknown)
            lapsed = replace(state, weight=weight, lapses=state.lapses - 1)
            yield from self._after_round(lapsed, less, play, most, learns=True)

    def follow(self, state: _State, play: PlayRound) -> None:
        """Play one way on to its end, where there was no time for as much as one of all ways."""
        self.complete = False
        for _ in range(MAX_ROUNDS + self.events + 1):
            states = list(self.after(state, play, SAMPLED_RUNS))
            if self.ends or self.failures or not states:
                return
            state = max(states, key=_nearness)

    def _after_round(
        self,
        state: _State,
        roster: Roster,
        play: PlayRound,
        most: int,
        *,
        learns: bool = False,
    ) -> Iterator[_State]:
        """As `after`, of one roster; `learns` where the leader sees afterwards what is missing."""
        protocol = self.strategy.protocol
        brought = next_round(roster, state.held, state.generation, protocol, state.missed)
        most = most if self.complete else min(most, SAMPLED_RUNS)
        outcomes = play(roster, brought, min(most, MISSED_RUNS) if state.missed else most)
        self.complete = self.complete and outcomes.complete
        self.answers += len(outcomes.each)
        weight = state.weight / max(len(outcomes.each) + len(outcomes.failures), 1)
        self.failures += [replace(failed, weight=weight) for failed in outcomes.failures]
        for settled in (outcome.settled for outcome in outcomes.each):
            steps = state.steps + settled.steps
            faults = tuple(dict.fromkeys((*state.faults, *settled.faults)))
            moved = learns or (protocol == "cooperative" and bool(settled.steps[-1].revoked))
            rests = not moved and not state.late
            after = replace(
                state,
                held=settled.shares,
                generation=state.generation + 1,
                steps=steps,
                weight=weight,
                missed={},
                faults=faults,
            )
            missers = self._missers(after, roster, settled, pressed=learns, rests=rests)
            on_time = replace(after, weight=weight * KEPT / (KEPT + 1)) if missers else after
            ways = [_behind(after, brought, who, len(missers), rests=rests) for who in missers]
            if rests:
                self.ends.append(Outcome(Settled(settled.shares, steps, faults), on_time.weight))
            else:
                ways = [on_time, *ways]
                self.last = self.last if state.late else after
            if len(steps) == MAX_ROUNDS + self.events:
                self.complete = self.complete and rests
                continue
            for way in ways:
                for late, chance in later_ones(state.late, moved=moved):
                    yield replace(way, late=late, weight=way.weight * chance)

    def _missers(
        self, after: _State, roster: Roster, settled: Settled, *, pressed: bool, rests: bool
    ) -> tuple[frozenset[str], ...]:
        """Who may miss the round that led to this state, one set for each way."""
        if not after.lapses or self.raced:
            return ()
        # What only a member makes happen that throws away what it is given is played once, and not
        # where there is no time for everything else.
        if rests and (after.lapses < LAPSES or not self.complete):
            return ()
        pressed = pressed or bool(after.late)
        missers, all_of_them = misses(roster, self.strategy, settled, pressed=pressed, rests=rests)
        self.sampled = self.sampled or not all_of_them
        return missers


def _behind(
    after: _State, brought: Round, who: frozenset[str], ways: int, *, rests: bool
) -> _State:
    """A state, if these members missed the round that led to it.

    Args:
        brought: what the members had before that round.
        ways: in how many ways members may miss it.
        rests: whether nothing would have happened any more: then nobody misses another round.
    """
    had = brought.held if brought.current is None else brought.current
    held = {name: given for name, given in after.held.items() if name not in who}
    held |= {name: had[name] for name in who if name in had}
    missed = {name: brought.missed.get(name, brought.generation) for name in who}
    weight = after.weight / (KEPT + 1) / ways
    return replace(
        after, held=held, missed=missed, lapses=0 if rests else after.lapses - 1, weight=weight
    )


def _starts(roster: Roster, strategy: Strategy) -> list[tuple[frozenset[str], float]]:
    """The events that may still come in the first round, and how likely they are."""
    events = events_of(roster, strategy)
    if is_raced(roster, strategy):
        return later_ones(events, moved=False)
    return later_ones(events & {LEARNS}, moved=True)
