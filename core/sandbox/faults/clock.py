"""The cluster's time: the machine's, which a test may stop or set forward."""

import time


def wall_clock_ms() -> int:
    """Epoch milliseconds now."""
    return time.time_ns() // 1_000_000


def _steady_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class Clock:
    """Epoch milliseconds that never go back."""

    def __init__(self) -> None:
        self._base_ms = wall_clock_ms() - _steady_ms()
        self._frozen_ms: int | None = None

    def now_ms(self) -> int:
        """The time."""
        return self._base_ms + _steady_ms() if self._frozen_ms is None else self._frozen_ms

    def advance(self, ms: int) -> None:
        """Set it forward."""
        self._base_ms += ms
        if self._frozen_ms is not None:
            self._frozen_ms += ms

    def freeze(self, *, frozen: bool) -> None:
        """Stop it, or let it go on from where it stands."""
        if frozen and self._frozen_ms is None:
            self._frozen_ms = self.now_ms()
        elif not frozen and self._frozen_ms is not None:
            self._base_ms = self._frozen_ms - _steady_ms()
            self._frozen_ms = None
