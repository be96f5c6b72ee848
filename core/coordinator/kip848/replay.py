"""Replay of a consumer group's records, the only writer of its state, and what loading it sets off.

Each function plays one kind of record and gives back what undoes it. Members are values, so
undoing means to put the former one back. Source: `GroupMetadataManager.replay`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from kgroups.assignors.order.java_order import uuid_map_order
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.kip848.bridge.convert import MEMBER_TIMERS
from kgroups.core.coordinator.kip848.group import FIRST_EPOCH, Kip848Group
from kgroups.core.coordinator.kip848.member import (
    Kip848Member,
    MemberState,
    Partitions,
    with_current,
    with_metadata,
    without_current,
)
from kgroups.core.coordinator.kip848.steps.progress import restart_session, watch_revocation
from kgroups.core.coordinator.log.records import (
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
from kgroups.core.coordinator.offsets.store import Undo
from kgroups.core.coordinator.releases import Rule
from kgroups.core.coordinator.shard import Replay, Shard
from kgroups.core.coordinator.topology import Topology, topics_changed

V = TypeVar("V")


def _replay_epoch(
    shard: Shard,
    key: ConsumerGroupMetadataKey,
    value: ConsumerGroupMetadataValue | None,
    producer_id: int,
) -> Undo | None:
    """The group's epoch; without a value the group is gone."""
    if value is None:
        if isinstance(shard.groups.get(key.group_id), Kip848Group):
            return shard.remove_group(key.group_id, "deleted")
        return None
    group, undo_creation = _group(shard, key.group_id)
    before = (group.group_epoch, group.metadata_hash)
    group.group_epoch, group.metadata_hash = value.epoch, value.metadata_hash

    def undo() -> None:
        group.group_epoch, group.metadata_hash = before

    return _both(undo, undo_creation)


# (group, key, value; None for a tombstone) -> what takes the change back.
Change = Callable[[Kip848Group, Any, Any], Undo | None]


def _in_group(change: Change) -> Replay:
    """Replay of a part of a group: a value makes the group if need be, a tombstone never does."""

    def replay(shard: Shard, key: Any, value: Any, producer_id: int) -> Undo | None:
        if value is None:
            existing = shard.groups.get(key.group_id)
            return change(existing, key, None) if isinstance(existing, Kip848Group) else None
        group, undo_creation = _group(shard, key.group_id)
        undo = change(group, key, value)
        assert undo is not None, "a value always changes something"
        return _both(undo, undo_creation)

    return replay


def _change_metadata(
    group: Kip848Group,
    key: ConsumerGroupMemberMetadataKey,
    value: ConsumerGroupMemberMetadataValue | None,
) -> Undo:
    """The metadata of a member; without a value it is gone."""
    if value is None:
        return _change_member(group, key.member_id, None)
    member = group.members.get(key.member_id) or Kip848Member(key.member_id)
    return _change_member(group, key.member_id, with_metadata(member, value))


def _change_target_epoch(
    group: Kip848Group,
    key: ConsumerGroupTargetAssignmentMetadataKey,
    value: ConsumerGroupTargetAssignmentMetadataValue | None,
) -> Undo:
    """The epoch of the target."""
    before = (group.target_epoch, group.target_timestamp_ms)
    after = (FIRST_EPOCH, 0)
    if value is not None:
        after = (value.assignment_epoch, value.assignment_timestamp_ms)
    group.target_epoch, group.target_timestamp_ms = after

    def undo() -> None:
        group.target_epoch, group.target_timestamp_ms = before

    return undo


def _change_target(
    group: Kip848Group,
    key: ConsumerGroupTargetAssignmentMemberKey,
    value: ConsumerGroupTargetAssignmentMemberValue | None,
) -> Undo:
    """A member's target."""
    if value is None:
        return _change(group.target, key.member_id, None)
    given = {t.topic_id: t.partitions for t in value.topic_partitions if t.partitions}
    target: Partitions = {topic: frozenset(given[topic]) for topic in uuid_map_order(given)}
    return _change(group.target, key.member_id, target)


