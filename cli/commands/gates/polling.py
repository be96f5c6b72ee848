"""When to look again: at growing intervals, at most twice a second, and once at the end."""

import time
from collections.abc import Callable, Iterator
from typing import Final

from kgroups.core.times import parse_duration_ms, show_ms

FIRST_MS: Final = 500
"""The shortest time from one look to the next."""
GROWTH: Final = 1.5
LONGEST_MS: Final = 10_000
MAX_WAIT_MS: Final = 7 * 24 * 3_600_000


def parse_wait_ms(text: str, least_ms: int = 1) -> int:
    """Milliseconds of a time to wait, up to a week.

    Raises:
        UsageError: not such a text.
    """
    return round(parse_duration_ms(text, least_ms=least_ms, most_ms=MAX_WAIT_MS))


class Polls:
    """Looks from now to a deadline.

    Args:
        for_ms: milliseconds from the first look to the last.
        rest: lets so many seconds pass.
        now: seconds, from any beginning.
    """

    def __init__(
        self,
        for_ms: float,
        rest: Callable[[float], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._for_ms = for_ms
        self._rest = rest
        self._now = now
        self._began = now()
        self._due_ms: float | None = None
        self.count = 0

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds since the first look."""
        return (self._now() - self._began) * 1_000

    @property
    def left_ms(self) -> int:
        """Milliseconds to the deadline, at least 0."""
        return max(0, round(self._for_ms - self.elapsed_ms))

    @property
    def left(self) -> str:
        """The time to the deadline, for people."""
        return show_ms(self.left_ms)

    def look_at(self, due_ms: float | None) -> None:
        """Have a look at this time, if that is before the next one; None: at the usual time."""
        self._due_ms = due_ms

    def __iter__(self) -> Iterator[float]:
        """Milliseconds since the first look, each time that it is time for a look.

        The last one is at the deadline, unless the one before was just then.
        """
        interval = float(FIRST_MS)
        next_ms = 0.0
        while True:
            self._rest(max(0.0, next_ms - self.elapsed_ms) / 1_000)
            self.count += 1
            looked_ms = self.elapsed_ms
            yield looked_ms
            if looked_ms + FIRST_MS > self._for_ms:
                return
            next_ms = looked_ms + interval
            interval = min(interval * GROWTH, LONGEST_MS)
            if self._due_ms is not None:
                next_ms = min(next_ms, max(self._due_ms, looked_ms + FIRST_MS))
            if next_ms + FIRST_MS > self._for_ms:
                next_ms = self._for_ms
