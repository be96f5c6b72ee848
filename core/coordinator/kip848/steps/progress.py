"""How a consumer group moves on: group epoch, target, and a member's way to the target.

Source: `GroupMetadataManager.consumerGroupHeartbeat` (steps 2 to 4), `TargetAssignmentBuilder`.
"""

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.assignors.order.java_order import hash_map_order, uuid_map_order
from kgroups.core.coordinator.config import (
    ASSIGNMENT_INTERVAL,
    HEARTBEAT_INTERVAL,
    SESSION_TIMEOUT,
)
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.kip848.batch import Batch
from kgroups.core.coordinator.kip848.group import (
    Kip848Group,
    target_epoch_record,
    target_record,
)
from kgroups.core.coordinator.kip848.member import (
    Kip848Member,
    MemberState,
    Partitions,
    current_record,
)
from kgroups.core.coordinator.kip848.metadata_hash import topics_hash
from kgroups.core.coordinator.kip848.steps.reconcile import Reconciliation, reconcile
from kgroups.core.coordinator.kip848.tally import is_homogeneous
from kgroups.core.coordinator.log.records import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    Record,
)
from kgroups.core.coordinator.ports import AssignableMember, AssignmentSpec
from kgroups.core.coordinator.releases import Rule
from kgroups.core.coordinator.shard import Shard, TimerKind
from kgroups.core.coordinator.topology import topics_read


def group_setting(shard: Shard, group_id: str, name: str, default: int) -> int:
    """A group's own setting, or the broker's."""
    config = shard.group_configs.get(group_id)
    text = None if config is None else config.get(name)
    return default if text is None else int(text)


def heartbeat_interval_ms(shard: Shard, group_id: str) -> int:
    """How often members are told to heartbeat."""
    default = shard.config.consumer_heartbeat_interval_ms
    return group_setting(shard, group_id, HEARTBEAT_INTERVAL, default)


def session_timeout_ms(shard: Shard, group_id: str) -> int:
    """How long a member may be silent."""
    default = shard.config.consumer_session_timeout_ms
    return group_setting(shard, group_id, SESSION_TIMEOUT, default)


def restart_session(shard: Shard, group: Kip848Group, member: Kip848Member) -> None:
    """Begin the session of a member that heartbeats anew."""
    timeout_ms = session_timeout_ms(shard, group.group_id)
    shard.schedule(TimerKind.SESSION, group.group_id, member.member_id, timeout_ms)


def watch_revocation(shard: Shard, group: Kip848Group, member: Kip848Member) -> None:
    """The member must give back within its rebalance timeout what it was told to."""
    key = (TimerKind.REBALANCE, group.group_id, member.member_id)
    shard.schedule(*key, member.rebalance_timeout_ms, member.member_epoch)


def bump_epoch(batch: Batch, group: Kip848Group, hash_now: int, reason: str) -> None:
    """The next group epoch."""
    value = ConsumerGroupMetadataValue(group.group_epoch + 1, hash_now)
    batch.add(Record(ConsumerGroupMetadataKey(group.group_id), value))
    batch.shard.event(EventKind.EPOCH_BUMPED, group.group_id, None, reason, (group.group_epoch,))


class Target(NamedTuple):
    """The target that a member is brought closer to: its epoch, and what the member is to have."""

    epoch: int
    partitions: Partitions


def advance_group(
    batch: Batch,
    group: Kip848Group,
    before: Kip848Member,
    after: Kip848Member,
    *,
    bump: bool,
) -> Target:
    """Bump the epoch if something changed, and compute the target if that is due.

    Args:
        before, after: the member whose request this is about.
    """
    epoch, homogeneous = refresh_group(batch, group, before, after, bump=bump)
    if group.target_epoch >= epoch or not _target_is_due(batch.shard, group):
        return Target(group.target_epoch, group.target_of(after))
    return _compute_target(batch, group, before, after, epoch, homogeneous=homogeneous)


def refresh_group(
    batch: Batch,
    group: Kip848Group,
    before: Kip848Member,
    after: Kip848Member,
    *,
    bump: bool,
) -> tuple[int, bool]:
    """Bump the epoch if something changed; the epoch, and whether all subscribe to the same."""
    if not bump and not group.metadata_changed:
        return group.group_epoch, group.homogeneous
    shard, tally, epoch = batch.shard, group.tally, group.group_epoch
    pattern = before.subscribed_topic_regex
    unused = (
        pattern
        if pattern != after.subscribed_topic_regex and tally.patterns.get(pattern) == 1
        else ""
    )
    names = tally.names_with([(before, after)], group.resolved_topics(unused))
    size = len(group.members)
    if after.member_id not in group.members and after.instance_id not in group.static_members:
        size += 1
    homogeneous = is_homogeneous(tally.patterns_with(before, after), names, size)
    hash_now = topics_hash(shard, names)
    if bump or hash_now != group.metadata_hash:
        reason = _what_changed(before, after) if bump else group.metadata_changed
        bump_epoch(batch, group, hash_now, reason)
        epoch += 1
    settle_metadata(batch, group)
    return epoch, homogeneous


