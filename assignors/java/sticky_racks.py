"""Where racks count for the sticky strategies: which claims fit, who takes which partition first.

Source: AbstractStickyAssignor.RackInfo (KIP-881, KAFKA-15170).
"""

from collections import Counter
from collections.abc import Sequence

from kgroups.assignors.java.leader_view import LeaderView, needs_racks
from kgroups.assignors.java.quotas import Quotas


class RackInfo:
    """Racks of members and partitions of one group."""

    def __init__(self, view: LeaderView) -> None:
        self.any_member = any(view.racks)
        partition_racks: list[frozenset[str]] = []
        if self.any_member:
            for topic in range(len(view.table.names)):
                partition_racks += view.partition_racks(topic)
        self.active = self.any_member and needs_racks(view.racks, partition_racks)
        self._all_racks = partition_racks
        self._member_counts = Counter(rack for rack in view.racks if rack)
        self.member_racks: Sequence[str | None] = view.racks if self.active else ()
        self.partition_racks = partition_racks if self.active else []

    def mismatch(self, member: int, number: int) -> bool:
        """Whether a member with a rack would read a partition that has no replica there."""
        if not self.active:
            return False
        rack = self.member_racks[member]
        return rack is not None and rack not in self.racks_of(number)

    def racks_of(self, number: int) -> frozenset[str]:
        """Racks of a partition's replicas; empty for a partition that does not exist."""
        racks = self.partition_racks
        return racks[number] if number < len(racks) else frozenset()

    def rarest_first(self, numbers: list[int]) -> list[int]:
        """The partitions by the number of members in their racks, fewest first."""
        if not self.any_member or not any(self._all_racks):
            return numbers
        counts = self._member_counts
        return sorted(numbers, key=lambda n: sum(counts[rack] for rack in self._all_racks[n]))

    def fill(
        self, numbers: list[int], quotas: Quotas, lists: list[list[int]], new: list[tuple[int, int]]
    ) -> list[int]:
        """Give partitions to members of their racks; returns those that found none.

        Changes `quotas` and `lists`, and adds to `new` (partition, member) of each one given.
        """
        left = []
        place = 0
        for number in numbers:
            racks = self.racks_of(number)
            under = quotas.under
            index = self._next(racks, under, place)
            if index is not None:
                member = under[index]
                size = len(lists[member]) + 1
                if size >= quotas.low:
                    del under[index]
                    if size < quotas.high and quotas.reached < quotas.larger:
                        quotas.exact.append(member)
                else:
                    index += 1
                place = index % len(under) if under else 0
            else:
                index = self._next(racks, quotas.exact, 0)
                if index is None:
                    left.append(number)
                    continue
                member = quotas.exact[index]
                if len(lists[member]) + 1 == quotas.high:
                    del quotas.exact[index]
                    quotas.reached += 1
                    if quotas.reached == quotas.larger:
                        quotas.exact.clear()
            lists[member].append(number)
            new.append((number, member))
        return left

    def _next(self, racks: frozenset[str], members: list[int], first: int) -> int | None:
        """Index of the first member, from `first` on and around, whose rack is among these."""
        if not racks:
            return None
        member_racks = self.member_racks
        for index in range(first, len(members)):
            if member_racks[members[index]] in racks:
                return index
        for index in range(min(first, len(members))):
            if member_racks[members[index]] in racks:
                return index
        return None
