"""What was simulated beside what came: the error of each figure, and whether it may be so large."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tests.support.simulation_truth.carrying_out import Result
from tests.support.simulation_truth.figures import Figures
from tests.support.simulation_truth.rows import PARTITIONS, RATE

# A share of what was simulated, besides the bounds of `FIGURES`.
SHARE: Final = 0.2


@dataclass(frozen=True)
class Measure:
    """A figure that has a size.

    Args:
        unit: of its numbers.
        of: takes it from the figures.
        bound: how far it may be off, besides `SHARE` of it.
    """

    unit: str
    of: Callable[[Figures], float]
    bound: float


MEASURES: Final[Mapping[str, Measure]] = {
    "longest gap": Measure("s", lambda one: one.longest_s, 1.0),
    "unowned, a partition": Measure("s", lambda one: one.unowned_s / PARTITIONS, 1.0),
    "doubled, a partition": Measure("s", lambda one: one.doubled_s / PARTITIONS, 1.0),
    "read again": Measure("records", lambda one: one.read_again, 1.5 * RATE),
    "read while paused": Measure("records", lambda one: one.read_paused, 1.5 * RATE),
}
EXACT: Final[Mapping[str, Callable[[Figures], object]]] = {
    "epochs": lambda one: one.generations,
    "sizes": lambda one: one.sizes,
}


def span(result: Result, name: str) -> tuple[float, float]:
    """The least and the greatest simulated figure."""
    found = [MEASURES[name].of(one) for one in result.simulated]
    return min(found), max(found)


def error(result: Result, name: str) -> float:
    """How far the real figure is from the simulated ones; 0 between two of them."""
    assert result.real is not None
    least, greatest = span(result, name)
    real = MEASURES[name].of(result.real)
    return max(0.0, least - real, real - greatest)


def outside(result: Result) -> tuple[str, ...]:
    """The figures that are further off than they may be."""
    real = result.real
    if real is None:
        return ()
    wrong = [
        name for name, of in EXACT.items() if of(real) not in [of(one) for one in result.simulated]
    ]
    for name, one in MEASURES.items():
        if error(result, name) > one.bound + SHARE * span(result, name)[1]:
            wrong.append(name)
    return tuple(wrong)
