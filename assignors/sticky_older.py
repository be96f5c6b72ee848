"""Cooperative sticky as librdkafka computes it: the general algorithm in its older form.

Equal subscriptions get no algorithm of their own. Where members own something, partitions are
looked at from the fullest member to the emptiest, one of each at a time. On real groups sizes and
the number of moves equal Java's; which partitions move agrees in some states only.

Source: rdkafka_sticky_assignor.c; StickyAssignor of Kafka 2.3, from which it was ported (KIP-54).
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from kgroups.assignors.claims import cooperative_member_data, read_claims
from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.group import LeaderView
from kgroups.assignors.spec import AssignmentRequest
from kgroups.assignors.sticky import in_transfer
from kgroups.assignors.sticky_fast import FastBalance
from kgroups.assignors.sticky_general import GeneralView, Start


class OlderGeneralView(GeneralView):
    """A group whose partitions are ordered as before Kafka 2.4."""

    def movable_runs(
        self, start: Start, shared: Sequence[int]
    ) -> Sequence[tuple[int, Sequence[int]]]:
        """Partitions in the order in which they are tried."""
        if len(self.view.classes[0]) != 1 or not any(start.lists):
            return super().movable_runs(start, shared)
        chosen = set(shared)
        tried = [(self.topic_of(number), (number,)) for number in self._round_by_load(start)]
        return [(topic, numbers) for topic, numbers in tried if topic in chosen]

    def _round_by_load(self, start: Start) -> list[int]:
        """One partition of the fullest member at a time, then what nobody owns."""
        ranks = self.view.ranks
        heap = [
            (-len(numbers), -ranks[member], member) for member, numbers in enumerate(start.lists)
        ]
        heapify(heap)
        places = [0] * len(start.lists)
        # what another member had before goes first
        lists = [sorted(n, key=lambda x: x not in start.previous) for n in start.lists]
        found = []
        while heap:
            size, rank, member = heappop(heap)
            if size < 0:
                found.append(lists[member][places[member]])
                places[member] += 1
                heappush(heap, (size + 1, rank, member))
        owned = set(found)
        return found + [n for n in self.partitions_in_order if n not in owned]


class OlderStickyAssignor:
    """The variant of a librdkafka leader.

    Args:
        name: registered name.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics; what must change hands is withheld."""
        view = LeaderView(request)
        claims = read_claims(view, cooperative_member_data).listed()
        general = OlderGeneralView(view)
        balance = FastBalance(general, general.without_strays(general.start(claims), claims))
        lists = balance.run()
        withheld = in_transfer(view, lists)
        for number, member in withheld.items():
            lists[member].remove(number)
        return general.answer(lists, claims, withheld, balance.fixed)
