"""Replay of a consumer group's records: the only writer of its state.

Each function plays one kind of record and gives back what undoes it. Members are values, so
undoing means to put the former one back. Source: `GroupMetadataManager.replay`.
"""

from collections.abc import Callable
from typing import TypeVar

from kgroups.core.coordinator.consumer_group import FIRST_EPOCH, ConsumerGroup
from kgroups.core.coordinator.consumer_member import (
    ConsumerMember,
    Partitions,
    with_current,
    with_metadata,
    without_current,
)
from kgroups.core.coordinator.javahash import uuid_map_order
from kgroups.core.coordinator.offsets import Undo
from kgroups.core.coordinator.records import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kgroups.core.coordinator.shard import Replay, Shard

V = TypeVar("V")


def replay_epoch(
    shard: Shard,
    key: ConsumerGroupMetadataKey,
    value: ConsumerGroupMetadataValue | None,
    producer_id: int,
) -> Undo | None:
    """The group's epoch; without a value the group is gone."""
    if value is None:
        if isinstance(shard.groups.get(key.group_id), ConsumerGroup):
            return shard.remove_group(key.group_id, "deleted")
        return None
    group, undo_creation = _group(shard, key.group_id)
    before = (group.group_epoch, group.metadata_hash)
    group.group_epoch, group.metadata_hash = value.epoch, value.metadata_hash

    def undo() -> None:
        group.group_epoch, group.metadata_hash = before
        undo_creation()

    return undo


def replay_member(
    shard: Shard,
    key: ConsumerGroupMemberMetadataKey,
    value: ConsumerGroupMemberMetadataValue | None,
    producer_id: int,
) -> Undo | None:
    """What a member said of itself; without a value it is gone."""
    if value is None:
        group = shard.groups.get(key.group_id)
        if not isinstance(group, ConsumerGroup):
            return None
        return _change_member(group, key.member_id, None)
    group, undo_creation = _group(shard, key.group_id)
    known = group.members.get(key.member_id) or ConsumerMember(key.member_id)
    undo_member = _change_member(group, key.member_id, with_metadata(known, value))
    return _both(undo_member, undo_creation)


def replay_target_epoch(
    shard: Shard,
    key: ConsumerGroupTargetAssignmentMetadataKey,
    value: ConsumerGroupTargetAssignmentMetadataValue | None,
    producer_id: int,
) -> Undo | None:
    """The epoch of the target."""
    group = shard.groups.get(key.group_id)
    if value is None and not isinstance(group, ConsumerGroup):
        return None
    group, undo_creation = _group(shard, key.group_id)
    before = (group.target_epoch, group.target_timestamp_ms)
    if value is None:
        group.target_epoch, group.target_timestamp_ms = FIRST_EPOCH, 0
    else:
        group.target_epoch = value.assignment_epoch
        group.target_timestamp_ms = value.assignment_timestamp_ms

    def undo() -> None:
        group.target_epoch, group.target_timestamp_ms = before
        undo_creation()

    return undo


def replay_target(
    shard: Shard,
    key: ConsumerGroupTargetAssignmentMemberKey,
    value: ConsumerGroupTargetAssignmentMemberValue | None,
    producer_id: int,
) -> Undo | None:
    """A member's target."""
    if value is None:
        group = shard.groups.get(key.group_id)
        if not isinstance(group, ConsumerGroup):
            return None
        return _change(group.target, key.member_id, None)
    group, undo_creation = _group(shard, key.group_id)
    given = {one.topic_id: one.partitions for one in value.topic_partitions if one.partitions}
    target: Partitions = {topic: frozenset(given[topic]) for topic in uuid_map_order(given)}
    return _both(_change(group.target, key.member_id, target), undo_creation)


