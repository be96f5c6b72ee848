"""OffsetFetch: what groups have committed.

Source: `KafkaApis.handleOffsetFetchRequest`, `OffsetMetadataManager.fetchOffsets`.
"""

from collections.abc import Hashable

from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.log.records import OffsetCommitValue
from kgroups.core.coordinator.offsets.messages import (
    FetchedGroup,
    FetchedPartition,
    FetchedTopic,
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
)
from kgroups.core.coordinator.shard import Shard
from kgroups.core.protocol.errors import ErrorCode

TOP_LEVEL_ERROR_VERSION = 2
TOPIC_ID_VERSION = 10


def fetch_offsets(shard: Shard, token: Hashable, request: OffsetFetchRequest) -> None:
    """OffsetFetch of one group or many, each with its own error."""
    groups = tuple(_fetch_group(shard, request, group) for group in request.groups)
    shard.reply(token, OffsetFetchResponse(groups))


def _fetch_group(
    shard: Shard, request: OffsetFetchRequest, asked: OffsetFetchGroup
) -> FetchedGroup:
    if asked.group_id is None:
        return _refuse(request, asked, ErrorCode.INVALID_GROUP_ID)
    error = shard.check_place(asked.group_id)
    group = _group(shard, request, asked.group_id)
    if error is ErrorCode.NONE and group is not None:
        error = group.check_fetch(asked.member_id, asked.member_epoch)
    if error is not ErrorCode.NONE:
        return _refuse(request, asked, error)
    by_id = request.version >= TOPIC_ID_VERSION
    if asked.topics is None:
        topics = _everything(shard, request, asked.group_id, by_id=by_id)
    else:
        topics = tuple(
            _fetch_topic(shard, request, asked.group_id, topic, by_id=by_id)
            for topic in asked.topics
        )
    return FetchedGroup(asked.group_id, topics)


def _refuse(request: OffsetFetchRequest, asked: OffsetFetchGroup, error: ErrorCode) -> FetchedGroup:
    """An error for a whole group; version 1 can only tell it by partition."""
    if request.version >= TOP_LEVEL_ERROR_VERSION:
        return FetchedGroup(asked.group_id or "", error_code=error)
    topics = tuple(
        FetchedTopic(
            topic.name,
            tuple(FetchedPartition(n, error_code=error) for n in topic.partition_indexes),
        )
        for topic in asked.topics or ()
    )
    return FetchedGroup(asked.group_id or "", topics, error)


def _everything(
    shard: Shard, request: OffsetFetchRequest, group_id: str, *, by_id: bool
) -> tuple[FetchedTopic, ...]:
    """All commits of the group; asked by id, those of topics that have none are left out."""
    topics = []
    if _group(shard, request, group_id) is None:
        return ()
    for name, partitions in shard.offsets.values(group_id).items():
        entry = shard.topology.topic(name)
        if entry is None and by_id:
            continue
        fetched = tuple(_fetch_one(shard, request, group_id, name, n) for n in partitions)
        topics.append(FetchedTopic(name, fetched, None if entry is None else entry.topic_id))
    return tuple(topics)


def _fetch_topic(
    shard: Shard,
    request: OffsetFetchRequest,
    group_id: str,
    topic: OffsetFetchTopic,
    *,
    by_id: bool,
) -> FetchedTopic:
    name, topic_id = topic.name, topic.topic_id
    if by_id:
        entry = None if topic_id is None else shard.topology.topic_by_id(topic_id)
        if entry is None:
            unknown = ErrorCode.UNKNOWN_TOPIC_ID
            missing = (FetchedPartition(n, error_code=unknown) for n in topic.partition_indexes)
            return FetchedTopic(name, tuple(missing), topic_id)
        name = entry.name
    fetched = []
    for partition in topic.partition_indexes:
        value = _stored(shard, request, group_id, name, partition)
        other_topic = (
            by_id
            and value is not None
            and value.topic_id is not None
            and value.topic_id != topic_id
        )
        if other_topic and not _is_unstable(shard, request, group_id, name, partition):
            fetched.append(FetchedPartition(partition))
        else:
            fetched.append(_fetch_one(shard, request, group_id, name, partition))
    return FetchedTopic(name, tuple(fetched), topic_id)


def _is_unstable(
    shard: Shard, request: OffsetFetchRequest, group_id: str, topic: str, partition: int
) -> bool:
    return request.require_stable and shard.offsets.is_pending(group_id, topic, partition)


def _fetch_one(
    shard: Shard, request: OffsetFetchRequest, group_id: str, topic: str, partition: int
) -> FetchedPartition:
    if _is_unstable(shard, request, group_id, topic, partition):
        return FetchedPartition(partition, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
    value = _stored(shard, request, group_id, topic, partition)
    if value is None:
        return FetchedPartition(partition)
    return FetchedPartition(partition, value.offset, value.leader_epoch, value.metadata)


def _group(shard: Shard, request: OffsetFetchRequest, group_id: str) -> Group | None:
    """The group as it is seen: as the log has it, or as it is if the offsets must be stable."""
    return shard.groups.get(group_id) if request.require_stable else shard.shown_group(group_id)


def _stored(
    shard: Shard, request: OffsetFetchRequest, group_id: str, topic: str, partition: int
) -> OffsetCommitValue | None:
    """A commit as it is seen: not those of a group that was dropped."""
    if _group(shard, request, group_id) is None:
        return None
    return shard.offsets.get(group_id, topic, partition)
