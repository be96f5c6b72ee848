"""The heap of events: what is to be done when, in virtual time; equals in the order of planning."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any


class Agenda:
    """Virtual time and what is to come.

    Attributes:
        now_ms: the virtual time.
        done: events carried out.
        halted: set while it runs: it stops after this event.
    """

    __slots__ = ("_heap", "_turn", "done", "halted", "now_ms")

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.done = 0
        self.halted = False
        self._turn = 0
        self._heap: list[tuple[int, int, Callable[..., None], tuple[Any, ...]]] = []

    def at(self, at_ms: int, what: Callable[..., None], *given: Any) -> None:
        """Do something at a time; one that is past counts as now."""
        self._turn = turn = self._turn + 1
        heappush(self._heap, (at_ms, turn, what, given))

    def run(self, until_ms: int) -> None:
        """Carry out what is due, in order, until a time or until it is halted."""
        heap, now_ms, done = self._heap, self.now_ms, 0
        self.halted = False
        while heap and not self.halted:
            entry = heappop(heap)
            at_ms, _, what, given = entry
            if at_ms > until_ms:
                heappush(heap, entry)
                break
            if at_ms > now_ms:
                self.now_ms = now_ms = at_ms
            done += 1
            what(*given)
        self.done += done

    def has(self, until_ms: int) -> bool:
        """Whether something is to be done by then."""
        return bool(self._heap) and self._heap[0][0] <= until_ms
