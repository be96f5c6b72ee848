"""JoinGroup to a classic group, and the static members that take the place of themselves.

Source: `GroupMetadataManager.classicGroupJoinToClassicGroup` and what it calls.
"""

from collections.abc import Hashable

from kgroups.core.coordinator.append_errors import append_error
from kgroups.core.coordinator.classic.group import ClassicGroup
from kgroups.core.coordinator.classic.members import ClassicMember
from kgroups.core.coordinator.classic.messages import (
    UNKNOWN_MEMBER_ID,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupResponse,
)
from kgroups.core.coordinator.classic.rebalance import (
    cancel_timers,
    joined_response,
    rebalance_or_complete,
    refuse_join,
    restart_session,
    start_rebalance,
    store_group,
    take_out_member,
)
from kgroups.core.coordinator.classic.states import OUTCOMES, Act, Ask, ClassicState
from kgroups.core.coordinator.config import NEW_MEMBER_JOIN_TIMEOUT_MS
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.log.records import GroupMetadataKey, GroupMetadataValue, Record
from kgroups.core.coordinator.shard import Shard, TimerKind
from kgroups.core.protocol.errors import ErrorCode

KNOWN_MEMBER_ID_VERSION = 4  # KIP-394: from here on a new member asks twice
SKIP_ASSIGNMENT_VERSION = 9  # KIP-814: from here on a returning leader learns the members


def join_no_group(
    shard: Shard, token: Hashable, request: JoinGroupRequest, group: Group | None
) -> None:
    """JoinGroup to a group that does not exist: a new member creates it."""
    assert request.group_id is not None
    if request.member_id != UNKNOWN_MEMBER_ID:
        refuse_join(shard, token, ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
        return
    created = create_group(shard, request.group_id, "a member joined")
    join_group(shard, token, request, created)
    _store_created(shard, created)


def create_group(shard: Shard, group_id: str, reason: str) -> ClassicGroup:
    """A new, empty group in memory."""
    group = ClassicGroup(group_id, shard.partition_of(group_id), state_since_ms=shard.now_ms)
    group.hidden_until = shard.sequence
    shard.groups[group_id] = group
    shard.event(EventKind.GROUP_CREATED, group_id, reason=reason)
    return group


def _store_created(shard: Shard, group: ClassicGroup) -> None:
    """Write that the group exists; should that fail, it does not."""
    since_ms = -1 if group.state_since_ms is None else group.state_since_ms
    group.stored = GroupMetadataValue("", 0, current_state_timestamp_ms=since_ms)

    def failed(error: ErrorCode) -> None:
        for member in list(group.members.values()):
            if member.parked_join is not None:
                refuse_join(shard, member.parked_join, append_error(error), UNKNOWN_MEMBER_ID)
        cancel_timers(shard, group)
        shard.remove_group(group.group_id, "its creation could not be written")

    record = Record(GroupMetadataKey(group.group_id), group.stored)
    shard.write(group.partition, [record], replayed=False, failed=failed)


def join_group(
    shard: Shard, token: Hashable, request: JoinGroupRequest, group: ClassicGroup
) -> None:
    """JoinGroup to a classic group."""
    if not _has_room(shard, group, request.member_id):
        take_out_member(shard, group, request.member_id, "the group is full")
        refuse_join(shard, token, ErrorCode.GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID)
    elif request.member_id == UNKNOWN_MEMBER_ID:
        _join_new(shard, token, request, group)
    else:
        _join_known(shard, token, request, group)


def _has_room(shard: Shard, group: ClassicGroup, member_id: str) -> bool:
    limit = shard.config.classic_max_size
    member = group.members.get(member_id)
    if group.state is ClassicState.PREPARING_REBALANCE:
        waits = member is not None and member.parked_join is not None
        return waits or group.joined_count() < limit
    if group.state in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE):
        return member is not None or len(group.members) < limit
    return True


def _join_new(
    shard: Shard, token: Hashable, request: JoinGroupRequest, group: ClassicGroup
) -> None:
    if not group.supports(request.protocol_type, request.protocols):
        refuse_join(shard, token, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID)
        return
    instance_id = request.group_instance_id
    name = request.client_id if instance_id is None else instance_id
    member_id = f"{name}-{shard.new_id()}"
    if instance_id is not None and instance_id in group.static_members:
        _replace_static(shard, token, request, group, member_id)
    elif instance_id is None and request.version >= KNOWN_MEMBER_ID_VERSION:
        outcome = OUTCOMES[Ask.JOIN_NEW_DYNAMIC][group.state]
        group.pending_join.add(member_id)
        shard.restart_session(group.group_id, member_id, request.session_timeout_ms)
        refuse_join(shard, token, outcome.error, member_id)
    else:
        _add_member(shard, token, request, group, member_id, Ask.JOIN_NEW)


