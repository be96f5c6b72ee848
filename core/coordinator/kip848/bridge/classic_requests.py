"""Classic requests of members of a consumer group: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.

Such a JoinGroup is never parked: it does what a heartbeat does and answers with the member's epoch
as the generation; SyncGroup gives the assigned partitions.
Source: `GroupMetadataManager.classicGroupJoinToConsumerGroup`, `...SyncToConsumerGroup`,
`...HeartbeatToConsumerGroup`, `...LeaveToConsumerGroup`, KIP-848 "migration".
"""

from collections.abc import Hashable
from dataclasses import replace
from uuid import UUID

from kgroups.assignors.wire import (
    Subscription,
    WireError,
    decode_subscription,
    encode_assignment_like,
)
from kgroups.core.coordinator.append_errors import append_error
from kgroups.core.coordinator.classic.join import KNOWN_MEMBER_ID_VERSION, join_no_group
from kgroups.core.coordinator.classic.members import CONSUMER_PROTOCOL_TYPE
from kgroups.core.coordinator.classic.messages import (
    UNKNOWN_MEMBER_ID,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kgroups.core.coordinator.classic.rebalance import refuse_join
from kgroups.core.coordinator.config import MigrationPolicy
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.kip848.batch import Batch
from kgroups.core.coordinator.kip848.bridge.convert import (
    by_name,
    can_downgrade,
    classic_metadata,
    downgrade_group,
)
from kgroups.core.coordinator.kip848.group import Kip848Group
from kgroups.core.coordinator.kip848.member import (
    Kip848Member,
    MemberState,
    Partitions,
    member_record,
)
from kgroups.core.coordinator.kip848.steps.checks import (
    Refusal,
    check_room,
    find_static,
    new_member_id,
)
from kgroups.core.coordinator.kip848.steps.leave import leave_group, take_over
from kgroups.core.coordinator.kip848.steps.progress import (
    Target,
    advance_group,
    reconcile_member,
    refresh_group,
)
from kgroups.core.coordinator.kip848.steps.regex import apply_status, regex_status, resolve_if_due
from kgroups.core.coordinator.ports import AssignorFailed
from kgroups.core.coordinator.releases import Rule
from kgroups.core.coordinator.shard import Shard, TimerKind
from kgroups.core.coordinator.topology import Topology
from kgroups.core.protocol.errors import ErrorCode


def sync_group(
    shard: Shard, token: Hashable, request: SyncGroupRequest, group: Kip848Group
) -> None:
    """SyncGroup to a consumer group."""
    member = _classic_member(group, request)
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
    assignment = encode_assignment_like(offer.metadata, by_name(shard.topology, member.assigned))
    shard.reply(
        token, SyncGroupResponse(ErrorCode.NONE, CONSUMER_PROTOCOL_TYPE, offer.name, assignment)
    )


def _check_sync(
    group: Kip848Group, member: Kip848Member, request: SyncGroupRequest, protocol: str
) -> ErrorCode:
    if request.generation_id != member.member_epoch:
        return ErrorCode.ILLEGAL_GENERATION
    if (request.protocol_type is not None and request.protocol_type != CONSUMER_PROTOCOL_TYPE) or (
        request.protocol_name is not None and request.protocol_name != protocol
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    behind = group.target_epoch > member.member_epoch
    if behind and member.state is not MemberState.UNREVOKED_PARTITIONS:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _member(
    group: Kip848Group, member_id: str, instance_id: str | None
) -> Kip848Member | ErrorCode:
    """The member, which holds the instance id if it gives one."""
    if instance_id is not None:
        holder = find_static(group, instance_id)
        if not isinstance(holder, Kip848Member):
            return ErrorCode.UNKNOWN_MEMBER_ID
        if holder.member_id != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    return group.members.get(member_id) or ErrorCode.UNKNOWN_MEMBER_ID


def _classic_member(
    group: Kip848Group, request: SyncGroupRequest | HeartbeatRequest
) -> Kip848Member | ErrorCode:
    member = _member(group, request.member_id, request.group_instance_id)
    if isinstance(member, Kip848Member) and not member.speaks_classic():
        return ErrorCode.UNKNOWN_MEMBER_ID
    return member


def _restart_session(shard: Shard, group: Kip848Group, member: Kip848Member) -> None:
    assert member.classic is not None
    timeout_ms = member.classic.session_timeout_ms
    shard.schedule(TimerKind.SESSION, group.group_id, member.member_id, timeout_ms)


def _arm_join(shard: Shard, group: Kip848Group, member: Kip848Member) -> None:
    """The member must join again within its rebalance timeout, counted from the first time."""
    key = (TimerKind.CLASSIC_JOIN, group.group_id, member.member_id)
    if key not in shard.timers:
        shard.schedule(*key, member.rebalance_timeout_ms)


def heartbeat(shard: Shard, token: Hashable, request: HeartbeatRequest, group: Kip848Group) -> None:
    """Heartbeat to a consumer group."""
    member = _classic_member(group, request)
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
        or (
            member.state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member)
        )
    ):
        error = ErrorCode.REBALANCE_IN_PROGRESS
        _arm_join(shard, group, member)
    shard.reply(token, HeartbeatResponse(error))


