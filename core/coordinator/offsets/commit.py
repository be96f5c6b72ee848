"""OffsetCommit and TxnOffsetCommit, and the marker that ends a transaction.

Source: `KafkaApis.handleOffsetCommitRequest` for the topics, `OffsetMetadataManager` for the rest.
"""

from collections.abc import Hashable
from uuid import UUID

from kgroups.core.coordinator.append_errors import NO_ERROR, append_error
from kgroups.core.coordinator.classic.join import create_group
from kgroups.core.coordinator.effects import NO_PRODUCER_ID, Write
from kgroups.core.coordinator.groups import CommitRequest, Group, PartitionVerdict
from kgroups.core.coordinator.log.records import (
    NO_TIMESTAMP,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)
from kgroups.core.coordinator.offsets.messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitTopic,
    PartitionError,
    TopicErrors,
    TxnOffsetCommitRequest,
    WriteTxnMarkerRequest,
    WriteTxnMarkerResponse,
)
from kgroups.core.coordinator.offsets.store import Undo
from kgroups.core.coordinator.shard import Shard
from kgroups.core.coordinator.topology import TopicInfo
from kgroups.core.protocol.errors import ErrorCode

MEMBER_EPOCH_VERSION = 9
TOPIC_ID_VERSION = 10
TXN_TOPIC_ID_VERSION = 6  # KIP-1319; the errors of KIP-848 are told from here on, too

_SINCE_KIP_848 = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.STALE_MEMBER_EPOCH)

new_tuple = tuple.__new__

# Per topic of a request: the topic (None if unknown), and the partitions that exist.
Resolved = list[tuple[OffsetCommitTopic, TopicInfo | None, frozenset[int]]]


def replay_offset(
    shard: Shard, key: OffsetCommitKey, value: OffsetCommitValue | None, producer_id: int
) -> Undo:
    """Play a commit into the state; a group that only commits comes into being by it."""
    if value is not None and key.group_id not in shard.groups:
        create_group(shard, key.group_id, "an offset was committed").hidden_until = -1
    return shard.offsets.apply(key, value, producer_id)


def commit_offsets(shard: Shard, token: Hashable, request: OffsetCommitRequest) -> None:
    """OffsetCommit, of a member or of whoever assigns partitions by hand."""
    if _commit_plainly(shard, token, request):
        return
    retention_ms = request.retention_time_ms
    expire_ms = NO_TIMESTAMP if retention_ms == -1 else shard.now_ms + retention_ms
    by_id = request.version >= TOPIC_ID_VERSION
    _commit(shard, token, request, by_id=by_id, expire_ms=expire_ms)


def _commit_plainly(shard: Shard, token: Hashable, request: OffsetCommitRequest) -> bool:
    """Nearly all commits: welcome ones, by name, of partitions that exist, without metadata.

    False, and nothing done, for any other. The answer is that of the long way.
    """
    group, topics = shard.groups.get(request.group_id or ""), request.topics
    if group is None or shard.check_place(group.group_id) is not NO_ERROR:
        return False
    records = _plain_records(shard, request, group)
    if not records:
        return False
    _renew_session(shard, request)

    def failed(error: ErrorCode) -> None:
        shard.reply(token, _same_for_all(topics, append_error(error, transactional=False)))

    shard.write(group.partition, records, failed=failed)
    shard.reply(token, _same_for_all(topics, NO_ERROR))
    return True


def commit_at_once(
    shard: Shard, request: OffsetCommitRequest, group: Group
) -> tuple[Write, OffsetCommitResponse] | None:
    """The record and the answer of `commit_offsets` where a session only goes on; else None."""
    records = _plain_records(shard, request, group)
    if not records:
        return None
    session = group.renewed_session(request)
    if session is not None and not shard.prolong_session(group.group_id, *session):
        return None
    write = shard.write_commits(group.partition, group.group_id, records)
    return write, _same_for_all(request.topics, NO_ERROR)


