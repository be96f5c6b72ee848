"""The general algorithm statement by statement, for claims on which the Java class goes astray.

It tests the balance before every partition, as Java does, so it is slow; `sticky_fast` gives the
same result wherever Java is not at fault.

Source: AbstractStickyAssignor.GeneralAssignmentBuilder.balance.
"""

from bisect import insort

from kgroups.assignors.java.movements import EndlessWatch, Movements
from kgroups.assignors.java.sticky_general import GeneralView, Start
from kgroups.assignors.spec import AssignorError


def fails_on_null() -> AssignorError:
    """The error of a rebalance that a Java leader fails with NullPointerException."""
    return AssignorError(
        "a Java leader fails this rebalance: it looks up a member that is not in it",
        hint="a member's claim of an older generation names topics that it does not subscribe to",
        java="java.lang.NullPointerException",
    )


def never_ends() -> AssignorError:
    """The error of a rebalance that a Java leader computes for ever."""
    return AssignorError(
        "a Java leader never finishes this rebalance: it moves the same partitions in a cycle",
        hint="members claim partitions of several generations; restart those with older ones",
        java="timeout",
    )


class LiteralBalance:
    """One run of the general algorithm."""

    def __init__(self, general: GeneralView, start: Start) -> None:
        self.general = general
        self.start = start
        self.ranks = general.view.ranks
        self.lists = [list(numbers) for numbers in start.lists]
        self.owner = {n: member for member, held in enumerate(self.lists) for n in held}
        self.working = set(range(len(self.lists)))
        self.queue = sorted(self._key(member) for member in self.working)
        self.by_rank = sorted(self.working, key=self.ranks.__getitem__)
        self.movements = Movements(general.table)
        self.fixed: list[int] = []
        self.endless = False

    def run(self) -> list[list[int]]:
        """Partition numbers per member."""
        initializing = not self.queue or self.queue[-1][0] == 0
        self._fill()
        general = self.general
        shared = {t for t, count in enumerate(general.reader_counts) if count >= 2}
        bases, counts = general.table.bases, general.table.counts
        movable = [
            bases[topic] + partition
            for topic in general.topic_order
            if topic in shared
            for partition in range(counts[topic])
        ]
        unassigned = [n for n in self.start.unassigned if general.topic_of(n) in shared]
        for member in range(len(self.lists)):
            if not self._takes_part(member, shared):
                self.fixed.append(member)
                self.working.discard(member)
                self.queue.remove(self._key(member))
        before = [list(numbers) for numbers in self.lists]
        if not self.start.revoked:
            self._reassign(unassigned)
        moved = self._reassign(movable)
        if moved and not initializing and self._score(self.lists) >= self._score(before):
            self.lists = before
        return self.lists

    def _key(self, member: int) -> tuple[int, int]:
        return len(self.lists[member]), self.ranks[member]

    def _change(self, member: int, number: int, *, add: bool) -> None:
        """Add or remove one partition and keep the queue of members in order."""
        self.queue.remove(self._key(member))
        if add:
            self.lists[member].append(number)
        elif number in self.lists[member]:
            self.lists[member].remove(number)
        insort(self.queue, self._key(member))

    def _give(self, number: int, *, by_rack: bool) -> bool:
        """Give a partition to the least loaded subscriber that may have it."""
        topic = self.general.topic_of(number)
        for _, rank in self.queue:
            member = self.by_rank[rank]
            if topic not in self.general.subscribed[member]:
                continue
            if by_rack and self.general.racks.mismatch(member, number):
                continue
            self._change(member, number, add=True)
            self.owner[number] = member
            return True
        return False

    def _fill(self) -> None:
        """Deal the unassigned partitions, by rack first where racks count."""
        left = self.start.unassigned
        if self.general.racks.active:
            left = [number for number in left if not self._give(number, by_rack=True)]
        for number in left:
            self._give(number, by_rack=False)

    def _takes_part(self, member: int, shared: set[int]) -> bool:
        """Whether a member can get or lose anything."""
        held = self.lists[member]
        if len(held) < self.general.capacity_of(member):
            return True
        return any(self.general.topic_of(number) in shared for number in held)

    def _balanced(self) -> bool:
        """Whether no member could take a partition from one that holds two more."""
        if not self.queue or self.queue[0][0] >= self.queue[-1][0] - 1:
            return True
        holder = {}
        for member in self.general.view.copied(sorted(self.working)):
            for number in self.lists[member]:
                holder[number] = member
        bases, counts = self.general.table.bases, self.general.table.counts
        for size, rank in self.queue:
            member = self.by_rank[rank]
            if size == self.general.capacity_of(member):
                continue
            held = set(self.lists[member])
            for topic in self.general.listed[member]:
                for number in range(bases[topic], bases[topic] + counts[topic]):
                    if number in held:
                        continue
                    if number not in holder:
                        raise fails_on_null()
                    if size + 1 < len(self.lists[holder[number]]):
                        return False
        return True

    def _size(self, member: int) -> int:
        """Number of partitions of a member that takes part."""
        if member not in self.working:
            raise fails_on_null()
        return len(self.lists[member])

    def _reassign(self, numbers: list[int]) -> bool:
        """Pass over the partitions until a pass moves nothing; whether anything moved."""
        moved = False
        modified = True
        watch = EndlessWatch()
        while modified and not self.endless:
            modified = False
            for number in numbers:
                if self._balanced():
                    break
                if self._improve(number):
                    moved = modified = True
            owners = (self.owner[number] for number in sorted(self.owner))
            self.endless = modified and watch.circles(owners, self.movements.state)
        return moved

    def _improve(self, number: int) -> bool:
        """Move one partition if a better owner exists."""
        owner = self.owner[number]
        earlier = self.start.previous.get(number)
        if earlier is not None and self._size(owner) > self._size(earlier[0]) + 1:
            self._move(number, earlier[0])
            return True
        topic = self.general.topic_of(number)
        racks = self.general.racks
        near = racks.racks_of(number)
        sweeps = [False]
        if racks.active and racks.member_racks[owner] in near:
            sweeps = [True, False]
        for by_rack in sweeps:
            for member in self.general.readers[topic]:
                if by_rack and racks.member_racks[member] not in near:
                    continue
                if self._size(owner) > self._size(member) + 1:
                    self._move(number, self._least_loaded(topic))
                    return True
        return False

    def _least_loaded(self, topic: int) -> int:
        """The subscriber with the fewest partitions, ties by id."""
        for _, rank in self.queue:
            if topic in self.general.subscribed[self.by_rank[rank]]:
                return self.by_rank[rank]
        raise fails_on_null()

    def _move(self, number: int, target: int) -> None:
        """Move a partition, or the one of its topic that cancels an earlier move."""
        topic = self.general.topic_of(number)
        number = self.movements.actual(topic, number, self.owner[number], target)
        source = self.owner[number]
        self.movements.record(topic, number, source, target)
        self._change(source, number, add=False)
        self._change(target, number, add=True)
        self.owner[number] = target

    def _score(self, lists: list[list[int]]) -> int:
        """Sum of all differences between two members' sizes."""
        sizes = sorted(len(lists[member]) for member in self.working)
        last = len(sizes) - 1
        return sum(size * (2 * index - last) for index, size in enumerate(sizes))
