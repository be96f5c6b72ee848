"""`uniform`: the server-side default; equal totals, and as few partitions moved as possible.

Where subscriptions differ it fills topic by topic, then evens out in at most 16 sweeps.

Source: org.apache.kafka.coordinator.group.assignor.UniformAssignor,
UniformHomogeneousAssignmentBuilder (KIP-848, KAFKA-18688) and
UniformHeterogeneousAssignmentBuilder (KAFKA-17710).
"""

from collections.abc import Sequence

from kgroups.assignors.kip848.broker_view import ServerView
from kgroups.assignors.kip848.target import Change, TargetAssignment, sized_capacity
from kgroups.assignors.spec import AssignmentRequest

MAX_SWEEPS = 16


class MixedGroup:
    """A group with different subscriptions while it is being assigned."""

    def __init__(self, view: ServerView) -> None:
        counts = view.table.counts
        members = range(len(view.members))
        self.readers: list[list[int]] = [[] for _ in counts]
        mine = []
        for member in members:
            topics = view.subscribed_topics(member)
            mine.append(set(topics))
            for topic in topics:
                self.readers[topic].append(member)
        self.changes: list[Change] = [view.previous(member) for member in members]
        capacities = [
            sized_capacity(-(-count // max(len(readers), 1)))
            for count, readers in zip(counts, self.readers, strict=True)
        ]
        self._steps: list[list[tuple[int, int, bool]]] = [[] for _ in members]
        for change, steps in zip(self.changes, self._steps, strict=True):
            change.capacities = capacities
            change.steps = steps
        self.owners: list[list[int]] = [[-1] * count for count in counts]
        self.sizes = [0] * len(view.members)
        for member, change in enumerate(self.changes):
            change.changed = len(change.kept) < change.size
            for topic, partitions in change.kept:
                if topic not in mine[member]:
                    change.changed = True
                    change.gone = [*change.gone, topic]
                    continue
                for partition in partitions:
                    self.owners[topic][partition] = member
                self.sizes[member] += len(partitions)
        self.topics = sorted(
            (topic for topic, readers in enumerate(self.readers) if readers),
            key=lambda topic: (
                -counts[topic] / len(self.readers[topic]),
                len(self.readers[topic]),
                view.id_halves[topic],
            ),
        )

    def give(self, topic: int, partition: int, member: int) -> None:
        """Make a member the owner of a partition."""
        owner = self.owners[topic][partition]
        if owner >= 0:
            self._note(owner, topic, partition, added=False)
            self.sizes[owner] -= 1
        self.owners[topic][partition] = member
        self._note(member, topic, partition, added=True)
        self.sizes[member] += 1

    def _note(self, member: int, topic: int, partition: int, *, added: bool) -> None:
        self.changes[member].changed = True
        self._steps[member].append((topic, partition, added))

    def fill(self) -> None:
        """Deal what nobody owns, the least loaded subscriber first."""
        for topic in self.topics:
            owners = self.owners[topic]
            free = [partition for partition, owner in enumerate(owners) if owner < 0]
            if not free:
                continue
            levels = LoadLevels(self.readers[topic], self.sizes)
            for partition in free:
                self.give(topic, partition, levels.least_loaded())

    def balance(self) -> None:
        """Move partitions from the most to the least loaded until a whole cycle moves none."""
        shared = [topic for topic in self.topics if len(self.readers[topic]) >= 2]
        last: int | None = None
        for _ in range(MAX_SWEEPS):
            for topic in shared:
                if self._balance_topic(topic) or last is None:
                    last = topic
                elif topic == last:
                    return

    def _balance_topic(self, topic: int) -> bool:
        """Even out the subscribers of one topic; whether anything moved."""
        levels = LoadLevels(self.readers[topic], self.sizes)
        if levels.imbalance <= 1:
            return False
        held: dict[int, list[int]] = {}
        for partition, owner in enumerate(self.owners[topic]):
            held.setdefault(owner, []).append(partition)
        moved = False
        while True:
            giver = levels.most_loaded()
            while giver is not None and not held.get(giver):
                levels.exclude()
                giver = levels.most_loaded()
            if giver is None:
                return moved
            taker = levels.least_loaded()
            if levels.high - levels.low <= 1:
                return moved
            self.give(topic, held[giver].pop(), taker)
            moved = True


def assign_mixed(view: ServerView) -> TargetAssignment:
    """The target of a group whose members subscribe to different topics."""
    group = MixedGroup(view)
    if not group.topics:
        return TargetAssignment([], view.table, [], [])
    group.fill()
    group.balance()
    return view.target(range(len(group.changes)), group.changes)


class LoadLevels:
    """The subscribers of one topic, by number of partitions, ties by index.

    The order inside a level is that of the beginning; a member that was handed out is expected to
    get one partition more (low end) or one less (high end).

    Args:
        members: subscribers, ascending by index.
        sizes: number of partitions of each member, kept up to date by the caller.
    """

    __slots__ = (
        "_first_high", "_members", "_next_high", "_next_low", "_range_end", "_range_low",
        "_sizes", "high", "low",
    )  # fmt: skip

    def __init__(self, members: Sequence[int], sizes: list[int]) -> None:
        self._sizes = sizes
        self._members = sorted(members, key=sizes.__getitem__)
        self.low = sizes[self._members[0]] - 1
        self.high = sizes[self._members[-1]] + 1
        self._range_low = self._next_low = 0
        self._first_high = self._range_end = len(self._members)
        self._next_high = len(self._members) - 1

    @property
    def imbalance(self) -> int:
        """Difference between the largest and the smallest load."""
        return self._sizes[self._members[-1]] - self._sizes[self._members[0]]

    def least_loaded(self) -> int:
        """The next member to get a partition."""
        if self._next_low >= self._range_low:
            self.low += 1
            members, sizes = self._members, self._sizes
            while self._range_low < len(members) and sizes[members[self._range_low]] == self.low:
                self._range_low += 1
            self._next_low = 0
        member = self._members[self._next_low]
        self._next_low += 1
        return member

    def most_loaded(self) -> int | None:
        """The next member to give one up; None if all are excluded."""
        if self._next_high < self._first_high:
            members, sizes = self._members, self._sizes
            if self._range_end <= self._first_high:
                if self._first_high <= 0:
                    return None
                self.high = sizes[members[self._first_high - 1]]
            else:
                self.high -= 1
            while self._first_high > 0 and sizes[members[self._first_high - 1]] == self.high:
                self._first_high -= 1
            self._next_high = self._range_end - 1
        member = self._members[self._next_high]
        self._next_high -= 1
        return member

    def exclude(self) -> None:
        """Leave out the member that was handed out last from the high end."""
        members, place, end = self._members, self._next_high + 1, self._range_end - 1
        members[place], members[end] = members[end], members[place]
        self._range_end = end


Block = tuple[int, int, int]  # topic, first partition, one behind the last
NOTHING: Block = (-1, 0, 0)


class UniformAssignor:
    """`uniform` of a KIP-848 group; the larger share goes to the last members in hash order.

    Kafka 4.0.0 gave it to the first ones.
    """

    name = "uniform"
    waives = frozenset({"balanced", "order-free"})

    def assign(self, request: AssignmentRequest) -> TargetAssignment:
        """Every partition of the subscribed topics, sets in the coordinator's order."""
        view = ServerView(request)
        if not view.members:
            return TargetAssignment([], view.table, [], [])
        if not view.homogeneous:
            return assign_mixed(view)
        topics = view.topic_set(0)
        if not topics:
            return TargetAssignment([], view.table, [], [])
        changes = [view.previous(position) for position in range(len(view.members))]
        free = _unassigned(view, topics, changes)
        _fill(changes, free, _keep(view, topics, changes, free))
        return view.target(range(len(changes)), changes)


def _keep(
    view: ServerView,
    topics: list[int],
    changes: list[Change],
    free: list[Block],
) -> list[tuple[int, int]]:
    """Take from members what is over their quota; returns (member, what it still may get)."""
    subscribed = set(topics)
    total = sum(view.table.counts[topic] for topic in topics)
    low, extra = divmod(total, len(changes))
    unfilled = []
    for position, change in enumerate(changes):
        larger = extra > 0
        quota = low + larger
        if len(change.kept) < change.size:
            change.changed = True
        for topic, partitions in change.kept:
            if topic not in subscribed:
                change.changed = True
                change.gone = [*change.gone, topic]
            elif len(partitions) <= quota:
                quota -= len(partitions)
            else:
                change.changed = True
                change.steps = [
                    *change.steps,
                    *((topic, partition, False) for partition in partitions[quota:]),
                ]
                free += [(topic, partition, partition + 1) for partition in partitions[quota:]]
                quota = 0
        last_chance = len(changes) - position <= extra
        if quota > 0 and larger and not last_chance:
            quota -= 1
            larger = False
        if quota > 0:
            unfilled.append((position, quota))
        extra -= larger
    return unfilled


def _unassigned(view: ServerView, topics: list[int], changes: list[Change]) -> list[Block]:
    """Runs of partitions that are in nobody's previous target."""
    held: dict[int, set[int]] = {}
    for change in changes:
        for topic, partitions in change.kept:
            held.setdefault(topic, set()).update(partitions)
    free: list[Block] = []
    for topic in topics:
        start = 0
        for partition in sorted(held.get(topic, ())):
            if partition > start:
                free.append((topic, start, partition))
            start = partition + 1
        if start < view.table.counts[topic]:
            free.append((topic, start, view.table.counts[topic]))
    return free


def _fill(changes: list[Change], free: list[Block], unfilled: list[tuple[int, int]]) -> None:
    """Give each member in order the next partitions, up to what it may still get."""
    runs = iter(free)
    topic, start, end = next(runs, NOTHING)
    for position, quota in unfilled:
        change = changes[position]
        change.changed = True
        added: list[Block] = []
        while quota and topic >= 0:
            stop = min(end, start + quota)
            added.append((topic, start, stop))
            quota -= stop - start
            start = stop
            if start == end:
                topic, start, end = next(runs, NOTHING)
        change.block = added
