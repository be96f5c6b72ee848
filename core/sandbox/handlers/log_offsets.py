"""ListOffsets, OffsetForLeaderEpoch and DeleteRecords: where logs begin and end."""

from kio.schema.errors import ErrorCode

from kgroups.core.protocol.batches import CorruptBatch
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.handlers.fetch import leader_error
from kgroups.core.sandbox.storage.partition_log import PartitionLog
from kgroups.core.sandbox.storage.topics import INTERNAL_TOPICS, Partition
from kgroups.core.sandbox.wire.schema import Body

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6
HIGH_WATERMARK = -1
"""DeleteRecords: everything that is there."""


def list_offsets(call: Call) -> Body:
    """The offset for a time, or for one of the special times, of each partition."""
    return {
        "topics": [
            {
                "name": entry["name"],
                "partitions": [_offset_row(call, entry["name"], p) for p in entry["partitions"]],
            }
            for entry in call.body["topics"]
        ]
    }


def _offset_row(call: Call, name: str, asked: Body) -> Body:
    row = {
        "partition_index": asked["partition_index"],
        "error_code": 0,
        "timestamp": -1,
        "offset": -1,
        "leader_epoch": -1,
    }
    partition = call.cluster.topics.partition(name, asked["partition_index"])
    if partition is None:
        return row | {"error_code": ErrorCode.unknown_topic_or_partition}
    code = leader_error(call, partition, asked.get("current_leader_epoch", -1))
    if code is not ErrorCode.none:
        return row | {"error_code": code}
    try:
        timestamp, offset = _find(partition.log, asked["timestamp"])
    except CorruptBatch:
        return row | {"error_code": ErrorCode.corrupt_message}
    epoch = partition.log.latest_epoch() if offset >= 0 else -1
    return row | {"timestamp": timestamp, "offset": offset, "leader_epoch": epoch}


def _find(log: PartitionLog, timestamp: int) -> tuple[int, int]:
    """(timestamp, offset); -1 for what is not there. Nothing is ever moved to a remote tier."""
    match timestamp:
        case -1:
            return -1, log.end_offset
        case -2 | -4:
            return -1, log.start_offset
        case -5 | -6:
            return -1, -1
    found = (
        log.find_max_timestamp() if timestamp == MAX_TIMESTAMP else log.find_timestamp(timestamp)
    )
    return (-1, -1) if found is None else (found.timestamp_ms, found.offset)


def offset_for_leader_epoch(call: Call) -> Body:
    """Where an epoch ended, so that a consumer can tell whether its log was cut (KIP-320)."""
    return {
        "topics": [
            {
                "topic": entry["topic"],
                "partitions": [_epoch_row(call, entry["topic"], p) for p in entry["partitions"]],
            }
            for entry in call.body["topics"]
        ]
    }


def _epoch_row(call: Call, name: str, asked: Body) -> Body:
    row = {"error_code": 0, "partition": asked["partition"], "leader_epoch": -1, "end_offset": -1}
    partition = call.cluster.topics.partition(name, asked["partition"])
    if partition is None:
        return row | {"error_code": ErrorCode.unknown_topic_or_partition}
    code = leader_error(call, partition, asked["current_leader_epoch"])
    if code is not ErrorCode.none:
        return row | {"error_code": code}
    epoch, end = partition.log.end_of_epoch(asked["leader_epoch"], partition.leader_epoch)
    return row | {"leader_epoch": epoch, "end_offset": end}


def delete_records(call: Call) -> Body:
    """Move the start of logs forward."""
    return {
        "topics": [
            {
                "name": entry["name"],
                "partitions": [_delete_row(call, entry["name"], p) for p in entry["partitions"]],
            }
            for entry in call.body["topics"]
        ]
    }


def _delete_row(call: Call, name: str, asked: Body) -> Body:
    partition = call.cluster.topics.partition(name, asked["partition_index"])
    code, low = _delete(call, name, partition, asked["offset"])
    return {
        "partition_index": asked["partition_index"],
        "low_watermark": low,
        "error_code": code,
    }


def _delete(
    call: Call, name: str, partition: Partition | None, offset: int
) -> tuple[ErrorCode, int]:
    if partition is None:
        return ErrorCode.unknown_topic_or_partition, -1
    if name in INTERNAL_TOPICS:
        return ErrorCode.policy_violation, -1
    code = leader_error(call, partition, -1)
    if code is not ErrorCode.none:
        return code, -1
    log = partition.log
    target = log.end_offset if offset == HIGH_WATERMARK else offset
    if not 0 <= target <= log.end_offset:
        return ErrorCode.offset_out_of_range, -1
    if target > log.start_offset:
        log.delete_before(target)
        call.cluster.log_start_moved(name, partition)
    return ErrorCode.none, log.start_offset
