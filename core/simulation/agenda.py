"""The heap of events: what is to be done when, in virtual time; equals in the order of planning."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any


class Agenda:
    """Virtual time and what is to come.

    Attributes:
        now_ms: the virtual time.
        done: events carried out.
    """

    __slots__ = ("_heap", "_turn", "done", "now_ms")

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.done = 0
        self._turn = 0
        self._heap: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []

    def at(self, at_ms: int, what: Callable[..., None], *given: Any) -> None:
        """Do something at a time; one that is past counts as now."""
        self._turn = turn = self._turn + 1
        heappush(self._heap, (at_ms, turn, what, given))

    def run(self, until_ms: int, stop: Callable[[], bool]) -> None:
        """Carry out what is due, in order, until a time or until `stop` says so."""
        heap = self._heap
        while heap and heap[0][0] <= until_ms and not stop():
            at_ms, _, what, given = heappop(heap)
            if at_ms > self.now_ms:
                self.now_ms = at_ms
            self.done += 1
            what(*given)

    def has(self, until_ms: int) -> bool:
        """Whether something is to be done by then."""
        return bool(self._heap) and self._heap[0][0] <= until_ms
