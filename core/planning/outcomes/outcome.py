"""The ways in which a rebalance can end, the likeliest first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from kgroups.assignors.spec import Fault
from kgroups.core.errors import KgroupsError
from kgroups.core.planning.moves import RoundStep, Shares, ownership

# What differs less is equally likely: weights are products of many fractions.
DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class Settled:
    """The end of a rebalance.

    Args:
        shares: member id to topic to partitions, in the strategy's order.
        steps: one entry a round.
        faults: what a Java leader would do wrong with this group.
        settled: False if the group was still moving when it was given up.
    """

    shares: Shares
    steps: tuple[RoundStep, ...] = ()
    faults: tuple[Fault, ...] = ()
    settled: bool = True

    def renamed(self, names: Mapping[str, str]) -> "Settled":
        """The same end with some members under another name."""
        return Settled(
            {names.get(member, member): held for member, held in self.shares.items()},
            tuple(step.renamed(names) for step in self.steps),
            self.faults,
            self.settled,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way in which the rebalance can end.

    Args:
        settled: the end; members that join go by their names in the roster.
        weight: how likely it is taken to be, 0 to 1. Nobody measured the odds of most of what makes
            the difference, so it only ranks outcomes.
        leaders: client libraries whose leader would end there; empty server side.
        ids: ids of members that join, with which it ends so: name in the roster to id.
        more_ids: others with which it does, that strategies can tell from these.
    """

    settled: Settled
    weight: float
    leaders: tuple[str, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict, compare=False)
    more_ids: tuple[Mapping[str, str], ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """A way in which the rebalance fails: the leader cannot assign.

    Args:
        weight, leaders: as of an `Outcome`.
        error: what is raised where nothing else can happen.
    """

    error: KgroupsError = field(compare=False)
    weight: float
    leaders: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The failure, one sentence."""
        return self.error.message


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The ways in which the rebalance can end, the likeliest first; weights sum up to 1.

    Args:
        complete: whether there are no others.
    """

    each: tuple[Outcome, ...] = ()
    failures: tuple[Failure, ...] = ()
    complete: bool = True

    @property
    def weights(self) -> list[float]:
        """Of each outcome, then of each failure."""
        return [end.weight for end in self.each] + [failure.weight for failure in self.failures]

    def ranks(self) -> list[int]:
        """1 for the likeliest; of each outcome, then of each failure, among all of them.

        Equally likely ones have the same rank.
        """
        weights = [round(weight, DIGITS) for weight in self.weights]
        first: dict[float, int] = {}
        for rank, weight in enumerate(sorted(weights, reverse=True), 1):
            first.setdefault(weight, rank)
        return [first[weight] for weight in weights]

    @property
    def ends(self) -> frozenset[object]:
        """The different ends, without the failures."""
        return frozenset(ownership(outcome.settled.shares) for outcome in self.each)

    @staticmethod
    def alike(
        ends: Iterable[Settled], failures: Iterable[KgroupsError] = (), *, complete: bool = True
    ) -> "Outcomes":
        """Ends and failures of which each is as likely as the others."""
        ends, failures = tuple(ends), tuple(failures)
        weight = 1 / max(len(ends) + len(failures), 1)
        return Outcomes(
            tuple(Outcome(end, weight) for end in ends),
            tuple(Failure(error, weight) for error in failures),
            complete,
        )

    def in_parts(self) -> "Outcomes":
        """The same with weights that sum up to 1."""
        total = sum(self.weights) or 1.0
        return replace(
            self,
            each=tuple(replace(end, weight=end.weight / total) for end in self.each),
            failures=tuple(replace(fail, weight=fail.weight / total) for fail in self.failures),
        )

    def led_by(self, library: str | None) -> "Outcomes":
        """The same, as the outcomes of a leader of this library."""
        leaders = () if library is None else (library,)
        return replace(
            self,
            each=tuple(replace(outcome, leaders=leaders) for outcome in self.each),
            failures=tuple(replace(failure, leaders=leaders) for failure in self.failures),
        )


End = TypeVar("End", Outcome, Failure)


def united_outcomes(weighted: Sequence[tuple[Outcomes, float]]) -> Outcomes:
    """The ways in which a rebalance can end if any of several strategies may decide it.

    Args:
        weighted: of each strategy the outcomes, and how likely it is to be the one.
    """
    return gathered(
        [
            replace(outcome, weight=outcome.weight * weight)
            for outcomes, weight in weighted
            for outcome in outcomes.each
        ],
        [
            replace(failure, weight=failure.weight * weight)
            for outcomes, weight in weighted
            for failure in outcomes.failures
        ],
        complete=all(outcomes.complete for outcomes, _ in weighted),
    )


def gathered(
    outcomes: Iterable[Outcome], failures: Iterable[Failure] = (), *, complete: bool
) -> Outcomes:
    """Equal ends as one, the likeliest first, with shares that sum up to 1."""
    alike: dict[object, _Alike] = {}
    ends: dict[int, tuple[Settled, object]] = {}  # many outcomes may have one
    for outcome in outcomes:
        settled = outcome.settled
        _, key = ends.get(id(settled), (None, None))
        if key is None:
            key = ownership(settled.shares)
            ends[id(settled)] = settled, key
        alike.setdefault(key, _Alike(outcome)).add(outcome)
    failed: dict[str, Failure] = {}
    for failure in failures:
        before = failed.get(failure.message)
        failed[failure.message] = failure if before is None else _with(before, failure)
    weights = [g.weight for g in alike.values()] + [group.weight for group in failed.values()]
    total = sum(weights) or 1.0
    return Outcomes(
        _ranked(group.united(total) for group in alike.values()),
        _ranked(replace(failure, weight=failure.weight / total) for failure in failed.values()),
        complete,
    )


class _Alike:
    """Outcomes with equal ends, of which the first one stands for all."""

    def __init__(self, first: Outcome) -> None:
        self.first = first
        self.weight = 0.0
        self.leaders: dict[str, None] = {}
        self.ids: dict[frozenset[tuple[str, str]], Mapping[str, str]] = {}

    def add(self, outcome: Outcome) -> None:
        """One more."""
        self.weight += outcome.weight
        self.leaders.update(dict.fromkeys(outcome.leaders))
        for ids in (outcome.ids, *outcome.more_ids):
            self.ids.setdefault(frozenset(ids.items()), ids)

    def united(self, total: float) -> Outcome:
        """All of them as one; weights are parts of the total."""
        _, *more = self.ids.values()
        return replace(
            self.first,
            weight=self.weight / total,
            leaders=tuple(self.leaders),
            more_ids=tuple(more),
        )


def _with(failure: Failure, other: Failure) -> Failure:
    leaders = tuple(dict.fromkeys((*failure.leaders, *other.leaders)))
    return replace(failure, weight=failure.weight + other.weight, leaders=leaders)


def _ranked(ends: Iterable[End]) -> tuple[End, ...]:
    return tuple(sorted(ends, key=lambda end: -end.weight))
