"""A group as a library that ported the sticky algorithm of KIP-54 sees it: no hash order anywhere.

Members are known by their rank in id order and partitions by number, as in the Java assignors.

Source: StickyAssignor of Kafka 2.3, from which kafka-python, aiokafka, librdkafka and sarama took
theirs.
"""

from collections.abc import Callable, Iterable, Sequence

from kgroups.assignors.java.leader_view import LeaderView, OrderRule
from kgroups.assignors.spec import AssignmentRequest, TopicPartition

JOINED = OrderRule(lambda members: list(range(len(members))), total=False)


class PortedGroup:
    """A request by numbers.

    Args:
        request: members in JoinGroup order.
        doubled: whether a topic that a member names twice counts twice.

    Raises:
        AssignorError: two members have one id.
    """

    def __init__(self, request: AssignmentRequest, *, doubled: bool = True) -> None:
        self.view = LeaderView(request, JOINED)
        self.table = self.view.table
        ids = self.view.member_ids
        # ids in code points, which is also the order of UTF-8 bytes
        self.positions = sorted(range(len(ids)), key=ids.__getitem__)
        self.ids = [ids[position] for position in self.positions]
        self.ranks = [0] * len(ids)
        for rank, position in enumerate(self.positions):
            self.ranks[position] = rank
        counts = self.table.counts
        topics = [topic for topic, count in enumerate(counts) for _ in range(count)]
        self.topic_of: Callable[[int], int] = topics.__getitem__  # of a partition's number
        index = self.table.index
        # by position, in the order of the wire
        self.listed = [
            [index[t] for t in (m.topics if doubled else dict.fromkeys(m.topics)) if t in index]
            for m in self.view.members
        ]
        self.subscribed = [frozenset(self.listed[position]) for position in self.positions]
        self.capacities = [
            sum(self.table.counts[topic] for topic in self.listed[position])
            for position in self.positions
        ]
        self.readers: list[list[int]] = [[] for _ in self.table.names]
        for position, topics in enumerate(self.listed):
            for topic in topics:
                self.readers[topic].append(self.ranks[position])

    def numbers_of(self, topic: int) -> range:
        """Partition numbers of a topic."""
        base = self.table.bases[topic]
        return range(base, base + self.table.counts[topic])

    def by_readers(self) -> list[int]:
        """Every partition, those with the fewest subscribers first, then by topic and number."""
        topics = sorted(range(len(self.readers)), key=lambda topic: len(self.readers[topic]))
        return [number for topic in topics for number in self.numbers_of(topic)]

    def in_positions(self, lists: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        """The lists by rank, in JoinGroup order."""
        return [lists[rank] for rank in self.ranks]


def claimed_once(claims: Iterable[TopicPartition]) -> bool:
    """Whether nobody claims what another does; else the order of JoinGroup may decide who has it.

    Nothing else does: members stand in the order of their ids.
    """
    listed = list(claims)
    return len(set(listed)) == len(listed)
