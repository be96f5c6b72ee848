"""A classic group as its leader sees it: members in hash order, topics that exist, racks.

Every client-side strategy starts from here.

Source: org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor,
ConsumerCoordinator.onLeaderElected; rack rule of KIP-881.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kgroups.assignors.compact import CompactAssignment, TopicTable
from kgroups.assignors.order.java_order import (
    hash_order,
    java_sorted,
    spread,
    string_hash,
    string_hashes,
    uncrowded_capacity,
    utf16_key,
)
from kgroups.assignors.order.java_table import HashTable
from kgroups.assignors.spec import AssignmentRequest, AssignorError, MemberSubscription

ANSWER_COPIES = (16, 16)  # the assignor's own map, then the map of the answer


@dataclass(frozen=True, slots=True)
class OrderRule:
    """How a client library's leader orders members.

    Args:
        order: positions of members in order; may leave some out.
        total: whether a part of the members stands as it does within the whole. Where it does
            not, the order of the JoinGroup answer decides too, and members stay in it.
    """

    order: Callable[[Sequence[MemberSubscription]], list[int]]
    total: bool = True


def static_first(members: Sequence[MemberSubscription]) -> list[int]:
    """Positions in Java's member order: static members by instance id, then the others by id."""
    static = [i for i, member in enumerate(members) if member.instance_id is not None]
    dynamic = [i for i, member in enumerate(members) if member.instance_id is None]
    static.sort(key=lambda i: utf16_key(members[i].instance_id or ""))
    if all(member.member_id.isascii() for member in members):
        dynamic.sort(key=lambda i: members[i].member_id)
    else:
        dynamic.sort(key=lambda i: utf16_key(members[i].member_id))
    return static + dynamic


JAVA_ORDER = OrderRule(static_first)


