"""The fate of records that a share group was given, out of `__share_group_state`. Pure.

A partition's share coordinator writes a snapshot of its state now and then, and updates in between.
Locks that members hold are in the memory of the partition's leader only. Source: KIP-932;
org.apache.kafka.coordinator.share: ShareCoordinatorShard, PersisterStateBatchCombiner.
"""

import heapq
import struct
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple, get_args
from uuid import UUID

from kgroups.assignors.order.java_order import java_hash
from kgroups.core.offsets.change import Effects
from kgroups.core.protocol.reader import Cursor, DecodeError, decode, reader
from kgroups.core.protocol.table import tables_of
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic, TopicPartition

STATE_TOPIC: Final = "__share_group_state"
DELIVERY_LIMIT: Final = "share.delivery.count.limit"
LOCK_LIMIT: Final = "share.partition.max.record.locks"
DeliveryState = Literal["available", "acquired", "acknowledged", "archiving", "archived"]
_STATES: Final[tuple[DeliveryState, ...]] = get_args(DeliveryState)  # by Kafka's number
_NUMBER: Final = struct.Struct(">h")
_SNAPSHOT_KEY, _SNAPSHOT, _UPDATE_KEY, _UPDATE = tables_of("share_records")
_KINDS: Final = ((_SNAPSHOT_KEY, _SNAPSHOT), (_UPDATE_KEY, _UPDATE))

SharePartition = tuple[str, UUID, int]
"""Group, topic id and partition."""


class DeliveryRange(NamedTuple):
    """Neighbouring records that are alike, from the first offset to the last."""

    first_offset: int
    last_offset: int
    state: DeliveryState
    delivery_count: int

    @property
    def record_count(self) -> int:
        """How many offsets it has."""
        return self.last_offset - self.first_offset + 1


class DeliveryRow(NamedTuple):
    """A partition of a share group.

    Args:
        start_offset: what lies before it is done with; None if nothing was fetched yet, or it is
            not known.
        available, acknowledged, archived: records from the start offset on in these states.
        no_state: records of which nothing is written: they were not delivered yet, or their first
            delivery is under way.
        delivery_count_max: of the records that are available; None if there are none.
        last_delivery: available records that are archived if their next delivery fails, too.
        gave_up: archived records that were delivered as often as the limit allows.
        dead_letter_topic: where the group wants copies of archived records; None for nowhere, or
            if not known.
        in_flight: records from the start offset to the last one that anything is written of.
            Members hold others beyond it, perhaps: their first delivery is under way.
        record_lock_limit: no record is handed out for the first time while so many are in flight;
            None if not known.
        ranges: by offset.
        error: Kafka's name of it, where the state cannot be read.
    """

    topic: str
    partition: int
    start_offset: int | None = None
    log_end_offset: int | None = None
    available: int | None = None
    acknowledged: int | None = None
    archived: int | None = None
    no_state: int | None = None
    delivery_count_limit: int | None = None
    delivery_count_max: int | None = None
    last_delivery: int | None = None
    gave_up: int | None = None
    dead_letter_topic: str | None = None
    in_flight: int | None = None
    record_lock_limit: int | None = None
    ranges: tuple[DeliveryRange, ...] = ()
    error: str | None = None


class StateRecord(NamedTuple):
    """A record of the topic; no value where the state is deleted."""

    at: SharePartition
    is_snapshot: bool
    value: Any | None


def state_partition(at: SharePartition, topic_id: str, partitions: int) -> int:
    """The partition of `__share_group_state` that holds a share partition's state.

    Args:
        topic_id: the same id as Kafka writes it.
    Source: ShareCoordinatorService.partitionFor, SharePartitionKey.asCoordinatorKey.
    """
    value = java_hash(f"{at[0]}:{topic_id}:{at[2]}")
    return 0 if value == -(1 << 31) else abs(value) % partitions


def decode_state(key: bytes, value: bytes | None) -> StateRecord | None:
    """The record in these bytes; None if it is of a kind that we do not know.

    Raises:
        DecodeError: the bytes are broken, or of a version that we do not know.
    """
    kind = _number(key)
    if kind not in range(len(_KINDS)):
        return None
    key_table, value_table = _KINDS[kind]
    name = decode(reader(key_table, 0), Cursor(key, _NUMBER.size))
    found = None
    if value is not None:
        version = _number(value)
        if version not in value_table.versions:
            raise DecodeError(f"version {version} of {value_table.name} is not known")
        found = decode(reader(value_table, version), Cursor(value, _NUMBER.size))
    return StateRecord((name.group_id, name.topic_id, name.partition), kind == 0, found)


def _number(raw: bytes) -> int:
    if len(raw) < _NUMBER.size:
        raise DecodeError("the bytes end within a number")
    return int(_NUMBER.unpack_from(raw)[0])


