"""The records of one step of a consumer group: collected, then written together or not at all.

While a step goes on, the group stands as it was before: nothing is played into it until the whole
batch is written, so that every decision of the step rests on the same state, as in Kafka.
"""

from collections.abc import Iterable

from kgroups.core.coordinator.effects import Event, EventKind
from kgroups.core.coordinator.groups import GroupKind
from kgroups.core.coordinator.log.records import Record
from kgroups.core.coordinator.offsets.store import Undo
from kgroups.core.coordinator.shard import Failed, Shard
from kgroups.core.protocol.errors import ErrorCode

CONSUMER = GroupKind.CONSUMER
EMPTY = "Empty"
# What changes the state of a consumer group.
MOVING = frozenset(
    {
        EventKind.EPOCH_BUMPED,
        EventKind.MEMBER_ADDED,
        EventKind.MEMBER_REMOVED,
        EventKind.MEMBER_RECONCILED,
    }
)


class Batch:
    """Records of one step and what is to be undone should the log refuse them."""

    def __init__(self, shard: Shard, partition: int) -> None:
        self.shard = shard
        self.partition = partition
        self._records: list[Record] = []
        self._converts = False
        self._undo: list[Undo] = []

    def add(self, *records: Record) -> None:
        """Keep records for the write."""
        self._records += records

    def convert(self, tombstones: Iterable[Record]) -> None:
        """Keep the records that end a classic group, which goes on as a consumer group."""
        self._converts = True
        self.add(*tombstones)

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

        if not self._records:
            return
        group_id = self._records[0].key.group_id
        before = self._state(group_id) or EMPTY
        self.shard.converting = group_id if self._converts else None
        self.shard.write(self.partition, self._records, replayed=replayed, failed=take_back)
        self.shard.converting = None
        after = self._state(group_id)
        if after is not None and after != before:
            reason = self._latest(group_id)
            self.shard.event(EventKind.STATE_CHANGED, group_id, None, reason, (before, after))

    def _state(self, group_id: str) -> str | None:
        """State of the consumer group of this name, which follows from its members and epochs."""
        group = self.shard.groups.get(group_id)
        return group.state_name() if group is not None and group.kind is CONSUMER else None

    def _latest(self, group_id: str) -> str:
        """The last event of the group, in words; what moved it, if that is known."""
        moves = [
            effect
            for effect in self.shard.effects
            if isinstance(effect, Event) and effect.group_id == group_id and effect.kind in MOVING
        ]
        if not moves:
            return "a member changed"
        last = max(moves, key=lambda event: event.kind is not EventKind.MEMBER_RECONCILED)
        if last.kind is EventKind.MEMBER_RECONCILED:
            return f"member {last.member_id} took a step"
        return last.reason if last.member_id is None else f"member {last.member_id} {last.reason}"
