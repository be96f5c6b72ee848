"""Classic requests of members of a consumer group: SyncGroup, Heartbeat and LeaveGroup.

The generation of such a member is its member epoch; SyncGroup gives the assigned partitions.
Source: `GroupMetadataManager.classicGroupSyncToConsumerGroup`, `...HeartbeatToConsumerGroup`,
`...LeaveToConsumerGroup`.
"""

from collections.abc import Hashable

from kgroups.assignors.wire import encode_assignment_like
from kgroups.core.coordinator.append_errors import append_error
from kgroups.core.coordinator.classic.leave import answer_leave
from kgroups.core.coordinator.classic.members import CONSUMER_PROTOCOL_TYPE
from kgroups.core.coordinator.classic.messages import (
    UNKNOWN_MEMBER_ID,
    HeartbeatRequest,
    HeartbeatResponse,
    LeaveGroupRequest,
    MemberIdentity,
    MemberResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.kip848.batch import Batch
from kgroups.core.coordinator.kip848.group import Kip848Group
from kgroups.core.coordinator.kip848.member import Kip848Member, MemberState
from kgroups.core.coordinator.kip848.steps.checks import find_static
from kgroups.core.coordinator.kip848.steps.leave import leave_group
from kgroups.core.coordinator.shard import Shard, TimerKind
from kgroups.core.protocol.errors import ErrorCode


def sync_group(shard: Shard, token: Hashable, request: SyncGroupRequest, group: Group) -> None:
    """SyncGroup to a consumer group."""
    assert isinstance(group, Kip848Group)
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
    assignment = encode_assignment_like(offer.metadata, named)
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


def _classic_member(
    group: Kip848Group, member_id: str, instance_id: str | None
) -> Kip848Member | ErrorCode:
    if instance_id is not None:
        holder = find_static(group, instance_id)
        if not isinstance(holder, Kip848Member):
            return ErrorCode.UNKNOWN_MEMBER_ID
        if holder.member_id != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    member = group.members.get(member_id)
    if member is None or not member.speaks_classic():
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


def heartbeat(shard: Shard, token: Hashable, request: HeartbeatRequest, group: Group) -> None:
    """Heartbeat to a consumer group."""
    assert isinstance(group, Kip848Group)
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
        or (
            member.state is MemberState.UNRELEASED_PARTITIONS and not group.waits_for_others(member)
        )
    ):
        error = ErrorCode.REBALANCE_IN_PROGRESS
        _arm_join(shard, group, member)
    shard.reply(token, HeartbeatResponse(error))


def leave_group_request(
    shard: Shard, token: Hashable, request: LeaveGroupRequest, group: Group
) -> None:
    """LeaveGroup to a consumer group: members of either protocol, all in one epoch."""
    assert isinstance(group, Kip848Group)
    leaving: dict[str, Kip848Member] = {}
    answers = []
    for one in request.members:
        found = _leaver(group, one)
        error = found if isinstance(found, ErrorCode) else ErrorCode.NONE
        if isinstance(found, Kip848Member):
            leaving[found.member_id] = found
        answers.append(MemberResponse(one.member_id, one.group_instance_id, error))
    batch, replayed = Batch(shard, group.partition), True
    if leaving:
        replayed = leave_group(batch, group, list(leaving.values()), "left")
    version = request.version

    def failed(error: ErrorCode) -> None:
        told = append_error(error)
        refused = tuple(answer._replace(error_code=told) for answer in answers)
        answer_leave(shard, token, version, refused)

    batch.write(failed, replayed=replayed)
    answer_leave(shard, token, version, tuple(answers))


def _leaver(group: Kip848Group, one: MemberIdentity) -> Kip848Member | ErrorCode:
    if one.member_id == UNKNOWN_MEMBER_ID:
        found = find_static(group, one.group_instance_id)
        return found if isinstance(found, Kip848Member) else ErrorCode.UNKNOWN_MEMBER_ID
    if one.group_instance_id is not None:
        holder = find_static(group, one.group_instance_id)
        if not isinstance(holder, Kip848Member):
            return ErrorCode.UNKNOWN_MEMBER_ID
        if holder.member_id != one.member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    return group.members.get(one.member_id) or ErrorCode.UNKNOWN_MEMBER_ID
