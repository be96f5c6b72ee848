"""Prospects of a group's next rebalance, one for each library that may lead it.

One prospect a strategy: every way in which it can end. The plan shows the likeliest end of the
likeliest leader that does not fail; all of them together say how certain that is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kgroups.assignors.spec import Fault
from kgroups.core.planning.assignor_request import (
    SARAMA,
    Assumed,
    LagByPartition,
    Round,
    first_round,
    library_of,
)
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.planning.leaders.rack_settings import rack_settings
from kgroups.core.planning.leaders.strategies import (
    Strategy,
    chosen_assignor,
    leader_strategies,
    runs_on_broker,
    server_strategy,
)
from kgroups.core.planning.leaders.watching import goes_unnoticed
from kgroups.core.planning.moves import RoundStep, as_shares
from kgroups.core.planning.outcomes.change_order import is_raced
from kgroups.core.planning.outcomes.coordinator_batches import stages
from kgroups.core.planning.outcomes.member_libraries import hides_claims
from kgroups.core.planning.outcomes.outcome import Outcomes, Settled, united_outcomes
from kgroups.core.planning.outcomes.races import is_played, race_ends
from kgroups.core.planning.outcomes.repeats import Sightings
from kgroups.core.planning.outcomes.search import EVERYTHING, Effort, find_outcomes
from kgroups.core.planning.roster import Roster
from kgroups.core.planning.settle import MAX_ANSWERS, MAX_ROUNDS, settle

# How much likelier the library that most speaks for is than each other one that may lead.
LIKELIEST_WEIGHT: Final = 4.0

# How likely it is that nobody notices that topics grow, where it is not known whether the leader
# has restarted since the last rebalance.
UNNOTICED: Final = 1 / 3


@dataclass(frozen=True, slots=True)
class Prospect:
    """The outcomes of one strategy.

    Args:
        raced: whether what happens to the group may come in one rebalance or in several.
        unnoticed: as of `goes_unnoticed`: then nothing happens.
    """

    strategy: Strategy
    outcomes: Outcomes
    raced: bool = False
    unnoticed: bool | None = False


@dataclass(frozen=True, slots=True)
class Prospects:
    """The outcomes of each strategy, the likeliest first, and of all together.

    Args:
        each: never empty.
        reason: why these libraries may lead, half a sentence; None server side.
        leaders: members that may lead then, with what their library can be; None server side.
    """

    each: tuple[Prospect, ...]
    outcomes: Outcomes
    reason: str | None = None
    leaders: Mapping[str, frozenset[str]] | None = None

    @property
    def shown(self) -> Prospect:
        """The likeliest one that does not fail.

        Raises:
            KgroupsError: every one fails.
        """
        for prospect in self.each:
            if prospect.outcomes.each:
                return prospect
        raise self.each[0].outcomes.failures[0].error


def find_prospects(
    roster: Roster,
    lags: LagByPartition,
    *,
    assignor_name: str | None = None,
    leader: str | None = None,
    faithful: bool = False,
    effort: Effort = EVERYTHING,
) -> Prospects:
    """Every way in which the rebalance of this group can end.

    Args:
        assignor_name: strategy to plan with; None: the group's own.
        leader: client library of the leader; None: inferred.
        faithful: repeat what Java's class does wrong.
    Raises:
        UsageError: no such strategy or library.
        KgroupsError: a strategy of the user's own that cannot be loaded.
    """
    group = roster.group
    name = chosen_assignor(group, assignor_name)
    reason, leaders = None, None
    if runs_on_broker(group, name):
        strategies: Sequence[Strategy] = (server_strategy(group, name),)
    else:
        guess = infer_leader(
            roster.evidence,
            leader,
            gone={member.member_id for member in roster.leavers},
            newcomers=[seat.library for seat in roster.seats if seat.joins],
            strategy=name,
        )
        leaders = guess.leaders
        strategies = leader_strategies(
            name,
            guess,
            rack_settings(roster),
            racks_known=bool(roster.broker_racks),
            release=roster.evidence.known.release,
        )
        reason = guess.reason
    effort = effort._replace(runs=max(effort.runs // len(strategies), 1))
    prospects = tuple(_prospect(roster, s, lags, effort, faithful=faithful) for s in strategies)
    weighted = [
        (p.outcomes, 1.0 if place else LIKELIEST_WEIGHT) for place, p in enumerate(prospects)
    ]
    return Prospects(prospects, united_outcomes(weighted), reason, leaders)


def _prospect(
    roster: Roster, strategy: Strategy, lags: LagByPartition, effort: Effort, *, faithful: bool
) -> Prospect:
    brought = first_round(roster, strategy.protocol, strategy.leader_client)
    played = is_played(roster, strategy)
    spoken = {} if strategy.runs_on_broker else _spoken(roster, strategy)
    begun: dict[object, Settled] = {}

    def play(
        seats: Roster,
        held: Round,
        case: Assumed,
        rounds: int = MAX_ROUNDS,
        answers: int = MAX_ANSWERS,
        seen: Sightings | None = None,
    ) -> Outcomes:
        effort.watch()
        assumed = replace(
            case,
            leader=strategy.leader_client,
            libraries={**spoken, **case.libraries},
            lags=lags,
            faithful=faithful,
        )
        return settle(
            strategy.assignor,
            seats,
            held,
            strategy.protocol,
            assumed,
            rounds=rounds,
            answers=answers,
            seen=seen,
        )

    def run(case: Assumed, rounds: int, seen: Sightings) -> Outcomes:
        if strategy.runs_on_broker:
            seen.told = False
            return _in_stages(roster, brought, case, play, begun)
        if played:
            return race_ends(
                roster,
                brought,
                strategy,
                lambda roster, held, answers: play(roster, held, case, 1, answers, seen),
                rounds,
            )
        return play(roster, brought, case, seen=seen)

    if unnoticed := goes_unnoticed(roster, strategy):
        outcomes, raced = _as_it_is(roster), False
    else:
        outcomes = find_outcomes(roster, strategy, run, runs=effort.runs)
        raced = is_raced(roster, strategy)
        if hides_claims(roster, strategy) or goes_on_failing(strategy, outcomes):
            outcomes = replace(outcomes, complete=False)
    if unnoticed is None:
        outcomes = united_outcomes([(outcomes, 1 - UNNOTICED), (_as_it_is(roster), UNNOTICED)])
    return Prospect(strategy, outcomes.led_by(strategy.leader_client), raced, unnoticed)


def goes_on_failing(strategy: Strategy, outcomes: Outcomes) -> bool:
    """Whether a leader may fail that joins again at once, so that the group ends otherwise.

    sarama's `Consume` returns, and applications call it again: what comes then is not played.
    Source: sarama 1.61, consumerGroup.Consume, newSession.
    """
    return strategy.leader_client == SARAMA and bool(outcomes.failures)


def _as_it_is(roster: Roster) -> Outcomes:
    """Nothing happens: everybody keeps what it has."""
    held = {seat.member.member_id: seat.member.assignment or {} for seat in roster.seats}
    return Outcomes.alike([Settled(as_shares(held))])


def _spoken(roster: Roster, strategy: Strategy) -> dict[str, str]:
    """Whose way of saying what it has each member uses that stays."""
    return {
        seat.member.member_id: library_of(seat, roster, strategy.leader_client)
        for seat in roster.seats
        if not seat.joins
    }


def _in_stages(
    roster: Roster,
    brought: Round,
    case: Assumed,
    play: Callable[[Roster, Round, Assumed], Outcomes],
    begun: dict[object, Settled],
) -> Outcomes:
    """The ends of a KIP-848 group whose coordinator computes one target after the other.

    Args:
        begun: what other cases have come to before their last target, by what there was to be seen.
    """
    last: Settled | None = None
    steps: tuple[RoundStep, ...] = ()
    faults: dict[Fault, None] = {}
    names = {drawn: name for name, drawn in case.ids.items()}
    for number, stage in enumerate(stages(roster, case.batches)):
        key = case.until(number)
        start = begun.get(key)
        if start is not None:
            last = start.renamed(case.ids)
        else:
            held = brought if last is None else Round(last.shares, brought.generation)
            ends = play(stage, held, replace(case, orders=case.orders[number : number + 1]))
            if ends.failures:
                return ends
            last = ends.each[0].settled
            if number < len(case.batches) - 1:
                begun[key] = last.renamed(names)
        steps += last.steps
        faults.update(dict.fromkeys(last.faults))
    assert last is not None
    return Outcomes.alike([Settled(last.shares, steps, tuple(faults))])
