"""`cooperative-sticky` as librdkafka computes it, with what goes wrong in it.

Equal subscriptions get no algorithm of their own. Topics come in the order of the broker's
Metadata answer, which from five topics on is that of their hashes, and what nobody owned is dealt
from the last to the first. `Records` says what becomes of moves that are reversed.

Source: rdkafka_sticky_assignor.c and rdmap.c of librdkafka 2.15; runs of 2.16.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import needs_racks
from kgroups.assignors.order.scala_order import scala_set_order
from kgroups.assignors.other_clients.choices import Choices
from kgroups.assignors.other_clients.ported_group import PortedGroup, claimed_once
from kgroups.assignors.other_clients.ported_sticky import PortedStart, PortedSticky
from kgroups.assignors.spec import AssignmentRequest, AssignorError, TopicPartition

Pair = tuple[int, int]


def dies(why: str) -> AssignorError:
    """The error of a rebalance in which a librdkafka leader's process ends."""
    return AssignorError(
        f"a librdkafka leader crashes in this rebalance: {why}",
        hint="librdkafka's `cooperative-sticky` reads freed memory where members subscribe to "
        "different topics; subscribe all members alike",
    )


@dataclass(slots=True)
class Records:
    """Partitions that moved from one member to another.

    Args:
        numbers: the partitions, oldest first.
        named_by: the partition whose record holds the name of this list.
        nameless: whether that record is gone.
    """

    numbers: list[int]
    named_by: int
    nameless: bool = False


class LibrdkafkaMoves:
    """The moves by partition and by topic and direction."""

    def __init__(self) -> None:
        self._pairs: dict[int, Pair] = {}
        self._topics: dict[int, dict[Pair, Records]] = {}

    def actual(self, topic: int, number: int, source: int, target: int) -> int | None:
        """The recorded partition that is to move instead of this one; None if there is none.

        Raises:
            AssignorError: the process dies.
        """
        if topic not in self._topics:
            return None
        if number in self._pairs and self._pairs[number][1] != source:
            raise dies("a partition is not where its record says")
        records = self._found(topic, (target, source))
        return None if records is None else records.numbers[0]

    def behind(self, topic: int, pair: Pair, first: int) -> int:
        """Strike the record of a reversed move; the partition that moves, which is the next one.

        Raises:
            AssignorError: the process dies.
        """
        if self._pairs.get(first) != pair:
            raise dies("a partition is not where its record says")
        records = self._topics[topic][pair]
        if len(records.numbers) == 1:
            raise dies("it moves the partition of a record that it has freed")
        records.numbers.remove(first)
        return records.numbers[0]

    def record(self, topic: int, number: int, source: int, target: int) -> None:
        """Note a move.

        Raises:
            AssignorError: the process dies.
        """
        if number not in self._pairs:
            self._add(topic, number, (source, target))
            return
        pair = self._pairs[number]
        by_pair = self._topics.get(topic)
        records = None if by_pair is None else self._found(topic, pair)
        if by_pair is None or records is None or pair[1] != source:
            raise dies("a partition is not where its record says")
        if number in records.numbers:
            records.numbers.remove(number)
        if not records.numbers:
            del by_pair[pair]
            if not by_pair:
                del self._topics[topic]
        if pair[0] != target:
            for other in self._topics.get(topic, {}).values():
                other.nameless = other.nameless or other.named_by == number
            self._add(topic, number, (pair[0], target))

    def _found(self, topic: int, pair: Pair) -> Records | None:
        """The records of a direction."""
        records = self._topics[topic].get(pair)
        if records is not None and records.nameless:
            raise dies("it compares the name of a list of records that it has freed")
        return records

    def _add(self, topic: int, number: int, pair: Pair) -> None:
        self._pairs[number] = pair
        by_pair = self._topics.setdefault(topic, {})
        records = self._found(topic, pair)
        if records is None:
            by_pair[pair] = Records([number], number)
        else:
            records.numbers.append(number)


class LibrdkafkaSticky:
    """`cooperative-sticky` of a librdkafka leader."""

    name = "cooperative-sticky"

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics; what must change hands is withheld.

        What is claimed and given to nobody, because it is gone or nobody reads it, is given back.

        Raises:
            AssignorError: the leader's process dies.
        """
        group = PortedGroup(request, doubled=False)
        if not group.ids:
            return CompactAssignment.of_lists([], group.table, [])
        racks = _Racks(group)
        run = _Run(group, _start(group, racks), racks)
        lists = [list(numbers) for numbers in group.in_positions(run.run())]
        if run.endless:
            raise dies("it moves the same partitions in a cycle")
        withheld = _adjust(group, lists)
        answer = CompactAssignment.of_lists(
            group.view.member_ids,
            group.table,
            lists,
            withheld=withheld,
            generation=max((member.generation for member in group.view.members), default=-1),
        )
        if _sees_no_order(group):
            answer.by_hash = frozenset()
        return answer


def _sees_no_order(group: PortedGroup) -> bool:
    """Whether the order of JoinGroup decides nothing: neither that of topics, nor a claim."""
    members = group.view.members
    return len({member.topics for member in members}) == 1 and claimed_once(
        (topic, number)
        for member in members
        for topic, numbers in member.owned
        for number in numbers
    )


class _Racks:
    """Racks as librdkafka's sticky assignor takes them: an empty one is one that fits nowhere."""

    def __init__(self, group: PortedGroup) -> None:
        view = group.view
        self._of = [view.members[position].rack for position in group.positions]
        self._partitions: list[frozenset[str]] = []
        self.active = False
        if any(view.racks):
            for topic in range(len(group.table.names)):
                self._partitions += view.partition_racks(topic)
            self.active = needs_racks(view.racks, self._partitions)

    def mismatch(self, rank: int, number: int) -> bool:
        """Whether a member's rack is not among those of the partition's replicas."""
        rack = self._of[rank] if self.active else None
        return rack is not None and rack not in self._partitions[number]


