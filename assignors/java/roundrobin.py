"""`roundrobin`: all partitions laid end to end, dealt around the circle of members.

Source: org.apache.kafka.clients.consumer.RoundRobinAssignor.
"""

from bisect import bisect_left
from collections.abc import Sequence

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import JAVA_ORDER, LeaderView, OrderRule
from kgroups.assignors.java.ranges import VECTOR_FROM, by_owner
from kgroups.assignors.spec import AssignmentRequest


class RoundRobinAssignor:
    """`roundrobin`, eager; even as long as all members read the same topics.

    Args:
        name: registered name.
        member_order: the order rule of the leader's client library.
        vector_from: number of partitions from which arrays are used.
    """

    waives = frozenset({"balanced", "sticky"})

    def __init__(
        self,
        name: str = "roundrobin",
        member_order: OrderRule = JAVA_ORDER,
        vector_from: int = VECTOR_FROM,
    ) -> None:
        self.name = name
        self._member_order = member_order
        self._vector_from = vector_from

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics, in Java's list order."""
        view = LeaderView(request, self._member_order)
        if view.table.total >= self._vector_from:
            return view.answer(_assign_arrays(view))
        lists: list[list[int]] = [[] for _ in view.members]
        for topic, (readers, first) in enumerate(_starts(view)):
            start, count = view.table.bases[topic], view.table.counts[topic]
            size = len(readers)
            for step in range(min(size, count)):
                member = readers[(first + step) % size]
                lists[member].extend(range(start + step, start + count, size))
        return view.answer(CompactAssignment.of_lists(view.member_ids, view.table, lists))


def _starts(view: LeaderView) -> list[tuple[Sequence[int], int]]:
    """For each topic its subscribers and the index of the one that gets partition 0.

    The circle goes on where the last topic ended; members that are not subscribed are passed by.
    """
    place = {member: index for index, member in enumerate(view.ordered)}
    places: dict[int, list[int]] = {}
    pointer = 0
    starts: list[tuple[Sequence[int], int]] = []
    for topic, readers in enumerate(view.subscribers_in(view.ordered)):
        if id(readers) not in places:
            places[id(readers)] = [place[member] for member in readers]
        circle = places[id(readers)]
        first = bisect_left(circle, pointer) % len(circle)
        starts.append((readers, first))
        pointer = circle[(first + view.table.counts[topic] - 1) % len(circle)] + 1
    return starts


def _assign_arrays(view: LeaderView) -> CompactAssignment:
    """The same deal, a topic's owners at a time of numpy's."""
    import numpy as np

    circles_of = view.subscribers_in(view.ordered)
    if len({id(readers) for readers in circles_of}) == 1:
        return _one_circle(view, circles_of[0])
    small = np.uint16 if len(view.members) <= 1 << 16 else np.int32
    owner: np.typing.NDArray[np.integer] = np.empty(view.table.total, dtype=small)
    circles: dict[int, np.typing.NDArray[np.integer]] = {}
    for topic, (readers, first) in enumerate(_starts(view)):
        circle = circles.get(id(readers))
        if circle is None:
            circle = circles[id(readers)] = np.array(readers, dtype=small)
        start, count = view.table.bases[topic], view.table.counts[topic]
        owner[start : start + count] = np.resize(np.roll(circle, -first), count)
    return by_owner(view, owner, None)


def _one_circle(view: LeaderView, circle: Sequence[int]) -> CompactAssignment:
    """The deal among members that all read the same topics: every S-th partition each."""
    import numpy as np

    size, total = len(circle), view.table.total
    rounds = -(-total // size)
    place = np.full(len(view.members), size, dtype=np.int32)
    place[circle] = np.arange(size, dtype=np.int32)
    readers = np.flatnonzero(place < size)
    flat = (place[readers][:, None] + np.arange(rounds, dtype=np.int32) * np.int32(size)).ravel()
    if total % size:
        flat = flat[flat < total]
    counts = np.zeros(len(view.members), dtype=np.int64)
    counts[readers] = total // size + (place[readers] < total % size)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return CompactAssignment(view.member_ids, view.table, indptr, flat)
