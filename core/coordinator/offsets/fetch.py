"""OffsetFetch: what groups have committed.

Source: `KafkaApis.handleOffsetFetchRequest`, `OffsetMetadataManager.fetchOffsets`.
"""

from collections.abc import Hashable
from typing import NamedTuple

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
    group_id, stable = asked.group_id, request.require_stable
    if group_id is None:
        return _refuse(request, asked, ErrorCode.INVALID_GROUP_ID)
    error = shard.check_place(group_id)
    # The group as it is seen: as the log has it, or as it is if the offsets must be stable.
    group = shard.groups.get(group_id) if stable else shard.shown_group(group_id)
    if error is ErrorCode.NONE and group is not None:
        error = group.check_fetch(asked.member_id, asked.member_epoch)
    if error is not ErrorCode.NONE:
        return _refuse(request, asked, error)
    by_id = request.version >= TOPIC_ID_VERSION
    commits = _Commits(shard, group_id, group is not None, stable, by_id)
    if asked.topics is None:
        return FetchedGroup(group_id, commits.everything())
    return FetchedGroup(group_id, tuple(map(commits.topic, asked.topics)))


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


class _Commits(NamedTuple):
    """The commits of one group as a request sees them: none of a group that was dropped."""

    shard: Shard
    group_id: str
    is_there: bool
    stable: bool
    by_id: bool

    def everything(self) -> tuple[FetchedTopic, ...]:
        """All of them; asked by id, those of topics that have none are left out."""
        topics = []
        stored = self.shard.offsets.values(self.group_id) if self.is_there else {}
        for name, partitions in stored.items():
            entry = self.shard.topology.topic(name)
            if entry is None and self.by_id:
                continue
            fetched = tuple(self._one(name, number) for number in partitions)
            topics.append(FetchedTopic(name, fetched, None if entry is None else entry.topic_id))
        return tuple(topics)

    def topic(self, topic: OffsetFetchTopic) -> FetchedTopic:
        """Those of one topic; commits of another topic that had its name are not shown."""
        name, topic_id = topic.name, topic.topic_id
        if self.by_id:
            entry = None if topic_id is None else self.shard.topology.topic_by_id(topic_id)
            if entry is None:
                unknown = ErrorCode.UNKNOWN_TOPIC_ID
                missing = (FetchedPartition(n, error_code=unknown) for n in topic.partition_indexes)
                return FetchedTopic(name, tuple(missing), topic_id)
            name = entry.name
        fetched = []
        for partition in topic.partition_indexes:
            value = self._stored(name, partition)
            other_topic = (
                self.by_id
                and value is not None
                and value.topic_id is not None
                and value.topic_id != topic_id
            )
            if other_topic and not self._is_unstable(name, partition):
                fetched.append(FetchedPartition(partition))
            else:
                fetched.append(self._one(name, partition))
        return FetchedTopic(name, tuple(fetched), topic_id)

    def _one(self, topic: str, partition: int) -> FetchedPartition:
        if self._is_unstable(topic, partition):
            return FetchedPartition(partition, error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT)
        value = self._stored(topic, partition)
        if value is None:
            return FetchedPartition(partition)
        return FetchedPartition(partition, value.offset, value.leader_epoch, value.metadata)

    def _is_unstable(self, topic: str, partition: int) -> bool:
        return self.stable and self.shard.offsets.is_pending(self.group_id, topic, partition)

    def _stored(self, topic: str, partition: int) -> OffsetCommitValue | None:
        return self.shard.offsets.get(self.group_id, topic, partition) if self.is_there else None