def _plain_records(shard: Shard, request: OffsetCommitRequest, group: Group) -> list[Record]:
    """The records of a welcome commit, none if anything in it needs a look."""
    if request.version >= TOPIC_ID_VERSION or request.retention_time_ms != -1:
        return []
    if group.check_commit(request) is not NO_ERROR:
        return []
    topics, group_id = request.topics, group.group_id
    known_topics, now_ms = shard.topology.topics, shard.now_ms
    records: list[Record] = []
    if len(topics) > 1 and len({topic.name for topic in topics}) < len(topics):
        return []
    for name, partitions, _ in topics:
        described = known_topics.get(name)
        if described is None or not partitions:
            return []
        count, topic_id = described.partitions, described.topic_id
        for number, offset, leader_epoch, metadata in partitions:
            if metadata or not 0 <= number < count:
                return []
            # As their classes make them, but twice as fast.
            key = new_tuple(OffsetCommitKey, (group_id, name, number))
            value = (offset, leader_epoch, "", now_ms, NO_TIMESTAMP, topic_id)
            records.append(new_tuple(Record, (key, new_tuple(OffsetCommitValue, value))))
    return records


def _same_for_all(topics: tuple[OffsetCommitTopic, ...], error: ErrorCode) -> OffsetCommitResponse:
    """One code for every partition that was asked for."""
    return OffsetCommitResponse(
        tuple(
            [
                TopicErrors(
                    name,
                    tuple([new_tuple(PartitionError, (row[0], error)) for row in partitions]),
                    topic_id,
                )
                for name, partitions, topic_id in topics
            ]
        )
    )


def _renew_session(shard: Shard, request: OffsetCommitRequest) -> None:
    group_id = request.group_id or ""
    session = shard.groups[group_id].renewed_session(request)
    if session is not None:
        shard.restart_session(group_id, session.member_id, session.timeout_ms)


def commit_transaction_offsets(
    shard: Shard, token: Hashable, request: TxnOffsetCommitRequest
) -> None:
    """TxnOffsetCommit: the offsets wait for the end of the producer's transaction."""
    by_id = request.version >= TXN_TOPIC_ID_VERSION
    _commit(shard, token, request, by_id=by_id, expire_ms=NO_TIMESTAMP)


def end_transaction(shard: Shard, token: Hashable, request: WriteTxnMarkerRequest) -> None:
    """The producer's transaction is over: its offsets count from now on, or never did."""
    if not shard.active:
        shard.reply(token, WriteTxnMarkerResponse(ErrorCode.COORDINATOR_NOT_AVAILABLE))
        return
    error = shard.check_partition(request.partition)
    if error is ErrorCode.NONE:
        shard.write_marker(
            request.partition,
            request.producer_id,
            request.producer_epoch,
            committed=request.committed,
        )
        shard.offsets.end_transaction(request.producer_id, committed=request.committed)
    shard.reply(token, WriteTxnMarkerResponse(error))


def _resolve(shard: Shard, topics: tuple[OffsetCommitTopic, ...], *, by_id: bool) -> Resolved:
    resolved: Resolved = []
    for topic in topics:
        if by_id:
            described = shard.topology.topic_by_id(topic.topic_id) if topic.topic_id else None
        else:
            described = shard.topology.topic(topic.name)
        count = 0 if described is None else described.partitions
        asked = [partition.partition_index for partition in topic.partitions]
        there = [number for number in asked if 0 <= number < count]
        resolved.append((topic, described, frozenset(there)))
    return resolved


def _judge(
    shard: Shard, request: CommitRequest
) -> tuple[ErrorCode | PartitionVerdict, Group | None]:
    """The verdict on the sender, and the group if it is made for this commit."""
    if request.group_id is None:
        return ErrorCode.INVALID_GROUP_ID, None
    error = shard.check_place(request.group_id)
    if error is not ErrorCode.NONE:
        return error, None
    group = shard.groups.get(request.group_id)
    if group is not None:
        return group.check_commit(request), None
    if request.generation_id_or_member_epoch < 0:
        return ErrorCode.NONE, create_group(shard, request.group_id, "an offset was committed")
    if isinstance(request, OffsetCommitRequest) and request.version < MEMBER_EPOCH_VERSION:
        return ErrorCode.ILLEGAL_GENERATION, None
    return ErrorCode.GROUP_ID_NOT_FOUND, None


