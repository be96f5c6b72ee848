"""The coordinator's whole state, and the few things that a handler may do to it and for it.

A handler is a function of the shard, a token and a request. It reads, decides, and then writes
records, arms timers, parks or answers; it never waits. What must survive changes only by
`write`, which plays the records into the state at once and keeps what takes them back.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, cast
from uuid import UUID

from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.effects import (
    NO_PRODUCER_ID,
    Dropped,
    Effect,
    Event,
    EventKind,
    Reply,
    Write,
)
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.log.records import Record, RecordKey, RecordValue
from kgroups.core.coordinator.offsets.store import CommitRecord, OffsetStore, Undo
from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.coordinator.ports import Ports
from kgroups.core.coordinator.timers import Timers
from kgroups.core.coordinator.topology import Topology
from kgroups.core.errors import UsageError
from kgroups.core.protocol.errors import ErrorCode


class TimerKind(StrEnum):
    """The purpose of a timer. Its key is (kind, group id, member id), empty where it has none."""

    HEARTBEAT = "heartbeat"
    JOIN = "join"
    SYNC = "sync"
    EXPIRATION = "expiration"
    SESSION = "session"
    REBALANCE = "rebalance"
    CLASSIC_JOIN = "classic join"
    CLASSIC_SYNC = "classic sync"


class PartitionState(StrEnum):
    """The role of this coordinator for one partition of `__consumer_offsets`."""

    NOT_OURS = "not ours"
    LOADING = "loading"
    ACTIVE = "active"


HEARTBEAT: Final = TimerKind.HEARTBEAT
ACTIVE: Final = PartitionState.ACTIVE
TimerKey = tuple[TimerKind, str, str]
TimerHandler = Callable[["Shard", str, str, Any], None]
# (shard, key, value, producer id) -> what takes it back.
Replay = Callable[["Shard", Any, Any, int], Undo | None]
Failed = Callable[[ErrorCode], None]


class Shard:
    """State and means of one coordinator.

    Attributes:
        now_ms: time of the step that is being carried out.
        groups: by id; a group that is not here does not exist.
        group_configs: dynamic settings by group id, broker property -> text.
        waiting: tokens of requests that have no answer yet.
        stray_topics: group id -> topics that changes of metadata still count for, since a consumer
            group of this name that was downgraded subscribed to them. Kafka 4.3 forgets to
            unsubscribe there, and a later consumer group of this name is told of such topics.
        converting: the group whose records end it as one kind and begin it as another.
        sequence: number of the latest Write.
        replay_table: key class -> function that plays such a record into the state.
    """

    def __init__(
        self,
        config: CoordinatorConfig,
        topology: Topology,
        new_id: Callable[[], UUID],
        replay_table: Mapping[type, Replay],
        *,
        now_ms: int = 0,
        ports: Ports | None = None,
    ) -> None:
        self.config = config
        self.topology = topology
        self.new_id = new_id
        self.replay_table = replay_table
        self.now_ms = now_ms
        self.active = True
        self.ports = ports or Ports()
        self.topics_created_version = 0
        self.groups: dict[str, Group] = {}
        self.group_configs: dict[str, Mapping[str, str]] = {}
        self.stray_topics: dict[str, set[str]] = {}
        self.converting: str | None = None
        self.offsets = OffsetStore()
        self.timers: Timers[TimerKey, Any] = Timers()
        self.partitions = dict.fromkeys(range(config.offsets_partitions), PartitionState.ACTIVE)
        self.serves_all = True
        self.effects: list[Effect] = []
        self.waiting: set[Hashable] = set()
        self.background: deque[Callable[[], None]] = deque()
        self.sequence = 0
        self._after = 0
        self._unwritten: dict[str, Group] = {}
        self._unwritten_at = -1
        self._undo: dict[int, tuple[list[Undo], Failed | None]] = {}

    # ------------------------------------------------------------------ effects

    def check_time(self, now_ms: int) -> None:
        """See that time does not go back.

        Raises:
            UsageError: it does.
        """
        if now_ms < self.now_ms:
            raise UsageError(f"time went back: {now_ms} ms after {self.now_ms} ms")

    def begin_step(self) -> None:
        """A new request, timer or background task begins: its replies wait for its writes only."""
        self._after = 0

    def forget_undo(self) -> None:
        """The driver has carried out the effects: their writes can no longer be taken back."""
        if self._undo:
            self._undo = {}

    def reply(self, token: Hashable, response: object) -> None:
        """Answer, once the writes of this step so far are in the log."""
        self.waiting.discard(token)
        self.effects.append(Reply(token, response, self._after))

    def drop(self, token: Hashable, group_id: str, member_id: str) -> None:
        """Tell that a parked request will never be answered."""
        self.waiting.discard(token)
        self.effects.append(Dropped(token, group_id, member_id))

    def event(
        self,
        kind: EventKind,
        group_id: str,
        member_id: str | None = None,
        reason: str = "",
        detail: tuple[object, ...] = (),
    ) -> None:
        """Tell what happened."""
        self.effects.append(Event(self.now_ms, kind, group_id, member_id, reason, detail))

    def write(
        self,
        partition: int,
        records: Iterable[Record],
        *,
        failed: Failed | None = None,
        replayed: bool = True,
        producer_id: int = NO_PRODUCER_ID,
        producer_epoch: int = -1,
    ) -> None:
        """Append records, all or none, and play them into the state at once.

        Args:
            failed: called with the log's error, after the records were taken back, to give the
                other answers.
            replayed: False for records of a classic group, whose state already is so.
        """
        batch = tuple(records)
        if not batch:
            return
        undo: list[Undo] = []
        if replayed:
            for key, value in batch:
                step = self.replay_table[type(key)](self, key, value, producer_id)
                if step is not None:
                    undo.append(step)
        self.sequence += 1
        self._after = self.sequence
        self._undo[self.sequence] = (undo, failed)
        self.effects.append(Write(self.sequence, partition, batch, producer_id, producer_epoch))

    def write_commits(self, partition: int, group_id: str, records: list[Record]) -> Write:
        """Store commits that the log cannot refuse; the Write is given back, and no effect."""
        self.offsets.put_all(group_id, cast("list[CommitRecord]", records))
        self.sequence += 1
        return Write(self.sequence, partition, tuple(records))

    def write_marker(
        self, partition: int, producer_id: int, producer_epoch: int, *, committed: bool
    ) -> None:
        """Append the end of a transaction."""
        self.sequence += 1
        self._after = self.sequence
        self.effects.append(
            Write(self.sequence, partition, (), producer_id, producer_epoch, committed)
        )

    def take_back(self, now_ms: int, sequence: int, error: ErrorCode) -> None:
        """Undo a write that the log refused, and what was written after it.

        Raises:
            UsageError: effects of a later step were already asked for, so it is too late; or time
                went back.
        """
        if sequence not in self._undo:
            raise UsageError(f"write {sequence} can no longer be taken back")
        self.check_time(now_ms)
        self.now_ms = now_ms
        for later in sorted((n for n in self._undo if n >= sequence), reverse=True):
            undo, failed = self._undo.pop(later)
            for step in reversed(undo):
                step()
            self.begin_step()
            if failed is not None:
                failed(error)

    def replay(self, key: RecordKey, value: RecordValue | None, producer_id: int) -> None:
        """Play one record of the log into the state."""
        self.replay_table[type(key)](self, key, value, producer_id)

    # ------------------------------------------------------------------ timers

    def schedule(
        self, kind: TimerKind, group_id: str, member_id: str, delay_ms: int, payload: object = None
    ) -> None:
        """Arm a timer; a delay of 0 or less is due right after this step."""
        self.timers.schedule((kind, group_id, member_id), self.now_ms + delay_ms, payload)

    def cancel(self, kind: TimerKind, group_id: str, member_id: str = "") -> None:
        """Disarm a timer."""
        self.timers.cancel((kind, group_id, member_id))

    def restart_session(self, group_id: str, member_id: str, session_timeout_ms: int) -> None:
        """Begin the session of a classic member anew."""
        key = (HEARTBEAT, group_id, member_id)
        self.timers.schedule(key, self.now_ms + session_timeout_ms, None)

    def prolong_session(self, group_id: str, member_id: str, session_timeout_ms: int) -> bool:
        """The same where the session goes on and thereby ends later; else False."""
        key = (HEARTBEAT, group_id, member_id)
        return self.timers.put_off(key, self.now_ms + session_timeout_ms)

    def later(self, task: Callable[[], None]) -> None:
        """Carry out a step of its own after this one and after timers that are due."""
        self.background.append(task)

    # ------------------------------------------------------------------ where a group lives

    def partition_of(self, group_id: str) -> int:
        """Partition of `__consumer_offsets` that holds the group."""
        return offsets_partition(group_id, self.config.offsets_partitions)

    def check_place(self, group_id: str) -> ErrorCode:
        """NONE if this coordinator serves the group now, else 15, 16 or 14."""
        if not self.active:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return NO_ERROR if self.serves_all else self.check_partition(self.partition_of(group_id))

    def check_partition(self, partition: int) -> ErrorCode:
        """NONE if this coordinator serves the partition now, else 16 or 14."""
        state = self.partitions.get(partition, PartitionState.NOT_OURS)
        if state is PartitionState.ACTIVE:
            return ErrorCode.NONE
        if state is PartitionState.LOADING:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return ErrorCode.NOT_COORDINATOR

    def set_partition(self, partition: int, state: PartitionState) -> None:
        """From now on be this to a partition of `__consumer_offsets`."""
        self.partitions[partition] = state
        self.serves_all = all(state is PartitionState.ACTIVE for state in self.partitions.values())

    def shown_group(self, group_id: str) -> Group | None:
        """The group as answers to readers show it; None if there is none, or none yet."""
        group = self.groups.get(group_id)
        if group is not None:
            return group if group.hidden_until < self.sequence else None
        return self._unwritten.get(group_id) if self._unwritten_at == self.sequence else None

    def shown_groups(self) -> list[Group]:
        """Every group that answers to readers show, by group id."""
        names = set(self.groups)
        if self._unwritten_at == self.sequence:
            names.update(self._unwritten)
        shown = (self.shown_group(group_id) for group_id in sorted(names))
        return [group for group in shown if group is not None]

    def forget_unwritten(self, group_id: str, reason: str) -> None:
        """Forget a group without a record that says so: readers see it until the log grows."""
        if self._unwritten_at != self.sequence:
            self._unwritten, self._unwritten_at = {}, self.sequence
        self._unwritten[group_id] = self.groups[group_id]
        self.remove_group(group_id, reason)

    def remove_group(self, group_id: str, reason: str) -> Undo:
        """Forget a group; gives back what undoes it."""
        group = self.groups.pop(group_id, None)
        if group is None:
            return lambda: None
        if group_id != self.converting:
            self.event(EventKind.GROUP_REMOVED, group_id, reason=reason)

        def undo() -> None:
            self.groups[group_id] = group

        return undo
