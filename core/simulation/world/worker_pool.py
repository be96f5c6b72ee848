"""Workers of an application that polls on while they have records in work."""

from collections.abc import Callable, Mapping
from heapq import heappop, heappush, heapreplace

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.figures.ledger import Highest


class WorkerPool:
    """The workers of one life of a process, and the queue before them, which has no end.

    Args:
        workers: how many.
        highest: takes note of records that begin before an earlier one of their partition is done.

    Attributes:
        handed: offset up to which records of each partition were handed over.
    """

    __slots__ = ("_free", "_highest", "_work", "handed")

    def __init__(self, workers: int, highest: Highest) -> None:
        # When each worker is free.
        self._free: list[float] = [0.0] * workers
        # When each record is done, soonest first.
        self._work: list[tuple[float, TopicPartition, int]] = []
        self._highest = highest
        self.handed: dict[TopicPartition, int] = {}

    def take(
        self, at_ms: float, positions: Mapping[TopicPartition, int], takes_ms: Callable[[], float]
    ) -> None:
        """Put what lies before these positions and was not handed over in the queue."""
        while self._work and self._work[0][0] <= at_ms:
            heappop(self._work)
        for partition, end in positions.items():
            for offset in range(self.handed.get(partition, end), end):
                begins_ms = max(at_ms, self._free[0])
                done_ms = begins_ms + takes_ms()
                heapreplace(self._free, done_ms)
                heappush(self._work, (done_ms, partition, offset))
                self._highest.work(partition, begins_ms, done_ms)
            self.handed[partition] = end

    def freeze(self, now_ms: float, for_ms: float) -> None:
        """What is in work is done so much later."""
        self._free = [max(at_ms, now_ms) + for_ms for at_ms in self._free]
        left = [one for one in self._work if one[0] > now_ms]
        self._work = [(at_ms + for_ms, partition, offset) for at_ms, partition, offset in left]

    def drop(self, now_ms: float) -> None:
        """The process is gone, with what it had not done."""
        for at_ms, partition, offset in self._work:
            if at_ms > now_ms:
                self._highest.drop(partition, offset, now_ms)
