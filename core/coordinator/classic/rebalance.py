"""Rebalances of a classic group: how one starts, how long it waits, how it ends.

Source: `GroupMetadataManager.prepareRebalance`, `completeClassicGroupJoin`,
`tryCompleteInitialRebalanceElseSchedule`, `expirePendingSync`.
"""

from collections.abc import Hashable

from kgroups.core.coordinator.classic.group import ClassicGroup
from kgroups.core.coordinator.classic.members import ClassicMember
from kgroups.core.coordinator.classic.messages import JoinGroupResponse, SyncGroupResponse
from kgroups.core.coordinator.classic.states import OUTCOMES, Act, Ask, ClassicState
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.log.records import GroupMetadataKey, Record
from kgroups.core.coordinator.shard import Failed, Shard, TimerKind
from kgroups.core.protocol.errors import ErrorCode


def refuse_join(shard: Shard, token: Hashable, error: ErrorCode, member_id: str) -> None:
    """Answer a JoinGroup with an error."""
    shard.reply(token, JoinGroupResponse(error, member_id))


def joined_response(group: ClassicGroup, member_id: str) -> JoinGroupResponse:
    """The generation as it is, for one of its members; the leader learns about all."""
    return JoinGroupResponse(
        ErrorCode.NONE,
        member_id,
        group.generation,
        group.protocol_type,
        group.protocol,
        group.leader or "",
        False,
        group.join_members() if group.leader == member_id else (),
    )


def move_group(shard: Shard, group: ClassicGroup, state: ClassicState, reason: str) -> None:
    """Let the group enter another state, and tell."""
    before = group.state
    group.move_to(state, shard.now_ms)
    shard.event(
        EventKind.STATE_CHANGED,
        group.group_id,
        reason=reason,
        detail=(before.value, state.value),
    )


def restart_session(shard: Shard, group: ClassicGroup, member: ClassicMember) -> None:
    """Begin the member's session anew."""
    shard.restart_session(group.group_id, member.member_id, member.session_timeout_ms)


def take_out_member(shard: Shard, group: ClassicGroup, member_id: str, reason: str) -> None:
    """Remove a member, or an id handed out, with its session; answer its JoinGroup with 25."""
    shard.cancel(TimerKind.HEARTBEAT, group.group_id, member_id)
    leader = group.leader
    member = group.remove(member_id)
    if member is None:
        return
    if member.parked_join is not None:
        refuse_join(shard, member.parked_join, ErrorCode.UNKNOWN_MEMBER_ID, "")
        member.parked_join = None
    if member.parked_sync is not None:
        shard.drop(member.parked_sync, group.group_id, member_id)
        member.parked_sync = None
    shard.event(EventKind.MEMBER_REMOVED, group.group_id, member_id, reason)
    if group.leader not in (None, leader):
        shard.event(EventKind.LEADER_ELECTED, group.group_id, group.leader, "the leader left")


def answer_syncs(shard: Shard, group: ClassicGroup, error: ErrorCode) -> None:
    """Answer every parked SyncGroup and restart those sessions.

    A session that ended while its SyncGroup was parked was passed over, so it must begin anew.
    """
    fine = error is ErrorCode.NONE
    for member in group.members.ordered_values():
        parked = member.parked_sync
        if parked is None:
            continue
        member.parked_sync = None
        response = SyncGroupResponse(
            error,
            group.protocol_type if fine else None,
            group.protocol if fine else None,
            member.assignment,
        )
        shard.reply(parked, response)
        restart_session(shard, group, member)


