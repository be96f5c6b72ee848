"""From the classic protocol to KIP-848 and back, while members are there.

A classic group becomes a consumer group when a member heartbeats into it, with its members going
on by the classic protocol; a consumer group becomes a classic one when its last KIP-848 member
goes. Source: `GroupMetadataManager.convertToConsumerGroup`, `convertToClassicGroup`.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from uuid import UUID

from kgroups.assignors.order.java_order import uuid_map_order
from kgroups.assignors.wire import (
    WireError,
    decode_assignment,
    decode_subscription,
    encode_assignment_like,
)
from kgroups.core.coordinator.classic.group import ClassicGroup
from kgroups.core.coordinator.classic.members import CONSUMER_PROTOCOL_TYPE, ClassicMember
from kgroups.core.coordinator.classic.messages import JoinGroupProtocol
from kgroups.core.coordinator.classic.rebalance import restart_session, start_rebalance
from kgroups.core.coordinator.classic.states import ClassicState
from kgroups.core.coordinator.config import MigrationPolicy
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.kip848.batch import Batch
from kgroups.core.coordinator.kip848.group import (
    Kip848Group,
    epoch_record,
    target_epoch_record,
    target_record,
)
from kgroups.core.coordinator.kip848.member import (
    Kip848Member,
    current_record,
    member_record,
    sets_of,
)
from kgroups.core.coordinator.kip848.metadata_hash import topics_hash
from kgroups.core.coordinator.kip848.steps.checks import Refusal
from kgroups.core.coordinator.log.records import ClassicMemberMetadata, ClassicProtocol
from kgroups.core.coordinator.shard import Shard, TimerKind
from kgroups.core.coordinator.topology import Topology
from kgroups.core.protocol.errors import ErrorCode

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


def upgrade_group(batch: Batch, group: ClassicGroup) -> Kip848Group:
    """A classic group with members as the consumer group that it will be; the batch makes it so."""
    shard = batch.shard
    batch.convert(group.tombstones())
    group_id, epoch = group.group_id, group.generation
    new = Kip848Group(group_id, batch.partition)
    new.group_epoch = new.target_epoch = epoch
    for old in group.members.ordered_values():
        member = _upgraded(shard.topology, group, old)
        new.target[member.member_id] = sets_of(member.assigned)
        new.put_member(member)
    new.metadata_hash = topics_hash(shard, new.tally.names)
    members = new.members.ordered_values()
    batch.add(*(member_record(group_id, member) for member in members))
    batch.add(epoch_record(new))
    batch.add(*(target_record(group_id, m.member_id, new.target_of(m)) for m in members))
    batch.add(target_epoch_record(group_id, epoch, 0))
    batch.add(*(current_record(group_id, member) for member in members))
    for upgraded in members:
        assert upgraded.classic is not None
        timeout_ms = upgraded.classic.session_timeout_ms
        shard.schedule(TimerKind.SESSION, group_id, upgraded.member_id, timeout_ms)
    return new


def check_members(group: ClassicGroup) -> Refusal | None:
    """Why the members' bytes stand in the way of an upgrade; None if they do not."""
    for member in group.members.ordered_values():
        try:
            if member.assignment and decode_assignment(member.assignment).user_data:
                return _refusal(
                    group,
                    "an unsupported custom assignor is in use. Please refer to the documentation "
                    "or switch to a default assignor before re-attempting the upgrade",
                )
            if all(offer.name != group.protocol for offer in member.protocols):
                # As in Kafka 4.3: the member's subscription cannot be found.
                return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
            decode_subscription(member.metadata(group.protocol or ""))
        except WireError:
            return _refusal(group, "the embedded consumer protocol is malformed")
    return None


def _upgraded(topology: Topology, group: ClassicGroup, member: ClassicMember) -> Kip848Member:
    subscription = decode_subscription(member.metadata(group.protocol or ""))
    given: dict[UUID, Mapping[int, int]] = {}
    held = decode_assignment(member.assignment).partitions if member.assignment else ()
    for name, partitions in held:
        topic = topology.topic(name)
        if topic is not None and partitions:
            given[topic.topic_id] = dict.fromkeys(partitions, group.generation)
    assigned = {topic_id: given[topic_id] for topic_id in uuid_map_order(given)}
    return Kip848Member(
        member.member_id,
        member.instance_id,
        subscription.rack,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        frozenset(subscription.topics),
        "",
        None,
        classic_metadata(member.session_timeout_ms, member.protocols),
        group.generation,
        group.generation,
        assigned=assigned,
    )