def leave_group_request(
    shard: Shard, token: Hashable, request: LeaveGroupRequest, group: Kip848Group
) -> None:
    """LeaveGroup to a consumer group: members of either protocol, all in one epoch."""
    leaving: dict[str, Kip848Member] = {}
    answers = []
    for leaver in request.members:
        member = _leaver(group, leaver)
        error = member if isinstance(member, ErrorCode) else ErrorCode.NONE
        if isinstance(member, Kip848Member):
            leaving[member.member_id] = member
        answers.append(MemberResponse(leaver.member_id, leaver.group_instance_id, error))
    batch, replayed = Batch(shard, group.partition), True
    if leaving:
        replayed = leave_group(batch, group, list(leaving.values()), "left")

    def failed(error: ErrorCode) -> None:
        code = append_error(error)
        refused = tuple(answer._replace(error_code=code) for answer in answers)
        shard.reply(token, LeaveGroupResponse(ErrorCode.NONE, refused))

    batch.write(failed, replayed=replayed)
    shard.reply(token, LeaveGroupResponse(ErrorCode.NONE, tuple(answers)))


def _leaver(group: Kip848Group, leaver: MemberIdentity) -> Kip848Member | ErrorCode:
    if leaver.member_id == UNKNOWN_MEMBER_ID:
        member = find_static(group, leaver.group_instance_id)
        return member if isinstance(member, Kip848Member) else ErrorCode.UNKNOWN_MEMBER_ID
    return _member(group, leaver.member_id, leaver.group_instance_id)


def join_group(
    shard: Shard, token: Hashable, request: JoinGroupRequest, group: Kip848Group
) -> None:
    """JoinGroup to a consumer group."""
    if group.is_empty():
        _join_empty(shard, token, request, group)
        return
    if _is_migration_refused(shard):
        error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        refuse_join(shard, token, error, UNKNOWN_MEMBER_ID)
        return
    member_id = request.member_id or new_member_id(shard)
    error = _check_join(shard, group, request, member_id)
    if error is ErrorCode.MEMBER_ID_REQUIRED:
        refuse_join(shard, token, error, member_id)
        return
    if error is not ErrorCode.NONE:
        refuse_join(shard, token, error, UNKNOWN_MEMBER_ID)
        return
    try:
        subscription = decode_subscription(request.protocols[0].metadata)
    except WireError:
        strict = shard.config.follows(Rule.UNREADABLE_SUBSCRIPTION_IS_INCONSISTENT)
        error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL if strict else ErrorCode.UNKNOWN_SERVER_ERROR
        refuse_join(shard, token, error, UNKNOWN_MEMBER_ID)
        return
    _join(shard, token, replace(request, member_id=member_id), group, subscription)


def _join_empty(
    shard: Shard, token: Hashable, request: JoinGroupRequest, group: Kip848Group
) -> None:
    """An empty consumer group becomes a classic one, its offsets stay."""
    if request.member_id == UNKNOWN_MEMBER_ID:
        shard.write(group.partition, group.tombstones())
    else:
        # As in Kafka 4.3: the group is gone from memory and back after a reload.
        shard.forget_unwritten(group.group_id, "a classic member asked for it")
    join_no_group(shard, token, request, None)


