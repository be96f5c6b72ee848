"""The search of a plan: everything that may be is played, and the different ends are its outcomes.

What may be is the product of what cannot be known: ids of newcomers and new topics, with the order
in which a coordinator takes members in (`draws`), and what only leaders see: libraries of members,
racks to come, and what a Python client knows. It takes equal subscriptions for different ones where
members name their topics in different orders, which their sets decide, or where it knows a topic
that nobody subscribes to, as one that subscribes by a pattern does.

Source: kafka-python 3.0.12 and aiokafka 0.14, _are_subscriptions_identical of their sticky
assignors.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Final, NamedTuple

from kgroups.core.errors import KgroupsError
from kgroups.core.planning.assignor_request import Assumed
from kgroups.core.planning.leaders.libraries import PYTHON
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.draws import broker_draws, member_draws
from kgroups.core.planning.outcomes.member_libraries import MOST_LIBRARIES, hidden_libraries
from kgroups.core.planning.outcomes.outcome import Failure, Outcome, Outcomes, gathered
from kgroups.core.planning.outcomes.partition_racks import MOST_PLACEMENTS, rack_placements
from kgroups.core.planning.outcomes.repeats import Remembered, Sightings
from kgroups.core.planning.outcomes.visible_order import STICKY_FAMILY
from kgroups.core.planning.roster import Roster, Seat

MAX_RUNS: Final = 256
LOOKS: Final = 4  # times as many are looked at: as a rule most come to what was played already
BROKER_RUNS: Final = 2  # times as many: a run is one assignment, and there are more orders
LEAST_RUNS: Final = 4
RUN_BUDGET: Final = 400_000  # members + partitions, all runs together
MOST_ROUNDS: Final = 4_000  # of all races together
LEAST_ROUNDS: Final = 8  # of each
UNLIKE_WEIGHT: Final = 0.25
LEADERS_OWN_WEIGHT: Final = 4.0


class Effort(NamedTuple):
    """How much of what may be is played.

    Args:
        runs: cases at most.
        watch: called before each; what it raises ends the search.
    """

    runs: int = MAX_RUNS
    watch: Callable[[], None] = lambda: None


EVERYTHING: Final = Effort()


# From assumed ids, and how many rounds may be played, to the ends, keyed by those ids; what has
# decided the rounds is told.
PlayDraw = Callable[[Assumed, int, Sightings], Outcomes]


def find_outcomes(
    roster: Roster, strategy: Strategy, run: PlayDraw, *, runs: int = MAX_RUNS
) -> Outcomes:
    """Every way in which a rebalance with this roster can end under one strategy.

    Args:
        runs: how many classes of ids are run at most; those of which it is known what comes do not
            count.
    """
    unknown = roster.newcomers
    drawn = broker_draws if strategy.runs_on_broker else member_draws
    draws, complete = drawn(roster, strategy, unknown)
    hidden, all_hidden = unseen(roster, strategy)
    complete = complete and all_hidden
    ranked = sorted(product(draws, hidden), key=lambda pair: -pair[0].weight * pair[1].weight)
    size = len(roster.seats) + sum(
        len(roster.topics[name].partitions) for name in roster.subscribed()
    )
    most = runs * BROKER_RUNS if strategy.runs_on_broker else runs
    allowed = max(LEAST_RUNS, min(most, RUN_BUDGET // max(size, 1)))
    outcomes: list[Outcome] = []
    failures: list[Failure] = []
    rounds = max(LEAST_ROUNDS, min(MOST_ROUNDS, 16 * allowed) // max(min(len(ranked), allowed), 1))
    remembered: Remembered[Outcomes] = Remembered(roster)
    libraries: dict[str, frozenset[str]] = {}
    for extra in hidden:
        for member, name in extra.libraries.items():
            libraries[member] = libraries.get(member, frozenset()) | {name}
    left = allowed
    for number, (draw, extra) in enumerate(ranked):
        if number == LOOKS * allowed or (number >= allowed and not complete):
            complete = False  # more than a sample is of use only where nothing will be missing
            break
        besides = extra.unlike, tuple(extra.racks.items())
        played = remembered.of(draw.ids, extra.libraries, besides)
        if played is None and left == 0:
            complete = False
            break
        if played is None:
            left -= 1
            seen = Sightings(draw.ids, extra.libraries, dict(libraries))
            case = replace(draw, unlike=extra.unlike, racks=extra.racks, libraries=extra.libraries)
            played = run(case, rounds, seen)
            named = (_named(end, draw.ids, unknown) for end in played.each)
            played = replace(played, each=tuple(named))
            remembered.add(seen, besides, played)
        complete = complete and played.complete
        weight = draw.weight * extra.weight
        outcomes += [
            replace(
                end, weight=weight * end.weight, ids={n: draw.ids[o] for n, o in end.ids.items()}
            )
            for end in played.each
        ]
        for failed in played.failures:
            error = _told_by_name(failed.error, draw.ids)
            failures.append(Failure(error, weight * failed.weight))
    return gathered(outcomes, failures, complete=complete)


def unseen(roster: Roster, strategy: Strategy) -> tuple[list[Assumed], bool]:
    """Facts that only leaders see: everything that they may be, and whether that is all."""
    likeness = [(False, 1.0)]
    if strategy.leader_client in PYTHON and strategy.assignor.name in STICKY_FAMILY:
        likeness = [(False, 1 - UNLIKE_WEIGHT), (True, UNLIKE_WEIGHT)]
    placements = list(islice(rack_placements(roster, strategy), MOST_PLACEMENTS + 1))
    libraries = list(islice(hidden_libraries(roster, strategy), MOST_LIBRARIES + 1))
    complete = len(placements) <= MOST_PLACEMENTS and len(libraries) <= MOST_LIBRARIES
    placements, libraries = placements[:MOST_PLACEMENTS], libraries[:MOST_LIBRARIES]
    weights = [1.0 if place else LEADERS_OWN_WEIGHT for place in range(len(libraries))]
    return [
        Assumed(
            unlike=unlike,
            racks=racks,
            libraries=named,
            weight=weight * share / sum(weights) / len(placements),
        )
        for (unlike, weight), racks, (named, share) in product(
            likeness, placements, zip(libraries, weights, strict=True)
        )
    ], complete


def _named(outcome: Outcome, ids: Mapping[str, str], unknown: Sequence[Seat]) -> Outcome:
    """The outcome by names in the roster: members that are alike in the order of their shares.

    Args:
        ids: name of a member that joins to its assumed id.
        unknown: the members whose ids are assumed.
    Returns:
        For ids it has the names whose assumed ids members have then.
    """
    settled = outcome.settled
    whose = {name: name for name in ids}
    kinds: dict[object, list[str]] = {}
    for seat in unknown:
        kinds.setdefault(seat.kind, []).append(seat.member.member_id)
    for alike in kinds.values():
        # Which of two equal newcomers gets which share means nothing: the first gets the first.
        ordered = sorted(alike, key=lambda name: _share_key(settled.shares[ids[name]]))
        whose.update(zip(alike, ordered, strict=True))
    names = {ids[other]: name for name, other in whose.items()}
    return replace(outcome, settled=settled.renamed(names), ids=whose)


def _share_key(held: Mapping[str, Sequence[int]]) -> tuple[object, ...]:
    pairs = sorted((topic, number) for topic, numbers in held.items() for number in numbers)
    return (not pairs, pairs)


def _told_by_name(error: KgroupsError, ids: Mapping[str, str]) -> KgroupsError:
    """The error, of members that join by their names: nobody knows the ids that were drawn.

    Args:
        ids: name in the roster to id.
    """
    message = error.message
    for name, drawn in ids.items():
        message = message.replace(drawn, name)
    named = KgroupsError(message, hint=error.hint, code=error.code)
    named.__cause__ = error.__cause__
    return named
