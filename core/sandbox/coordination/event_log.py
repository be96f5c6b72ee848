"""Events of the cluster and its coordinators, as lines that a person can follow."""

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from kgroups.core.coordinator.effects import Event, EventKind

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


def event_text(event: Event) -> str:
    """An event as a clause, its reason behind a colon."""
    write = TEXTS.get(event.kind)
    text = event.kind.value if write is None else write(event)
    if event.reason and event.kind not in REASON_WITHIN:
        return f"{text}: {event.reason}"
    return text


def _state(event: Event) -> str:
    before, after = event.detail
    return f"{before} -> {after}"


def _protocol(event: Event) -> str:
    votes = [vote for vote in event.detail if isinstance(vote, tuple)]
    counted = ", ".join(f"{name} {number}" for name, number in votes)
    return f"assignor {event.reason} chosen by votes ({counted})"


def _reconciled(event: Event) -> str:
    before, after = event.detail
    state = event.reason.title().replace("_", "")
    moved = f"goes from epoch {before} to {after}" if before != after else f"stays at {after}"
    return f"member {event.member_id} {moved}, {state}"


TEXTS: Mapping[EventKind, Callable[[Event], str]] = {
    EventKind.STATE_CHANGED: _state,
    EventKind.MEMBER_ADDED: lambda event: f"member {event.member_id} added",
    EventKind.MEMBER_REMOVED: lambda event: f"member {event.member_id} removed",
    EventKind.MEMBER_REPLACED: lambda event: f"member {event.member_id} replaces {event.detail[0]}",
    EventKind.LEADER_ELECTED: lambda event: f"member {event.member_id} is the leader",
    EventKind.PROTOCOL_CHOSEN: _protocol,
    EventKind.ASSIGNMENT_STORED: lambda event: f"assignment of leader {event.member_id} stored",
    EventKind.EPOCH_BUMPED: lambda event: f"group epoch {_next(event)}",
    EventKind.TARGET_COMPUTED: lambda event: f"target computed by assignor {event.reason}",
    EventKind.MEMBER_RECONCILED: _reconciled,
    EventKind.OFFSETS_EXPIRED: lambda event: f"{event.detail[0]} commits expired",
}
REASON_WITHIN = frozenset(
    {EventKind.PROTOCOL_CHOSEN, EventKind.TARGET_COMPUTED, EventKind.MEMBER_RECONCILED}
)


def _next(event: Event) -> int:
    (before,) = event.detail
    return int(str(before)) + 1
