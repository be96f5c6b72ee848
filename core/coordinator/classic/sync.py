"""SyncGroup and Heartbeat of a classic group.

Source: `GroupMetadataManager.classicGroupSyncToClassicGroup`, `classicGroupHeartbeat`.
"""

from collections.abc import Hashable, Mapping

from kgroups.core.coordinator.append_errors import NO_ERROR, append_error
from kgroups.core.coordinator.classic.group import ClassicGroup
from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kgroups.core.coordinator.classic.rebalance import (
    answer_syncs,
    move_group,
    restart_session,
    start_rebalance,
    store_group,
)
from kgroups.core.coordinator.classic.states import OUTCOMES, RESTART, Act, Ask, ClassicState
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.shard import Shard, TimerKind
from kgroups.core.protocol.errors import ErrorCode

HEARTBEAT_OUTCOMES = OUTCOMES[Ask.HEARTBEAT]
# Heartbeats are most of what a coordinator hears; each answer is made once.
HEARTBEAT_ANSWERS: Mapping[ErrorCode, HeartbeatResponse] = {
    error: HeartbeatResponse(error) for error in ErrorCode
}


def sync_group(
    shard: Shard, token: Hashable, request: SyncGroupRequest, group: ClassicGroup
) -> None:
    """SyncGroup to a classic group."""
    error = _check_sync(group, request)
    if error is not ErrorCode.NONE:
        shard.reply(token, SyncGroupResponse(error))
        return
    member = group.members[request.member_id]
    is_leader = group.leader == request.member_id
    ask = Ask.SYNC_LEADER if is_leader else Ask.SYNC_FOLLOWER
    outcome = OUTCOMES[ask][group.state]
    if outcome.act is Act.REFUSE:
        shard.reply(token, SyncGroupResponse(outcome.error))
        return
    group.pending_sync.discard(request.member_id)
    if not group.pending_sync:
        shard.cancel(TimerKind.SYNC, group.group_id)
    if outcome.act is Act.ANSWER:
        response = SyncGroupResponse(
            ErrorCode.NONE, group.protocol_type, group.protocol, member.assignment
        )
        shard.reply(token, response)
        return
    if member.parked_sync is not None:
        shard.drop(member.parked_sync, group.group_id, request.member_id)
    member.parked_sync = token
    if outcome.act is Act.STORE_ASSIGNMENT:
        _store_assignment(shard, group, request)


def _check_sync(group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode:
    error = group.check_member(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    if request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if _differs(request.protocol_type, group.protocol_type) or _differs(
        request.protocol_name, group.protocol
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.NONE


def _differs(given: str | None, chosen: str | None) -> bool:
    return given is not None and chosen is not None and given != chosen


def _store_assignment(shard: Shard, group: ClassicGroup, request: SyncGroupRequest) -> None:
    """The leader has decided: store it and let every member know that waits for it.

    Whom the leader forgot gets nothing; whom it made up is passed over.
    """
    given = {entry.member_id: entry.assignment for entry in request.assignments}
    for member in group.members.values():
        member.assignment = given.get(member.member_id, b"")
    waiting = [m.parked_sync for m in group.members.values() if m.parked_sync is not None]
    since_ms, generation = group.state_since_ms, group.generation

    def failed(error: ErrorCode) -> None:
        for parked in waiting:
            shard.reply(parked, SyncGroupResponse(append_error(error)))
        if group.state is not ClassicState.STABLE or group.generation != generation:
            return
        group.state, group.previous_state = group.previous_state, ClassicState.PREPARING_REBALANCE
        group.state_since_ms = since_ms
        start_rebalance(shard, group, "the assignment could not be written")

    store_group(shard, group, failed)
    shard.event(EventKind.ASSIGNMENT_STORED, group.group_id, request.member_id)
    answer_syncs(shard, group, ErrorCode.NONE)
    move_group(shard, group, ClassicState.STABLE, "the leader synced")


def heartbeat(
    shard: Shard, token: Hashable, request: HeartbeatRequest, group: ClassicGroup
) -> None:
    """Heartbeat to a classic group."""
    error = group.check_member(request.member_id, request.group_instance_id)
    if error is ErrorCode.NONE and request.generation_id != group.generation:
        error = ErrorCode.ILLEGAL_GENERATION
    if error is ErrorCode.NONE:
        error = HEARTBEAT_OUTCOMES[group.state].error
        restart_session(shard, group, group.members[request.member_id])
    shard.reply(token, HEARTBEAT_ANSWERS[error])


def answer_heartbeat(
    shard: Shard, request: HeartbeatRequest, group: Group
) -> HeartbeatResponse | None:
    """The answer of `heartbeat` where a session goes on and nothing else happens; else None."""
    if not isinstance(group, ClassicGroup) or HEARTBEAT_OUTCOMES[group.state] is not RESTART:
        return None
    if group.check_member(request.member_id, request.group_instance_id) is not NO_ERROR:
        return None
    timeout_ms = group.members[request.member_id].session_timeout_ms
    same = request.generation_id == group.generation
    if same and shard.prolong_session(group.group_id, request.member_id, timeout_ms):
        return HEARTBEAT_ANSWERS[NO_ERROR]
    return None
