"""A search: which settings make an objective smallest, and what it costs to stay as is.

Optuna's tree-structured Parzen estimator proposes, as many at once as `AT_ONCE` says, so that the
path is the same for any number of processes; a space that is no larger than the number of trials
is gone through as a whole. Source: Bergstra et al. 2011.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Final

from kgroups.core.errors import UsageError
from kgroups.core.simulation.engine.refusals import check_scenario
from kgroups.core.simulation.engine.sweep import Task
from kgroups.core.simulation.figures.confidence import compare
from kgroups.core.simulation.figures.figure_fields import values_of
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.scenario.variation import Variation, varied
from kgroups.core.simulation.search.objective import Objective
from kgroups.core.simulation.search.space import Dimension, size_of

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import Trial as Asked

AT_ONCE: Final = 6
# A proposal that was made before costs no run; after so many in a row nothing new is to be had.
MAX_REPEATED: Final = 100
# What the estimator is told of settings that have no value: it goes by ranks.
WORST: Final = 1e300

Runner = Callable[[Sequence[Task]], Iterable[tuple[int, Outcome]]]


@dataclass(frozen=True, slots=True)
class Tried:
    """Settings that were tried.

    Args:
        number: 0 is the scenario as it is.
        value: the objective, of the medians over all runs and added up over groups; None where
            there is none.
        runs: the same of each run by itself.
        refused: why it has no value, as a clause.
    """

    number: int
    variation: Variation
    value: float | None = None
    runs: tuple[float, ...] = ()
    refused: str | None = None
    outcomes: tuple[Outcome, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search.

    Args:
        tried: in order; the scenario as it is comes first.
        best: the least value of all, the first of equal ones.
        as_is_anew, best_anew: the objective of both with seeds that the search has not seen: the
            best of many is partly luck.
        real: whether these differ by more than chance; None with a single run of each.
        whole: whether every combination was tried.
    """

    tried: tuple[Tried, ...]
    best: Tried
    as_is_anew: float | None
    best_anew: float | None
    real: bool | None
    whole: bool


class Search:
    """A search over settings.

    Args:
        trials: how many combinations are tried beside the scenario as it is.
        repeat: seeds of each, from the scenario's on.
        run: carries out tasks, and gives back outcomes in their order.
    """

    def __init__(
        self,
        scenario: Scenario,
        space: Sequence[Dimension],
        objective: Objective,
        *,
        trials: int,
        repeat: int,
        run: Runner,
    ) -> None:
        self._scenario, self._space, self._objective = scenario, tuple(space), objective
        self._trials, self._repeat, self._run = trials, repeat, run
        self._tried: list[Tried] = []

    def carry_out(self) -> Found:
        """Search to the end.

        Raises:
            UsageError: nothing that was tried has a value.
        """
        self._try([{}], self._scenario.seed)
        whole = size_of(self._space) <= self._trials
        if whole:
            names = [dimension.name for dimension in self._space]
            every = product(*(dimension.texts() for dimension in self._space))
            self._try([dict(zip(names, t, strict=True)) for t in every], self._scenario.seed)
        else:
            self._propose()
        valued = [tried for tried in self._tried if tried.value is not None]
        if not valued:
            refused = self._tried[-1].refused
            raise UsageError(f"no settings of the search can be compared: {refused}")
        best = min(valued, key=lambda tried: (_known(tried.value), tried.number))
        tried = tuple(self._tried)
        seed = self._scenario.seed + self._repeat
        as_is, anew = self._evaluate([{}, best.variation], seed)
        many = self._repeat > 1 and as_is.runs and anew.runs
        real = compare(as_is.runs, anew.runs).real if many else None
        return Found(tried, best, as_is.value, anew.value, real, whole)

    def _try(self, variations: Sequence[Variation], seed: int) -> list[Tried]:
        tried = self._evaluate(variations, seed)
        self._tried += tried
        return tried

    def _evaluate(self, variations: Sequence[Variation], seed: int) -> list[Tried]:
        """Run these, all at once."""
        seeds = range(seed, seed + self._repeat)
        tasks: list[Task] = []
        refused: dict[int, str] = {}
        for place, variation in enumerate(variations):
            try:
                variant = varied(self._scenario, variation)
                check_scenario(variant)
            except UsageError as wrong:
                refused[place] = wrong.message
                continue
            tasks += [Task(place, variant, seed) for seed in seeds]
        outcomes: list[list[Outcome]] = [[] for _ in variations]
        for place, outcome in self._run(tasks):
            outcomes[place].append(outcome)
        first = len(self._tried)
        return [
            self._judge(first + place, variation, outcomes[place], refused.get(place))
            for place, variation in enumerate(variations)
        ]

    def _judge(
        self, number: int, variation: Variation, outcomes: Sequence[Outcome], refused: str | None
    ) -> Tried:
        if refused is not None:
            return Tried(number, variation, refused=refused)
        if not all(outcome.settled for outcome in outcomes):
            return Tried(number, variation, refused="it had not settled at the end")
        value = self._value(outcomes)
        if value == inf:
            return Tried(number, variation, refused="the objective has no value")
        runs = tuple(self._value([outcome]) for outcome in outcomes)
        return Tried(number, variation, value, runs, outcomes=tuple(outcomes))

    def _value(self, outcomes: Sequence[Outcome]) -> float:
        groups = zip(*(outcome.groups for outcome in outcomes), strict=True)
        return sum(self._objective.value(values_of(runs)) for runs in groups)

    # ------------------------------------------------------------------ proposals

    def _propose(self) -> None:
        """Ask for proposals and tell what came of them, until there were enough."""
        study = new_study(self._scenario.seed)
        seen: dict[tuple[tuple[str, str], ...], Tried] = {}
        left, repeated = self._trials, 0
        while left and repeated < MAX_REPEATED:
            asked = [study.ask() for _ in range(min(AT_ONCE, left))]
            proposed = [(trial, self._suggest(trial)) for trial in asked]
            new = {_key(v): v for _, v in proposed if _key(v) not in seen}
            for tried in self._try(list(new.values()), self._scenario.seed):
                seen[_key(tried.variation)] = tried
            for trial, variation in proposed:
                value = seen[_key(variation)].value
                study.tell(trial, WORST if value is None else value)
            left -= len(new)
            repeated = 0 if new else repeated + len(asked)

    def _suggest(self, asked: "Asked") -> Variation:
        variation: dict[str, str] = {}
        for dimension in self._space:
            if dimension.choices:
                value: int | str = str(asked.suggest_categorical(dimension.name, dimension.choices))
            elif dimension.wide:
                value = asked.suggest_int(dimension.name, dimension.low, dimension.high, log=True)
            else:
                high = dimension.low + (dimension.size - 1) * dimension.step
                value = asked.suggest_int(dimension.name, dimension.low, high, step=dimension.step)
            variation[dimension.name] = dimension.text(value)
        return variation


def _key(variation: Variation) -> tuple[tuple[str, str], ...]:
    return tuple(variation.items())


def _known(value: float | None) -> float:
    return inf if value is None else value


def new_study(seed: int) -> "Study":
    """A study whose proposals follow from the seed and from what it is told."""
    # Only who searches pays for this import.
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=False, constant_liar=True)
    return optuna.create_study(sampler=sampler)


def improvements(tried: Iterable[Tried]) -> Iterator[Tried]:
    """The path: what was better than everything before it."""
    least = inf
    for trial in tried:
        if trial.value is not None and trial.value < least:
            least = trial.value
            yield trial
