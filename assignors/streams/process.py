"""One instance of a streams application while tasks are given out: its threads and their load.

Source: org.apache.kafka.coordinator.group.streams.assignor.ProcessState (Kafka 4.4).
"""

from kgroups.assignors.order.java_order import hash_map_order
from kgroups.assignors.order.priority_queue import JavaPriorityQueue
from kgroups.assignors.streams.tasks import Task


class Process:
    """The members of one process, and what they have been given so far."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.active: dict[str, list[Task]] = {}
        self.standby: dict[str, list[Task]] = {}
        self._held: set[Task] = set()
        self._given = 0
        self._by_count: JavaPriorityQueue[str] | None = None

    @property
    def load(self) -> float:
        """Tasks a member."""
        return self._given / len(self.counts)

    def has(self, task: Task) -> bool:
        """Whether a member has a task, active or standby."""
        return task in self._held

    def give(self, member: str, task: Task, *, is_active: bool) -> int:
        """Give a member a task; how many it has then."""
        self._by_count = None
        return self._give(member, task, is_active)

    def give_to_least(self, task: Task, *, is_active: bool) -> int:
        """Give a task to the member that has least; how many it has then."""
        if self._by_count is None:
            self._by_count = JavaPriorityQueue()
            for member in hash_map_order(self.counts):
                self._by_count.add(self.counts[member], member)
        member = self._by_count.poll()
        count = self._give(member, task, is_active)
        self._by_count.add(count, member)
        return count

    def _give(self, member: str, task: Task, is_active: bool) -> int:
        self._given += 1
        self._held.add(task)
        (self.active if is_active else self.standby).setdefault(member, []).append(task)
        self.counts[member] += 1
        return self.counts[member]
