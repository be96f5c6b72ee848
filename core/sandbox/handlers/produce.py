"""Produce and InitProducerId: records in, for plain and idempotent producers."""

from typing import Any

from kio.schema.errors import ErrorCode

from kgroups.core.protocol.batches import (
    CONTROL,
    TRANSACTIONAL,
    BatchHeader,
    CorruptBatch,
    split_batches,
)
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.storage.topics import INTERNAL_TOPICS, Partition, Topic
from kgroups.core.sandbox.wire.schema import Body

NO_TIMESTAMP = -1


def produce(call: Call) -> Body | None:
    """Append, and say where; nothing at all for acks=0."""
    acks = call.body["acks"]
    responses = [_produce_topic(call, entry, acks) for entry in call.body["topic_data"]]
    return {"responses": responses} if acks != 0 else None


def _produce_topic(call: Call, entry: Body, acks: int) -> Body:
    topic = call.cluster.topics.get(entry.get("name"), entry.get("topic_id"))
    return {
        "name": entry.get("name"),
        "topic_id": entry.get("topic_id"),
        "partition_responses": [
            _produce_partition(call, topic, data, acks) for data in entry["partition_data"]
        ],
    }


def _produce_partition(call: Call, topic: Topic | None, data: Body, acks: int) -> Body:
    index = data["index"]
    if topic is None:
        by_id = call.version >= 13
        missing = ErrorCode.unknown_topic_id if by_id else ErrorCode.unknown_topic_or_partition
        return _row(index, missing)
    partition = topic.partition(index)
    if partition is None:
        return _row(index, ErrorCode.unknown_topic_or_partition)
    if partition.leader != call.broker.broker_id:
        return _row(index, ErrorCode.not_leader_or_follower) | {
            "current_leader": {
                "leader_id": partition.leader,
                "leader_epoch": partition.leader_epoch,
            }
        }
    if acks not in (-1, 0, 1):
        return _row(index, ErrorCode.invalid_required_acks)
    if topic.name in INTERNAL_TOPICS:
        return _row(index, ErrorCode.invalid_topic_exception)
    try:
        batches = split_batches(data["records"] or b"")
    except CorruptBatch as error:
        return _row(index, ErrorCode.corrupt_message, message=str(error))
    return _append(index, partition, batches)


def _append(index: int, partition: Partition, batches: list[tuple[BatchHeader, bytes]]) -> Body:
    if not batches:
        return _row(index, ErrorCode.corrupt_message, message="no records")
    log = partition.log
    for header, _ in batches:
        if header.attributes & (TRANSACTIONAL | CONTROL):
            return _row(index, ErrorCode.invalid_record, message="transactions are not supported")
        error, earlier = log.producers.check(header)
        if error is not ErrorCode.none:
            return _row(index, error)
        if earlier is not None:
            return _row(index, ErrorCode.none, earlier, log.start_offset)
    try:
        offset = log.append(batches, partition.leader_epoch)
    except OSError as error:
        return _row(index, ErrorCode.kafka_storage_error, message=str(error))
    return _row(index, ErrorCode.none, offset, log.start_offset)


def _row(
    index: int,
    code: ErrorCode,
    offset: int = -1,
    log_start: int = -1,
    *,
    message: str | None = None,
) -> dict[str, Any]:
    return {
        "index": index,
        "error_code": code,
        "base_offset": offset,
        "log_append_time": NO_TIMESTAMP,
        "log_start_offset": log_start,
        "record_errors": [],
        "error_message": message,
    }


def init_producer_id(call: Call) -> Body:
    """A producer id for an idempotent producer; transactional ones are refused for good."""
    if call.body["transactional_id"] is not None:
        return {
            "error_code": ErrorCode.transactional_id_authorization_failed,
            "producer_id": -1,
            "producer_epoch": -1,
        }
    producer_id = call.body.get("producer_id", -1)
    epoch = call.body.get("producer_epoch", -1)
    if producer_id >= 0 and 0 <= epoch < 2**15 - 2:
        return {"error_code": 0, "producer_id": producer_id, "producer_epoch": epoch + 1}
    return {
        "error_code": 0,
        "producer_id": call.cluster.next_producer_id(),
        "producer_epoch": 0,
    }