def replay_current(
    shard: Shard,
    key: ConsumerGroupCurrentMemberAssignmentKey,
    value: ConsumerGroupCurrentMemberAssignmentValue | None,
    producer_id: int,
) -> Undo | None:
    """What a member has."""
    if value is None:
        group = shard.groups.get(key.group_id)
        if not isinstance(group, ConsumerGroup):
            return None
        member = group.members.get(key.member_id)
        if member is None:
            return None
        return _change_member(group, key.member_id, without_current(member))
    group, undo_creation = _group(shard, key.group_id)
    known = group.members.get(key.member_id) or ConsumerMember(key.member_id)
    undo_member = _change_member(group, key.member_id, with_current(known, value))
    return _both(undo_member, undo_creation)


def replay_regex(
    shard: Shard,
    key: ConsumerGroupRegularExpressionKey,
    value: ConsumerGroupRegularExpressionValue | None,
    producer_id: int,
) -> Undo | None:
    """A resolved pattern."""
    if value is None:
        group = shard.groups.get(key.group_id)
        if not isinstance(group, ConsumerGroup):
            return None
        return _change_regex(group, key.regular_expression, None)
    group, undo_creation = _group(shard, key.group_id)
    return _both(_change_regex(group, key.regular_expression, value), undo_creation)


def replay_partition_metadata(
    shard: Shard, key: ConsumerGroupPartitionMetadataKey, value: object, producer_id: int
) -> Undo | None:
    """Nothing: since Kafka 4.1 the hash in the group's record has taken its place."""
    return None


REPLAY: dict[type, Replay] = {
    ConsumerGroupMetadataKey: replay_epoch,
    ConsumerGroupPartitionMetadataKey: replay_partition_metadata,
    ConsumerGroupMemberMetadataKey: replay_member,
    ConsumerGroupTargetAssignmentMetadataKey: replay_target_epoch,
    ConsumerGroupTargetAssignmentMemberKey: replay_target,
    ConsumerGroupCurrentMemberAssignmentKey: replay_current,
    ConsumerGroupRegularExpressionKey: replay_regex,
}


def _group(shard: Shard, group_id: str) -> tuple[ConsumerGroup, Undo]:
    """The consumer group of this name, made if need be, and what unmakes it."""
    before = shard.groups.get(group_id)
    if isinstance(before, ConsumerGroup):
        return before, _nothing
    group = ConsumerGroup(group_id, shard.partition_of(group_id))
    if group_id in shard.stray_topics:
        group.tally.strays = shard.stray_topics[group_id]
    shard.groups[group_id] = group

    def undo() -> None:
        if before is None:
            shard.groups.pop(group_id, None)
        else:
            shard.groups[group_id] = before

    return group, undo


def _change_member(group: ConsumerGroup, member_id: str, member: ConsumerMember | None) -> Undo:
    before = group.members.get(member_id)
    instances = {one.instance_id for one in (before, member) if one is not None}
    holders = {one: group.static_members.get(one) for one in instances if one is not None}
    if member is None:
        group.drop_member(member_id)
    else:
        group.put_member(member)

    def undo() -> None:
        if before is None:
            group.drop_member(member_id)
        else:
            group.put_member(before)
        for instance_id, holder in holders.items():
            if holder is None:
                group.static_members.pop(instance_id, None)
            else:
                group.static_members[instance_id] = holder

    return undo


def _change_regex(
    group: ConsumerGroup, pattern: str, value: ConsumerGroupRegularExpressionValue | None
) -> Undo:
    before = group.regexes.get(pattern)
    group.put_regex(pattern, value)
    return lambda: group.put_regex(pattern, before)


def _change(entries: dict[str, V], name: str, value: V | None) -> Undo:
    before = entries.get(name)
    if value is None:
        entries.pop(name, None)
    else:
        entries[name] = value

    def undo() -> None:
        if before is None:
            entries.pop(name, None)
        else:
            entries[name] = before

    return undo


def _both(first: Undo, second: Callable[[], None]) -> Undo:
    if second is _nothing:
        return first

    def undo() -> None:
        first()
        second()

    return undo


def _nothing() -> None:
    """Undoes nothing."""