class _Run(PortedSticky):
    """One run."""

    def __init__(self, group: PortedGroup, start: PortedStart, racks: _Racks) -> None:
        super().__init__(group, start, Choices())
        self._racks = racks
        self._moves = LibrdkafkaMoves()

    def fill(self) -> None:
        """Deal what has no owner, by rack first where racks count."""
        if self._racks.active:
            left = [number for number in self.start.unassigned if not self._give_by_rack(number)]
            self.start.unassigned, everything = left, self.start.unassigned
            super().fill()
            self.start.unassigned = everything
        else:
            super().fill()

    def _give_by_rack(self, number: int) -> bool:
        """Give a partition to the least loaded subscriber that its racks suit."""
        fitting = [
            (self.sizes[rank], rank)
            for rank in self.group.readers[self.topic_of(number)]
            if not self._racks.mismatch(rank, number)
        ]
        if fitting:
            self.give(number, min(fitting)[1])
        return bool(fitting)

    def size_of(self, rank: int) -> int:
        """Number of partitions of a previous owner.

        Raises:
            AssignorError: the previous owner takes no part: the process dies.
        """
        if rank in self.fixed:
            raise dies("it looks up a member that is not in it")
        return self.sizes[rank]

    def reassign(self, number: int, target: int) -> None:
        """Move a partition, or the one behind the record that this move reverses."""
        topic, source = self.topic_of(number), self.owner[number]
        first = self._moves.actual(topic, number, source, target)
        if first is None:
            self._moves.record(topic, number, source, target)
            self.shift(number, source, target)
            return
        source = self.owner[first]
        self.shift(self._moves.behind(topic, (target, source), first), source, target)


def _start(group: PortedGroup, racks: _Racks) -> PortedStart:
    """The assignment to begin with; a partition that two claim in one generation is nobody's."""
    claims: dict[TopicPartition, list[tuple[int, int]]] = {}
    for position, member in enumerate(group.view.members):
        for topic, partitions in member.owned:
            for partition in partitions:
                claimants = claims.setdefault((topic, partition), [])
                claimants.append((member.generation, group.ranks[position]))
    current: list[list[int]] = [[] for _ in group.ids]
    previous: dict[int, int] = {}
    for claim, claimants in reversed(claims.items()):
        number = group.table.number(claim)
        claimants.sort()
        generations = [generation for generation, _ in claimants]
        if number is None or len(set(generations)) < len(generations):
            continue
        current[claimants[-1][1]].append(number)
        if len(claimants) > 1:
            previous[number] = claimants[-2][1]
    order = _order(group, current, previous)
    lists = []
    for rank, numbers in enumerate(current):
        mine = group.subscribed[rank]
        lists.append(
            [
                number
                for number in numbers
                if group.topic_of(number) in mine and not racks.mismatch(rank, number)
            ]
        )
    revoked = sum(map(len, lists)) < sum(map(len, current))
    kept = {number for numbers in lists for number in numbers}
    unassigned = [number for number in order if number not in kept]
    return PortedStart(lists, order, unassigned, revoked, previous)


def _order(group: PortedGroup, current: list[list[int]], previous: dict[int, int]) -> list[int]:
    """Every partition in the order in which they are tried; sorts `current` on the way."""
    if any(topics != group.subscribed[0] for topics in group.subscribed):
        return group.by_readers()
    for numbers in current:
        numbers.sort()
    tried = _rounds(current, previous)
    if not tried:
        return list(range(group.table.total))
    seen = set(tried)
    everything = [n for topic in metadata_order(group) for n in group.numbers_of(topic)]
    return tried + [number for number in reversed(everything) if number not in seen]


def metadata_order(group: PortedGroup) -> list[int]:
    """Topics as a broker names them to a leader that asks for those of all subscriptions."""
    index = group.table.index
    names = scala_set_order(name for member in group.view.members for name in member.topics)
    return [index[name] for name in names if name in index]


def _rounds(current: Sequence[Sequence[int]], previous: dict[int, int]) -> list[int]:
    """One partition of the fullest member at a time, what had an older owner first."""
    left = [sorted(numbers, key=lambda n: n not in previous) for numbers in current]
    heap = [(-len(numbers), -rank) for rank, numbers in enumerate(left)]
    heapify(heap)
    order: list[int] = []
    while heap:
        size, negative = heappop(heap)
        if size < 0:
            numbers = left[-negative]
            order.append(numbers[len(numbers) + size])
            heappush(heap, (size + 1, negative))
    return order


def _adjust(group: PortedGroup, lists: list[list[int]]) -> dict[int, int]:
    """Withhold what somebody else claims; the last of two claims counts.

    Source: rd_kafka_cooperative_protocol_adjust_assignment.
    """
    owner: dict[int, int] = {}
    for position, member in enumerate(group.view.members):
        for topic, partitions in member.owned:
            for partition in partitions:
                owner[group.table.claimed(topic, partition)] = position
    withheld = {}
    given = set()
    for position, numbers in enumerate(lists):
        given.update(numbers)
        kept = [number for number in numbers if owner.get(number) == position]
        new = [number for number in numbers if number not in owner]
        withheld.update({n: position for n in numbers if owner.get(n, position) != position})
        lists[position] = kept + new
    for number, position in owner.items():
        if number not in given:
            lists[position].append(number)
    return withheld
