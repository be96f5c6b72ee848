"""Members sorted by load, handed out from the low end and from the high end level by level.

Source: UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer (KAFKA-17710).
"""

from collections.abc import Sequence


class LoadLevels:
    """The subscribers of one topic, by number of partitions, ties by index.

    The order inside a level is that of the beginning; a member that was handed out is expected to
    get one partition more (low end) or one less (high end).

    Args:
        members: subscribers, ascending by index.
        sizes: number of partitions of each member, kept up to date by the caller.
    """

    __slots__ = (
        "_first_high", "_members", "_next_high", "_next_low", "_range_end", "_range_low",
        "_sizes", "high", "low",
    )  # fmt: skip

    def __init__(self, members: Sequence[int], sizes: list[int]) -> None:
        self._sizes = sizes
        self._members = sorted(members, key=sizes.__getitem__)
        self.low = sizes[self._members[0]] - 1
        self.high = sizes[self._members[-1]] + 1
        self._range_low = self._next_low = 0
        self._first_high = self._range_end = len(self._members)
        self._next_high = len(self._members) - 1

    @property
    def imbalance(self) -> int:
        """Difference between the largest and the smallest load."""
        return self._sizes[self._members[-1]] - self._sizes[self._members[0]]

    def least_loaded(self) -> int:
        """The next member to get a partition."""
        if self._next_low >= self._range_low:
            self.low += 1
            members, sizes = self._members, self._sizes
            while self._range_low < len(members) and sizes[members[self._range_low]] == self.low:
                self._range_low += 1
            self._next_low = 0
        member = self._members[self._next_low]
        self._next_low += 1
        return member

    def most_loaded(self) -> int | None:
        """The next member to give one up; None if all are excluded."""
        if self._next_high < self._first_high:
            members, sizes = self._members, self._sizes
            if self._range_end <= self._first_high:
                if self._first_high <= 0:
                    return None
                self.high = sizes[members[self._first_high - 1]]
            else:
                self.high -= 1
            while self._first_high > 0 and sizes[members[self._first_high - 1]] == self.high:
                self._first_high -= 1
            self._next_high = self._range_end - 1
        member = self._members[self._next_high]
        self._next_high -= 1
        return member

    def exclude(self) -> None:
        """Leave out the member that was handed out last from the high end."""
        members, place, end = self._members, self._next_high + 1, self._range_end - 1
        members[place], members[end] = members[end], members[place]
        self._range_end = end