def _join_known(
    shard: Shard, token: Hashable, request: JoinGroupRequest, group: ClassicGroup
) -> None:
    member_id = request.member_id
    if not group.supports(request.protocol_type, request.protocols):
        refuse_join(shard, token, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id)
        return
    if member_id in group.pending_join:
        if request.group_instance_id is not None:
            # Ids are handed out to dynamic members only; Kafka calls this an illegal state.
            refuse_join(shard, token, ErrorCode.UNKNOWN_SERVER_ERROR, UNKNOWN_MEMBER_ID)
            return
        _add_member(shard, token, request, group, member_id, Ask.JOIN_PENDING)
        return
    error = group.check_member(member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        refuse_join(shard, token, error, member_id)
        return
    member = group.members[member_id]
    outcome = OUTCOMES[_kind_of_rejoin(group, member, request)][group.state]
    if outcome.act is Act.REFUSE:
        refuse_join(shard, token, outcome.error, member_id)
    elif outcome.act is Act.ANSWER:
        shard.reply(token, joined_response(group, member_id))
    else:
        _update_member(shard, token, request, group, member)
        why = f": {request.reason}" if request.reason else ""
        rebalance_or_complete(shard, group, outcome.act, f"{member_id} rejoined{why}")


def _kind_of_rejoin(group: ClassicGroup, member: ClassicMember, request: JoinGroupRequest) -> Ask:
    if member.protocols != request.protocols:
        return Ask.JOIN_CHANGED
    is_leader = group.leader == member.member_id
    return Ask.JOIN_UNCHANGED_LEADER if is_leader else Ask.JOIN_UNCHANGED_FOLLOWER


def _add_member(
    shard: Shard,
    token: Hashable,
    request: JoinGroupRequest,
    group: ClassicGroup,
    member_id: str,
    ask: Ask,
) -> None:
    outcome = OUTCOMES[ask][group.state]
    member = ClassicMember(
        member_id,
        request.group_instance_id,
        request.client_id,
        request.client_host,
        request.rebalance_ms,
        request.session_timeout_ms,
        request.protocol_type,
        request.protocols,
        is_new=True,
    )
    if (
        group.state is ClassicState.PREPARING_REBALANCE
        and group.previous_state is ClassicState.EMPTY
    ):
        group.new_member_added = True
    leader = group.leader
    group.add(member, token)
    shard.event(EventKind.MEMBER_ADDED, group.group_id, member_id, request.reason or "joined")
    if group.leader != leader:
        shard.event(EventKind.LEADER_ELECTED, group.group_id, member_id, "the first to join")
    # It has not learned its id and cannot heartbeat, and its connection is held: a fixed time.
    shard.restart_session(group.group_id, member_id, NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance_or_complete(shard, group, outcome.act, f"{member_id} joined")


def _update_member(
    shard: Shard,
    token: Hashable,
    request: JoinGroupRequest,
    group: ClassicGroup,
    member: ClassicMember,
) -> None:
    group.update(member, request.protocols, request.rebalance_ms, request.session_timeout_ms)
    before = group.park_join(member, token)
    if before is not None:
        shard.drop(before, group.group_id, member.member_id)


def _replace_static(
    shard: Shard, token: Hashable, request: JoinGroupRequest, group: ClassicGroup, new_id: str
) -> None:
    """A static member is back without its id: a new id takes over what the old one had."""
    instance_id = request.group_instance_id or ""
    old_id = group.static_members[instance_id]
    old_leader = group.leader
    old = group.members[old_id]
    joining, syncing = group.park_join(old, None), old.parked_sync
    if joining is not None:
        refuse_join(shard, joining, ErrorCode.FENCED_INSTANCE_ID, old_id)
    if syncing is not None:
        shard.reply(syncing, SyncGroupResponse(ErrorCode.FENCED_INSTANCE_ID))
    shard.cancel(TimerKind.HEARTBEAT, group.group_id, old_id)
    member = group.replace(instance_id, old_id, new_id)
    shard.event(
        EventKind.MEMBER_REPLACED, group.group_id, new_id, f"{instance_id} is back", (old_id,)
    )
    restart_session(shard, group, member)
    outcome = OUTCOMES[Ask.JOIN_REPLACING][group.state]
    _update_member(shard, token, request, group, member)
    if outcome.act is not Act.REPLACE:
        rebalance_or_complete(shard, group, outcome.act, f"{instance_id} is back")
    elif group.vote() != group.protocol:
        start_rebalance(shard, group, f"{instance_id} is back and changes the vote")
    else:
        _answer_replaced(shard, token, request, group, member, old, old_leader)


def _answer_replaced(
    shard: Shard,
    token: Hashable,
    request: JoinGroupRequest,
    group: ClassicGroup,
    member: ClassicMember,
    old: ClassicMember,
    old_leader: str | None,
) -> None:
    """Store the new id and answer with the generation as it is: nobody need rebalance."""

    def failed(error: ErrorCode) -> None:
        refuse_join(shard, token, append_error(error), UNKNOWN_MEMBER_ID)
        if member.member_id not in group.members:
            return
        group.update(member, old.protocols, old.rebalance_timeout_ms, old.session_timeout_ms)
        shard.cancel(TimerKind.HEARTBEAT, group.group_id, member.member_id)
        returned = group.replace(old.instance_id or "", member.member_id, old.member_id)
        restart_session(shard, group, returned)

    store_group(shard, group, failed)
    group.park_join(member, None)
    is_leader = group.leader == member.member_id
    knows_skipping = request.version >= SKIP_ASSIGNMENT_VERSION
    response = JoinGroupResponse(
        ErrorCode.NONE,
        member.member_id,
        group.generation,
        group.protocol_type,
        group.protocol,
        # Told its old id as leader's, a returning leader of an old version takes itself for a
        # follower and does not assign anew.
        (group.leader if knows_skipping else old_leader) or "",
        knows_skipping and is_leader,
        group.join_members() if knows_skipping and is_leader else (),
    )
    shard.reply(token, response)
