"""What happens in the cluster, as lines that a person can follow."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class LogLine:
    """One event.

    Args:
        at_ms: epoch milliseconds.
        subject: who or what it is about: `group payments`, `broker 2`.
        text: what happened, as a clause.
    """

    at_ms: int
    subject: str
    text: str

    def __str__(self) -> str:
        clock = datetime.fromtimestamp(self.at_ms / 1000, UTC).strftime("%H:%M:%S.%f")[:-3]
        return f"{clock}  {self.subject}: {self.text}"


class EventLog:
    """The latest events, and whoever listens to new ones. May be read from any thread."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._lines: deque[LogLine] = deque(maxlen=_KEPT)
        self._listeners: list[Callable[[LogLine], None]] = []
        self._lock = threading.Lock()

    def add(self, subject: str, text: str) -> None:
        """Note an event that happened now."""
        line = LogLine(self._now_ms(), subject, text)
        with self._lock:
            self._lines.append(line)
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener(line)

    def listen(self, listener: Callable[[LogLine], None]) -> None:
        """Have `listener` called with every event from now on, in the cluster's thread."""
        with self._lock:
            self._listeners.append(listener)

    def lines(self) -> tuple[LogLine, ...]:
        """The latest events, oldest first."""
        with self._lock:
            return tuple(self._lines)
