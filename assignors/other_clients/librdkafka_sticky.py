"""Cooperative sticky as librdkafka computes it: the general algorithm in its older form.

Equal subscriptions get no algorithm of their own. Where members own something, partitions are
looked at from the fullest member to the emptiest, one of each at a time, and those without an
owner backwards. On real groups with equal subscriptions it names the partitions that move.

Source: rdkafka_sticky_assignor.c; StickyAssignor of Kafka 2.3, from which it was ported (KIP-54).
"""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.claims import cooperative_member_data, read_claims
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.java.movements import Movements
from kgroups.assignors.java.sticky import in_transfer
from kgroups.assignors.java.sticky_fast import FastBalance
from kgroups.assignors.java.sticky_general import GeneralView, Start
from kgroups.assignors.spec import AssignmentRequest


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
        return found + [n for n in reversed(self.partitions_in_order) if n not in owned]

    def _unassigned(self, lists: list[list[int]]) -> list[int]:
        """Partitions without an owner in the order in which they are dealt.

        librdkafka's map is walked from the newest entry to the oldest, so where partitions are
        not sorted afterwards, the last topic's last partition comes first.
        """
        numbers = super()._unassigned(lists)
        alike = len(self.view.classes[0]) == 1
        return numbers[::-1] if alike and any(lists) else numbers


class OlderMovements(Movements):
    """Moves as librdkafka remembers them.

    It looks for one to cancel between the owner of now and the new one, where Java takes the
    owner that the partition came from; and of several the one that moved first is cancelled,
    where Java takes the first in hash order.
    """

    def actual(self, topic: int, number: int, source: int, target: int) -> int:
        """The partition of the topic that moves when `number` should go from source to target."""
        back = self.moved(topic, target, source)
        return number if back is None else back.oldest()


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
        balance = FastBalance(
            general, general.without_strays(general.start(claims), claims), OlderMovements()
        )
        lists = balance.run()
        withheld = in_transfer(view, lists)
        for number, member in withheld.items():
            lists[member].remove(number)
        return general.answer(lists, claims, withheld, balance.fixed)
