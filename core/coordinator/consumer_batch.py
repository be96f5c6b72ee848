"""The records of one step of a consumer group: played at once, written together or taken back."""

from collections.abc import Iterable

from kgroups.core.coordinator.consumer_group import ConsumerGroup
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.errors import ErrorCode
from kgroups.core.coordinator.offsets import Undo
from kgroups.core.coordinator.records import Record
from kgroups.core.coordinator.shard import Failed, Shard


class Batch:
    """Records of one step; what comes later in the step sees the state after them.

    Should the log refuse the batch, everything it did is undone before other answers are given.
    """

    def __init__(self, shard: Shard, partition: int) -> None:
        self.shard = shard
        self.partition = partition
        self._records: list[Record] = []
        self._undo: list[Undo] = []

    def add(self, *records: Record) -> None:
        """Play records into the state and keep them for the write."""
        self.extend(records)

    def extend(self, records: Iterable[Record]) -> None:
        """Play records into the state and keep them for the write."""
        for record in records:
            play = self.shard.replay_table[type(record.key)]
            undo = play(self.shard, record.key, record.value, -1)
            if undo is not None:
                self._undo.append(undo)
            self._records.append(record)

    def append_played(self, *records: Record) -> None:
        """Keep records whose effect the state already has; `on_failure` takes that back."""
        self._records.extend(records)

    def on_failure(self, undo: Undo) -> None:
        """Undo this too if the log refuses the batch."""
        self._undo.append(undo)

    def create_group(self, group_id: str, reason: str) -> ConsumerGroup:
        """A new consumer group in memory, in the place of whatever was there."""
        shard = self.shard
        before = shard.groups.get(group_id)
        group = ConsumerGroup(group_id, self.partition)
        shard.groups[group_id] = group
        shard.event(EventKind.GROUP_CREATED, group_id, reason=reason)

        def undo() -> None:
            if before is None:
                shard.groups.pop(group_id, None)
            else:
                shard.groups[group_id] = before

        self._undo.append(undo)
        return group

    def write(self, failed: Failed | None = None) -> None:
        """Append what was collected, all or none."""
        undo = self._undo

        def take_back(error: ErrorCode) -> None:
            for step in reversed(undo):
                step()
            if failed is not None:
                failed(error)

        self.shard.write(self.partition, self._records, replayed=False, failed=take_back)
