"""Planned calls in virtual time; those of one time in the order of planning."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any


class Agenda:
    """Virtual time and what is to come.

    Members that began together do the same at the same time, so there are far fewer times than
    events: the heap holds times, and what is due at each is a list.

    Attributes:
        now_ms: the virtual time.
        done: events carried out.
        halted: set while it runs: it stops after this event.
    """

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self.done = 0
        self.halted = False
        self._times: list[int] = []
        self._due: dict[int, list[tuple[Callable[..., None], tuple[Any, ...]]]] = {}

    def at(self, at_ms: int, what: Callable[..., None], *given: Any) -> None:
        """Do something at a time; one that is past comes next."""
        due = self._due.get(at_ms)
        if due is None:
            self._due[at_ms] = [(what, given)]
            heappush(self._times, at_ms)
        else:
            due.append((what, given))

    def run(self, until_ms: int) -> None:
        """Carry out what is due, in order, until a time or until it is halted."""
        times = self._times
        self.halted = False
        while times and times[0] <= until_ms and not self.halted:
            at_ms = times[0]
            if at_ms > self.now_ms:
                self.now_ms = at_ms
            self._carry_out(at_ms)

    def _carry_out(self, at_ms: int) -> None:
        """The calls due at the earliest time, as far as nothing earlier is planned meanwhile."""
        times, due = self._times, self._due[at_ms]
        heappop(times)
        done = 0
        # What is planned for this time meanwhile is done in its turn.
        for what, given in due:
            done += 1
            what(*given)
            if self.halted or (times and times[0] < at_ms):
                break
        self.done += done
        if done == len(due):
            del self._due[at_ms]
        else:
            del due[:done]
            heappush(times, at_ms)

    def has(self, until_ms: int) -> bool:
        """Whether something is to be done by then."""
        return bool(self._times) and self._times[0] <= until_ms