def _decide(
    shard: Shard,
    group_id: str,
    resolved: Resolved,
    verdict: ErrorCode | PartitionVerdict,
    expire_ms: int,
) -> tuple[dict[tuple[str, int], ErrorCode], list[Record]]:
    """A code for every partition that exists, and the records of those that are welcome."""
    errors: dict[tuple[str, int], ErrorCode] = {}
    records: list[Record] = []
    none, now_ms = ErrorCode.NONE, shard.now_ms
    overall = verdict if isinstance(verdict, ErrorCode) else _worst(shard, verdict, resolved)
    for topic, described, partitions in resolved:
        if described is None:
            continue
        name, topic_id = described.name, described.topic_id
        for number, offset, leader_epoch, metadata in topic.partitions:
            if number not in partitions:
                continue
            error = overall
            if metadata and error is none and _is_too_long(shard, metadata):
                error = ErrorCode.OFFSET_METADATA_TOO_LARGE
            errors[name, number] = error
            if error is none:
                key = OffsetCommitKey(group_id, name, number)
                value = OffsetCommitValue(
                    offset, leader_epoch, metadata or "", now_ms, expire_ms, topic_id
                )
                records.append(Record(key, value))
    return errors, records


def _worst(shard: Shard, verdict: PartitionVerdict, resolved: Resolved) -> ErrorCode:
    """One partition that is refused refuses them all, as in Kafka.

    Those whose metadata is too long are refused for that, and never come to this.
    """
    for topic, described, partitions in resolved:
        if described is None:
            continue
        for partition in topic.partitions:
            if partition.partition_index not in partitions:
                continue
            if _is_too_long(shard, partition.committed_metadata):
                continue
            error = verdict(described.topic_id, partition.partition_index)
            if error is not ErrorCode.NONE:
                return error
    return ErrorCode.NONE


def _is_too_long(shard: Shard, metadata: str | None) -> bool:
    """Java counts a string's length in UTF-16 units."""
    limit = shard.config.offset_metadata_max_size
    if metadata is None or len(metadata) * 2 <= limit:
        return False
    return len(metadata.encode("utf-16-le", "surrogatepass")) // 2 > limit


def _commit(
    shard: Shard, token: Hashable, request: CommitRequest, *, by_id: bool, expire_ms: int
) -> None:
    """Write and answer; should the write fail, every accepted partition gets its error."""
    resolved = _resolve(shard, request.topics, by_id=by_id)
    if not any(partitions for _, _, partitions in resolved):
        shard.reply(token, _answer(resolved, {}, by_id=by_id))
        return
    verdict, created = _judge(shard, request)
    group_id, producer = request.group_id or "", (NO_PRODUCER_ID, -1)
    transactional = isinstance(request, TxnOffsetCommitRequest)
    if isinstance(request, TxnOffsetCommitRequest):
        producer = request.producer_id, request.producer_epoch
        if verdict in _SINCE_KIP_848 and not by_id:
            verdict = ErrorCode.ILLEGAL_GENERATION
    elif verdict is ErrorCode.NONE and created is None:
        _renew_session(shard, request)
    errors, records = _decide(shard, group_id, resolved, verdict, expire_ms)

    def failed(error: ErrorCode) -> None:
        failure = append_error(error, transactional=transactional)
        codes = {key: failure if code is ErrorCode.NONE else code for key, code in errors.items()}
        if created is not None:
            shard.remove_group(group_id, "its first commit could not be written")
        shard.reply(token, _answer(resolved, codes, by_id=by_id))

    if records:
        partition = shard.groups[group_id].partition
        shard.write(
            partition, records, failed=failed, producer_id=producer[0], producer_epoch=producer[1]
        )
    shard.reply(token, _answer(resolved, errors, by_id=by_id))


def _answer(
    resolved: Resolved, errors: dict[tuple[str, int], ErrorCode], *, by_id: bool
) -> OffsetCommitResponse:
    """A code for every partition asked for; a broker puts those that do not exist first."""
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topics: list[tuple[str, UUID | None, list[PartitionError]]] = []
    for topic, described, partitions in resolved:
        if len(partitions) == len(topic.partitions):
            continue  # none is missing
        code = ErrorCode.UNKNOWN_TOPIC_ID if by_id and described is None else unknown
        asked = [partition.partition_index for partition in topic.partitions]
        missing = [PartitionError(n, code) for n in asked if n not in partitions]
        if missing:
            name = topic.name if described is None else described.name
            topics.append((name, topic.topic_id, missing))
    for topic, described, partitions in resolved:
        if described is None:
            continue
        asked = [partition.partition_index for partition in topic.partitions]
        results = [PartitionError(n, errors[described.name, n]) for n in asked if n in partitions]
        same = [codes for name, _, codes in topics if name == described.name]
        if same:
            same[0].extend(results)
        elif results:
            topics.append((described.name, topic.topic_id, results))
    return OffsetCommitResponse(
        tuple(TopicErrors(name, tuple(codes), topic_id) for name, topic_id, codes in topics)
    )
