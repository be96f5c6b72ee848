"""`range`: each topic in contiguous blocks, members in member order.

Source: org.apache.kafka.clients.consumer.RangeAssignor; racks since KIP-881.
"""

from typing import TYPE_CHECKING

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import JAVA_ORDER, LeaderView, OrderRule
from kgroups.assignors.java.rack_ranges import assign_with_racks, rack_topics
from kgroups.assignors.spec import AssignmentRequest

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

VECTOR_FROM = 50_000  # partitions; below, importing numpy costs more than it saves


class RangeAssignor:
    """`range`, eager.

    Args:
        member_order: the order rule of the leader's client library.
        vector_from: number of partitions from which arrays are used.
        racks: whether racks are looked at (KIP-881).
    """

    waives = frozenset({"balanced", "sticky"})

    def __init__(
        self,
        name: str = "range",
        member_order: OrderRule = JAVA_ORDER,
        vector_from: int = VECTOR_FROM,
        racks: bool = True,
    ) -> None:
        self.name = name
        self._racks = racks
        self._member_order = member_order
        self._vector_from = vector_from

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics, in Java's list order."""
        view = LeaderView(request, self._member_order)
        racked = rack_topics(view) if self._racks else []
        if racked:
            return view.answer(assign_with_racks(view, racked))
        if view.table.total >= max(self._vector_from, 1):
            return view.answer(_assign_arrays(view))
        return view.answer(_assign_lists(view))


def _assign_lists(view: LeaderView) -> CompactAssignment:
    """Blocks as runs of consecutive partition numbers, topics in hash order."""
    table = view.table
    lists: list[list[int]] = [[] for _ in view.members]
    for name in view.subscribed:
        topic = table.index[name]
        start, readers = table.bases[topic], view.subscribers[topic]
        quota, extra = divmod(table.counts[topic], len(readers))
        for place, member in enumerate(readers):
            end = start + quota + (place < extra)
            if end == start:
                break
            lists[member].extend(range(start, end))
            start = end
    return CompactAssignment.of_lists(view.member_ids, table, lists)


def _assign_arrays(view: LeaderView) -> CompactAssignment:
    """The same blocks: where each begins and how long it is, for all members of a topic at once."""
    import numpy as np

    table = view.table
    arrays: dict[int, npt.NDArray[np.int32]] = {}
    owners, starts, lengths = [], [], []
    for name in view.subscribed:
        topic = table.index[name]
        readers = view.subscribers[topic]
        members = arrays.get(id(readers))
        if members is None:
            small = np.uint16 if len(view.members) <= 1 << 16 else np.int32
            members = arrays[id(readers)] = np.array(readers, dtype=small)
        quota, extra = divmod(table.counts[topic], len(readers))
        given = len(readers) if quota else extra
        places = np.arange(given, dtype=np.int32)
        owners.append(members[:given])
        starts.append(places * quota + np.minimum(places, extra) + table.bases[topic])
        lengths.append((places < extra) + np.int32(quota))
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    start, length = np.concatenate(starts)[order], np.concatenate(lengths)[order]
    counts = np.bincount(owner, np.concatenate(lengths), minlength=len(view.members))
    indptr = np.concatenate([[0], np.cumsum(counts.astype(np.int64))])
    if len(start) == table.total:
        return CompactAssignment(view.member_ids, table, indptr, start)
    before = np.cumsum(length) - length
    flat = np.repeat(start - before.astype(np.int32), length)
    flat += np.arange(table.total, dtype=np.int32)
    return CompactAssignment(view.member_ids, table, indptr, flat)


def by_owner(
    view: LeaderView, owner: "npt.NDArray[np.integer]", numbers: "npt.NDArray[np.int32] | None"
) -> CompactAssignment:
    """The assignment of partitions listed by their owners.

    Args:
        owner: position of the member that gets each partition, as narrow as possible.
        numbers: the partitions in list order; all in order of number if None.
    """
    import numpy as np

    counts = np.bincount(owner, minlength=len(view.members))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    order = np.argsort(owner, kind="stable")
    flat = order.astype(np.int32) if numbers is None else numbers[order]
    return CompactAssignment(view.member_ids, view.table, indptr, flat)
