"""The sticky algorithm of KIP-54 in its first form, with the steps in which its ports differ.

Claims that no longer hold are dropped, the rest is dealt to the least loaded, and then partitions
move from who holds two more, until nothing moves. A port says in which order partitions are taken
and which of a topic's partitions really moves.

Source: StickyAssignor of Kafka 2.3 (KIP-54, KIP-341).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kgroups.assignors.java.movements import EndlessWatch
from kgroups.assignors.java.sticky_fast import LeastLoaded
from kgroups.assignors.other_clients.choices import Choices
from kgroups.assignors.other_clients.ported_group import PortedGroup


@dataclass(slots=True)
class PortedStart:
    """Where a port's algorithm begins; members are ranks.

    Args:
        lists: per member what it keeps, in list order.
        order: every partition in the order in which they are tried.
        unassigned: partitions without an owner in the order in which they are dealt.
        revoked: whether a claim was dropped because its member no longer subscribes.
        previous: partition -> owner of the newest older generation.
    """

    lists: list[list[int]]
    order: list[int]
    unassigned: list[int]
    revoked: bool = False
    previous: dict[int, int] = field(default_factory=dict)


class PortedMovements:
    """The moves of one reassignment, by partition and by topic and direction."""

    def __init__(self) -> None:
        self.pairs: dict[int, tuple[int, int]] = {}
        self.sets: dict[tuple[int, int, int], dict[int, None]] = {}

    def reversed_by(self, topic: int, number: int, source: int, target: int) -> list[int]:
        """Partitions whose earlier move a move of `number` would reverse, oldest first."""
        if number in self.pairs:
            source = self.pairs[number][0]
        return list(self.sets.get((topic, target, source), ()))

    def record(self, topic: int, number: int, source: int, target: int) -> None:
        """Note a move; one back to where the partition came from cancels."""
        if number in self.pairs:
            origin, reached = self.pairs.pop(number)
            held = self.sets[topic, origin, reached]
            del held[number]
            if not held:
                del self.sets[topic, origin, reached]
            if origin == target:
                return
            source = origin
        self.pairs[number] = (source, target)
        self.sets.setdefault((topic, source, target), {})[number] = None

    def state(self) -> tuple[tuple[int, tuple[int, int]], ...]:
        """Every recorded move, in an order of its own."""
        return tuple(sorted(self.pairs.items()))


class PortedSticky:
    """One run of a port.

    Args:
        choices: decides where the library leaves something to chance.
    """

    tries_unassigned_first = True

    def __init__(self, group: PortedGroup, start: PortedStart, choices: Choices) -> None:
        self.group = group
        self.start = start
        self.choices = choices
        self.topic_of = group.topic_of
        self.held: list[dict[int, None]] = [dict.fromkeys(numbers) for numbers in start.lists]
        self.sizes = [len(numbers) for numbers in self.held]
        self.owner = [-1] * group.table.total
        for rank, numbers in enumerate(self.held):
            for number in numbers:
                self.owner[number] = rank
        self.movements = PortedMovements()
        self.fixed: set[int] = set()
        self.working = set(range(len(self.held)))  # who can get or lose something
        self.counted = set(self.working)  # whose sizes make the score
        self.endless = False
        self._heaps: dict[tuple[int, ...], LeastLoaded] = {}
        self._heap_of: dict[int, LeastLoaded] = {}

    def run(self) -> list[list[int]]:
        """Partition numbers by rank, in list order; `endless` tells if the leader never answers."""
        initializing = self.initializing()
        self.fill()
        shared = {topic for topic, readers in enumerate(self.group.readers) if len(readers) >= 2}
        self._set_apart(shared)
        before = [list(numbers) for numbers in self.held]
        score = self._score()
        if self.tries_unassigned_first and not self.start.revoked:
            self._reassign(self._within(self.start.unassigned, shared))
        moved = self._reassign(self.tried(shared))
        if moved and not initializing and self._score() >= score:
            return self.reverted(before)
        return [list(numbers) for numbers in self.held]

    def initializing(self) -> bool:
        """Whether the result is kept even where it is no better than the assignment before."""
        return not any(self.sizes)

    def tried(self, shared: set[int]) -> Iterable[int]:
        """The partitions of these topics in the order in which they are tried, pass after pass."""
        return self._within(self.start.order, shared)

    def reverted(self, before: list[list[int]]) -> list[list[int]]:
        """The assignment if moving made it no better.

        Args:
            before: the assignment before anything moved.
        """
        return before

    def actual(self, reverse: Sequence[int]) -> int:
        """Which partition moves where there are some whose move is reversed."""
        raise NotImplementedError

    def size_of(self, rank: int) -> int:
        """Number of partitions of a previous owner."""
        return self.sizes[rank]

    def _within(self, numbers: Iterable[int], topics: set[int]) -> list[int]:
        """The partitions of these topics."""
        return [number for number in numbers if self.topic_of(number) in topics]

    def least_loaded(self, topic: int) -> LeastLoaded:
        """Subscribers of a topic, the one with the fewest partitions first."""
        heap = self._heap_of.get(topic)
        if heap is None:
            readers = tuple(self.group.readers[topic])
            heap = self._heaps.get(readers)
            if heap is None:
                heap = self._heaps[readers] = LeastLoaded(readers, self.sizes)
            self._heap_of[topic] = heap
        return heap

    def fill(self) -> None:
        """Deal what has no owner, each partition to the least loaded subscriber."""
        for number in self.start.unassigned:
            self.give(number, self.least_loaded(self.topic_of(number)).first())

    def give(self, number: int, rank: int) -> None:
        """Give a partition without an owner to a member."""
        self.held[rank][number] = None
        self.owner[number] = rank
        self.sizes[rank] += 1

    def _set_apart(self, shared: set[int]) -> None:
        """Find the members that can neither get nor lose anything."""
        for rank, capacity in enumerate(self.group.capacities):
            full = self.sizes[rank] >= capacity
            if full and not any(self.topic_of(number) in shared for number in self.held[rank]):
                self.set_apart(rank)

    def set_apart(self, rank: int) -> None:
        """Leave out a member that can neither get nor lose anything."""
        self.fixed.add(rank)
        self.working.discard(rank)
        self.counted.discard(rank)

    def _reassign(self, numbers: Iterable[int]) -> bool:
        """Pass over the partitions until a pass moves nothing; whether anything moved."""
        if self._is_level():
            return False
        moved, modified = False, True
        watch = EndlessWatch()
        while modified and not self.endless:
            modified = False
            for number in numbers:
                if self.start.previous and self._balanced():
                    break
                if self.improve(number):
                    moved = modified = True
                    if self._is_level():
                        return True
            self.endless = modified and watch.circles(self.owner, self.movements.state)
        return moved

    def _is_level(self) -> bool:
        """Whether no pass would find anything more, which takes as long as all the rest."""
        return not self.start.previous and max(self.sizes) - min(self.sizes) <= 1

    def improve(self, number: int) -> bool:
        """Move one partition if a better owner exists."""
        size = self.sizes[self.owner[number]]
        earlier = self.start.previous.get(number)
        if earlier is not None and size > self.size_of(earlier) + 1:
            self.reassign(number, earlier)
            return True
        least = self.least_loaded(self.topic_of(number)).first()
        if size > self.sizes[least] + 1:
            self.reassign(number, least)
            return True
        return False

    def reassign(self, number: int, target: int) -> None:
        """Move a partition, or one of its topic that cancels an earlier move."""
        reverse = self.movements.reversed_by(
            self.topic_of(number), number, self.owner[number], target
        )
        self.move(self.actual(reverse) if reverse else number, target)

    def move(self, number: int, target: int) -> None:
        """Move this partition and remember it."""
        source = self.owner[number]
        self.movements.record(self.topic_of(number), number, source, target)
        self.shift(number, source, target)

    def shift(self, number: int, source: int, target: int) -> None:
        """Move this partition."""
        del self.held[source][number]
        self.held[target][number] = None
        self.owner[number] = target
        self.sizes[source] -= 1
        self.sizes[target] += 1
        for heap in self._heaps.values():
            if source in heap.members:
                heap.shrunk(source)

    def _balanced(self) -> bool:
        """Whether no member holds less than the owner of a partition that it could have.

        Only a previous owner that no longer subscribes could move something all the same, so this
        is asked where there are previous owners.
        """
        if self.even():
            return True
        largest: dict[int, int] = {}
        for number, rank in enumerate(self.owner):
            if rank >= 0:
                topic = self.topic_of(number)
                largest[topic] = max(largest.get(topic, 0), self.sizes[rank])
        return not any(
            self.sizes[rank] != self.group.capacities[rank]
            and any(self.sizes[rank] < largest[topic] for topic in self.group.subscribed[rank])
            for rank in self.working
        )

    def even(self) -> bool:
        """Whether no two members that take part differ by more than one partition."""
        sizes = [self.sizes[rank] for rank in self.working]
        return not sizes or min(sizes) >= max(sizes) - 1

    def _score(self) -> int:
        """Sum of all differences between two members' sizes, of those that are counted."""
        sizes = sorted(0 if rank in self.fixed else self.sizes[rank] for rank in self.counted)
        last = len(sizes) - 1
        return sum(size * (2 * index - last) for index, size in enumerate(sizes))
