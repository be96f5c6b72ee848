"""franz-go, different subscriptions: members take partitions from others along chains of steals.

The emptiest member looks for somebody with two more, the fullest first, and everybody on the way
takes one from the next.

Source: kgo/internal/sticky/sticky.go (balanceComplex) and graph.go of franz-go 1.22.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush

from kgroups.assignors.compact import TopicTable
from kgroups.assignors.other_clients.franz_go.racks import Racks

NOBODY = -1


class Balancing:
    """A group while it is balanced; partitions are numbers, topics places in an order.

    Attributes:
        plan: partitions of each member; members are places in their order.
        origin: who had each partition.
        topics: numbers of the topics in the order of a Go map.
        readers: members by place of a topic.
    """

    def __init__(self, table: TopicTable, members: int) -> None:
        self._table = table
        self.plan: list[list[int]] = [[] for _ in range(members)]
        self.origin = [NOBODY] * table.total
        self.topics: list[int] = []
        self.readers: list[list[int]] = []
        self.racks: Racks | None = None
        self._places: dict[int, int] = {}

    def numbers_of(self, place: int) -> range:
        """Partitions of the topic at this place."""
        base = self._table.bases[self.topics[place]]
        return range(base, base + self._table.counts[self.topics[place]])

    def place_of(self, number: int) -> int:
        """Place of a partition's topic."""
        return self._places[self._table.topic_of(number)]

    def owners(self) -> list[int]:
        """Who has each partition now."""
        owners = [NOBODY] * self._table.total
        for member, numbers in enumerate(self.plan):
            for number in numbers:
                owners[number] = member
        return owners


@dataclass(eq=False, slots=True)
class Level:
    """Members with the same number of partitions, in the order in which they came."""

    size: int
    members: list[int] = field(default_factory=list)

    def remove(self, member: int) -> None:
        """Take a member out and put the last one in its place."""
        place = self.members.index(member)
        self.members[place] = self.members[-1]
        self.members.pop()


class Levels:
    """The levels of a plan."""

    def __init__(self, plan: list[list[int]]) -> None:
        self._by_size: dict[int, Level] = {}
        for member, numbers in enumerate(plan):
            self.at(len(numbers)).members.append(member)

    def __len__(self) -> int:
        return len(self._by_size)

    def at(self, size: int) -> Level:
        """The level of this size; a new one if there is none."""
        return self._by_size.setdefault(size, Level(size))

    def lowest(self) -> Level:
        """The level of the emptiest members."""
        return self._by_size[min(self._by_size)]

    def highest(self) -> Level:
        """The level of the fullest members."""
        return self._by_size[max(self._by_size)]

    def delete(self, size: int) -> None:
        """Forget a level."""
        del self._by_size[size]

    def shift(self, member: int, before: int, after: int) -> None:
        """Put a member from one level into another; a level without members is forgotten."""
        level = self._by_size[before]
        level.remove(member)
        if not level.members:
            self.delete(before)
        self.at(after).members.append(member)


class StealGraph:
    """Who holds what of each topic, and so from whom it can be stolen."""

    def __init__(self, group: Balancing) -> None:
        self._group = group
        self._owner = group.owners()
        self._wants: list[list[int]] = [[] for _ in group.plan]
        self._holders: list[dict[int, list[int]]] = [{} for _ in group.topics]
        for place, readers in enumerate(group.readers):
            for member in readers:
                self._wants[member].append(place)
            for number in group.numbers_of(place):
                if self._owner[number] >= 0:
                    self._holders[place].setdefault(self._owner[number], []).append(number)

    def hand_over(self, number: int, target: int) -> None:
        """Note that a partition has another owner."""
        place = self._group.place_of(number)
        held = self._holders[place][self._owner[number]]
        held[held.index(number)] = held[-1]
        held.pop()
        self._owner[number] = target
        self._holders[place].setdefault(target, []).append(number)

    def find(self, thief: int) -> list[tuple[int, int, int]]:
        """Steps (from, to, partition) by which a member gains one from somebody with two more."""
        sizes = [len(numbers) for numbers in self._group.plan]
        reached: dict[int, tuple[int, int]] = {thief: (-1, -1)}  # from whom on, by which partition
        queue = [(-sizes[thief], 0, thief)]
        while queue:
            _, distance, member = heappop(queue)
            if sizes[member] > sizes[thief] + 1:
                return self._steps(reached, member)
            for place in self._wants[member]:
                for holder, held in self._holders[place].items():
                    if held and holder not in reached:
                        reached[holder] = (member, held[0])
                        heappush(queue, (-sizes[holder], distance + 1, holder))
        return []

    @staticmethod
    def _steps(reached: dict[int, tuple[int, int]], member: int) -> list[tuple[int, int, int]]:
        steps = []
        while reached[member][0] >= 0:
            taker, number = reached[member]
            steps.append((member, taker, number))
            member = taker
        return steps


def steal_all(group: Balancing, levels: Levels) -> None:
    """Let members steal, the emptiest first, until nobody finds anything."""
    graph = StealGraph(group)
    while len(levels) > 1:
        low, high = levels.lowest(), levels.highest()
        if high.size <= low.size + 1:
            return
        while low.members:
            thief = low.members[0]
            steps = graph.find(thief)
            for source, target, number in steps:
                _move(group, levels, source, target, number)
                graph.hand_over(number, target)
            if steps and not high.members:
                break
            if not steps:  # it will never have more
                low.remove(thief)
                if not low.members:
                    levels.delete(levels.lowest().size)


def _move(group: Balancing, levels: Levels, source: int, target: int, number: int) -> None:
    """Move a partition in the plan, the last one of its old owner taking its place."""
    giving, taking = group.plan[source], group.plan[target]
    before = len(giving), len(taking)
    giving[giving.index(number)] = giving[-1]
    giving.pop()
    taking.append(number)
    levels.shift(source, before[0], len(giving))
    levels.shift(target, before[1], len(taking))