def settle_metadata(batch: Batch, group: Kip848Group) -> None:
    """The hash was taken: what changed about the topics is known, unless the log refuses it."""
    changed, group.metadata_changed = group.metadata_changed, ""
    if changed:
        batch.on_failure(lambda: setattr(group, "metadata_changed", changed))


def _what_changed(before: Kip848Member, after: Kip848Member) -> str:
    change = topics_read(before.subscribed_topic_names, after.subscribed_topic_names)
    pattern = after.subscribed_topic_regex
    if pattern not in ("", before.subscribed_topic_regex):
        change = f"subscribed to pattern {pattern}"
    return f"{after.member_id} {change}" if change else "the subscription changed"


def _target_is_due(shard: Shard, group: Kip848Group) -> bool:
    """An assignment is computed at most once in the interval (KIP-848 in Kafka 4.3)."""
    default = shard.config.consumer_assignment_interval_ms
    interval_ms = group_setting(shard, group.group_id, ASSIGNMENT_INTERVAL, default)
    if interval_ms == 0 or group.target_timestamp_ms == 0:
        return True
    return shard.now_ms - group.target_timestamp_ms >= interval_ms


def _compute_target(
    batch: Batch,
    group: Kip848Group,
    before: Kip848Member,
    after: Kip848Member,
    epoch: int,
    *,
    homogeneous: bool,
) -> Target:
    shard, group_id = batch.shard, group.group_id
    name = group.tally.next_assignor(before, after) or shard.config.consumer_assignors[0]
    spec = _assignment_spec(shard, group, after, homogeneous=homogeneous)
    targets = shard.ports.assignors[name](spec)
    had: Mapping[str, Partitions] = group.target
    holder = group.static_members.get(after.instance_id or "", after.member_id)
    if holder in group.target and shard.config.follows(Rule.TAKEN_OVER_TARGET_COUNTS):
        had = {**group.target, after.member_id: group.target[holder]}
    mine: Partitions = {}
    for member in spec.members:
        given = targets.get(member.member_id, {})
        target = {topic: given[topic] for topic in uuid_map_order(given) if given[topic]}
        if target != had.get(member.member_id):
            batch.add(target_record(group_id, member.member_id, target))
        if member.member_id == after.member_id:
            mine = target
    batch.add(target_epoch_record(group_id, epoch, shard.now_ms))
    shard.event(EventKind.TARGET_COMPUTED, group_id, None, name, (group.target_epoch,))
    return Target(epoch, mine)


def _assignment_spec(
    shard: Shard, group: Kip848Group, after: Kip848Member, *, homogeneous: bool
) -> AssignmentSpec:
    """The members as the assignor sees them, with the one whose request this is as it will be.

    In the order of the `HashMap` that Kafka makes for this: new members come last.
    """
    replaced = None
    if after.instance_id is not None:
        replaced = group.static_members.get(after.instance_id)
    current = group.members
    ids = [*current.ordered_keys(), *([] if after.member_id in current else [after.member_id])]
    topology = shard.topology
    members = []
    topics = {}
    for member_id in hash_map_order(ids):
        member = after if member_id == after.member_id else current[member_id]
        target = group.target.get(member_id, {})
        if member is after and replaced not in (None, member_id):
            target = group.target.get(replaced or "", {})
        elif member_id == replaced and member is not after:
            continue
        names = tuple(sorted(group.names_of(member)))
        topics.update({name: topology.topics[name] for name in names if name in topology.topics})
        members.append(
            AssignableMember(member_id, member.instance_id, member.rack_id, names, target)
        )
    return AssignmentSpec(members, topics, homogeneous)


def reconcile_member(
    batch: Batch,
    group: Kip848Group,
    member: Kip848Member,
    target: Target,
    owned: Partitions | None,
    *,
    subscription_changed: bool,
) -> Kip848Member:
    """Bring one member a step closer to its target; gives back what it will be."""
    shard = batch.shard
    if member.is_at(target.epoch) and not subscription_changed:
        return member
    topics = shard.topology.topics
    names = group.names_of(member)
    step = Reconciliation(
        target.epoch,
        target.partitions,
        subscription_changed,
        frozenset(topics[name].topic_id for name in names if name in topics),
        not names,
        owned,
        group.tally.is_held,
    )
    after = reconcile(member, step)
    if after == member:
        return member
    batch.add(current_record(group.group_id, after))
    shard.event(
        EventKind.MEMBER_RECONCILED,
        group.group_id,
        member.member_id,
        after.state.name,
        (member.member_epoch, after.member_epoch),
    )
    # A classic member gives back within its JoinGroup, whose own timers watch over it.
    if after.speaks_classic():
        return after
    if after.state is MemberState.UNREVOKED_PARTITIONS:
        watch_revocation(shard, group, after)
    else:
        shard.cancel(TimerKind.REBALANCE, group.group_id, after.member_id)
    return after
