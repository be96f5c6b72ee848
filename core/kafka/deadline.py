"""The end of a question or of a whole command, and the rounds in which something is tried again."""

import asyncio
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

_FIRST_PAUSE_S = 0.05
_LAST_PAUSE_S = 1.0


class Deadline:
    """A moment by which everything is over; passed down to whatever waits.

    Args:
        at: seconds of `time.monotonic`, which is an event loop's clock too.
    """

    def __init__(self, at: float) -> None:
        self.at = at

    @classmethod
    def after(cls, timeout_ms: int) -> Self:
        """So long from now."""
        return cls(time.monotonic() + timeout_ms / 1000)

    @property
    def left_s(self) -> float:
        """Seconds until then, at least 0."""
        return max(0.0, self.at - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return time.monotonic() >= self.at

    def part(self, fraction: float) -> "Deadline":
        """The end of this part of the time that is left."""
        return Deadline(time.monotonic() + self.left_s * fraction)

    def share(self, askers: int) -> float:
        """When to give up one of `askers` brokers that are asked at once.

        A broker that hangs must leave time for what the others are asked next; a lone broker has
        nobody to leave time for.
        """
        return self.at if askers <= 1 else self.part(1 / 2).at

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """No time passes meanwhile: a user is asked."""
        since = time.monotonic()
        try:
            yield
        finally:
            self.at += time.monotonic() - since


class Attempts:
    """Rounds, at once and then with growing pauses, until half the time is spent.

    Half, because what could be learned must still be put together and shown.

    Args:
        whole: go on until it: nothing comes after these rounds.
    """

    def __init__(self, deadline: Deadline, *, whole: bool = False) -> None:
        self._until = deadline.at if whole else deadline.share(2)
        self._round = 0

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> int:
        pause_s = self._pause_s()
        if pause_s is None:
            raise StopAsyncIteration
        if pause_s:
            await asyncio.sleep(pause_s)
        return self._round

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> int:
        pause_s = self._pause_s()
        if pause_s is None:
            raise StopIteration
        time.sleep(pause_s)
        return self._round

    def _pause_s(self) -> float | None:
        """Seconds before the next round, which is counted; None if there is no time for it."""
        self._round += 1
        if self._round == 1:
            return 0.0
        pause_s = min(_LAST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (self._round - 2))
        pause_s *= 0.8 + 0.4 * random.random()  # so that many clients do not ask in step
        return pause_s if time.monotonic() + pause_s <= self._until else None
