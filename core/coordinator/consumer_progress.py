"""How a consumer group moves on: group epoch, target, and a member's way to the target.

Source: `GroupMetadataManager.consumerGroupHeartbeat` (steps 2 to 4), `TargetAssignmentBuilder`.
"""

from collections.abc import Mapping
from uuid import UUID

from kgroups.core.coordinator.consumer_batch import Batch
from kgroups.core.coordinator.consumer_group import (
    ConsumerGroup,
    target_epoch_record,
    target_record,
)
from kgroups.core.coordinator.consumer_member import (
    ConsumerMember,
    MemberState,
    Partitions,
    current_record,
)
from kgroups.core.coordinator.consumer_metadata import group_hash
from kgroups.core.coordinator.consumer_reconcile import Reconciliation, reconcile
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.ports import AssignableMember, AssignmentSpec
from kgroups.core.coordinator.records import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    Record,
)
from kgroups.core.coordinator.shard import Shard, TimerKind

SESSION_TIMEOUT = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL = "consumer.heartbeat.interval.ms"
ASSIGNMENT_INTERVAL = "consumer.assignment.interval.ms"


def group_setting(shard: Shard, group_id: str, name: str, default: int) -> int:
    """A group's own setting, or the broker's."""
    text = shard.group_configs.get(group_id, {}).get(name)
    return default if text is None else int(text)


def heartbeat_interval_ms(shard: Shard, group_id: str) -> int:
    """How often members are told to heartbeat."""
    default = shard.config.consumer_heartbeat_interval_ms
    return group_setting(shard, group_id, HEARTBEAT_INTERVAL, default)


def session_timeout_ms(shard: Shard, group_id: str) -> int:
    """How long a member may be silent."""
    default = shard.config.consumer_session_timeout_ms
    return group_setting(shard, group_id, SESSION_TIMEOUT, default)


def restart_session(shard: Shard, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Begin the session of a member that heartbeats anew."""
    timeout_ms = session_timeout_ms(shard, group.group_id)
    shard.schedule(TimerKind.SESSION, group.group_id, member.member_id, timeout_ms)


def bump_epoch(batch: Batch, group: ConsumerGroup, hash_now: int, reason: str) -> None:
    """The next group epoch."""
    value = ConsumerGroupMetadataValue(group.group_epoch + 1, hash_now)
    batch.add(Record(ConsumerGroupMetadataKey(group.group_id), value))
    batch.shard.event(EventKind.EPOCH_BUMPED, group.group_id, None, reason, (group.group_epoch,))


def advance_group(
    batch: Batch,
    group: ConsumerGroup,
    asking: ConsumerMember,
    *,
    bump: bool,
    taken_over: str | None = None,
) -> None:
    """Bump the epoch if something changed, and compute the target if that is due.

    Args:
        asking: the member whose request this is about.
        taken_over: a member id that got its target in this step: it is written once more.
    """
    if bump or group.metadata_changed:
        hash_now = group_hash(batch.shard, group)
        group.update_kind()
        if bump or hash_now != group.metadata_hash:
            reason = "the subscription changed" if bump else "a topic changed"
            bump_epoch(batch, group, hash_now, reason)
        group.metadata_changed = False
    if group.group_epoch > group.target_epoch and _target_is_due(batch.shard, group):
        _compute_target(batch, group, asking, taken_over)


def _target_is_due(shard: Shard, group: ConsumerGroup) -> bool:
    """An assignment is computed at most once in the interval (KIP-848 in Kafka 4.3)."""
    default = shard.config.consumer_assignment_interval_ms
    interval_ms = group_setting(shard, group.group_id, ASSIGNMENT_INTERVAL, default)
    if interval_ms == 0 or group.target_timestamp_ms == 0:
        return True
    return shard.now_ms - group.target_timestamp_ms >= interval_ms


def _compute_target(
    batch: Batch, group: ConsumerGroup, asking: ConsumerMember, taken_over: str | None
) -> None:
    shard, group_id = batch.shard, group.group_id
    name = group.preferred_assignor(shard.config.consumer_assignors[0], asking)
    targets = shard.ports.assignors[name](_assignment_spec(shard, group))
    for member_id in group.members.ordered_keys():
        target = {one: parts for one, parts in targets.get(member_id, {}).items() if parts}
        if member_id == taken_over or target != group.target.get(member_id):
            batch.add(target_record(group_id, member_id, target))
    batch.add(target_epoch_record(group_id, group.group_epoch, shard.now_ms))
    shard.event(EventKind.TARGET_COMPUTED, group_id, None, name, (group.target_epoch,))


def _assignment_spec(shard: Shard, group: ConsumerGroup) -> AssignmentSpec:
    topology = shard.topology
    members = []
    topics = {}
    for member in group.members.ordered_values():
        names = tuple(sorted(group.names_of(member)))
        topics.update({name: topology.topics[name] for name in names if name in topology.topics})
        members.append(
            AssignableMember(
                member.member_id,
                member.instance_id,
                member.rack_id,
                names,
                group.target.get(member.member_id, {}),
            )
        )
    return AssignmentSpec(members, topics, group.homogeneous)


def reconcile_member(
    batch: Batch,
    group: ConsumerGroup,
    member: ConsumerMember,
    owned: Mapping[UUID, frozenset[int]] | None,
    *,
    subscription_changed: bool,
    foreign: Partitions | None = None,
) -> ConsumerMember:
    """Bring one member a step closer to its target; gives back what it has become.

    Args:
        foreign: partitions that count as somebody else's in this step.
    """
    shard, others = batch.shard, foreign or {}

    def is_held_by_other(topic_id: UUID, partition: int, member_id: str) -> bool:
        if others and partition in others.get(topic_id, ()):
            return True
        return group.is_held_by_other(topic_id, partition, member_id)

    if member.is_at(group.target_epoch) and not subscription_changed:
        return member
    topics = shard.topology.topics
    names = group.names_of(member)
    subscribed = frozenset(topics[name].topic_id for name in names if name in topics)
    step = Reconciliation(
        group.target_epoch,
        group.target.get(member.member_id, {}),
        subscription_changed,
        subscribed,
        not names,
        owned,
        is_held_by_other,
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
    if after.state is MemberState.UNREVOKED_PARTITIONS and not after.speaks_classic():
        shard.schedule(
            TimerKind.REBALANCE,
            group.group_id,
            after.member_id,
            after.rebalance_timeout_ms,
            after.member_epoch,
        )
    else:
        shard.cancel(TimerKind.REBALANCE, group.group_id, after.member_id)
    return group.members[member.member_id]
