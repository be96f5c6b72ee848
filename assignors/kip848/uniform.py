"""`uniform`: the server-side default; equal totals, and as few partitions moved as possible.

Source: org.apache.kafka.coordinator.group.assignor.UniformAssignor and
UniformHomogeneousAssignmentBuilder (KIP-848, KAFKA-18688).
"""

from kgroups.assignors.kip848.broker_view import ServerView
from kgroups.assignors.kip848.target import Change, TargetAssignment
from kgroups.assignors.kip848.uniform_mixed import assign_mixed
from kgroups.assignors.spec import AssignmentRequest

Block = tuple[int, int, int]  # topic, first partition, one behind the last
NOTHING: Block = (-1, 0, 0)


class UniformAssignor:
    """`uniform` of a KIP-848 group.

    Args:
        stable_extras: leave the larger share to the last members in hash order, as since 4.0.1;
            False is Kafka 4.0.0, which gives it to the first ones.
    """

    name = "uniform"
    waives = frozenset({"balanced", "order-free"})

    def __init__(self, *, stable_extras: bool = True) -> None:
        self._stable_extras = stable_extras

    def assign(self, request: AssignmentRequest) -> TargetAssignment:
        """Every partition of the subscribed topics, sets in the coordinator's order."""
        view = ServerView(request)
        if not view.members:
            return TargetAssignment([], view.table, [], [])
        if not view.homogeneous:
            return assign_mixed(view)
        topics = view.topic_set(0)
        if not topics:
            return TargetAssignment([], view.table, [], [])
        changes = [view.previous(position) for position in range(len(view.members))]
        free = _unassigned(view, topics, changes)
        _fill(changes, free, self._keep(view, topics, changes, free))
        return view.target(range(len(changes)), changes)

    def _keep(
        self,
        view: ServerView,
        topics: list[int],
        changes: list[Change],
        free: list[Block],
    ) -> list[tuple[int, int]]:
        """Take from members what is over their quota; returns (member, what it still may get)."""
        subscribed = set(topics)
        total = sum(view.table.counts[topic] for topic in topics)
        low, extra = divmod(total, len(changes))
        unfilled = []
        for position, change in enumerate(changes):
            larger = extra > 0
            quota = low + larger
            if len(change.kept) < change.size:
                change.changed = True
            for topic, partitions in change.kept:
                if topic not in subscribed:
                    change.changed = True
                    change.gone = [*change.gone, topic]
                elif len(partitions) <= quota:
                    quota -= len(partitions)
                else:
                    change.changed = True
                    change.steps = [
                        *change.steps,
                        *((topic, partition, False) for partition in partitions[quota:]),
                    ]
                    free += [(topic, partition, partition + 1) for partition in partitions[quota:]]
                    quota = 0
            last_chance = len(changes) - position <= extra
            if self._stable_extras and quota > 0 and larger and not last_chance:
                quota -= 1
                larger = False
            if quota > 0:
                unfilled.append((position, quota))
            extra -= larger
        return unfilled


def _unassigned(view: ServerView, topics: list[int], changes: list[Change]) -> list[Block]:
    """Runs of partitions that are in nobody's previous target."""
    held: dict[int, set[int]] = {}
    for change in changes:
        for topic, partitions in change.kept:
            held.setdefault(topic, set()).update(partitions)
    free: list[Block] = []
    for topic in topics:
        start = 0
        for partition in sorted(held.get(topic, ())):
            if partition > start:
                free.append((topic, start, partition))
            start = partition + 1
        if start < view.table.counts[topic]:
            free.append((topic, start, view.table.counts[topic]))
    return free


def _fill(changes: list[Change], free: list[Block], unfilled: list[tuple[int, int]]) -> None:
    """Give each member in order the next partitions, up to what it may still get."""
    runs = iter(free)
    topic, start, end = next(runs, NOTHING)
    for position, quota in unfilled:
        change = changes[position]
        change.changed = True
        added: list[Block] = []
        while quota and topic >= 0:
            stop = min(end, start + quota)
            added.append((topic, start, stop))
            quota -= stop - start
            start = stop
            if start == end:
                topic, start, end = next(runs, NOTHING)
        change.block = added