def classic_metadata(
    session_timeout_ms: int, offers: Iterable[JoinGroupProtocol]
) -> ClassicMemberMetadata:
    """What a consumer group keeps of a member that speaks the classic protocol."""
    protocols = tuple(ClassicProtocol(name, metadata) for name, metadata in offers)
    return ClassicMemberMetadata(session_timeout_ms, protocols)


def can_downgrade(
    shard: Shard,
    group: Kip848Group,
    leaving: Sequence[Kip848Member],
    *,
    replaced: bool = False,
) -> bool:
    """Whether nobody but classic members is left once these are gone.

    Args:
        replaced: a classic member takes the place of the one that goes, which is no classic one.
    """
    if shard.config.consumer_migration_policy not in DOWNGRADE_POLICIES:
        return False
    staying = len(group.members) - len(leaving)
    leaving_classic = sum(member.speaks_classic() for member in leaving)
    if group.tally.classic_members - leaving_classic != staying:
        return False
    if replaced:
        return not leaving_classic and len(group.members) <= shard.config.classic_max_size
    return 0 < staying <= shard.config.classic_max_size


def downgrade_group(
    batch: Batch,
    group: Kip848Group,
    *,
    leaving: Container[str],
    joining: Kip848Member | None = None,
    rebalance: bool = True,
) -> None:
    """A classic group in the place of a consumer group, at once; its members find out by 27.

    Args:
        joining: takes the place of the holder of its instance id, among `leaving`.
    """
    shard = batch.shard
    group_id = group.group_id
    replaces = {}
    if joining is not None and joining.instance_id is not None:
        replaces[group.static_members[joining.instance_id]] = joining.member_id
    batch.add(*group.tombstones_replacing(replaces))
    classic = _classic_group(shard, group, leaving, joining)
    shard.groups[group_id] = classic
    batch.on_failure(lambda: shard.groups.__setitem__(group_id, group))
    _leave_strays(batch, group)
    shard.event(EventKind.GROUP_CONVERTED, group_id, reason="downgraded")
    batch.add(*classic.durable_records())
    for member in classic.members.values():
        restart_session(shard, classic, member)
    if rebalance:
        start_rebalance(shard, classic, "the group went back to the classic protocol")


def _leave_strays(batch: Batch, group: Kip848Group) -> None:
    """Note what the group subscribes to: nothing takes that back when it is downgraded."""
    strays = batch.shard.stray_topics
    before = strays.get(group.group_id)
    strays[group.group_id] = group.tally.strays | group.tally.names.keys()

    def undo() -> None:
        del strays[group.group_id]
        if before is not None:
            strays[group.group_id] = before

    batch.on_failure(undo)


def _classic_group(
    shard: Shard,
    group: Kip848Group,
    leaving: Container[str],
    joining: Kip848Member | None,
) -> ClassicGroup:
    """The classic group that is left: Stable, with the members' targets as assignments."""
    classic = ClassicGroup(
        group.group_id, group.partition, ClassicState.STABLE, state_since_ms=shard.now_ms
    )
    classic.generation = group.group_epoch
    staying = [m for m in group.members.ordered_values() if m.member_id not in leaving]
    targets = {member.member_id: group.target.get(member.member_id, {}) for member in staying}
    if joining is not None:
        staying.append(joining)
        targets[joining.member_id] = group.target_of(joining)
    for member in staying:
        classic.add(_downgraded(member), None)
    classic.leader = staying[0].member_id
    classic.protocol = classic.vote()
    for member_id, old in classic.members.items():
        named = by_name(shard.topology, targets[member_id])
        old.assignment = encode_assignment_like(old.metadata(classic.protocol), named)
    classic.subscribed_topics = classic.compute_topics()
    classic.stored = classic.stored_value()
    return classic


def _downgraded(member: Kip848Member) -> ClassicMember:
    assert member.classic is not None
    return ClassicMember(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.classic.session_timeout_ms,
        CONSUMER_PROTOCOL_TYPE,
        tuple(JoinGroupProtocol(*protocol) for protocol in member.classic.supported_protocols),
    )


def by_name(topology: Topology, held: Mapping[UUID, Iterable[int]]) -> dict[str, list[int]]:
    """Partitions by the name of their topic; those of a topic that is gone are left out."""
    named = {}
    for topic_id, partitions in held.items():
        topic = topology.topic_by_id(topic_id)
        if topic is not None:
            named[topic.name] = sorted(partitions)
    return named
