"""`range`: each topic in contiguous blocks, members in member order.

Source: org.apache.kafka.clients.consumer.RangeAssignor; racks since KIP-881.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.group import LeaderView, MemberOrder, static_first
from kgroups.assignors.rack_ranges import assign_with_racks, rack_topics
from kgroups.assignors.spec import AssignmentRequest

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

VECTOR_FROM = 50_000  # partitions; below, importing numpy costs more than it saves


class RangeAssignor:
    """`range`, eager.

    Args:
        name: registered name.
        member_order: the order rule of the leader's client library.
        vector_from: number of partitions from which arrays are used.
    """

    def __init__(
        self,
        name: str = "range",
        member_order: MemberOrder = static_first,
        vector_from: int = VECTOR_FROM,
    ) -> None:
        self.name = name
        self._member_order = member_order
        self._vector_from = vector_from

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics, in Java's list order."""
        view = LeaderView(request, self._member_order)
        racked = rack_topics(view)
        if racked:
            return view.answer(assign_with_racks(view, racked))
        if view.table.total >= self._vector_from:
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
    """The same blocks, an owner a partition at a time of numpy's."""
    import numpy as np

    table = view.table
    small = np.uint16 if len(view.members) <= 1 << 16 else np.int32
    arrays: dict[int, npt.NDArray[np.integer]] = {}
    owners: dict[tuple[int, int], npt.NDArray[np.integer]] = {}
    rows, numbers = [], []
    for name in view.subscribed:
        topic = table.index[name]
        readers, count = view.subscribers[topic], table.counts[topic]
        members = arrays.get(id(readers))
        if members is None:
            members = arrays[id(readers)] = np.array(readers, dtype=small)
        row = owners.get((id(readers), count))
        if row is None:
            quota, extra = divmod(count, len(readers))
            row = np.repeat(members, quota) if not extra else _uneven(members, quota, extra)
            owners[id(readers), count] = row
        rows.append(row)
        numbers.append((table.bases[topic], count))
    owner = np.concatenate(rows)
    return by_owner(view, owner, numbers)


def _uneven(
    members: "npt.NDArray[np.integer]", quota: int, extra: int
) -> "npt.NDArray[np.integer]":
    """Owner of each partition when the first `extra` members take one more."""
    import numpy as np

    return np.concatenate(
        [np.repeat(members[:extra], quota + 1), np.repeat(members[extra:], quota)]
    )


def by_owner(
    view: LeaderView, owner: "npt.NDArray[np.integer]", runs: Sequence[tuple[int, int]]
) -> CompactAssignment:
    """The assignment of partitions listed by their owners.

    Args:
        view: whose members the owners are.
        owner: position of the member that gets each partition.
        runs: (first partition number, count) of the consecutive partitions that `owner` lists.
    """
    import numpy as np

    counts = np.bincount(owner, minlength=len(view.members))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    flat = np.argsort(owner, kind="stable").astype(np.int32)
    starts = [begin for begin, _ in runs]
    if starts != sorted(starts):
        numbers = np.concatenate(
            [np.arange(begin, begin + count, dtype=np.int32) for begin, count in runs]
        )
        flat = numbers[flat]
    return CompactAssignment(view.member_ids, view.table, indptr, flat)