class ShareState:
    """The state of one partition, out of its records in their order."""

    def __init__(self) -> None:
        self.start_offset: int | None = None
        self._batches: list[Any] = []

    def take(self, record: StateRecord) -> None:
        """The next record: a snapshot stands for all before it, an update adds to them."""
        if record.is_snapshot:
            self.start_offset, self._batches = None, []
        if record.value is None:
            return
        if record.value.start_offset >= 0:  # -1: as before, or nothing was fetched yet
            self.start_offset = record.value.start_offset
        self._batches += record.value.state_batches

    def ranges(self, log_start: int = 0) -> tuple[DeliveryRange, ...]:
        """By offset, from the start offset on and not below the log's start.

        Of several batches about a record the one with the most deliveries holds, then the one with
        the highest state: Kafka combines them so, whichever came last.
        """
        start = max(self.start_offset or 0, log_start)
        found: list[DeliveryRange] = []
        for first, last, count, number in _swept(self._batches, start):
            state = _STATES[number] if number < len(_STATES) else "available"
            before = found[-1] if found else None
            if before and (before.last_offset, *before[2:]) == (first - 1, state, count):
                found[-1] = before._replace(last_offset=last)
            else:
                found.append(DeliveryRange(first, last, state, count))
        return tuple(found)


def effects_of(state: ShareState, log: PartitionLog, offset: int) -> Effects | None:
    """The state after another start offset: it begins anew there, without what was done.

    Returns:
        None where nothing was delivered yet, or the log's start is not known.
    """
    if state.start_offset is None or log.log_start_offset is None:
        return None
    start = max(state.start_offset, log.log_start_offset)
    done = [each for each in state.ranges(start) if each.state != "available"]
    before = sum(max(0, min(each.last_offset + 1, offset) - each.first_offset) for each in done)
    again = _records(done) - before + max(0, start - max(offset, log.log_start_offset))
    return Effects(max(0, offset - start) - before, again)


def _swept(batches: Collection[Any], start: int) -> Iterator[tuple[int, int, int, int]]:
    """Stretches of offsets with the delivery count and the state's number that hold in them."""
    waiting = sorted(
        (max(b.first_offset, start), b.last_offset + 1, b.delivery_count, b.delivery_state)
        for b in batches
        if b.last_offset >= start
    )
    edges = sorted({edge for first, end, *_ in waiting for edge in (first, end)})
    holding: list[tuple[int, int, int]] = []  # the highest first
    at = 0
    for first, end in pairwise(edges):
        while at < len(waiting) and waiting[at][0] == first:
            _, until, count, number = waiting[at]
            heapq.heappush(holding, (-count, -number, until))
            at += 1
        while holding and holding[0][2] <= first:
            heapq.heappop(holding)
        if holding:
            yield first, end - 1, -holding[0][0], -holding[0][1]


def delivery_rows(
    group: Group,
    topics: Mapping[str, Topic],
    states: Mapping[TopicPartition, ShareState | str],
    limit: int | None,
    dead_letter_topic: str | None = None,
    record_lock_limit: int | None = None,
) -> list[DeliveryRow]:
    """A row for each partition in which a share group has a start offset, by topic and number.

    Args:
        topics: with the bounds of their logs.
        states: or Kafka's name of the error that kept them from being read.
        limit: `share.delivery.count.limit` of the group; None if not known.
        dead_letter_topic: its `errors.deadletterqueue.topic.name`.
        record_lock_limit: its `share.partition.max.record.locks`.
    """
    offsets: Mapping[str, Mapping[int, CommittedOffset]] = group.offsets or {}
    return [
        _row((topic, number), topics.get(topic), states.get((topic, number)), limit)._replace(
            dead_letter_topic=dead_letter_topic, record_lock_limit=record_lock_limit
        )
        for topic in sorted(offsets)
        for number in sorted(offsets[topic])
    ]


def _row(
    at: TopicPartition, topic: Topic | None, state: ShareState | str | None, limit: int | None
) -> DeliveryRow:
    log = None if topic is None else topic.partitions.get(at[1])
    end = None if log is None else log.log_end_offset
    row = DeliveryRow(*at, log_end_offset=end, delivery_count_limit=limit)
    if not isinstance(state, ShareState):
        return row._replace(error=state)
    start = state.start_offset
    log_start = (log and log.log_start_offset) or 0
    ranges = state.ranges(log_start)
    available = [each for each in ranges if each.state == "available"]
    archived = [each for each in ranges if each.state in ("archiving", "archived")]
    waiting = None
    if start is not None and end is not None:
        waiting = max(0, end - max(start, log_start) - _records(ranges))
    spent = (each for each in archived if limit and each.delivery_count >= limit)
    last = (each for each in available if limit and each.delivery_count >= limit - 1)
    return row._replace(
        start_offset=start,
        available=_records(available),
        acknowledged=_records([each for each in ranges if each.state == "acknowledged"]),
        archived=_records(archived),
        no_state=waiting,
        delivery_count_max=max((each.delivery_count for each in available), default=None),
        last_delivery=None if limit is None else _records(list(last)),
        gave_up=None if limit is None else _records(list(spent)),
        in_flight=ranges[-1].last_offset - max(start or 0, log_start) + 1 if ranges else 0,
        ranges=ranges,
    )


def _records(ranges: Collection[DeliveryRange]) -> int:
    return sum(each.record_count for each in ranges)
