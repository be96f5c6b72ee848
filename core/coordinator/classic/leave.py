"""LeaveGroup of a classic group: one member or many, by member id or by instance id.

Source: `GroupMetadataManager.classicGroupLeaveToClassicGroup`, KIP-345.
"""

from collections.abc import Hashable

from kgroups.core.coordinator.classic.group import ClassicGroup
from kgroups.core.coordinator.classic.messages import (
    UNKNOWN_MEMBER_ID,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from kgroups.core.coordinator.classic.rebalance import rebalance_or_complete, take_out_member
from kgroups.core.coordinator.classic.states import OUTCOMES, Ask
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.shard import Shard
from kgroups.core.protocol.errors import ErrorCode


def leave_no_group(
    shard: Shard, token: Hashable, request: LeaveGroupRequest, group: Group | None
) -> None:
    """LeaveGroup to a group that does not exist."""
    unknown = ErrorCode.UNKNOWN_MEMBER_ID
    members = tuple(
        MemberResponse(m.member_id, m.group_instance_id, unknown) for m in request.members
    )
    shard.reply(token, LeaveGroupResponse(ErrorCode.NONE, members))


def leave_group(
    shard: Shard, token: Hashable, request: LeaveGroupRequest, group: ClassicGroup
) -> None:
    """LeaveGroup to a classic group."""
    answers = tuple(
        MemberResponse(leaver.member_id, leaver.group_instance_id, _leave_one(shard, group, leaver))
        for leaver in request.members
    )
    shard.reply(token, LeaveGroupResponse(ErrorCode.NONE, answers))
    left = [answer for answer in answers if answer.error_code is ErrorCode.NONE]
    if left:
        who = ", ".join(answer.group_instance_id or answer.member_id for answer in left)
        outcome = OUTCOMES[Ask.LEAVE][group.state]
        rebalance_or_complete(shard, group, outcome.act, f"{who} left")


def _leave_one(shard: Shard, group: ClassicGroup, leaving: MemberIdentity) -> ErrorCode:
    member_id = leaving.member_id
    reason = f"left: {leaving.reason}" if leaving.reason else "left"
    if member_id == UNKNOWN_MEMBER_ID:
        holder = group.static_members.get(leaving.group_instance_id or "")
        if leaving.group_instance_id is None or holder is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        take_out_member(shard, group, holder, reason)
        return ErrorCode.NONE
    if member_id not in group.pending_join:
        error = group.check_member(member_id, leaving.group_instance_id)
        if error is not ErrorCode.NONE:
            return error
    take_out_member(shard, group, member_id, reason)
    return ErrorCode.NONE
