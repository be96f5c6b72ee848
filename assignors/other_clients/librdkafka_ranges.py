"""`range` as librdkafka computes it where members have racks.

Topics with the same readers and as many partitions are always dealt together first, and there a
member without a rack fits nowhere, where Java's fits everywhere.

Source: rdkafka_range_assignor.c of librdkafka 2.15; runs of 2.16.
"""

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import LeaderView, OrderRule
from kgroups.assignors.java.rack_ranges import RackTopic
from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.spec import AssignmentRequest


class LibrdkafkaRange:
    """`range` of a librdkafka leader."""

    name = "range"
    waives = frozenset({"balanced", "sticky"})

    def __init__(self, member_order: OrderRule) -> None:
        self._order = member_order
        self._without_racks = RangeAssignor(member_order=member_order, racks=False)

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics."""
        if not any(member.rack for member in request.members):
            return self._without_racks.assign(request)
        view = LeaderView(request, self._order)
        topics = [RackTopic(view, number) for number in range(len(view.table.names))]
        lists: list[list[int]] = [[] for _ in view.members]
        alike: dict[tuple[tuple[int, ...], int], list[RackTopic]] = {}
        for topic in topics:
            key = (tuple(topic.readers), view.table.counts[topic.topic])
            alike.setdefault(key, []).append(topic)
        for (readers, partitions), together in alike.items():
            if len(together) > 1:
                for partition in range(partitions):
                    _give_together(readers, partition, together, lists)
            elif together[0].racks_matter:
                together[0].deal(lists, by_rack=True)
        for topic in topics:
            topic.deal(lists, by_rack=False)
        return CompactAssignment.of_lists(view.member_ids, view.table, lists)


def _give_together(
    readers: tuple[int, ...], partition: int, topics: list[RackTopic], lists: list[list[int]]
) -> None:
    """Give this partition of all the topics to the first member that is near all of them."""
    for member in readers:
        near = topics[0].member_racks[member] is not None
        if near and all(t.room(member) and t.matches(member, partition) for t in topics):
            for topic in topics:
                topic.give(member, [partition], lists)
            return
