"""Keyed deadlines on a heap: at most one of a key, the earliest due first.

The coordinator owns no clock: whoever drives it asks for the next deadline and says when time
has passed. A deadline that is moved later (a session timer at every heartbeat) only updates its
entry; the heap is put right when the old place comes up.
"""

from collections.abc import Hashable
from heapq import heappop, heappush, heapreplace
from typing import Generic, NamedTuple, TypeVar

K = TypeVar("K", bound=Hashable)
P = TypeVar("P")


class Deadline(NamedTuple, Generic[K, P]):
    """One armed timer: when, in which turn among equals, for what, and what comes with it."""

    at_ms: int
    turn: int
    key: K
    payload: P


class _Timer(Generic[K, P]):
    """A key's deadline, which moves; `placed_ms` and `placed_turn` are its place on the heap.

    A place that it had before, and that an earlier one took over from, counts no more.
    """

    __slots__ = ("armed", "at_ms", "key", "payload", "placed_ms", "placed_turn", "turn")

    def __init__(self, key: K) -> None:
        self.key = key
        self.armed = False
        self.at_ms = self.turn = 0
        self.payload: P
        self.placed_ms: int | None = None
        self.placed_turn = 0

    def deadline(self) -> Deadline[K, P]:
        """As a value."""
        return Deadline(self.at_ms, self.turn, self.key, self.payload)


class Timers(Generic[K, P]):
    """Timers by key; scheduling a key again replaces its deadline and its payload."""

    __slots__ = ("_heap", "_timers", "_turn")

    def __init__(self) -> None:
        # Those that are armed, those that were and still have a place on the heap, and those that
        # were taken alone.
        self._timers: dict[K, _Timer[K, P]] = {}
        self._heap: list[tuple[int, int, _Timer[K, P]]] = []
        self._turn = 0

    def __len__(self) -> int:
        return sum(timer.armed for timer in self._timers.values())

    def __contains__(self, key: object) -> bool:
        timer = self._timers.get(key)  # type: ignore[arg-type] # of any kind
        return timer is not None and timer.armed

    def schedule(self, key: K, at_ms: int, payload: P) -> None:
        """Arm `key` for `at_ms`, instead of whatever it was armed for."""
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = _Timer(key)
        self._turn = turn = self._turn + 1
        timer.armed, timer.at_ms, timer.turn, timer.payload = True, at_ms, turn, payload
        placed_ms = timer.placed_ms
        if placed_ms is None or placed_ms > at_ms:
            timer.placed_ms, timer.placed_turn = at_ms, turn
            heappush(self._heap, (at_ms, turn, timer))

    def move(self, key: K, at_ms: int) -> None:
        """Let `key` be due at another time, if it is armed."""
        timer = self._timers.get(key)
        if timer is not None and timer.armed:
            self.schedule(key, at_ms, timer.payload)

    def put_off(self, key: K, at_ms: int) -> bool:
        """Let `key` be due not before `at_ms`; False if it is not armed, or due later already."""
        timer = self._timers.get(key)
        if timer is None or not timer.armed or timer.at_ms > at_ms:
            return False
        # Its place on the heap is early enough, so that is all.
        self._turn = turn = self._turn + 1
        timer.at_ms, timer.turn = at_ms, turn
        return True

    def cancel(self, key: K) -> None:
        """Disarm `key`, if it is armed."""
        timer = self._timers.get(key)
        if timer is not None:
            timer.armed = False

    def deadline(self, key: K) -> int | None:
        """When `key` is due; None if it is not armed."""
        timer = self._timers.get(key)
        return timer.at_ms if timer is not None and timer.armed else None

    def next_deadline(self) -> int | None:
        """When the earliest timer is due; None if none is armed."""
        heap = self._heap
        if not heap:
            return None
        at_ms, turn, timer = heap[0]
        if timer.turn == turn and timer.armed:
            return at_ms
        first = self._settle()
        return None if first is None else first.at_ms

    def next_look(self) -> int | None:
        """A time not later than `next_deadline`; one that was put off may make it too early."""
        return self._heap[0][0] if self._heap else None

    def is_quiet(self, now_ms: int) -> bool:
        """Whether surely none is due by `now_ms`; one that was put off may make it false."""
        heap = self._heap
        return not heap or heap[0][0] > now_ms

    def pop_alone(self, key: K, now_ms: int) -> bool:
        """Disarm `key` if it is due at `now_ms` and surely nothing else is by then; else False."""
        heap = self._heap
        if not heap:
            return False
        at_ms, turn, timer = heap[0]
        if at_ms != now_ms or timer.turn != turn or not timer.armed or timer.key != key:
            return False
        # The next on the heap is one of its two children.
        size = len(heap)
        if size > 1 and (heap[1][0] <= now_ms or (size > 2 and heap[2][0] <= now_ms)):
            return False
        heappop(heap)
        # It is kept, because a timer like this one is armed anew at once.
        timer.armed, timer.placed_ms = False, None
        return True

    def pop_due(self, now_ms: int) -> Deadline[K, P] | None:
        """The earliest timer due at or before `now_ms`, disarmed; None if there is none."""
        heap = self._heap
        if not heap or heap[0][0] > now_ms:
            return None
        first = self._settle()
        if first is None or first.at_ms > now_ms:
            return None
        heappop(heap)
        first.armed = False
        del self._timers[first.key]
        return first.deadline()

    def armed(self) -> tuple[Deadline[K, P], ...]:
        """Every armed timer, in the order in which they will fire."""
        armed = [timer.deadline() for timer in self._timers.values() if timer.armed]
        return tuple(sorted(armed, key=lambda timer: (timer.at_ms, timer.turn)))

    def _settle(self) -> _Timer[K, P] | None:
        """Bring the earliest armed timer to the top of the heap; None if none is armed."""
        heap = self._heap
        while heap:
            _, turn, timer = heap[0]
            if timer.turn == turn and timer.armed:
                return timer
            if timer.placed_turn != turn:
                heappop(heap)
            elif timer.armed:
                timer.placed_ms, timer.placed_turn = timer.at_ms, timer.turn
                heapreplace(heap, (timer.at_ms, timer.turn, timer))
            else:
                heappop(heap)
                del self._timers[timer.key]
        return None
