"""How sure the figures of several runs are: percentiles, intervals, and which differences are real.

Runs with different seeds are samples. The interval of a median is that of order statistics, two
variations are compared by ranks, so nothing is assumed about how a figure is distributed.
Sources: the sign-test interval of a median; Mann and Whitney 1947 with the correction for ties;
Noether 1987 for the number of runs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, comb, erfc, sqrt
from typing import Final

LEVEL: Final = 0.95
# Deviations of the normal distribution: 5 % error on two sides, 80 % chance to find what is there.
Z_LEVEL: Final = 1.959964
Z_POWER: Final = 0.841621
# A difference that it takes more runs to see than these is none.
MOST_RUNS: Final = 10_000


def median(values: Sequence[int]) -> int:
    """The middle one; of an even number the lower middle one, which did happen."""
    return sorted(values)[(len(values) - 1) // 2]


def percentile(values: Sequence[int], share: float) -> int:
    """The least value that this share of the runs does not exceed (nearest rank)."""
    return sorted(values)[max(0, ceil(round(share * len(values), 9)) - 1)]


def interval(values: Sequence[int]) -> tuple[int, int] | None:
    """Between which values the median of all possible runs is, in 95 of 100 cases.

    None where there are too few runs to say: fewer than six.
    """
    ordered, count = sorted(values), len(values)
    outside, missed = 0, 0.0
    while True:
        missed += comb(count, outside) / 2**count
        if 2 * missed > 1 - LEVEL:
            break
        outside += 1
    return None if outside == 0 else (ordered[outside - 1], ordered[count - outside])


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of a variation beside that of the first one.

    Args:
        real: whether chance alone would give such runs in fewer than 5 of 100 cases.
        more_runs: about how many more of each would tell, if what was seen is so; None where
            it is told already, or no difference is in sight.
    """

    real: bool
    more_runs: int | None


def compare(first: Sequence[float], other: Sequence[float]) -> Difference:
    """Whether two variations differ, by the ranks of their runs."""
    less = sum((b > a) + (b == a) / 2 for a in first for b in other)
    pairs, total = len(first) * len(other), len(first) + len(other)
    tied = sum(n**3 - n for n in Counter([*first, *other]).values())
    variance = pairs / 12 * (total + 1 - tied / (total * (total - 1)))
    if variance <= 0:
        return Difference(False, None)
    # Half a rank less: the distribution of ranks has steps.
    deviations = max(0.0, abs(less - pairs / 2) - 0.5) / sqrt(variance)
    # With three runs of each no order of them is unlikely enough.
    enough = 2 / comb(total, len(first)) < 1 - LEVEL
    if enough and erfc(deviations / sqrt(2)) < 1 - LEVEL:
        return Difference(True, None)
    beyond = abs(less / pairs - 0.5)
    needed = MOST_RUNS + 1
    if beyond:
        needed = ceil((Z_LEVEL + Z_POWER) ** 2 / (6 * beyond**2))
    more = max(1, needed - min(len(first), len(other)))
    return Difference(False, more if needed <= MOST_RUNS else None)
