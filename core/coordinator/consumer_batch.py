"""The records of one step of a consumer group: collected, then written together or not at all.

While a step goes on, the group stands as it was before: nothing is played into it until the whole
batch is written, so that every decision of the step rests on the same state, as in Kafka.
"""

from kgroups.core.coordinator.errors import ErrorCode
from kgroups.core.coordinator.offsets import Undo
from kgroups.core.coordinator.records import Record
from kgroups.core.coordinator.shard import Failed, Shard


class Batch:
    """Records of one step and what is to be undone should the log refuse them."""

    def __init__(self, shard: Shard, partition: int) -> None:
        self.shard = shard
        self.partition = partition
        self._records: list[Record] = []
        self._undo: list[Undo] = []

    def add(self, *records: Record) -> None:
        """Keep records for the write."""
        self._records += records

    def on_failure(self, undo: Undo) -> None:
        """Undo this too if the log refuses the batch."""
        self._undo.append(undo)

    def abandon(self) -> None:
        """Undo what stands already, and write nothing."""
        for step in reversed(self._undo):
            step()

    def write(self, failed: Failed | None = None, *, replayed: bool = True) -> None:
        """Append what was collected, all or none, and play it into the state.

        Args:
            failed: gives the other answers if the log refuses the batch.
            replayed: False if the state already is what the records say.
        """

        def take_back(error: ErrorCode) -> None:
            self.abandon()
            if failed is not None:
                failed(error)

        self.shard.write(self.partition, self._records, replayed=replayed, failed=take_back)