def _check_join(
    shard: Shard, group: Kip848Group, request: JoinGroupRequest, member_id: str
) -> ErrorCode:
    """NONE, or the error; MEMBER_ID_REQUIRED hands out `member_id`."""
    full = check_room(group, shard.config, member_id, request.group_instance_id)
    if full is not None:
        return full.error
    names = [offer.name for offer in request.protocols]
    if (
        request.protocol_type != CONSUMER_PROTOCOL_TYPE
        or not names
        or not group.tally.classic_supports(names)
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    holder = find_static(group, request.group_instance_id)
    if request.member_id == UNKNOWN_MEMBER_ID:
        if request.group_instance_id is None and request.version >= KNOWN_MEMBER_ID_VERSION:
            return ErrorCode.MEMBER_ID_REQUIRED
        return ErrorCode.UNKNOWN_MEMBER_ID if isinstance(holder, Refusal) else ErrorCode.NONE
    if request.group_instance_id is None:
        return ErrorCode.NONE
    member = _member(group, request.member_id, request.group_instance_id)
    return member if isinstance(member, ErrorCode) else ErrorCode.NONE


def _is_migration_refused(shard: Shard) -> bool:
    config = shard.config
    disabled = config.consumer_migration_policy is MigrationPolicy.DISABLED
    return disabled and config.follows(Rule.DISABLED_MIGRATION_REFUSES)


def _join(
    shard: Shard,
    token: Hashable,
    request: JoinGroupRequest,
    group: Kip848Group,
    subscription: Subscription,
) -> None:
    batch = Batch(shard, group.partition)
    holder = find_static(group, request.group_instance_id)
    assert not isinstance(holder, Refusal), "checked before"
    downgrades = holder is not None and can_downgrade(shard, group, [holder], replaced=True)
    if holder is None:
        before = group.members.get(request.member_id) or Kip848Member(request.member_id)
    elif holder.member_id == request.member_id:
        before = holder
    else:
        before = take_over(batch, group, holder, request.member_id)
    if holder is None and before.member_id not in group.members:
        reason = request.reason or "joined"
        shard.event(EventKind.MEMBER_ADDED, group.group_id, before.member_id, reason)
    after = _updated(before, request, subscription)
    status = regex_status(shard, group, before, after)
    assert not isinstance(status, Refusal), "a classic member has no pattern"
    names_changed = after.subscribed_topic_names != before.subscribed_topic_names
    if after != before:
        batch.add(member_record(group.group_id, after))
    apply_status(batch, group, status)
    changed = names_changed or status.changed
    owned = _owned(shard.topology, subscription)
    if holder is not None and downgrades:
        member = _downgrade(batch, group, before, after, holder, owned, changed=changed)
    else:
        try:
            target = advance_group(batch, group, before, after, bump=changed)
        except AssignorFailed:
            batch.abandon()
            refuse_join(shard, token, ErrorCode.UNKNOWN_SERVER_ERROR, UNKNOWN_MEMBER_ID)
            return
        member = reconcile_member(batch, group, after, target, owned, subscription_changed=changed)
    resolve_if_due(shard, group, before, after, status)
    shard.cancel(TimerKind.CLASSIC_JOIN, group.group_id, member.member_id)
    if not downgrades:
        watch = (group.group_id, member.member_id)
        shard.schedule(TimerKind.SESSION, *watch, request.session_timeout_ms)
        shard.schedule(TimerKind.CLASSIC_SYNC, *watch, request.rebalance_ms)
    batch.write(
        lambda error: refuse_join(shard, token, append_error(error), UNKNOWN_MEMBER_ID),
        replayed=not downgrades,
    )
    joined = JoinGroupResponse(
        ErrorCode.NONE,
        member.member_id,
        member.member_epoch,
        CONSUMER_PROTOCOL_TYPE,
        request.protocols[0].name,
    )
    shard.reply(token, joined)


def _downgrade(
    batch: Batch,
    group: Kip848Group,
    before: Kip848Member,
    after: Kip848Member,
    holder: Kip848Member,
    owned: Partitions,
    *,
    changed: bool,
) -> Kip848Member:
    """The last KIP-848 member, a static one, comes back as a classic one: back to classic."""
    epoch, _ = refresh_group(batch, group, before, after, bump=changed)
    member, rebalance = after, group.target_epoch < epoch
    if not rebalance:
        target = Target(group.target_epoch, group.target_of(after))
        member = reconcile_member(batch, group, after, target, owned, subscription_changed=changed)
    downgrade_group(batch, group, leaving=(holder.member_id,), joining=member, rebalance=rebalance)
    return member


def _updated(
    member: Kip848Member, request: JoinGroupRequest, subscription: Subscription
) -> Kip848Member:
    """The member with what its JoinGroup says of it."""
    rebalance_ms = request.rebalance_ms
    return replace(
        member,
        instance_id=(
            member.instance_id if request.group_instance_id is None else request.group_instance_id
        ),
        rack_id=member.rack_id if subscription.rack is None else subscription.rack,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms if rebalance_ms == -1 else rebalance_ms,
        subscribed_topic_names=frozenset(subscription.topics),
        subscribed_topic_regex="",
        classic=classic_metadata(request.session_timeout_ms, request.protocols),
    )


def _owned(topology: Topology, subscription: Subscription) -> Partitions:
    owned: dict[UUID, frozenset[int]] = {}
    for name, partitions in subscription.owned:
        topic = topology.topic(name)
        if topic is not None:
            before = owned.get(topic.topic_id, frozenset())
            owned[topic.topic_id] = before | frozenset(partitions)
    return owned
