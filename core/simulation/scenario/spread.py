"""Durations that vary: fixed, normal, exponential, heavy; drawn from the random numbers given."""

from dataclasses import dataclass
from math import sqrt
from random import Random
from typing import Final, Literal

Shape = Literal["fixed", "normal", "exponential", "heavy"]
SHAPES: Final[tuple[Shape, ...]] = ("fixed", "normal", "exponential", "heavy")

# Pareto: finite mean, infinite variance; one in a thousand takes about a hundred times the least.
DEFAULT_TAIL: Final = 1.5


@dataclass(frozen=True, slots=True)
class Spread:
    """How long something takes, in ms (fractions allowed).

    Args:
        deviation_ms: standard deviation, of the normal shape only; what falls below 0 counts 0.
        tail: Pareto's exponent, of the heavy shape only; above 1, smaller is heavier.
    """

    mean_ms: float = 0.0
    shape: Shape = "fixed"
    deviation_ms: float = 0.0
    tail: float = DEFAULT_TAIL

    def __str__(self) -> str:
        """`2ms`, `exponential 5ms`."""
        return f"{'' if self.shape == 'fixed' else f'{self.shape} '}{self.mean_ms:g}ms"

    def draw(self, random: Random) -> float:
        """One duration in ms."""
        if self.shape == "fixed":
            return self.mean_ms
        if self.shape == "normal":
            return max(0.0, random.gauss(self.mean_ms, self.deviation_ms))
        if self.shape == "exponential":
            return random.expovariate(1 / self.mean_ms) if self.mean_ms else 0.0
        least_ms = self.mean_ms * (self.tail - 1) / self.tail
        return least_ms * random.paretovariate(self.tail)

    def draw_sum(self, random: Random, count: int) -> float:
        """`count` durations one after the other, in ms."""
        if self.shape == "fixed":
            return self.mean_ms * count
        if self.shape == "normal":
            spread = self.deviation_ms * sqrt(count)
            return max(0.0, random.gauss(self.mean_ms * count, spread))
        if self.shape == "exponential":
            return random.gammavariate(count, self.mean_ms) if self.mean_ms and count else 0.0
        return sum(self.draw(random) for _ in range(count))

    def draw_shared(self, random: Random, count: int, workers: int) -> float:
        """Until `count` of them are done by so many workers at once, in ms."""
        if workers == 1:
            return self.draw_sum(random, count)
        share, rest = divmod(count, workers)
        counts = (share + (number < rest) for number in range(min(workers, count)))
        return max((self.draw_sum(random, count) for count in counts), default=0.0)
