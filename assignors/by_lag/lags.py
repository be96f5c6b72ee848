"""`lag`: the partitions that are furthest behind go to different members.

Source: the lag-based assignor published as grantneale/kafka-lag-based-assignor; KAFKA-5337.
"""

from typing import ClassVar

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.spec import AssignmentRequest


def lag_of(view: LeaderView) -> list[int]:
    """Records still to be read in each partition, by partition number; 0 where unknown."""
    lags = []
    for name, count in zip(view.table.names, view.table.counts, strict=True):
        given = list(view.request.topics[name].lag[:count])
        lags += [max(lag or 0, 0) for lag in given] + [0] * (count - len(given))
    return lags


class LagAssignor:
    """`lag`, eager: topic by topic, in rounds in which every subscriber gets one partition.

    A round goes through the subscribers by the lag that they got in this topic so far. Totals do
    not carry over from topic to topic, and nothing is sticky.
    """

    name = "lag"
    waives: ClassVar[frozenset[str]] = frozenset({"balanced", "sticky"})

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics."""
        view = LeaderView(request)
        lags = lag_of(view)
        lists: list[list[int]] = [[] for _ in view.members]
        for topic, readers in enumerate(view.subscribers):
            base, count = view.table.bases[topic], view.table.counts[topic]
            behind = sorted(range(base, base + count), key=lambda number: (-lags[number], number))
            totals = dict.fromkeys(sorted(readers, key=view.ranks.__getitem__), 0)
            for start in range(0, count, len(totals)):
                order = sorted(totals, key=totals.__getitem__)
                for member, number in zip(order, behind[start:], strict=False):
                    lists[member].append(number)
                    totals[member] += lags[number]
        return CompactAssignment.of_lists(view.member_ids, view.table, lists)
