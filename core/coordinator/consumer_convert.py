"""From the classic protocol to KIP-848 and back, while members are there.

A classic group becomes a consumer group when a member heartbeats into it, with its members going
on by the classic protocol; a consumer group becomes a classic one when its last KIP-848 member
goes. Source: `GroupMetadataManager.convertToConsumerGroup`, `convertToClassicGroup`.
"""

from collections.abc import Mapping
from uuid import UUID

from kgroups.core.coordinator.classic_group import ClassicGroup
from kgroups.core.coordinator.classic_members import CONSUMER_PROTOCOL_TYPE, ClassicMember
from kgroups.core.coordinator.classic_rebalance import refuse_join, restart_session, start_rebalance
from kgroups.core.coordinator.config import MigrationPolicy
from kgroups.core.coordinator.consumer_batch import Batch
from kgroups.core.coordinator.consumer_checks import Refusal
from kgroups.core.coordinator.consumer_group import (
    ConsumerGroup,
    target_epoch_record,
    target_record,
)
from kgroups.core.coordinator.consumer_member import (
    ConsumerMember,
    Partitions,
    current_record,
    member_record,
)
from kgroups.core.coordinator.consumer_metadata import group_hash
from kgroups.core.coordinator.consumer_protocol import (
    ProtocolError,
    read_assignment,
    read_subscription,
    write_assignment,
)
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.errors import ErrorCode
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.messages import JoinGroupProtocol, SyncGroupResponse
from kgroups.core.coordinator.records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    Record,
)
from kgroups.core.coordinator.shard import Shard, TimerKind
from kgroups.core.coordinator.states import ClassicState
from kgroups.core.coordinator.topology import Topology

# What may watch over a member of a consumer group.
MEMBER_TIMERS = (
    TimerKind.SESSION,
    TimerKind.REBALANCE,
    TimerKind.CLASSIC_JOIN,
    TimerKind.CLASSIC_SYNC,
)
UPGRADE_POLICIES = (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE)
DOWNGRADE_POLICIES = (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


def check_upgrade(shard: Shard, group: ClassicGroup) -> Refusal | None:
    """Why a classic group with members cannot become a consumer group; None if it can."""
    because = _upgrade_obstacle(shard, group)
    return None if because is None else _refusal(group, because)


def _refusal(group: ClassicGroup, because: str) -> Refusal:
    text = f"Cannot upgrade classic group {group.group_id} to consumer group because {because}."
    return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, text)


def _upgrade_obstacle(shard: Shard, group: ClassicGroup) -> str | None:
    if shard.config.consumer_migration_policy not in UPGRADE_POLICIES:
        return "online upgrade is disabled"
    if not group.is_consumers():
        return "the group does not use the consumer embedded protocol"
    if len(group.members) > shard.config.consumer_max_size:
        return "the group size exceeds the consumer group maximum size"
    return None


def upgrade_group(batch: Batch, group: Group) -> ConsumerGroup:
    """A consumer group in the place of a classic one, with its members and their partitions."""
    shard = batch.shard
    assert isinstance(group, ClassicGroup)
    batch.append_played(*group.tombstones())
    for kind in (TimerKind.JOIN, TimerKind.SYNC):
        shard.cancel(kind, group.group_id)
    new = batch.create_group(group.group_id, "the first member of the consumer protocol joined")
    shard.event(EventKind.GROUP_CONVERTED, group.group_id, reason="upgraded")
    members = [_upgraded(shard.topology, group, one) for one in group.members.ordered_values()]
    for old in group.members.values():
        shard.cancel(TimerKind.HEARTBEAT, group.group_id, old.member_id)
    if not members:
        return new
    group_id, epoch = group.group_id, group.generation
    batch.extend(member_record(group_id, one) for one in members)
    epoch_value = ConsumerGroupMetadataValue(epoch, group_hash(shard, new))
    batch.add(Record(ConsumerGroupMetadataKey(group_id), epoch_value))
    batch.extend(
        target_record(
            group_id, one.member_id, {topic: frozenset(p) for topic, p in one.assigned.items()}
        )
        for one in members
    )
    batch.add(target_epoch_record(group_id, epoch, 0))
    batch.extend(current_record(group_id, one) for one in members)
    for one in members:
        assert one.classic is not None
        timeout_ms = one.classic.session_timeout_ms
        shard.schedule(TimerKind.SESSION, group_id, one.member_id, timeout_ms)
    return new


