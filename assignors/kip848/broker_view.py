"""A KIP-848 group as a server-side assignor sees it.

Source: TargetAssignmentBuilder, GroupSpecImpl, TopicIds and ModernGroup.subscriptionType of
Kafka's group coordinator.
"""

from collections.abc import Sequence
from functools import cached_property

from kgroups.assignors.compact import TopicTable
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.kip848.target import (
    Change,
    Runs,
    TargetAssignment,
    copied_set_order,
    uuid_halves,
    uuid_hash,
)
from kgroups.assignors.order.java_order import (
    copied_set_capacity,
    grown_capacity,
    hash_order,
    spread,
    string_hash,
    utf16_key,
)
from kgroups.assignors.spec import AssignmentRequest, AssignorError, Fault

LEFT_UNASSIGNED = "org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException"
BEYOND_ARRAY = "java.lang.ArrayIndexOutOfBoundsException"
"""The exception of `uniform` over an earlier target that is not there, by kind of subscriptions."""


class ServerView(LeaderView):
    """A request, arranged as the coordinator gives it to a server-side assignor.

    Members stand in the order of a HashMap; `owned` of a member is its previous target.

    Args:
        request: members in DescribeGroups order.

    Raises:
        AssignorError: two members have one id, or a topic has no id.
    """

    def __init__(self, request: AssignmentRequest) -> None:
        super().__init__(request)
        self.faults: list[Fault] = []
        without = next(
            (
                name
                for name, topic in request.topics.items()
                if topic.partitions > 0 and topic.topic_id is None
            ),
            None,
        )
        if without is not None:
            raise AssignorError(
                f"topic `{without}` has no topic id",
                hint="server-side assignors order topics by id",
            )

    @cached_property
    def table(self) -> TopicTable:
        """Every topic that exists, numbered in name order."""
        topics = self.request.topics
        names = sorted((t for t in topics if topics[t].partitions > 0), key=utf16_key)
        return TopicTable(names, [topics[name].partitions for name in names])

    @cached_property
    def id_halves(self) -> list[tuple[int, int]]:
        """The topic ids, as they are compared."""
        topics = self.request.topics
        return [uuid_halves(topics[name].topic_id or "") for name in self.table.names]

    @cached_property
    def codes(self) -> list[int]:
        """Spread hash of each topic's id."""
        return [spread(uuid_hash(halves)) for halves in self.id_halves]

    @cached_property
    def homogeneous(self) -> bool:
        """Whether every topic name has as many subscribers as the group has members.

        A coordinator that has decided so before, of an older membership, says it in the options.
        """
        decided = self.request.options.get("homogeneous")
        if isinstance(decided, bool):
            return decided
        names = set(self.members[0].topics)
        size, last = len(names), self.members[0].topics
        for member in self.members:
            if member.topics is not last and member.topics != last:
                if len(set(member.topics)) != size or not names.issuperset(member.topics):
                    return False
                last = member.topics
        return True

    def subscribed_topics(self, position: int) -> list[int]:
        """Existing topics of a member in the order of the HashSet of its topic names."""
        return list(self._named_topics(self.members[position].topics)[0])

    def named(self, position: int) -> int:
        """How many topic names a member subscribes to, unknown ones included."""
        return self._named_topics(self.members[position].topics)[1]

    def _named_topics(self, topics: tuple[str, ...]) -> tuple[list[int], int]:
        """Topic numbers in the order of the set of names, and how many names there are."""
        row = self._topic_sets.get(topics)
        if row is None:
            names = list(dict.fromkeys(topics))
            ordered = hash_order(
                names,
                [string_hash(name) for name in names],
                capacity=copied_set_capacity(len(topics)),
                order=utf16_key,
            )
            index = self.table.index
            row = ([index[name] for name in ordered if name in index], len(names))
            self._topic_sets[topics] = row
        return row

    @cached_property
    def _topic_sets(self) -> dict[tuple[str, ...], tuple[list[int], int]]:
        return {}

    def topic_set(self, position: int) -> list[int]:
        """Existing topics of a member in the order of a HashSet of their ids."""
        topics, size = self._named_topics(self.members[position].topics)
        return self.by_id(topics, copied_set_capacity(size))

    def by_id(self, topics: Sequence[int], capacity: int) -> list[int]:
        """Topics in the order of a hash table of their ids, filled in the given order."""
        codes = [uuid_hash(self.id_halves[topic]) for topic in topics]
        return hash_order(topics, codes, capacity=capacity, order=self.id_halves.__getitem__)

    def previous(self, position: int) -> Change:
        """A member's previous target, not yet changed."""
        owned = self.members[position].owned
        if not owned:
            return Change([], 0)
        index = self.table.index
        ids, topics = self.members[position].owned_ids, self.request.topics
        previous = {
            index[name]: partitions
            for name, partitions in owned
            if name in index and ids.get(name, topics[name].topic_id) == topics[name].topic_id
        }
        size = len(owned)
        there = {topic: self._existing(position, topic, previous[topic]) for topic in previous}
        if not self.request.faithful:
            size += any(len(there[topic]) < len(previous[topic]) for topic in previous)
            previous = there
        order = self.by_id(list(previous), grown_capacity(len(owned)))
        runs: Runs = [(topic, copied_set_order(previous[topic])) for topic in order]
        return Change(runs, size)

    def _existing(self, position: int, topic: int, partitions: Sequence[int]) -> Sequence[int]:
        """Those that the topic has.

        Raises:
            AssignorError: a faithful request on which the Java class throws.
        """
        count = self.table.counts[topic]
        if len(partitions) == 0 or (max(partitions) < count and min(partitions) >= 0):
            return partitions
        member, name = self.members[position], self.table.names[topic]
        stray = next(number for number in partitions if not 0 <= number < count)
        if name in member.topics:
            java = LEFT_UNASSIGNED if self.homogeneous else BEYOND_ARRAY
            what = f"`{member.member_id}` has {name}-{stray} in its target, which does not exist"
            if self.request.faithful:
                raise AssignorError(
                    f"a coordinator fails this rebalance: {what}",
                    hint="brokers return UNKNOWN_SERVER_ERROR until that member has left",
                    java=java,
                )
            self.faults.append(
                Fault(
                    "PHANTOM_PARTITION",
                    f"{what}: a coordinator fails the rebalance ({java.rpartition('.')[2]})",
                    member.member_id,
                    name,
                    stray,
                )
            )
        return [number for number in partitions if 0 <= number < count]

    def target(
        self, order: Sequence[int], changes: Sequence[Change], capacity: int = 16
    ) -> TargetAssignment:
        """The answer when members were put into its map in the given order of positions."""
        answered = self.copied(order, capacity)
        place = dict(zip(order, changes, strict=True))
        answer = TargetAssignment(
            [self.member_ids[position] for position in answered],
            self.table,
            [place[position] for position in answered],
            self.codes,
        )
        answer.faults = tuple(self.faults)
        return answer
