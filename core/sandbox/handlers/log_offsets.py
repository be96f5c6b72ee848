"""Where logs begin and end: ListOffsets, OffsetForLeaderEpoch, DeleteRecords, DescribeProducers."""

from collections.abc import Callable
from typing import Any

from kgroups.core.protocol.batches import CorruptBatch
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.reader import Message
from kgroups.core.protocol.writer import Struct
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.handlers.fetch import leader_error
from kgroups.core.sandbox.storage.partition_log import PartitionLog
from kgroups.core.sandbox.storage.topics import INTERNAL_TOPICS, Partition

MAX_TIMESTAMP = -3
SPECIAL_TIMES = {-1: 0, -2: 0, MAX_TIMESTAMP: 7, -4: 8, -5: 9, -6: 11}
"""Times that are none, and the version of ListOffsets since which brokers know each."""
HIGH_WATERMARK = -1
"""DeleteRecords: everything that is there."""
ANY_EPOCH = -1


def _by_topic(
    call: Call,
    row: Callable[[Call, str, Any], Struct],
    *,
    name: str = "name",
    partitions: str = "partitions",
) -> Struct:
    """An answer with a row for each partition that is asked about.

    Args:
        name, partitions: what the request calls them.
    """
    topics = []
    for entry in call.body.topics:
        topic = getattr(entry, name)
        rows = [row(call, topic, asked) for asked in getattr(entry, partitions)]
        topics.append(Struct(**{name: topic, "partitions": rows}))
    return Struct(topics=topics)


def _led(
    call: Call, name: str, index: int, epoch: int = ANY_EPOCH
) -> tuple[ErrorCode, Partition | None]:
    """A partition that this broker leads; else the error, and None."""
    partition = call.cluster.topics.partition(name, index)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None
    code = leader_error(call, partition, epoch)
    return code, partition if code is ErrorCode.NONE else None


def list_offsets(call: Call) -> Struct:
    """The offset for a time, or for one of the special times, of each partition."""
    return _by_topic(call, _offset_row)


def _offset_row(call: Call, name: str, asked: Message) -> Struct:
    code, partition = _led(call, name, asked.partition_index, asked.current_leader_epoch)
    row = Struct(partition_index=asked.partition_index, error_code=code)
    time = asked.timestamp
    if partition is None:
        return row
    if time < 0 and (time not in SPECIAL_TIMES or call.version < SPECIAL_TIMES[time]):
        row.error_code = ErrorCode.UNSUPPORTED_VERSION
        return row
    try:
        row.timestamp, row.offset = _find(partition.log, time)
    except CorruptBatch:
        row.error_code = ErrorCode.CORRUPT_MESSAGE
        return row
    if row.offset >= 0:
        row.leader_epoch = partition.log.latest_epoch()
    return row


def _find(log: PartitionLog, timestamp: int) -> tuple[int, int]:
    """(timestamp, offset); -1 for what is not there. Nothing is ever moved to a remote tier."""
    match timestamp:
        case -1:
            return -1, log.end_offset
        case -2 | -4:
            return -1, log.start_offset
        case -5 | -6:
            return -1, -1
    record = (
        log.find_max_timestamp() if timestamp == MAX_TIMESTAMP else log.find_timestamp(timestamp)
    )
    return (-1, -1) if record is None else (record.timestamp_ms, record.offset)


def offset_for_leader_epoch(call: Call) -> Struct:
    """Where an epoch ended, so that a consumer can tell whether its log was cut (KIP-320)."""
    return _by_topic(call, _epoch_row, name="topic")


def _epoch_row(call: Call, name: str, asked: Message) -> Struct:
    code, partition = _led(call, name, asked.partition, asked.current_leader_epoch)
    row = Struct(partition=asked.partition, error_code=code)
    if partition is not None:
        row.leader_epoch, row.end_offset = partition.log.end_of_epoch(
            asked.leader_epoch, partition.leader_epoch
        )
    return row


def describe_producers(call: Call) -> Struct:
    """Nobody has a transaction open: there are none here."""
    return _by_topic(call, _producers_row, partitions="partition_indexes")


def _producers_row(call: Call, name: str, index: int) -> Struct:
    code, _ = _led(call, name, index)
    return Struct(partition_index=index, error_code=code, active_producers=())


def delete_records(call: Call) -> Struct:
    """Move the start of logs forward."""
    return _by_topic(call, _delete_row)


def _delete_row(call: Call, name: str, asked: Message) -> Struct:
    code, partition = _led(call, name, asked.partition_index)
    if name in INTERNAL_TOPICS and code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        code, partition = ErrorCode.POLICY_VIOLATION, None
    row = Struct(partition_index=asked.partition_index, error_code=code, low_watermark=-1)
    if partition is None:
        return row
    log = partition.log
    target = log.end_offset if asked.offset == HIGH_WATERMARK else asked.offset
    if not 0 <= target <= log.end_offset:
        row.error_code = ErrorCode.OFFSET_OUT_OF_RANGE
        return row
    if target > log.start_offset:
        log.delete_before(target)
        call.cluster.log_start_moved(name, partition)
    row.low_watermark = log.start_offset
    return row
