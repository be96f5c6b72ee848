"""Which partition of a topic really moves: one that cancels an earlier move in reverse, if any.

Source: AbstractStickyAssignor.PartitionMovements.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Protocol

from kgroups.assignors.order.java_order import spread, string_hash, topic_partition_hash

CHAIN_LIMIT = 8
TREE_CAPACITY = 64


class MovedSet:
    """A HashSet of partitions of one topic of which only the first element is asked for."""

    __slots__ = ("_capacity", "_spreads")

    def __init__(self) -> None:
        self._capacity = 16
        self._spreads: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self._spreads)

    def add(self, number: int, code: int) -> None:
        """Add a partition number that is not in it; its spread hash is `code`."""
        if len(self._spreads) >= CHAIN_LIMIT and self._capacity < TREE_CAPACITY:
            mask = self._capacity - 1
            chain = sum((other ^ code) & mask == 0 for other in self._spreads.values())
            if chain >= CHAIN_LIMIT:
                self._capacity *= 2
        self._spreads[number] = code
        if len(self._spreads) > self._capacity * 3 // 4:
            self._capacity *= 2

    def discard(self, number: int) -> None:
        """Remove a partition; the table never shrinks."""
        self._spreads.pop(number, None)

    def first(self) -> int:
        """The first partition in hash order."""
        mask = self._capacity - 1
        return min(self._spreads, key=lambda number: self._spreads[number] & mask)


class Movements:
    """The moves of one reassignment, by partition and by topic and direction."""

    def __init__(self) -> None:
        self._pairs: dict[int, tuple[int, int]] = {}
        self._sets: dict[tuple[int, int, int], MovedSet] = {}
        self._topics: dict[int, int] = {}

    def actual(self, topic: int, number: int, source: int, target: int) -> int:
        """The partition of the topic that moves when `number` should go from source to target."""
        if not self._sets:
            return number
        if number in self._pairs:
            source = self._pairs[number][0]
        back = self._sets.get((topic, target, source))
        return number if back is None else back.first()

    def record(
        self, topic: int, name: str, partition: int, number: int, move: tuple[int, int]
    ) -> None:
        """Note a move (source, target); one back to where the partition came from cancels."""
        source, target = move
        if number in self._pairs:
            old = self._pairs.pop(number)
            held = self._sets[(topic, *old)]
            held.discard(number)
            if not held:
                del self._sets[(topic, *old)]
            source = old[0]
            if source == target:
                return
        self._pairs[number] = (source, target)
        topic_hash = self._topics.get(topic)
        if topic_hash is None:
            topic_hash = self._topics[topic] = string_hash(name)
        code = spread(topic_partition_hash(topic_hash, partition))
        self._sets.setdefault((topic, source, target), MovedSet()).add(number, code)

    def state(self) -> tuple[tuple[int, tuple[int, int]], ...]:
        """Every recorded move, in an order of its own."""
        return tuple(sorted(self._pairs.items()))


class MovesByState(Protocol):
    """Moves that can be told from others."""

    def state(self) -> Hashable:
        """What two equal sets of moves have in common."""
        ...


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

    def circles(self, owners: Iterable[int], movements: MovesByState) -> bool:
        """Whether the passes come back to where they were, told after each pass."""
        self._passes += 1
        if self._passes <= self.PATIENCE:
            return False
        state = hash((tuple(owners), movements.state()))
        self._seen[state] += 1
        return self._seen[state] > self.REPEATS
