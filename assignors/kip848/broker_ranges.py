"""`range` on the server side: like the client's, but the coordinator's own order of sets.

Source: org.apache.kafka.coordinator.group.assignor.RangeAssignor (KIP-848, KAFKA-16944).
"""

from kgroups.assignors.kip848.broker_view import ServerView
from kgroups.assignors.kip848.target import Change, Runs, TargetAssignment, sized_capacity
from kgroups.assignors.spec import AssignmentRequest


class ServerRangeAssignor:
    """`range` of a KIP-848 group; not sticky, and racks play no part."""

    name = "range"
    waives = frozenset({"balanced", "sticky"})

    def assign(self, request: AssignmentRequest) -> TargetAssignment:
        """Every partition of the subscribed topics, sets in the coordinator's order."""
        view = ServerView(request)
        if not view.members:
            return TargetAssignment([], view.table, [], [])
        shared = view.subscribed_topics(view.ordered[0]) if view.homogeneous else None
        topics_of = [
            view.subscribed_topics(position) if shared is None else shared
            for position in range(len(view.members))
        ]
        readers = [0] * len(view.table.names)
        for topics in topics_of:
            for topic in topics:
                readers[topic] += 1
        quotas = [
            divmod(count, max(reader, 1))
            for count, reader in zip(view.table.counts, readers, strict=True)
        ]
        places, starts = [0] * len(readers), [0] * len(readers)
        changes = []
        for position in view.ordered:
            runs: Runs = []
            for topic in topics_of[position]:
                quota, extra = quotas[topic]
                start = starts[topic]
                end = starts[topic] = start + quota + (places[topic] < extra)
                places[topic] += 1
                if end > start:
                    runs.append((topic, range(start, end)))
            named = len(topics_of[position]) if view.homogeneous else view.named(position)
            capacity = sized_capacity(named)
            held = dict(runs)
            order = view.by_id(list(held), capacity)
            changes.append(Change([(topic, held[topic]) for topic in order], len(order)))
        capacity = sized_capacity(len(view.members))
        return view.target(view.ordered, changes, capacity)
