"""Fetch: records out. A Fetch that finds too little waits on its partitions, it does not poll."""

import asyncio
from collections.abc import Awaitable

from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.reader import Message
from kgroups.core.protocol.writer import Struct
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.storage.partition_log import PartitionLog
from kgroups.core.sandbox.storage.topics import Partition, Topic

READ_COMMITTED = 1
_MAX_WAIT_MS = 300_000
_MAX_RESPONSE_BYTES = 64 * 1024 * 1024


def fetch(call: Call) -> Struct | Awaitable[Struct]:
    """Records of each partition, at once or as soon as there are `min_bytes`."""
    body = call.body
    if body.session_id != 0:  # none was ever handed out
        return Struct(
            error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
            session_id=0,
            responses=[],
        )
    if body.max_wait_ms <= 0 or _is_ready(call):
        return _answer(call)
    return _wait(call)


async def _wait(call: Call) -> Struct:
    """Sleep until one of the partitions changes; look again; at the latest after `max_wait_ms`."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + min(call.body.max_wait_ms, _MAX_WAIT_MS) / 1000
    changed = asyncio.Event()
    logs = _logs(call)
    for log in logs:
        log.wait(changed.set)
    try:
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    await changed.wait()
            except TimeoutError:
                break
            changed.clear()
            if _is_ready(call):
                break
    finally:
        for log in logs:
            log.unwait(changed.set)
    return _answer(call)


def _logs(call: Call) -> list[PartitionLog]:
    logs = []
    for entry in call.body.topics:
        topic = _topic(call, entry)
        for asked in entry.partitions:
            partition = topic.partition(asked.partition) if topic is not None else None
            if partition is not None:
                logs.append(partition.log)
    return logs


def _is_ready(call: Call) -> bool:
    """Whether an answer now has an error to tell, or enough bytes."""
    wanted = call.body.min_bytes
    size = 0
    for entry in call.body.topics:
        topic = _topic(call, entry)
        for asked in entry.partitions:
            code, partition = _check(call, topic, asked)
            if code is not ErrorCode.NONE or partition is None:
                return True
            size += partition.log.size_from(asked.fetch_offset, wanted - size)
            if size >= wanted:
                return True
    return False


def _answer(call: Call) -> Struct:
    left = min(call.body.max_bytes, _MAX_RESPONSE_BYTES)
    responses = []
    empty = True
    for entry in call.body.topics:
        topic = _topic(call, entry)
        rows = []
        for asked in entry.partitions:
            row = _partition_row(call, topic, asked, left, at_least_one=empty)
            size = len(row.records or b"")
            left -= size
            empty = empty and size == 0
            rows.append(row)
        responses.append(Struct(topic=entry.topic, topic_id=entry.topic_id, partitions=rows))
    return Struct(error_code=0, session_id=0, responses=responses)


def _partition_row(
    call: Call, topic: Topic | None, asked: Message, left: int, *, at_least_one: bool
) -> Struct:
    code, partition = _check(call, topic, asked)
    committed = call.body.isolation_level == READ_COMMITTED
    row = Struct(
        partition_index=asked.partition,
        error_code=code,
        high_watermark=-1,
        last_stable_offset=-1,
        log_start_offset=-1,
        aborted_transactions=[] if committed else None,
        records=b"",
    )
    if partition is None:
        return row
    if code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH):
        row.current_leader = Struct(
            leader_id=partition.leader,
            leader_epoch=partition.leader_epoch,
        )
        return row
    log = partition.log
    row.high_watermark = row.last_stable_offset = log.end_offset
    row.log_start_offset = log.start_offset
    if code is ErrorCode.NONE:
        size = max(min(left, asked.partition_max_bytes), 0)
        row.records = log.read(asked.fetch_offset, size, at_least_one=at_least_one)
    return row


def _check(call: Call, topic: Topic | None, asked: Message) -> tuple[ErrorCode, Partition | None]:
    """The error of one partition, with the partition where there is one."""
    if topic is None:
        by_id = call.version >= 13
        missing = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return missing, None
    partition = topic.partition(asked.partition)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None
    code = leader_error(call, partition, asked.current_leader_epoch)
    if code is ErrorCode.NONE:
        log = partition.log
        if not log.start_offset <= asked.fetch_offset <= log.end_offset:
            code = ErrorCode.OFFSET_OUT_OF_RANGE
    return code, partition


def leader_error(call: Call, partition: Partition, epoch: int) -> ErrorCode:
    """Whether this broker leads the partition, in the epoch that the client knows (-1: any)."""
    if partition.leader != call.broker.broker_id:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if epoch >= 0 and epoch != partition.leader_epoch:
        older = epoch < partition.leader_epoch
        return ErrorCode.FENCED_LEADER_EPOCH if older else ErrorCode.UNKNOWN_LEADER_EPOCH
    return ErrorCode.NONE


def _topic(call: Call, entry: Message) -> Topic | None:
    return call.cluster.topics.get(entry.topic, entry.topic_id)
