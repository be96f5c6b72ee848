"""Where logs begin and end: ListOffsets, OffsetForLeaderEpoch, DeleteRecords, DescribeProducers."""

from collections.abc import Callable

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


def list_offsets(call: Call) -> Struct:
    """The offset for a time, or for one of the special times, of each partition."""
    return _by_topic(call, _offset_row)


def _by_topic(call: Call, row: Callable[[Call, str, Message], Struct]) -> Struct:
    """An answer with a row for each partition that is asked about."""
    return Struct(
        topics=[
            Struct(name=entry.name, partitions=[row(call, entry.name, p) for p in entry.partitions])
            for entry in call.body.topics
        ]
    )


def _offset_row(call: Call, name: str, asked: Message) -> Struct:
    code, timestamp, offset, epoch = _found_offset(call, name, asked)
    return Struct(
        partition_index=asked.partition_index,
        error_code=code,
        timestamp=timestamp,
        offset=offset,
        leader_epoch=epoch,
    )


def _found_offset(call: Call, name: str, asked: Message) -> tuple[ErrorCode, int, int, int]:
    """Error, timestamp, offset and leader epoch; -1 for what is not there."""
    partition = call.cluster.topics.partition(name, asked.partition_index)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, -1
    code = leader_error(call, partition, asked.current_leader_epoch)
    if code is not ErrorCode.NONE:
        return code, -1, -1, -1
    time = asked.timestamp
    if time < 0 and (time not in SPECIAL_TIMES or call.version < SPECIAL_TIMES[time]):
        return ErrorCode.UNSUPPORTED_VERSION, -1, -1, -1
    try:
        timestamp, offset = _find(partition.log, time)
    except CorruptBatch:
        return ErrorCode.CORRUPT_MESSAGE, -1, -1, -1
    epoch = partition.log.latest_epoch() if offset >= 0 else -1
    return ErrorCode.NONE, timestamp, offset, epoch


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
    return Struct(
        topics=[
            Struct(
                topic=entry.topic,
                partitions=[_epoch_row(call, entry.topic, p) for p in entry.partitions],
            )
            for entry in call.body.topics
        ]
    )


def _epoch_row(call: Call, name: str, asked: Message) -> Struct:
    code, epoch, end = _end_of_epoch(call, name, asked)
    return Struct(error_code=code, partition=asked.partition, leader_epoch=epoch, end_offset=end)


def _end_of_epoch(call: Call, name: str, asked: Message) -> tuple[ErrorCode, int, int]:
    partition = call.cluster.topics.partition(name, asked.partition)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1
    code = leader_error(call, partition, asked.current_leader_epoch)
    if code is not ErrorCode.NONE:
        return code, -1, -1
    epoch, end = partition.log.end_of_epoch(asked.leader_epoch, partition.leader_epoch)
    return ErrorCode.NONE, epoch, end


def describe_producers(call: Call) -> Struct:
    """Nobody has a transaction open: there are none here."""
    return Struct(
        topics=[
            Struct(
                name=entry.name,
                partitions=[_producers_row(call, entry.name, n) for n in entry.partition_indexes],
            )
            for entry in call.body.topics
        ]
    )


def _producers_row(call: Call, name: str, number: int) -> Struct:
    partition = call.cluster.topics.partition(name, number)
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if partition is not None:
        code = leader_error(call, partition, -1)
    return Struct(partition_index=number, error_code=code, active_producers=())


def delete_records(call: Call) -> Struct:
    """Move the start of logs forward."""
    return _by_topic(call, _delete_row)


def _delete_row(call: Call, name: str, asked: Message) -> Struct:
    partition = call.cluster.topics.partition(name, asked.partition_index)
    code, low = _delete(call, name, partition, asked.offset)
    return Struct(
        partition_index=asked.partition_index,
        low_watermark=low,
        error_code=code,
    )


def _delete(
    call: Call, name: str, partition: Partition | None, offset: int
) -> tuple[ErrorCode, int]:
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1
    if name in INTERNAL_TOPICS:
        return ErrorCode.POLICY_VIOLATION, -1
    code = leader_error(call, partition, -1)
    if code is not ErrorCode.NONE:
        return code, -1
    log = partition.log
    target = log.end_offset if offset == HIGH_WATERMARK else offset
    if not 0 <= target <= log.end_offset:
        return ErrorCode.OFFSET_OUT_OF_RANGE, -1
    if target > log.start_offset:
        log.delete_before(target)
        call.cluster.log_start_moved(name, partition)
    return ErrorCode.NONE, log.start_offset
