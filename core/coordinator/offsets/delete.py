"""How committed offsets go: by OffsetDelete, with their topic, or by age.

Source: `OffsetMetadataManager.deleteOffsets`, `cleanupExpiredOffsets`, `onPartitionsDeleted`;
`GroupCoordinatorShard.cleanupGroupMetadata`.
"""

from collections.abc import Hashable

from kgroups.core.coordinator.append_errors import append_error
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.log.records import (
    NO_TIMESTAMP,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)
from kgroups.core.coordinator.offsets.messages import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    PartitionError,
    TopicErrors,
)
from kgroups.core.coordinator.shard import PartitionState, Shard, TimerKind
from kgroups.core.coordinator.topology import Topology
from kgroups.core.protocol.errors import ErrorCode


def delete_offsets(
    shard: Shard, token: Hashable, request: OffsetDeleteRequest, group: Group
) -> None:
    """OffsetDelete: only of topics that nobody in the group subscribes to."""
    error = group.check_delete_offsets()
    if error is not ErrorCode.NONE:
        shard.reply(token, OffsetDeleteResponse(error))
        return
    records: list[Record] = []
    topics: list[TopicErrors] = []
    for topic in request.topics:
        subscribed = group.is_subscribed_to(topic.name)
        codes: list[PartitionError] = []
        for partition in topic.partition_indexes:
            if not shard.topology.has_partition(topic.name, partition):
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            elif subscribed:
                code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
            else:
                code = ErrorCode.NONE
                if shard.offsets.get(group.group_id, topic.name, partition) is not None or (
                    shard.offsets.is_pending(group.group_id, topic.name, partition)
                ):
                    key = OffsetCommitKey(group.group_id, topic.name, partition)
                    records.append(Record(key, None))
            codes.append(PartitionError(partition, code))
        topics.append(TopicErrors(topic.name, tuple(codes)))

    def failed(error: ErrorCode) -> None:
        shard.reply(token, OffsetDeleteResponse(append_error(error)))

    shard.write(group.partition, records, failed=failed)
    shard.reply(token, OffsetDeleteResponse(ErrorCode.NONE, tuple(topics)))


def all_offset_tombstones(shard: Shard, group_id: str) -> list[Record]:
    """Records that delete everything that a group committed or is about to."""
    keys = [
        OffsetCommitKey(group_id, topic, partition)
        for topic, partitions in shard.offsets.topics(group_id).items()
        for partition in partitions
    ]
    keys += [key for key in shard.offsets.pending_keys(group_id) if key not in keys]
    return [Record(key, None) for key in keys]


def delete_topic_offsets(shard: Shard, before: Topology) -> None:
    """Topics are gone: so are their offsets, in every group."""
    names = {topic.name for topic in shard.topology.removed_since(before)}
    if not names:
        return
    by_partition: dict[int, list[Record]] = {}
    # A group may be gone from memory and its offsets still be there.
    for group_id in sorted({*shard.groups, *shard.offsets.groups()}):
        keys = [
            OffsetCommitKey(group_id, topic, partition)
            for topic, partitions in shard.offsets.topics(group_id).items()
            if topic in names
            for partition in partitions
        ]
        pending = shard.offsets.pending_keys(group_id)
        keys += [key for key in pending if key.topic in names and key not in keys]
        if keys:
            records = by_partition.setdefault(shard.partition_of(group_id), [])
            records += [Record(key, None) for key in keys]
    for partition, records in by_partition.items():
        shard.write(partition, records)


# ---------------------------------------------------------------------- age


def schedule_expiration(shard: Shard, partition: int) -> None:
    """Look for expired offsets of this partition after the check interval."""
    interval_ms = shard.config.offsets_retention_check_interval_ms
    shard.schedule(TimerKind.EXPIRATION, str(partition), "", interval_ms)


def expiration_timer(shard: Shard, partition: str, member_id: str, payload: object) -> None:
    """The check interval is over."""
    if shard.partitions[int(partition)] is PartitionState.ACTIVE:
        expire_offsets(shard, int(partition))


def expire_offsets(shard: Shard, partition: int) -> None:
    """Delete what is too old on this partition, and empty groups with nothing left."""
    records: list[Record] = []
    for group in shard.groups.values():
        if group.partition != partition:
            continue
        expired, all_gone = _expired(shard, group)
        records += [Record(key, None) for key in expired]
        if expired:
            shard.event(EventKind.OFFSETS_EXPIRED, group.group_id, detail=(len(expired),))
        if all_gone and group.is_empty():
            records += group.tombstones()
    shard.write(partition, records)
    schedule_expiration(shard, partition)


def _expired(shard: Shard, group: Group) -> tuple[list[OffsetCommitKey], bool]:
    """Commits of the group that are too old, and whether that leaves none."""
    group_id = group.group_id
    nothing_open = not shard.offsets.has_pending(group_id)
    topics = shard.offsets.topics(group_id)
    if not topics:
        return [], nothing_open
    start = group.retention_start()
    if start is None:
        return [], False
    expired: list[OffsetCommitKey] = []
    left = False
    for topic, partitions in topics.items():
        if group.is_subscribed_to(topic):
            left = True
            continue
        for partition, stored in partitions.items():
            if _is_expired(shard, stored.value, start(stored.value)) and not (
                shard.offsets.is_pending(group_id, topic, partition)
            ):
                expired.append(OffsetCommitKey(group_id, topic, partition))
            else:
                left = True
    return expired, not left and nothing_open


def _is_expired(shard: Shard, value: OffsetCommitValue, start_ms: int) -> bool:
    if value.expire_timestamp_ms != NO_TIMESTAMP:
        return shard.now_ms >= value.expire_timestamp_ms
    return shard.now_ms - start_ms >= shard.config.offsets_retention_ms
