"""Which partition of a topic really moves: one that cancels an earlier move in reverse, if any.

Source: AbstractStickyAssignor.PartitionMovements.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable

from kgroups.assignors.compact import TopicTable
from kgroups.assignors.order.java_order import spread, string_hash, topic_partition_hash
from kgroups.assignors.order.java_table import HashTable


class Movements:
    """The moves of one reassignment, by partition and by topic and direction."""

    def __init__(self, table: TopicTable) -> None:
        self._table = table
        self._pairs: dict[int, tuple[int, int]] = {}
        self._sets: dict[tuple[int, int, int], HashTable[int]] = {}
        self._hashes: dict[int, int] = {}

    def actual(self, topic: int, number: int, source: int, target: int) -> int:
        """The partition of the topic that moves when `number` should go from source to target."""
        if not self._sets:
            return number
        if number in self._pairs:
            source = self._pairs[number][0]
        back = self._sets.get((topic, target, source))
        return number if back is None else back.listed()[0]

    def record(self, topic: int, number: int, source: int, target: int) -> None:
        """Note a move; one back to where the partition came from cancels."""
        code = self._code(topic, number)
        if number in self._pairs:
            old = self._pairs.pop(number)
            held = self._sets[(topic, *old)]
            held.remove(number, code)
            if not len(held):
                del self._sets[(topic, *old)]
            source = old[0]
            if source == target:
                return
        self._pairs[number] = (source, target)
        self._sets.setdefault((topic, source, target), HashTable()).put(number, code)

    def _code(self, topic: int, number: int) -> int:
        if topic not in self._hashes:
            self._hashes[topic] = string_hash(self._table.names[topic])
        partition = number - self._table.bases[topic]
        return spread(topic_partition_hash(self._hashes[topic], partition))

    def state(self) -> tuple[tuple[int, tuple[int, int]], ...]:
        """Every recorded move, in an order of its own."""
        return tuple(sorted(self._pairs.items()))


class EndlessWatch:
    """Notices that passes over the partitions go round in a circle, as Java's sometimes do.

    A move that cancels an earlier one may not relieve the member that was to give something up;
    with claims of several generations such moves can repeat for ever.
    """

    PATIENCE = 20  # passes; as a rule a few are enough
    REPEATS = 5  # of one state; the order inside the recorded sets may take some to settle

    def __init__(self) -> None:
        self._passes = 0
        self._seen: Counter[int] = Counter()

    def circles(self, owners: Iterable[int], moves: Callable[[], Hashable]) -> bool:
        """Whether the passes come back to where they were, told after each pass.

        Args:
            moves: what two equal sets of recorded moves have in common.
        """
        self._passes += 1
        if self._passes <= self.PATIENCE:
            return False
        state = hash((tuple(owners), moves()))
        self._seen[state] += 1
        return self._seen[state] > self.REPEATS
