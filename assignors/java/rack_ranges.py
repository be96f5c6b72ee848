"""`range` where racks count: co-partitioned topics first, then single ones, then the rest.

Balance and co-partitioning outrank a rack match; what racks cannot place is dealt in blocks.

Source: org.apache.kafka.clients.consumer.RangeAssignor (KIP-881, KAFKA-14891, KAFKA-15170).
"""

from collections.abc import Iterable

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import LeaderView, needs_racks


class RackTopic:
    """One topic while its partitions are dealt.

    Args:
        topic: its number in the view's table.
    """

    def __init__(self, view: LeaderView, topic: int) -> None:
        self.topic = topic
        self.readers = view.subscribers[topic]
        self.member_racks = view.racks
        self.base = view.table.bases[topic]
        count = view.table.counts[topic]
        reader_racks = {view.racks[member] for member in self.readers} - {None}
        self.racks = view.partition_racks(topic) if reader_racks else []
        self.racks_matter = needs_racks(reader_racks, self.racks)
        self.quota, self.extra = divmod(count, len(self.readers))
        self.given = dict.fromkeys(self.readers, 0)
        self.free = dict.fromkeys(range(count))

    def room(self, member: int) -> int:
        """How many more partitions a member may get."""
        return max(0, self.quota + (self.extra > 0) - self.given[member])

    def matches(self, member: int, partition: int) -> bool:
        """Whether a replica is in the member's rack; a member without a rack matches all."""
        rack = self.member_racks[member]
        return rack is None or (partition < len(self.racks) and rack in self.racks[partition])

    def give(self, member: int, partitions: Iterable[int], lists: list[list[int]]) -> None:
        """Move partitions from the free ones to a member."""
        for partition in partitions:
            lists[member].append(self.base + partition)
            self.given[member] += 1
            del self.free[partition]
        if self.given[member] > self.quota:
            self.extra -= 1

    def deal(self, lists: list[list[int]], *, by_rack: bool) -> None:
        """Give each member in order the lowest free partitions that it may have."""
        for member in self.readers:
            room = self.room(member)
            if not room:
                continue
            chosen = []
            for partition in self.free:
                if not by_rack or self.matches(member, partition):
                    chosen.append(partition)
                    if len(chosen) == room:
                        break
            if chosen:
                self.give(member, chosen, lists)


def rack_topics(view: LeaderView) -> list[RackTopic]:
    """State of every topic if racks matter for at least one of them, else nothing."""
    if not any(view.racks) or not any(topic.racks for topic in view.request.topics.values()):
        return []
    topics = [RackTopic(view, number) for number in range(len(view.table.names))]
    return topics if any(topic.racks_matter for topic in topics) else []


def assign_with_racks(view: LeaderView, topics: list[RackTopic]) -> CompactAssignment:
    """The assignment that places what it can by rack and keeps everything else as in `range`."""
    lists: list[list[int]] = [[] for _ in view.members]
    groups: dict[tuple[tuple[int, ...], int], list[RackTopic]] = {}
    for topic in topics:
        groups.setdefault((tuple(topic.readers), len(topic.racks)), []).append(topic)
    for (_, partitions), together in groups.items():
        if len(together) > 1:
            _deal_together(together, partitions, lists)
        elif together[0].racks_matter:
            together[0].deal(lists, by_rack=True)
    for topic in topics:
        topic.deal(lists, by_rack=False)
    return CompactAssignment.of_lists(view.member_ids, view.table, [sorted(n) for n in lists])


def _deal_together(topics: list[RackTopic], partitions: int, lists: list[list[int]]) -> None:
    """Give partition p of co-partitioned topics to one member that all of them match."""
    remaining = list(topics[0].readers)
    for partition in range(partitions):
        member = next(
            (
                member
                for member in remaining
                if all(t.room(member) and t.matches(member, partition) for t in topics)
            ),
            None,
        )
        if member is None:
            continue
        for topic in topics:
            topic.give(member, [partition], lists)
        if not any(topic.room(member) for topic in topics):
            remaining.remove(member)
            if not remaining:
                return
