"""`uniform`: the server-side default; equal totals, and as few partitions moved as possible.

Source: org.apache.kafka.coordinator.group.assignor.UniformAssignor and
UniformHomogeneousAssignmentBuilder (KIP-848, KAFKA-18688).
"""

from kgroups.assignors.modern_group import ServerView
from kgroups.assignors.spec import AssignmentRequest
from kgroups.assignors.target import Change, TargetAssignment
from kgroups.assignors.uniform_mixed import assign_mixed


class UniformAssignor:
    """`uniform` of a KIP-848 group.

    Args:
        stable_extras: leave the larger share to the last members in hash order, as since 4.0.1;
            False is Kafka 4.0.0, which gives it to the first ones.
    """

    name = "uniform"

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
        quotas = self._keep(view, topics, changes, free)
        start = 0
        for position, quota in quotas:
            end = min(start + quota, len(free))
            change = changes[position]
            change.changed = True
            change.steps += [(topic, partition, True) for topic, partition in free[start:end]]
            start = end
        return view.target(range(len(changes)), changes)

    def _keep(
        self,
        view: ServerView,
        topics: list[int],
        changes: list[Change],
        free: list[tuple[int, int]],
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
                    change.gone.append(topic)
                elif len(partitions) <= quota:
                    quota -= len(partitions)
                else:
                    change.changed = True
                    change.steps += [(topic, partition, False) for partition in partitions[quota:]]
                    free += [(topic, partition) for partition in partitions[quota:]]
                    quota = 0
            last_chance = len(changes) - position <= extra
            if self._stable_extras and quota > 0 and larger and not last_chance:
                quota -= 1
                larger = False
            if quota > 0:
                unfilled.append((position, quota))
            extra -= larger
        return unfilled


def _unassigned(
    view: ServerView, topics: list[int], changes: list[Change]
) -> list[tuple[int, int]]:
    """(topic, partition) in nobody's previous target."""
    held: dict[int, set[int]] = {}
    for change in changes:
        for topic, partitions in change.kept:
            held.setdefault(topic, set()).update(partitions)
    free = []
    for topic in topics:
        taken = held.get(topic, ())
        free += [(topic, p) for p in range(view.table.counts[topic]) if p not in taken]
    return free