def _change_current(
    group: Kip848Group,
    key: ConsumerGroupCurrentMemberAssignmentKey,
    value: ConsumerGroupCurrentMemberAssignmentValue | None,
) -> Undo | None:
    """The partitions that a member has."""
    before = group.members.get(key.member_id)
    if value is None:
        if before is None:
            return None
        return _change_member(group, key.member_id, without_current(before))
    member = with_current(before or Kip848Member(key.member_id), value)
    return _change_member(group, key.member_id, member)


def _change_regex(
    group: Kip848Group,
    key: ConsumerGroupRegularExpressionKey,
    value: ConsumerGroupRegularExpressionValue | None,
) -> Undo:
    """A resolved pattern."""
    pattern = key.regular_expression
    before = group.regexes.get(pattern)
    group.put_regex(pattern, value)
    return lambda: group.put_regex(pattern, before)


REPLAY: dict[type, Replay] = {
    ConsumerGroupMetadataKey: _replay_epoch,
    # Since Kafka 4.1 the hash in the group's record has taken its place.
    ConsumerGroupPartitionMetadataKey: lambda *_: None,
    ConsumerGroupMemberMetadataKey: _in_group(_change_metadata),
    ConsumerGroupTargetAssignmentMetadataKey: _in_group(_change_target_epoch),
    ConsumerGroupTargetAssignmentMemberKey: _in_group(_change_target),
    ConsumerGroupCurrentMemberAssignmentKey: _in_group(_change_current),
    ConsumerGroupRegularExpressionKey: _in_group(_change_regex),
}


def _group(shard: Shard, group_id: str) -> tuple[Kip848Group, Undo]:
    """The consumer group of this name, made if need be, and what unmakes it."""
    before = shard.groups.get(group_id)
    if isinstance(before, Kip848Group):
        return before, _nothing
    frees = shard.config.follows(Rule.INSTANCE_IDS_ARE_FREED)
    group = Kip848Group(group_id, shard.partition_of(group_id), frees_instances=frees)
    if group_id in shard.stray_topics:
        group.tally.strays = shard.stray_topics[group_id]
    shard.groups[group_id] = group

    def undo() -> None:
        if before is None:
            shard.groups.pop(group_id, None)
        else:
            shard.groups[group_id] = before

    return group, undo


def _change_member(group: Kip848Group, member_id: str, member: Kip848Member | None) -> Undo:
    before = group.members.get(member_id)
    instances = {state.instance_id for state in (before, member) if state is not None}
    holders = {i: group.static_members.get(i) for i in instances if i is not None}
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


def load_group(shard: Shard, group: Kip848Group) -> None:
    """Begin every member's session anew, and the time of those that give something back."""
    for member in group.members.ordered_values():
        restart_session(shard, group, member)
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            watch_revocation(shard, group, member)
    group.metadata_changed = "a topic changed"
    # Patterns are resolved anew: what was created while another broker served them is not known.
    shard.topics_created_version = shard.topology.version
    shard.event(EventKind.GROUP_LOADED, group.group_id)


def unload_group(shard: Shard, group: Kip848Group) -> None:
    """Disarm every timer of the group."""
    for member_id in group.members:
        for kind in MEMBER_TIMERS:
            shard.cancel(kind, group.group_id, member_id)
    shard.event(EventKind.GROUP_UNLOADED, group.group_id)


def note_topology(shard: Shard, before: Topology) -> None:
    """Flag every group that subscribes to a topic that came, went or changed."""
    after = shard.topology
    if after.topics.keys() - before.topics.keys():
        shard.topics_created_version = after.version
    names = before.topics.keys() | after.topics.keys()
    changed = {name for name in names if before.topic(name) != after.topic(name)}
    if not changed:
        return
    for group in shard.groups.values():
        heeded = group.tally.heeded(changed) if isinstance(group, Kip848Group) else []
        if isinstance(group, Kip848Group) and heeded and not group.metadata_changed:
            group.metadata_changed = topics_changed(heeded, before.topics, after.topics)
