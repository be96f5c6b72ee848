"""The ways in which a rebalance can end, and how likely each is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgroups.core.planning.settle import Settled, Shares


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way in which the rebalance can end.

    Args:
        settled: the end; members that join go by their names in the roster.
        share: share of the drawn ids that lead there, 0 to 1.
    """

    settled: Settled
    share: float


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The ways in which the rebalance can end, the likeliest first.

    Args:
        complete: whether every class of drawn ids was run, and none was drawn only once, so
            that there hardly is one that was not drawn at all.
    """

    each: tuple[Outcome, ...]
    complete: bool = True


def united_outcomes(weighted: Sequence[tuple[Outcomes, float]]) -> Outcomes:
    """The ways in which a rebalance can end if any of several strategies may decide it.

    Args:
        weighted: of each strategy the outcomes, and how likely it is to be the one.
    """
    each = [
        replace(outcome, share=outcome.share * weight)
        for outcomes, weight in weighted
        for outcome in outcomes.each
    ]
    return Outcomes(same_ends(each), all(outcomes.complete for outcomes, _ in weighted))


def same_ends(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Equal ends as one, the likeliest first; shares sum up to 1."""
    found: dict[object, Outcome] = {}
    for outcome in outcomes:
        key = canonical(outcome.settled.shares)
        known = found.get(key)
        found[key] = outcome if known is None else replace(known, share=known.share + outcome.share)
    total = sum(outcome.share for outcome in found.values())
    each = [replace(outcome, share=outcome.share / total) for outcome in found.values()]
    return tuple(sorted(each, key=lambda outcome: -outcome.share))


def canonical(shares: Shares) -> object:
    """What two equal ends have in common: who gets which partitions, whatever the order."""
    return frozenset(
        (member, topic, number)
        for member, held in shares.items()
        for topic, numbers in held.items()
        for number in numbers
    )