def answer_parked(shard: Shard, group: ClassicGroup) -> None:
    """Tell every member whose JoinGroup or SyncGroup is parked to join again."""
    for member in group.members.ordered_values():
        joining = group.park_join(member, None)
        if joining is not None:
            refuse_join(shard, joining, ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
        if member.parked_sync is not None:
            response = SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
            shard.reply(member.parked_sync.token, response)
            member.parked_sync = None


def check_members(group: ClassicGroup) -> Refusal | None:
    """Why the members' bytes stand in the way of an upgrade; None if they do not."""
    if group.protocol is None:
        # As in Kafka 4.3: without a chosen protocol the members' subscriptions cannot be found.
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    because = _unreadable(group)
    return None if because is None else _refusal(group, because)


def _unreadable(group: ClassicGroup) -> str | None:
    for member in group.members.ordered_values():
        try:
            read_subscription(member.metadata(group.protocol or ""))
            assignment = read_assignment(member.assignment)
        except ProtocolError:
            return "the embedded consumer protocol is malformed"
        if assignment.has_user_data:
            return (
                "an unsupported custom assignor is in use. Please refer to the documentation or "
                "switch to a default assignor before re-attempting the upgrade"
            )
    return None


def _upgraded(topology: Topology, group: ClassicGroup, member: ClassicMember) -> ConsumerMember:
    subscription = read_subscription(member.metadata(group.protocol or ""))
    assignment = read_assignment(member.assignment)
    assigned: dict[UUID, Mapping[int, int]] = {}
    for name, partitions in assignment.partitions:
        topic = topology.topic(name)
        if topic is not None and partitions:
            assigned[topic.topic_id] = dict.fromkeys(partitions, group.generation)
    return ConsumerMember(
        member.member_id,
        member.instance_id,
        subscription.rack_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        frozenset(subscription.topics),
        "",
        None,
        ClassicMemberMetadata(
            member.session_timeout_ms,
            tuple(ClassicProtocol(one.name, one.metadata) for one in member.protocols),
        ),
        group.generation,
        group.generation,
        assigned=assigned,
    )


def can_downgrade(
    shard: Shard, group: ConsumerGroup, leaving: set[str], *, joining: bool = False
) -> bool:
    """Whether nobody but classic members is left once these are gone.

    Args:
        joining: a classic member takes the place of the one that goes.
    """
    staying = [one for one in group.members.values() if one.member_id not in leaving]
    if shard.config.consumer_migration_policy not in DOWNGRADE_POLICIES:
        return False
    size = len(staying) + joining
    if not size or not all(one.speaks_classic() for one in staying):
        return False
    if all(group.members[one].speaks_classic() for one in leaving):
        return False
    return size <= shard.config.classic_max_size


def downgrade_group(
    batch: Batch,
    group: ConsumerGroup,
    leaving: set[str],
    *,
    joining: ConsumerMember | None = None,
    replaces: str = "",
    rebalance: bool = True,
) -> ClassicGroup:
    """A classic group in the place of a consumer group; its members find out by 27."""
    shard = batch.shard
    group_id = group.group_id
    batch.append_played(*group.tombstones())
    classic = _classic_group(shard, group, leaving, joining, replaces)
    before = shard.groups[group_id]
    shard.groups[group_id] = classic
    batch.on_failure(lambda: shard.groups.__setitem__(group_id, before))
    shard.event(EventKind.GROUP_CONVERTED, group_id, reason="downgraded")
    batch.append_played(*classic.durable_records())
    for one in classic.members.values():
        for kind in MEMBER_TIMERS:
            shard.cancel(kind, group_id, one.member_id)
        restart_session(shard, classic, one)
    if rebalance:
        start_rebalance(shard, classic, "the group went back to the classic protocol")
    return classic


def _classic_group(
    shard: Shard,
    group: ConsumerGroup,
    leaving: set[str],
    joining: ConsumerMember | None,
    replaces: str,
) -> ClassicGroup:
    """The classic group that is left: Stable, with the members' targets as assignments."""
    classic = ClassicGroup(
        group.group_id, group.partition, ClassicState.STABLE, state_since_ms=shard.now_ms
    )
    classic.generation = group.group_epoch
    targets: dict[str, Partitions] = {}
    staying = [one for one in group.members.ordered_values() if one.member_id not in leaving]
    for member in staying:
        classic.add(_downgraded(member), None)
        targets[member.member_id] = group.target.get(member.member_id, {})
    if joining is not None:
        classic.add(_downgraded(joining), None)
        targets[joining.member_id] = group.target.get(replaces, {})
    classic.leader = classic.members.ordered_keys()[0]
    classic.protocol = classic.vote()
    for member_id, old in classic.members.items():
        version = read_subscription(old.metadata(classic.protocol)).version
        named = _by_name(shard.topology, targets[member_id])
        old.assignment = write_assignment(version, named)
    classic.subscribed_topics = classic.compute_topics()
    classic.stored = classic.stored_value()
    return classic


def _downgraded(member: ConsumerMember) -> ClassicMember:
    assert member.classic is not None
    return ClassicMember(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.classic.session_timeout_ms,
        CONSUMER_PROTOCOL_TYPE,
        tuple(JoinGroupProtocol(*one) for one in member.classic.supported_protocols),
    )


def _by_name(topology: Topology, target: Partitions) -> dict[str, list[int]]:
    named = {}
    for topic_id, partitions in target.items():
        topic = topology.topic_by_id(topic_id)
        if topic is not None:
            named[topic.name] = sorted(partitions)
    return named
