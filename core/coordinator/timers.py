"""Keyed deadlines on a heap: at most one of a key, the earliest due first.

The coordinator owns no clock: whoever drives it asks for the next deadline and says when time
has passed. A deadline that is moved later (a session timer at every heartbeat) only updates its
entry; the heap is put right when the old place comes up.
"""

from collections.abc import Hashable
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)
P = TypeVar("P")


class Deadline(NamedTuple, Generic[K, P]):
    """One armed timer: when, in which turn among equals, for what, and what comes with it."""

    at_ms: int
    turn: int
    key: K
    payload: P


class Timers(Generic[K, P]):
    """Timers by key; scheduling a key again replaces its deadline and its payload."""

    def __init__(self) -> None:
        # As Deadlines, but plain: one is made at every heartbeat, and few ever fire.
        self._armed: dict[K, tuple[int, int, K, P]] = {}
        self._placed: dict[K, int] = {}
        self._heap: list[tuple[int, int, K]] = []
        self._turn = 0

    def __len__(self) -> int:
        return len(self._armed)

    def __contains__(self, key: object) -> bool:
        return key in self._armed

    def schedule(self, key: K, at_ms: int, payload: P) -> None:
        """Arm `key` for `at_ms`, instead of whatever it was armed for."""
        self._turn = turn = self._turn + 1
        self._armed[key] = (at_ms, turn, key, payload)
        placed = self._placed.get(key)
        if placed is None or placed > at_ms:
            self._placed[key] = at_ms
            heappush(self._heap, (at_ms, turn, key))

    def cancel(self, key: K) -> None:
        """Disarm `key`, if it is armed."""
        self._armed.pop(key, None)

    def deadline(self, key: K) -> int | None:
        """When `key` is due; None if it is not armed."""
        armed = self._armed.get(key)
        return None if armed is None else armed[0]

    def next_deadline(self) -> int | None:
        """When the earliest timer is due; None if none is armed."""
        heap = self._heap
        if not heap:
            return None
        at_ms, turn, key = heap[0]
        armed = self._armed.get(key)
        if armed is not None and armed[1] == turn:
            return at_ms
        first = self._settle()
        return None if first is None else first[0]

    def next_look(self) -> int | None:
        """A time not later than `next_deadline`; one that was put off may make it too early."""
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_ms: int) -> Deadline[K, P] | None:
        """The earliest timer due at or before `now_ms`, disarmed; None if there is none."""
        if not self._heap or self._heap[0][0] > now_ms:
            return None
        first = self._settle()
        if first is None or first[0] > now_ms:
            return None
        heappop(self._heap)
        key = first[2]
        self._placed.pop(key, None)
        del self._armed[key]
        return Deadline(*first)

    def armed(self) -> tuple[Deadline[K, P], ...]:
        """Every armed timer, in the order in which they will fire."""
        return tuple(
            Deadline(*one) for one in sorted(self._armed.values(), key=lambda one: one[:2])
        )

    def _settle(self) -> tuple[int, int, K, P] | None:
        """Bring the earliest armed timer to the top of the heap; None if none is armed."""
        heap = self._heap
        while heap:
            at_ms, turn, key = heap[0]
            armed = self._armed.get(key)
            if armed is not None and armed[1] == turn:
                return armed
            heappop(heap)
            if self._placed.get(key) != at_ms:
                continue
            if armed is None:
                del self._placed[key]
            else:
                self._placed[key] = armed[0]
                heappush(heap, (armed[0], armed[1], key))
        return None
