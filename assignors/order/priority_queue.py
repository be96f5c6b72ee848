"""A priority queue that gives equals in the order of `java.util.PriorityQueue`.

`heapq` sifts another way, so it gives equals in another order.

Source: `java.util.PriorityQueue` (OpenJDK 17).
"""

from typing import Generic, TypeVar

T = TypeVar("T")


class JavaPriorityQueue(Generic[T]):
    """Items with a priority, the least first."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, T]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, priority: float, item: T) -> None:
        """Put an item in; it keeps this priority."""
        heap = self._heap
        heap.append((priority, item))
        place = len(heap) - 1
        while place > 0:
            parent = (place - 1) // 2
            if priority >= heap[parent][0]:
                break
            heap[place] = heap[parent]
            place = parent
        heap[place] = (priority, item)

    def poll(self) -> T:
        """Take the least item out; there has to be one."""
        heap = self._heap
        first, last = heap[0], heap.pop()
        if heap:
            place, half = 0, len(heap) // 2
            while place < half:
                child = 2 * place + 1
                right = child + 1
                if right < len(heap) and heap[child][0] > heap[right][0]:
                    child = right
                if last[0] <= heap[child][0]:
                    break
                heap[place] = heap[child]
                place = child
            heap[place] = last
        return first[1]