def start_rebalance(shard: Shard, group: ClassicGroup, reason: str) -> None:
    """Begin a join phase: at once, or for a group that was empty after the initial delay."""
    if group.state is ClassicState.COMPLETING_REBALANCE:
        for member in group.members.values():
            member.assignment = b""
        answer_syncs(shard, group, ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_sync.clear()
    shard.cancel(TimerKind.SYNC, group.group_id)
    initial = group.state is ClassicState.EMPTY
    if initial:
        delay_ms = shard.config.classic_initial_rebalance_delay_ms
        remaining_ms = max(group.rebalance_timeout_ms() - delay_ms, 0)
        shard.schedule(TimerKind.JOIN, group.group_id, "", delay_ms, (delay_ms, remaining_ms))
    move_group(shard, group, ClassicState.PREPARING_REBALANCE, reason)
    if initial:
        return
    if group.all_joined():
        complete_join_phase(shard, group)
    else:
        shard.schedule(TimerKind.JOIN, group.group_id, "", group.rebalance_timeout_ms())


def complete_if_all_joined(shard: Shard, group: ClassicGroup, *, cut_short: bool = False) -> None:
    """End the join phase if nobody is missing and the initial delay does not hold it.

    Args:
        cut_short: end it in spite of the initial delay, as an expired session does in Kafka.
    """
    held = group.previous_state is ClassicState.EMPTY and not cut_short
    if group.state is ClassicState.PREPARING_REBALANCE and group.all_joined() and not held:
        complete_join_phase(shard, group)


def rebalance_or_complete(shard: Shard, group: ClassicGroup, act: Act, reason: str) -> None:
    """Carry out what the table says about a group whose members changed."""
    if act in (Act.PARK_REBALANCE, Act.REBALANCE):
        start_rebalance(shard, group, reason)
    elif act in (Act.PARK, Act.COMPLETE_IF_ALL_JOINED):
        complete_if_all_joined(shard, group)
    elif act is Act.CUT_SHORT_IF_ALL_JOINED:
        complete_if_all_joined(shard, group, cut_short=True)


def join_timer(
    shard: Shard, group_id: str, member_id: str, payload: tuple[int, int] | None
) -> None:
    """The join phase has lasted long enough, or one step of the initial delay is over."""
    group = shard.groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        return
    if group.state is ClassicState.EMPTY:
        # Armed before the group was a consumer group for a while. Kafka counts the generation, and
        # then finds that there is no phase to end.
        group.generation += 1
    if group.state is not ClassicState.PREPARING_REBALANCE:
        return
    if payload is not None:
        delay_ms, remaining_ms = payload
        if group.new_member_added and remaining_ms > 0:
            group.new_member_added = False
            next_ms = min(shard.config.classic_initial_rebalance_delay_ms, remaining_ms)
            rest = (next_ms, max(remaining_ms - delay_ms, 0))
            shard.schedule(TimerKind.JOIN, group_id, "", next_ms, rest)
            return
    complete_join_phase(shard, group)


def complete_join_phase(shard: Shard, group: ClassicGroup) -> None:
    """Drop who did not join, and begin the next generation."""
    group_id = group.group_id
    shard.cancel(TimerKind.JOIN, group_id)
    for member in list(group.members.values()):
        if member.parked_join is None and member.instance_id is None:
            take_out_member(shard, group, member.member_id, "did not rejoin in time")
    leader = group.leader
    if not group.elect_joined_leader() and group.members:
        # Static members are still there and none has joined: wait until their sessions end.
        shard.schedule(TimerKind.JOIN, group_id, "", group.rebalance_timeout_ms())
        return
    if group.leader is not None and group.leader != leader:
        shard.event(EventKind.LEADER_ELECTED, group_id, group.leader, "the leader did not rejoin")
    ask = Ask.JOIN_PHASE_OVER if group.members else Ask.JOIN_PHASE_OVER_EMPTY
    to = OUTCOMES[ask][group.state].to
    assert to is not None
    group.generation += 1
    group.pending_sync.clear()
    if group.members:
        votes = group.count_votes()
        group.protocol = group.vote()
        shard.event(
            EventKind.PROTOCOL_CHOSEN, group_id, reason=group.protocol, detail=tuple(votes.items())
        )
    else:
        group.protocol = None
    group.subscribed_topics = group.compute_topics()
    move_group(shard, group, to, f"generation {group.generation}")
    if group.members:
        _begin_generation(shard, group)
    else:
        store_group(shard, group)


def _begin_generation(shard: Shard, group: ClassicGroup) -> None:
    """Answer every JoinGroup; all members are to sync now."""
    for member in group.members.ordered_values():
        parked = group.park_join(member, None)
        if parked is not None:
            shard.reply(parked, joined_response(group, member.member_id))
        restart_session(shard, group, member)
        member.is_new = False
        group.pending_sync.add(member.member_id)
    shard.schedule(
        TimerKind.SYNC, group.group_id, "", group.rebalance_timeout_ms(), group.generation
    )


def store_group(shard: Shard, group: ClassicGroup, failed: Failed = lambda _: None) -> None:
    """Write the group as it is; `failed` gives the other answers if the log refuses it."""
    before, group.stored = group.stored, group.stored_value()

    def take_back(error: ErrorCode) -> None:
        group.stored = before
        failed(error)

    record = Record(GroupMetadataKey(group.group_id), group.stored)
    shard.write(group.partition, [record], replayed=False, failed=take_back)


def release_parked(shard: Shard, group: ClassicGroup, error: ErrorCode) -> None:
    """Answer every JoinGroup and SyncGroup that is parked with this error."""
    for member in group.members.ordered_values():
        joining = group.park_join(member, None)
        if joining is not None:
            refuse_join(shard, joining, error, member.member_id)
        if member.parked_sync is not None:
            shard.reply(member.parked_sync, SyncGroupResponse(error))
            member.parked_sync = None


def cancel_timers(shard: Shard, group: ClassicGroup) -> None:
    """Disarm every timer of the group, its members and the ids handed out."""
    for member_id in (*group.members, *group.pending_join):
        shard.cancel(TimerKind.HEARTBEAT, group.group_id, member_id)
    shard.cancel(TimerKind.JOIN, group.group_id)
    shard.cancel(TimerKind.SYNC, group.group_id)


def sync_timer(shard: Shard, group_id: str, member_id: str, generation: int) -> None:
    """Who has not synced by now is out."""
    group = shard.groups.get(group_id)
    if not isinstance(group, ClassicGroup) or group.generation != generation:
        return
    outcome = OUTCOMES[Ask.SYNC_EXPIRED][group.state]
    if outcome.act is Act.REBALANCE and group.pending_sync:
        for late in sorted(group.pending_sync):
            take_out_member(shard, group, late, "did not sync in time")
        start_rebalance(shard, group, "members did not sync in time")


def session_timer(shard: Shard, group_id: str, member_id: str, payload: object) -> None:
    """A member, or the owner of an id handed out, was not heard of for too long."""
    group = shard.groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        return
    if member_id in group.pending_join:
        group.remove(member_id)
        outcome = OUTCOMES[Ask.PENDING_EXPIRED][group.state]
        rebalance_or_complete(shard, group, outcome.act, f"{member_id} never joined")
        return
    member = group.members.get(member_id)
    if member is None or member.is_heard_of():
        return
    take_out_member(shard, group, member_id, "session timed out")
    outcome = OUTCOMES[Ask.SESSION_EXPIRED][group.state]
    rebalance_or_complete(shard, group, outcome.act, f"session of {member_id} timed out")
