"""Produce and InitProducerId: records in, for plain and idempotent producers."""

from kgroups.core.protocol.batches import (
    CONTROL,
    TRANSACTIONAL,
    BatchHeader,
    CorruptBatch,
    split_batches,
)
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.reader import Message
from kgroups.core.protocol.writer import Struct
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.storage.topics import INTERNAL_TOPICS, Partition, Topic

NO_TIMESTAMP = -1


def produce(call: Call) -> Struct | None:
    """Append, and say where; nothing at all for acks=0."""
    acks = call.body.acks
    responses = [_produce_topic(call, entry, acks) for entry in call.body.topic_data]
    return Struct(responses=responses) if acks != 0 else None


def _produce_topic(call: Call, entry: Message, acks: int) -> Struct:
    topic = call.cluster.topics.get(entry.name, entry.topic_id)
    return Struct(
        name=entry.name,
        topic_id=entry.topic_id,
        partition_responses=[
            _produce_partition(call, topic, data, acks) for data in entry.partition_data
        ],
    )


def _produce_partition(call: Call, topic: Topic | None, data: Message, acks: int) -> Struct:
    index = data.index
    if topic is None:
        by_id = call.version >= 13
        missing = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _row(index, missing)
    partition = topic.partition(index)
    if partition is None:
        return _row(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if partition.leader != call.broker.broker_id:
        row = _row(index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        row.current_leader = Struct(leader_id=partition.leader, leader_epoch=partition.leader_epoch)
        return row
    if acks not in (-1, 0, 1):
        return _row(index, ErrorCode.INVALID_REQUIRED_ACKS)
    if topic.name in INTERNAL_TOPICS:
        return _row(index, ErrorCode.INVALID_TOPIC_EXCEPTION)
    try:
        batches = split_batches(data.records or b"")
    except CorruptBatch as error:
        return _row(index, ErrorCode.CORRUPT_MESSAGE, message=str(error))
    return _append(index, partition, batches)


def _append(index: int, partition: Partition, batches: list[tuple[BatchHeader, bytes]]) -> Struct:
    if not batches:
        return _row(index, ErrorCode.CORRUPT_MESSAGE, message="no records")
    log = partition.log
    for header, _ in batches:
        if header.attributes & (TRANSACTIONAL | CONTROL):
            return _row(index, ErrorCode.INVALID_RECORD, message="transactions are not supported")
        error, earlier = log.producers.check(header)
        if error is not ErrorCode.NONE:
            return _row(index, error)
        if earlier is not None:
            return _row(index, ErrorCode.NONE, earlier, log.start_offset)
    try:
        offset = log.append(batches, partition.leader_epoch)
    except OSError as error:
        return _row(index, ErrorCode.KAFKA_STORAGE_ERROR, message=str(error))
    return _row(index, ErrorCode.NONE, offset, log.start_offset)


def _row(
    index: int,
    code: ErrorCode,
    offset: int = -1,
    log_start: int = -1,
    *,
    message: str | None = None,
) -> Struct:
    return Struct(
        index=index,
        error_code=code,
        base_offset=offset,
        log_append_time_ms=NO_TIMESTAMP,
        log_start_offset=log_start,
        record_errors=[],
        error_message=message,
    )


def init_producer_id(call: Call) -> Struct:
    """A producer id for an idempotent producer; transactional ones are refused for good."""
    if call.body.transactional_id is not None:
        return Struct(
            error_code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            producer_id=-1,
            producer_epoch=-1,
        )
    producer_id = call.body.producer_id
    epoch = call.body.producer_epoch
    if producer_id >= 0 and 0 <= epoch < 2**15 - 2:
        return Struct(error_code=0, producer_id=producer_id, producer_epoch=epoch + 1)
    return Struct(
        error_code=0,
        producer_id=call.cluster.next_producer_id(),
        producer_epoch=0,
    )
