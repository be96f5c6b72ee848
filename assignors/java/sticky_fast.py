"""The general algorithm without Java's balance test before every partition.

A partition can move only if its owner holds two more than the least loaded subscriber of its
topic, so one lazy heap for each distinct set of subscribers answers what Java finds by walking
all members and all partitions. The same moves come out, in the same order.

Source: AbstractStickyAssignor.GeneralAssignmentBuilder.balance.
"""

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush, heapreplace

from kgroups.assignors.java.movements import EndlessWatch, Movements
from kgroups.assignors.java.sticky_general import GeneralView, Start


def deal_by_level(sizes: list[int], members: Sequence[int], wanted: int) -> list[int]:
    """Takers of `wanted` partitions, each going to the member with the fewest, then the smallest.

    Args:
        sizes: partitions of each member; brought up to date.
        members: who may take, ascending.
    """
    by_size = sorted(members, key=sizes.__getitem__)
    takers: list[int] = []
    live: list[int] = []
    place, level = 0, sizes[by_size[0]]
    while len(takers) < wanted:
        start = place
        while place < len(by_size) and sizes[by_size[place]] == level:
            place += 1
        live = sorted(live + by_size[start:place])
        rounds = -(-(wanted - len(takers)) // len(live))
        if place < len(by_size):
            rounds = min(rounds, sizes[by_size[place]] - level)
        takers += live * rounds
        level += rounds
    del takers[wanted:]
    for member in takers:
        sizes[member] += 1
    return takers


class LeastLoaded:
    """The member with the fewest partitions of one set of members, ties by number.

    Args:
        sizes: partitions of each member, changed by the owner of this object.
    """

    __slots__ = ("_heap", "_sizes", "_width", "members")

    def __init__(self, members: Iterable[int], sizes: list[int]) -> None:
        self.members = frozenset(members)
        self._sizes = sizes
        self._width = len(sizes)
        self._heap = [sizes[member] * self._width + member for member in self.members]
        heapify(self._heap)

    def first(self) -> int:
        """The member with the fewest partitions."""
        heap, sizes, width = self._heap, self._sizes, self._width
        while True:
            size, member = divmod(heap[0], width)
            if sizes[member] == size:
                return member
            if sizes[member] > size:
                heapreplace(heap, sizes[member] * width + member)
            else:
                heappop(heap)  # a smaller key of this member was pushed when it shrank

    def shrunk(self, member: int) -> None:
        """Tell that a member of the set has fewer partitions than before."""
        heappush(self._heap, self._sizes[member] * self._width + member)


class FastBalance:
    """One run of the general algorithm; inside, members are known by their rank in id order."""

    def __init__(self, general: GeneralView, start: Start) -> None:
        self._general = general
        self._start = start
        ranks = general.view.ranks
        self._ranks = ranks
        self._positions = sorted(range(len(ranks)), key=ranks.__getitem__)
        self._lists: list[list[int]] = [list(start.lists[p]) for p in self._positions]
        self._sizes = [len(numbers) for numbers in self._lists]
        self._owner = [-1] * general.table.total
        for rank, numbers in enumerate(self._lists):
            for number in numbers:
                self._owner[number] = rank
        self._previous = {n: ranks[member] for n, (member, _) in start.previous.items()}
        self._touched: dict[int, dict[int, None]] = {}
        self._heaps: dict[int, LeastLoaded] = {}
        self._readers: dict[int, list[int]] = {}
        self._movements = Movements(general.table)
        self.fixed: list[int] = []
        self.endless = False

    def run(self) -> list[list[int]]:
        """Partition numbers per member position; `endless` tells if Java would never answer."""
        initializing = not any(self._sizes)
        by_topic = self._by_topic(self._start.unassigned)
        self._fill(by_topic)
        general = self._general
        shared = [t for t in general.topic_order if general.reader_counts[t] >= 2]
        self._set_apart(set(shared))
        before = list(self._sizes)
        if not self._start.revoked:
            self._reassign([(t, n) for t, n in by_topic if general.reader_counts[t] >= 2])
        moved = self._reassign(general.movable_runs(shared))
        if moved and not initializing and self._score(self._sizes) >= self._score(before):
            self._touched.clear()
        for rank, held in self._touched.items():
            self._lists[rank] = list(held)
        return [self._lists[rank] for rank in self._ranks]

    def _by_topic(self, numbers: list[int]) -> list[tuple[int, Sequence[int]]]:
        """Partitions of one topic that stand side by side, together."""
        bases, counts = self._general.table.bases, self._general.table.counts
        runs: list[tuple[int, Sequence[int]]] = []
        place = 0
        while place < len(numbers):
            topic = self._general.topic_of(numbers[place])
            end = bases[topic] + counts[topic]
            stop = place
            while stop < len(numbers) and bases[topic] <= numbers[stop] < end:
                stop += 1
            runs.append((topic, numbers[place:stop]))
            place = stop
        return runs

    def _readers_of(self, topic: int) -> list[int]:
        """Subscribers of a topic, ascending; one list object for one set of subscribers."""
        positions = self._general.readers[topic]
        readers = self._readers.get(id(positions))
        if readers is None:
            readers = self._readers[id(positions)] = sorted(self._ranks[p] for p in positions)
        return readers

    def _fill(self, by_topic: list[tuple[int, Sequence[int]]]) -> None:
        """Deal the unassigned partitions, by rack first where racks count."""
        if self._general.racks.active:
            by_topic = [(topic, self._fill_by_rack(topic, numbers)) for topic, numbers in by_topic]
            self._heaps.clear()
        place = 0
        while place < len(by_topic):
            readers = self._readers_of(by_topic[place][0])
            together: list[int] = []
            while place < len(by_topic) and self._readers_of(by_topic[place][0]) is readers:
                together += by_topic[place][1]
                place += 1
            if together:
                takers = deal_by_level(self._sizes, readers, len(together))
                for number, rank in zip(together, takers, strict=True):
                    self._lists[rank].append(number)
                    self._owner[number] = rank

    def _fill_by_rack(self, topic: int, numbers: Sequence[int]) -> list[int]:
        """Give partitions to the least loaded member of their racks; those without one stay."""
        racks, left = self._general.racks, []
        readers = self._readers_of(topic)
        fitting: dict[frozenset[str], LeastLoaded] = {}
        for number in numbers:
            near = racks.racks_of(number)
            heap = fitting.get(near)
            if heap is None:
                heap = fitting[near] = LeastLoaded(
                    (r for r in readers if not racks.mismatch(self._positions[r], number)),
                    self._sizes,
                )
            if not heap.members:
                left.append(number)
                continue
            rank = heap.first()
            self._sizes[rank] += 1
            self._lists[rank].append(number)
            self._owner[number] = rank
        return left

    def _set_apart(self, shared: set[int]) -> None:
        """Find the members that can neither get nor lose anything."""
        general = self._general
        for rank, position in enumerate(self._positions):
            if self._sizes[rank] < general.capacity_of(position):
                continue
            if not shared.intersection(general.subscribed[position]):
                self.fixed.append(position)

    def _reassign(self, by_topic: Sequence[tuple[int, Sequence[int]]]) -> bool:
        """Pass over the partitions until a pass moves nothing; whether anything moved."""
        moved = False
        modified = True
        watch = EndlessWatch()
        while modified and not self.endless:
            modified = False
            spreads: dict[int, bool] = {}
            for topic, numbers in by_topic:
                readers = self._readers_of(topic)
                uneven = spreads.get(id(readers))
                if uneven is None:
                    held = [self._sizes[rank] for rank in readers]
                    uneven = spreads[id(readers)] = max(held) > min(held) + 1
                if uneven and self._reassign_topic(topic, numbers, readers):
                    spreads.clear()
                    modified = moved = True
            self.endless = modified and watch.circles(self._owner, self._movements.state)
        return moved

    def _reassign_topic(self, topic: int, numbers: Sequence[int], readers: list[int]) -> bool:
        """Move what has a better owner; whether anything moved."""
        heap = self._heaps.get(id(readers))
        if heap is None:
            heap = self._heaps[id(readers)] = LeastLoaded(readers, self._sizes)
        sizes, owner, previous = self._sizes, self._owner, self._previous
        moved = False
        for number in numbers:
            size = sizes[owner[number]]
            if previous and number in previous and size > sizes[previous[number]] + 1:
                self._move(topic, number, previous[number])
                moved = True
                continue
            least = heap.first()
            if size > sizes[least] + 1:
                self._move(topic, number, least)
                moved = True
        return moved

    def _held(self, rank: int) -> dict[int, None]:
        """A member's partitions, as something from which one can be taken quickly."""
        held = self._touched.get(rank)
        if held is None:
            held = self._touched[rank] = dict.fromkeys(self._lists[rank])
        return held

    def _move(self, topic: int, number: int, target: int) -> None:
        """Move a partition, or the one of its topic that cancels an earlier move."""
        number = self._movements.actual(topic, number, self._owner[number], target)
        source = self._owner[number]
        self._movements.record(topic, number, source, target)
        del self._held(source)[number]
        self._held(target)[number] = None
        self._owner[number] = target
        self._sizes[source] -= 1
        self._sizes[target] += 1
        for heap in self._heaps.values():
            if source in heap.members:
                heap.shrunk(source)

    def _score(self, sizes: list[int]) -> int:
        """Sum of all differences between two members' sizes, of those that take part."""
        apart = {self._ranks[position] for position in self.fixed}
        counted = sorted(size for rank, size in enumerate(sizes) if rank not in apart)
        last = len(counted) - 1
        return sum(size * (2 * index - last) for index, size in enumerate(counted))