class LeaderView:
    """A request, arranged as the leader's assignor meets it.

    Args:
        request: members in JoinGroup order.
        member_order: the order rule of the leader's client library.

    Raises:
        AssignorError: two members have one id.
    """

    def __init__(self, request: AssignmentRequest, member_order: OrderRule = JAVA_ORDER):
        ids = [member.member_id for member in request.members]
        if len(set(ids)) != len(ids):
            twice = next(name for index, name in enumerate(ids) if name in ids[:index])
            raise AssignorError(
                f"two members have the id `{twice}`",
                hint="member ids must be unique in a group",
            )
        self.request = request
        self.members = list(request.members)
        if member_order.total:  # else a library that keeps them as the coordinator lists them
            hashes = string_hashes(ids)
            order = hash_order(range(len(ids)), hashes, order=lambda i: utf16_key(ids[i]))
            self.members = [request.members[index] for index in order]
            self._hashes = [hashes[index] for index in order]
        self.member_ids = [member.member_id for member in self.members]
        self._member_order = member_order

    @cached_property
    def _hashes(self) -> list[int]:
        """Hashes of the members' ids."""
        return string_hashes(self.member_ids)

    @cached_property
    def _capacity(self) -> int | None:
        """Size of the hash table that holds the members; None where it has trees in it."""
        return uncrowded_capacity([spread(code) for code in self._hashes], 16)

    @cached_property
    def ordered(self) -> list[int]:
        """Positions in `members`, in member order."""
        return self._member_order.order(self.members)

    def copied(self, order: Sequence[int], capacity: int = 16) -> list[int]:
        """Positions in the order of a map into which Java puts them in the given order.

        Args:
            order: positions in `members`.
            capacity: first size of the map's table.
        """
        if order == range(len(self.members)) and self._capacity is not None:
            grown = capacity if len(order) <= capacity * 3 // 4 else 2 * capacity
            if capacity >= 16 and grown <= self._capacity:
                return list(order)  # the same buckets, filled in the order of the buckets
        return hash_order(
            order,
            [self._hashes[index] for index in order],
            capacity=capacity,
            order=self._id_key,
        )

    def taken_and_returned(self, taken: Sequence[int], returned: Sequence[int]) -> list[int]:
        """Positions in the order of the members' map after some were removed and put back."""
        codes = [spread(code) for code in self._hashes]
        table: HashTable[int] = HashTable(16, self._id_key)
        for position, code in enumerate(codes):
            table.put(position, code)
        for position in taken:
            table.remove(position, codes[position])
        for position in returned:
            table.put(position, codes[position])
        return table.listed()

    def answer(
        self, assignment: CompactAssignment, capacities: Sequence[int] = ANSWER_COPIES
    ) -> CompactAssignment:
        """The assignment with members in the order of the answer.

        Java puts the members from map to map, which changes their order inside a chain.

        Args:
            assignment: members in the order of `members`.
            capacities: first table size of each map that is filled from the one before.
        """
        order: Sequence[int] = range(len(self.members))
        for capacity in capacities:
            copied = self.copied(order, capacity)
            order = copied if copied != list(order) else order
        return self.in_order(assignment, order)

    def in_order(self, assignment: CompactAssignment, order: Sequence[int]) -> CompactAssignment:
        """The assignment with members in the given order of positions."""
        if order == range(len(self.members)) or list(order) == list(range(len(self.members))):
            return assignment
        return assignment.permuted(order)

    @cached_property
    def ranks(self) -> list[int]:
        """For each position its place in the order of member ids."""
        order = sorted(range(len(self.members)), key=self._id_key)
        ranks = [0] * len(order)
        for rank, position in enumerate(order):
            ranks[position] = rank
        return ranks

    @cached_property
    def _id_key(self) -> Callable[[int], bytes | str]:
        """Sort key of a position that orders members by id."""
        ids = self.member_ids
        if all(map(str.isascii, ids)):
            return ids.__getitem__
        return lambda position: utf16_key(ids[position])

    @cached_property
    def subscribed(self) -> list[str]:
        """Existing subscribed topics in the hash order in which the assignors walk them."""
        topics = self.request.topics
        seen: dict[str, None] = {}
        last: tuple[str, ...] | None = None
        for member in self.members:
            if member.topics is not last and member.topics != last:
                last = member.topics
                seen.update(dict.fromkeys(last))
        names = _string_order(list(seen))
        return _string_order([t for t in names if t in topics and topics[t].partitions > 0])

    @cached_property
    def table(self) -> TopicTable:
        """Existing subscribed topics, numbered in name order."""
        names = java_sorted(self.subscribed)
        return TopicTable(names, [self.request.topics[name].partitions for name in names])

    @cached_property
    def classes(self) -> tuple[list[tuple[int, ...]], list[int]]:
        """Distinct subscriptions as ascending topic numbers, and the subscription of each member.

        Unknown topics are left out and a topic that is named twice counts once.
        """
        index = self.table.index
        by_identity: dict[int, int] = {}
        by_topics: dict[tuple[str, ...], int] = {}
        by_numbers: dict[tuple[int, ...], int] = {}
        member_class = []
        for member in self.members:
            number = by_identity.get(id(member.topics))
            if number is None:
                number = by_topics.get(member.topics)
                if number is None:
                    topics = tuple(sorted({index[t] for t in member.topics if t in index}))
                    number = by_numbers.setdefault(topics, len(by_numbers))
                    by_topics[member.topics] = number
                by_identity[id(member.topics)] = number
            member_class.append(number)
        return list(by_numbers), member_class

    @cached_property
    def subscribers(self) -> list[list[int]]:
        """For each topic the positions of its subscribers, in member order.

        Topics with the same subscribers share one list object.
        """
        if self._member_order.total:
            return self.subscribers_in(self.ordered)
        shared: dict[int, list[int]] = {}
        unordered = self.subscribers_in(range(len(self.members)))
        for readers in unordered:
            if id(readers) not in shared:
                order = self._member_order.order([self.members[index] for index in readers])
                shared[id(readers)] = [readers[index] for index in order]
        return [shared[id(readers)] for readers in unordered]

    def subscribers_in(self, order: Iterable[int]) -> list[list[int]]:
        """For each topic its subscribers in the given order of positions."""
        classes, member_class = self.classes
        readers: list[list[int]] = [[] for _ in self.table.names]
        for number, topics in enumerate(classes):
            for topic in topics:
                readers[topic].append(number)
        shared: dict[tuple[int, ...], list[int]] = {}
        listed = list(order)
        result = []
        for numbers in map(tuple, readers):
            members = shared.get(numbers)
            if members is None:
                wanted = set(numbers)
                members = [i for i in listed if member_class[i] in wanted]
                shared[numbers] = members
            result.append(members)
        return result

    @cached_property
    def racks(self) -> list[str | None]:
        """Rack of each member; None where it has none."""
        return [member.rack or None for member in self.members]

    def partition_racks(self, topic: int) -> list[frozenset[str]]:
        """For each partition of a topic the racks of its replicas."""
        name, count = self.table.names[topic], self.table.counts[topic]
        given = self.request.topics[name].racks
        return [
            frozenset(rack for rack in given[p] if rack is not None)
            if p < len(given)
            else frozenset()
            for p in range(count)
        ]


def _string_order(keys: list[str]) -> list[str]:
    """Texts in the order of a HashSet into which they were added one after the other."""
    return hash_order(keys, [string_hash(key) for key in keys], order=utf16_key)


def needs_racks(member_racks: Iterable[str | None], partition_racks: list[frozenset[str]]) -> bool:
    """Whether racks make a difference.

    False if no member has a rack, if no member's rack holds a replica, or if every partition has
    replicas in all racks.
    """
    wanted = {rack for rack in member_racks if rack}
    union: frozenset[str] = frozenset().union(*partition_racks)
    if not wanted or wanted.isdisjoint(union):
        return False
    return any(racks != union for racks in partition_racks)
