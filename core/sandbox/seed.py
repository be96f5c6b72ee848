"""A cluster filled from a snapshot: topics with their log bounds, groups with their offsets.

A snapshot has no records. What lies between the bounds of a log becomes one batch without
records, as compaction leaves it behind, so that log ends and lag are right and a consumer that
reads there goes on to the end. Groups come without their members, which live elsewhere.
"""

from collections.abc import Iterator, Mapping
from uuid import UUID, uuid4

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.log.record_codec import encode_record
from kgroups.core.coordinator.log.records import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
    Record,
)
from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.protocol.batches import build_batch, empty_batch, split_batches
from kgroups.core.sandbox.storage.partition_log import PartitionLog
from kgroups.core.sandbox.storage.topics import OFFSETS_TOPIC, Topic, Topics
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group
from kgroups.core.snapshot import PartitionLog as Bounds
from kgroups.core.snapshot import Topic as TopicFacts
from kgroups.core.uuids import uuid_from

_MAX_GAP = 2**31 - 1


def seed_topics(snapshot: ClusterSnapshot, topics: Topics, *, replication_factor: int) -> int:
    """Make the snapshot's topics, as far as they are missing.

    A topic may have holes in its partitions (what was not learned): those become empty ones.

    Returns:
        How many were made.
    """
    made = 0
    for name, facts in snapshot.topics.items():
        if topics.get(name or "\0") is not None or not facts.partitions:
            continue
        topic = topics.create(
            name,
            max(facts.partitions) + 1,
            replication_factor=replication_factor,
            topic_id=uuid_from(facts.topic_id) if facts.topic_id else uuid4(),
        )
        _fill(topic, facts, snapshot.captured_at_ms)
        made += 1
    return made


def _fill(topic: Topic, facts: TopicFacts, now_ms: int) -> None:
    for index, bounds in facts.partitions.items():
        partition = topic.partition(index)
        if partition is not None:
            _fill_log(partition.log, bounds, now_ms)


def _fill_log(log: PartitionLog, bounds: Bounds, now_ms: int) -> None:
    end = bounds.log_end_offset or 0
    start = bounds.log_start_offset if bounds.log_start_offset is not None else 0
    log.start_offset = log.end_offset = min(start, end)
    while log.end_offset < end:
        gap = min(end - log.end_offset, _MAX_GAP)
        batch = empty_batch(gap, now_ms)
        log.append(split_batches(batch, stored=True), 0)


def seed_groups(
    snapshot: ClusterSnapshot, topics: Topics, config: CoordinatorConfig, *, now_ms: int
) -> int:
    """Write the snapshot's groups and offsets into `__consumer_offsets`.

    Returns:
        How many groups were written.
    """
    for group in snapshot.groups:
        records = list(_group_records(group, topics, now_ms))
        index = offsets_partition(group.group, config.offsets_partitions)
        partition = topics.partition(OFFSETS_TOPIC, index)
        if records and partition is not None:
            pairs = [encode_record(record) for record in records]
            batch = build_batch(pairs, now_ms)
            partition.log.append(split_batches(batch), partition.leader_epoch)
    return len(snapshot.groups)


def _group_records(group: Group, topics: Topics, now_ms: int) -> Iterator[Record]:
    """A classic group, or a consumer group, that is empty; then its offsets."""
    if group.type == "classic" and group.protocol_type:
        value = GroupMetadataValue(group.protocol_type, 0, current_state_timestamp_ms=now_ms)
        yield Record(GroupMetadataKey(group.group), value)
    elif group.type == "consumer":
        epoch = ConsumerGroupMetadataValue(group.group_epoch or 1)
        yield Record(ConsumerGroupMetadataKey(group.group), epoch)
    offsets: Mapping[str, Mapping[int, CommittedOffset]] = group.offsets or {}
    for topic, partitions in offsets.items():
        found = topics.get(topic or "\0")
        topic_id: UUID | None = found.topic_id if found is not None else None
        for index, commit in partitions.items():
            yield Record(
                OffsetCommitKey(group.group, topic, index),
                OffsetCommitValue(
                    commit.offset,
                    -1 if commit.leader_epoch is None else commit.leader_epoch,
                    commit.metadata,
                    now_ms if commit.committed_at_ms is None else commit.committed_at_ms,
                    topic_id=topic_id,
                ),
            )
