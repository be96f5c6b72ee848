"""How far a group has read each partition, and how much it has read again."""

from kgroups.core.coordinator.client.effects import TopicPartition


class Highest:
    """How far each partition of a group was ever read: what is read below that is read again.

    Attributes:
        elsewhere: where partitions are read since an application sought in them, until that is
            as far as they were ever read.
    """

    __slots__ = ("elsewhere", "offsets", "read", "read_again")

    def __init__(self) -> None:
        self.offsets: dict[TopicPartition, int] = {}
        self.elsewhere: dict[TopicPartition, int] = {}
        self.read = 0
        self.read_again = 0

    def note(self, partition: TopicPartition, begin: int, end: int) -> None:
        """Records from `begin` up to `end` were handed to an application."""
        offsets = self.offsets
        highest = offsets.get(partition, begin)
        self.read += end - begin
        if begin < highest:
            self.read_again += (end if end < highest else highest) - begin
        if end > highest:
            offsets[partition] = end
        if self.elsewhere and partition in self.elsewhere:
            self.elsewhere[partition] = end
            if end >= highest:
                del self.elsewhere[partition]
