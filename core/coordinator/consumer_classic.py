"""Classic requests to a consumer group: JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

The generation of such a member is its member epoch. A JoinGroup is never parked: it does what a
heartbeat does and answers with the member's epoch; SyncGroup gives the assigned partitions.
Source: `GroupMetadataManager.classicGroupJoinToConsumerGroup`, `...SyncToConsumerGroup`,
`...HeartbeatToConsumerGroup`, `...LeaveToConsumerGroup`, KIP-848 "migration".
"""

import base64
from collections.abc import Hashable, Mapping
from dataclasses import replace
from uuid import UUID

from kgroups.core.coordinator.classic_join import KNOWN_MEMBER_ID_VERSION, join_no_group
from kgroups.core.coordinator.classic_leave import answer_leave
from kgroups.core.coordinator.classic_members import CONSUMER_PROTOCOL_TYPE, Parked
from kgroups.core.coordinator.classic_rebalance import answer_join, refuse_join
from kgroups.core.coordinator.consumer_batch import Batch
from kgroups.core.coordinator.consumer_checks import Refusal, find_static
from kgroups.core.coordinator.consumer_convert import can_downgrade, downgrade_group
from kgroups.core.coordinator.consumer_group import ConsumerGroup
from kgroups.core.coordinator.consumer_leave import cancel_timers, leave_group
from kgroups.core.coordinator.consumer_member import (
    ConsumerMember,
    MemberState,
    member_record,
    sets_of,
)
from kgroups.core.coordinator.consumer_progress import advance_group, reconcile_member
from kgroups.core.coordinator.consumer_protocol import (
    ProtocolError,
    Subscription,
    read_subscription,
    write_assignment,
)
from kgroups.core.coordinator.consumer_regex import RegexStatus
from kgroups.core.coordinator.consumer_static import take_over
from kgroups.core.coordinator.errors import ErrorCode, append_error
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.messages import (
    UNKNOWN_MEMBER_ID,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    MemberIdentity,
    MemberResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kgroups.core.coordinator.records import ClassicMemberMetadata, ClassicProtocol
from kgroups.core.coordinator.shard import Shard, TimerKind
from kgroups.core.coordinator.topology import Topology


def join_group(shard: Shard, token: Hashable, request: JoinGroupRequest, group: Group) -> None:
    """JoinGroup to a consumer group."""
    assert isinstance(group, ConsumerGroup)
    parked = Parked(token, request.version)
    if group.is_empty():
        _join_empty(shard, token, request, group)
        return
    error, member_id = _check_join(shard, group, request)
    if error is not ErrorCode.NONE:
        refuse_join(shard, parked, error, member_id)
        return
    offer = request.protocols[0]
    try:
        subscription = read_subscription(offer.metadata)
    except ProtocolError:
        refuse_join(shard, parked, ErrorCode.UNKNOWN_SERVER_ERROR, request.member_id)
        return
    _join(shard, parked, request, group, subscription)


def _join_empty(
    shard: Shard, token: Hashable, request: JoinGroupRequest, group: ConsumerGroup
) -> None:
    """An empty consumer group becomes a classic one, its offsets stay."""
    if request.member_id == UNKNOWN_MEMBER_ID:
        shard.write(group.partition, group.tombstones())
    else:
        # As in Kafka 4.3: the group is gone from memory and back after a reload.
        shard.forget_unwritten(group.group_id, "a classic member asked for it")
    join_no_group(shard, token, request, None)


def _check_join(
    shard: Shard, group: ConsumerGroup, request: JoinGroupRequest
) -> tuple[ErrorCode, str]:
    """NONE, or the error with the member id that its answer shows."""
    known = request.member_id in group.members or (
        group.static_holder(request.group_instance_id) is not None
    )
    if len(group.members) >= shard.config.consumer_max_size and not known:
        return ErrorCode.GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID
    names = [offer.name for offer in request.protocols]
    if (
        request.protocol_type != CONSUMER_PROTOCOL_TYPE
        or not names
        or not group.classic_supports(names)
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID
    if request.group_instance_id is None:
        if request.member_id == UNKNOWN_MEMBER_ID and request.version >= KNOWN_MEMBER_ID_VERSION:
            return ErrorCode.MEMBER_ID_REQUIRED, new_member_id(shard)
        return ErrorCode.NONE, ""
    if request.member_id == UNKNOWN_MEMBER_ID:
        stale = isinstance(find_static(group, request.group_instance_id), Refusal)
        return (ErrorCode.UNKNOWN_MEMBER_ID, "") if stale else (ErrorCode.NONE, "")
    holder = find_static(group, request.group_instance_id)
    if not isinstance(holder, ConsumerMember):
        return ErrorCode.UNKNOWN_MEMBER_ID, request.member_id
    if holder.member_id != request.member_id:
        return ErrorCode.FENCED_INSTANCE_ID, request.member_id
    return ErrorCode.NONE, ""


def new_member_id(shard: Shard) -> str:
    """A fresh id in the form that consumer groups use."""
    return base64.urlsafe_b64encode(shard.new_id().bytes).decode().rstrip("=")


def _join(
    shard: Shard,
    parked: Parked,
    request: JoinGroupRequest,
    group: ConsumerGroup,
    subscription: Subscription,
) -> None:
    member_id = request.member_id or new_member_id(shard)
    known = group.members.get(member_id)
    holder = find_static(group, request.group_instance_id)
    batch = Batch(shard, group.partition)
    is_other = isinstance(holder, ConsumerMember) and holder.member_id != member_id
    replaced = holder if is_other else None
    if replaced is not None:
        leaving = {replaced.member_id}
        if not replaced.speaks_classic() and can_downgrade(shard, group, leaving, joining=True):
            _join_and_downgrade(batch, parked, request, group, replaced, member_id, subscription)
            return
        known = take_over(batch, group, replaced, member_id)
    before = known or ConsumerMember(member_id)
    updated = _updated(before, request, subscription)
    unused = _unused_pattern(group, before)
    group.update_kind()
    if updated != before or member_id not in group.members:
        batch.add(member_record(group.group_id, updated))
    RegexStatus(unused=unused).apply(batch, group)
    names_changed = updated.subscribed_topic_names != before.subscribed_topic_names
    regex_changed = bool(before.subscribed_topic_regex)
    advance_group(batch, group, updated, bump=names_changed or regex_changed)
    member = reconcile_member(
        batch,
        group,
        group.members[member_id],
        _owned(shard.topology, subscription),
        subscription_changed=names_changed or regex_changed,
    )
    shard.cancel(TimerKind.CLASSIC_JOIN, group.group_id, member_id)
    shard.schedule(TimerKind.SESSION, group.group_id, member_id, request.session_timeout_ms)
    shard.schedule(TimerKind.CLASSIC_SYNC, group.group_id, member_id, updated.rebalance_timeout_ms)
    _write_join(batch, parked, request)
    answer_join(shard, parked, _joined(member.member_id, member.member_epoch, request))


def _joined(member_id: str, epoch: int, request: JoinGroupRequest) -> JoinGroupResponse:
    return JoinGroupResponse(
        ErrorCode.NONE, member_id, epoch, CONSUMER_PROTOCOL_TYPE, request.protocols[0].name
    )


def _write_join(batch: Batch, parked: Parked, request: JoinGroupRequest) -> None:
    shard = batch.shard
    batch.write(lambda error: refuse_join(shard, parked, append_error(error), request.member_id))


def _unused_pattern(group: ConsumerGroup, member: ConsumerMember) -> str:
    pattern = member.subscribed_topic_regex
    return pattern if pattern and group.pattern_users(pattern) == 1 else ""


def _updated(
    member: ConsumerMember, request: JoinGroupRequest, subscription: Subscription
) -> ConsumerMember:
    """The member with what its JoinGroup says of it."""
    rebalance_ms = (
        request.session_timeout_ms if request.version == 0 else request.rebalance_timeout_ms
    )
    return replace(
        member,
        instance_id=(
            member.instance_id if request.group_instance_id is None else request.group_instance_id
        ),
        rack_id=member.rack_id if subscription.rack_id is None else subscription.rack_id,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=rebalance_ms,
        subscribed_topic_names=frozenset(subscription.topics),
        subscribed_topic_regex="",
        classic=ClassicMemberMetadata(
            request.session_timeout_ms,
            tuple(ClassicProtocol(one.name, one.metadata) for one in request.protocols),
        ),
    )


def _owned(topology: Topology, subscription: Subscription) -> Mapping[UUID, frozenset[int]]:
    owned: dict[UUID, frozenset[int]] = {}
    for name, partitions in subscription.owned:
        topic = topology.topic(name)
        if topic is not None:
            known = owned.get(topic.topic_id, frozenset())
            owned[topic.topic_id] = known | frozenset(partitions)
    return owned


def _join_and_downgrade(
    batch: Batch,
    parked: Parked,
    request: JoinGroupRequest,
    group: ConsumerGroup,
    replaced: ConsumerMember,
    member_id: str,
    subscription: Subscription,
) -> None:
    """The last KIP-848 member, a static one, comes back as a classic one: back to classic."""
    updated = _updated(replace(replaced, member_id=member_id), request, subscription)
    same = updated.subscribed_topic_names == replaced.subscribed_topic_names
    cancel_timers(batch.shard, group.group_id, replaced.member_id)
    classic = downgrade_group(
        batch,
        group,
        {replaced.member_id},
        joining=updated,
        replaces=replaced.member_id,
        rebalance=not same,
    )
    _write_join(batch, parked, request)
    generation = classic.generation if same else 0
    answer_join(batch.shard, parked, _joined(member_id, generation, request))


def sync_group(shard: Shard, token: Hashable, request: SyncGroupRequest, group: Group) -> None:
    """SyncGroup to a consumer group."""
    assert isinstance(group, ConsumerGroup)
    member = _classic_member(group, request.member_id, request.group_instance_id)
    if isinstance(member, ErrorCode):
        shard.reply(token, SyncGroupResponse(member))
        return
    assert member.classic is not None
    offer = member.classic.supported_protocols[0]
    error = _check_sync(group, member, request, offer.name)
    if error is ErrorCode.REBALANCE_IN_PROGRESS:
        _arm_join(shard, group, member)
    if error is not ErrorCode.NONE:
        shard.reply(token, SyncGroupResponse(error))
        return
    shard.cancel(TimerKind.CLASSIC_SYNC, group.group_id, member.member_id)
    _restart_session(shard, group, member)
    named = {}
    for topic_id, partitions in member.assigned.items():
        topic = shard.topology.topic_by_id(topic_id)
        if topic is not None:
            named[topic.name] = sorted(partitions)
    version = read_subscription(offer.metadata).version
    shard.reply(
        token,
        SyncGroupResponse(
            ErrorCode.NONE, CONSUMER_PROTOCOL_TYPE, offer.name, write_assignment(version, named)
        ),
    )


def _check_sync(
    group: ConsumerGroup, member: ConsumerMember, request: SyncGroupRequest, protocol: str
) -> ErrorCode:
    if request.generation_id != member.member_epoch:
        return ErrorCode.ILLEGAL_GENERATION
    if (request.protocol_type is not None and request.protocol_type != CONSUMER_PROTOCOL_TYPE) or (
        request.protocol_name is not None and request.protocol_name != protocol
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    behind = group.target_epoch > member.member_epoch
    if behind or _rest_is_free(group, member):
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _rest_is_free(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether a member that waits for partitions could have them all now."""
    if member.state is not MemberState.UNRELEASED_PARTITIONS:
        return False
    assigned = sets_of(member.assigned)
    return not any(
        group.is_held_by_other(topic_id, partition, member.member_id)
        for topic_id, partitions in group.target.get(member.member_id, {}).items()
        for partition in partitions - assigned.get(topic_id, frozenset())
    )


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> ConsumerMember | ErrorCode:
    if instance_id is not None:
        holder = find_static(group, instance_id)
        if not isinstance(holder, ConsumerMember):
            return ErrorCode.UNKNOWN_MEMBER_ID
        if holder.member_id != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    member = group.members.get(member_id)
    if member is None or not member.speaks_classic():
        return ErrorCode.UNKNOWN_MEMBER_ID
    return member


def _restart_session(shard: Shard, group: ConsumerGroup, member: ConsumerMember) -> None:
    assert member.classic is not None
    timeout_ms = member.classic.session_timeout_ms
    shard.schedule(TimerKind.SESSION, group.group_id, member.member_id, timeout_ms)


def _arm_join(shard: Shard, group: ConsumerGroup, member: ConsumerMember) -> None:
    """The member must join again within its rebalance timeout, counted from the first time."""
    key = (TimerKind.CLASSIC_JOIN, group.group_id, member.member_id)
    if key not in shard.timers:
        shard.schedule(*key, member.rebalance_timeout_ms)


def heartbeat(shard: Shard, token: Hashable, request: HeartbeatRequest, group: Group) -> None:
    """Heartbeat to a consumer group."""
    assert isinstance(group, ConsumerGroup)
    member = _classic_member(group, request.member_id, request.group_instance_id)
    if isinstance(member, ErrorCode):
        shard.reply(token, HeartbeatResponse(member))
        return
    if request.generation_id != member.member_epoch:
        shard.reply(token, HeartbeatResponse(ErrorCode.ILLEGAL_GENERATION))
        return
    _restart_session(shard, group, member)
    error = ErrorCode.NONE
    if (
        group.target_epoch > member.member_epoch
        or member.state is MemberState.UNREVOKED_PARTITIONS
        or _rest_is_free(group, member)
    ):
        error = ErrorCode.REBALANCE_IN_PROGRESS
        _arm_join(shard, group, member)
    shard.reply(token, HeartbeatResponse(error))


def leave_group_request(
    shard: Shard, token: Hashable, request: LeaveGroupRequest, group: Group
) -> None:
    """LeaveGroup to a consumer group: members of either protocol, all in one epoch."""
    assert isinstance(group, ConsumerGroup)
    leaving: dict[str, ConsumerMember] = {}
    answers = []
    for one in request.members:
        found = _leaver(group, one)
        error = found if isinstance(found, ErrorCode) else ErrorCode.NONE
        if isinstance(found, ConsumerMember):
            leaving[found.member_id] = found
        answers.append(MemberResponse(one.member_id, one.group_instance_id, error))
    batch = Batch(shard, group.partition)
    if leaving:
        leave_group(batch, group, list(leaving.values()), "left")
    version = request.version

    def failed(error: ErrorCode) -> None:
        told = append_error(error)
        refused = tuple(answer._replace(error_code=told) for answer in answers)
        answer_leave(shard, token, version, refused)

    batch.write(failed)
    answer_leave(shard, token, version, tuple(answers))


def _leaver(group: ConsumerGroup, one: MemberIdentity) -> ConsumerMember | ErrorCode:
    if one.member_id == UNKNOWN_MEMBER_ID:
        found = find_static(group, one.group_instance_id)
        return found if isinstance(found, ConsumerMember) else ErrorCode.UNKNOWN_MEMBER_ID
    if one.group_instance_id is not None:
        holder = find_static(group, one.group_instance_id)
        if not isinstance(holder, ConsumerMember):
            return ErrorCode.UNKNOWN_MEMBER_ID
        if holder.member_id != one.member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    return group.members.get(one.member_id) or ErrorCode.UNKNOWN_MEMBER_ID
