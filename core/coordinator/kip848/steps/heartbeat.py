"""ConsumerGroupHeartbeat: join, stay, reconcile.

One heartbeat goes through the steps of KIP-848: update the member, bump the group epoch if its
subscription or its topics changed, compute a new target when it is due, bring the member one step
closer to it, answer. Source: `GroupMetadataManager.consumerGroupHeartbeat`.
"""

from collections.abc import Hashable
from dataclasses import replace

from kgroups.core.coordinator.append_errors import append_error
from kgroups.core.coordinator.classic.group import ClassicGroup
from kgroups.core.coordinator.classic.rebalance import release_parked
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.kip848.batch import Batch
from kgroups.core.coordinator.kip848.bridge.convert import (
    check_members,
    check_upgrade,
    upgrade_group,
)
from kgroups.core.coordinator.kip848.group import Kip848Group, QuietAnswer
from kgroups.core.coordinator.kip848.member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    Kip848Member,
    Owned,
    member_record,
)
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from kgroups.core.coordinator.kip848.steps.checks import (
    Refusal,
    check_epoch,
    check_room,
    find_member,
    find_static,
    new_member_id,
    owned_partitions,
)
from kgroups.core.coordinator.kip848.steps.leave import leave_for_a_while, leave_group, take_over
from kgroups.core.coordinator.kip848.steps.progress import (
    advance_group,
    heartbeat_interval_ms,
    reconcile_member,
    restart_session,
)
from kgroups.core.coordinator.kip848.steps.regex import (
    RegexStatus,
    apply_status,
    regex_status,
    resolve_if_due,
)
from kgroups.core.coordinator.ports import AssignorFailed
from kgroups.core.coordinator.releases import Rule
from kgroups.core.coordinator.shard import Shard
from kgroups.core.protocol.errors import ErrorCode


def heartbeat(
    shard: Shard, token: Hashable, request: ConsumerGroupHeartbeatRequest, group: Group | None
) -> None:
    """ConsumerGroupHeartbeat, whatever the group is."""
    refusal: Refusal | None
    if not shard.ports.assignors:
        refusal = Refusal(ErrorCode.UNSUPPORTED_VERSION, "The consumer group protocol is disabled.")
    elif request.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH):
        refusal = _leave(shard, token, request, group)
    else:
        refusal = _stay(shard, token, request, group)
    if refusal is not None:
        shard.reply(token, ConsumerGroupHeartbeatResponse(*refusal))


def _leave(
    shard: Shard, token: Hashable, request: ConsumerGroupHeartbeatRequest, group: Group | None
) -> Refusal | None:
    if group is None:
        return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
    if not isinstance(group, Kip848Group):
        return _other_kind(request.group_id)
    member = find_member(group, request)
    if isinstance(member, Refusal):
        return member
    batch, replayed = Batch(shard, group.partition), True
    if request.member_epoch == LEAVE_STATIC_EPOCH:
        leave_for_a_while(batch, group, member)
    else:
        replayed = leave_group(batch, group, [member], "left")
    _write(shard, batch, token, replayed=replayed)
    shard.reply(
        token,
        ConsumerGroupHeartbeatResponse(
            ErrorCode.NONE, None, request.member_id, request.member_epoch
        ),
    )
    return None


def _stay(
    shard: Shard, token: Hashable, request: ConsumerGroupHeartbeatRequest, existing: Group | None
) -> Refusal | None:
    if isinstance(existing, Kip848Group) and _is_quiet(shard, existing, request):
        shard.reply(token, _keep_alive(shard, request, existing))
        return None
    partition = shard.partition_of(request.group_id) if existing is None else existing.partition
    batch = Batch(shard, partition)
    group = _own_group(batch, request, existing)
    if isinstance(group, Refusal):
        return group
    refusal = check_room(group, shard.config, request.member_id, request.instance_id)
    if refusal is not None:
        return refusal
    if not request.member_id:
        request = replace(request, member_id=new_member_id(shard))
    member = _find(request, group)
    if isinstance(member, Refusal):
        return member
    before = member or Kip848Member(request.member_id)
    if _is_back(group, request, member):
        before = take_over(batch, group, before, request.member_id)
    after = _updated(before, request)
    status = regex_status(shard, group, before, after)
    if isinstance(status, Refusal):
        return status
    mark = len(shard.effects)
    _tell_newcomer(shard, group.group_id, existing, after.member_id, is_new=member is None)
    try:
        answer = _step(batch, group, request, before, after, status)
    except AssignorFailed:
        batch.abandon()
        del shard.effects[mark:]  # nothing of it has happened
        return Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
    _write(shard, batch, token)
    shard.reply(token, answer)
    return None


def _is_quiet(shard: Shard, group: Kip848Group, request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether all steps come to nothing, as with most heartbeats: nothing is new on either side."""
    epoch = request.member_epoch
    if epoch != group.target_epoch or epoch != group.group_epoch:
        return False
    if group.metadata_changed or group.tally.patterns:
        return False
    if len(group.tally.assignors) > 1 and shard.config.follows(Rule.ASSIGNOR_CHANGE_BUMPS):
        return False  # a tie may be broken otherwise each time, and then the epoch moves on
    member, last = group.members.get(request.member_id), group.last_answers.get(request.member_id)
    # Neither ever changes: who says the same as before, and is the same, is quiet as before.
    if last is not None and last.request is request and last.member is member:
        return True
    return (
        member is not None
        and epoch > JOIN_EPOCH
        and member.is_at(epoch)
        and request.instance_id is None
        and request.topic_partitions is None
        and _says_nothing(member, request)
    )


def _keep_alive(
    shard: Shard, request: ConsumerGroupHeartbeatRequest, group: Kip848Group
) -> ConsumerGroupHeartbeatResponse:
    """A quiet heartbeat begins the member's session anew, and that is all."""
    member, last = group.members[request.member_id], group.last_answers.get(request.member_id)
    restart_session(shard, group, member)
    interval_ms = heartbeat_interval_ms(shard, group.group_id)
    answer = None if last is None else last.response
    if (
        answer is None
        or answer.member_epoch != member.member_epoch
        or answer.heartbeat_interval_ms != interval_ms
    ):
        answer = ConsumerGroupHeartbeatResponse(
            ErrorCode.NONE, None, member.member_id, member.member_epoch, interval_ms
        )
    if last is None or last.request is not request or last.member is not member:
        group.last_answers[request.member_id] = QuietAnswer(request, member, answer)
    elif answer is not last.response:
        group.last_answers[request.member_id] = last._replace(response=answer)
    return answer


def answer_heartbeat(
    shard: Shard, request: ConsumerGroupHeartbeatRequest, group: Group
) -> ConsumerGroupHeartbeatResponse | None:
    """The answer of `heartbeat` to a quiet one; None to any other."""
    if isinstance(group, Kip848Group) and _is_quiet(shard, group, request):
        return _keep_alive(shard, request, group)
    return None


def _tell_newcomer(
    shard: Shard, group_id: str, existing: Group | None, member_id: str, *, is_new: bool
) -> None:
    """The group and its members after the request."""
    if existing is None:
        shard.event(EventKind.GROUP_CREATED, group_id, reason="a member joined")
    elif not isinstance(existing, Kip848Group):
        shard.event(EventKind.GROUP_CONVERTED, group_id, reason="upgraded")
    if is_new:
        shard.event(EventKind.MEMBER_ADDED, group_id, member_id, "joined")


def _is_back(
    group: Kip848Group, request: ConsumerGroupHeartbeatRequest, member: Kip848Member | None
) -> bool:
    """Whether a static member that was away, or a classic one, joins anew: under any member id."""
    return (
        request.member_epoch == JOIN_EPOCH
        and member is not None
        and request.instance_id in group.static_members
    )


def _other_kind(group_id: str) -> Refusal:
    text = f"Group {group_id} is not a consumer group."
    return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, text)


def _find(
    request: ConsumerGroupHeartbeatRequest, group: Kip848Group
) -> Kip848Member | Refusal | None:
    """The member that this heartbeat is of; None if it is a new one."""
    if request.member_epoch != JOIN_EPOCH:
        member = find_member(group, request)
        if isinstance(member, Refusal):
            return member
        owned = owned_partitions(request.topic_partitions)
        return check_epoch(member, request.member_epoch, owned) or member
    if request.instance_id is None:
        return group.members.get(request.member_id)
    holder = find_static(group, request.instance_id)
    if isinstance(holder, Refusal):
        return holder
    if holder is None:
        return group.members.get(request.member_id)
    if not holder.speaks_classic() and not holder.has_left_for_a_while():
        return Refusal(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {request.member_id} with instance id {request.instance_id} cannot "
            f"join the group because the instance id is owned by {holder.member_id} member.",
        )
    return holder


def _own_group(
    batch: Batch, request: ConsumerGroupHeartbeatRequest, group: Group | None
) -> Kip848Group | Refusal:
    """The consumer group as it is, or as the batch will make it."""
    shard = batch.shard
    if isinstance(group, Kip848Group):
        return group
    if request.member_epoch != JOIN_EPOCH:
        if group is not None:
            return _other_kind(request.group_id)
        text = f"Consumer group {request.group_id} not found."
        return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, text)
    if group is not None and not isinstance(group, ClassicGroup):
        return _other_kind(request.group_id)
    if group is None or group.is_empty():
        if group is not None:
            batch.convert(group.tombstones())
        return Kip848Group(request.group_id, batch.partition)
    refusal = check_upgrade(shard, group)
    if refusal is not None:
        return refusal
    # From here on Kafka has told the members to join again, whatever becomes of the upgrade.
    release_parked(shard, group, ErrorCode.REBALANCE_IN_PROGRESS)
    return check_members(group) or upgrade_group(batch, group)


def _step(
    batch: Batch,
    group: Kip848Group,
    request: ConsumerGroupHeartbeatRequest,
    before: Kip848Member,
    after: Kip848Member,
    status: RegexStatus,
) -> ConsumerGroupHeartbeatResponse:
    """Bring the group and the member on, and give the answer."""
    shard = batch.shard
    names_changed = after.subscribed_topic_names != before.subscribed_topic_names
    bumps = names_changed or status.bumps or _elects_another(shard, group, before, after)
    if after is not before and after != before:
        batch.add(member_record(group.group_id, after))
    apply_status(batch, group, status)
    target = advance_group(batch, group, before, after, bump=bumps)
    resolve_if_due(shard, group, before, after, status)
    member = reconcile_member(
        batch,
        group,
        after,
        target,
        owned_partitions(request.topic_partitions),
        subscription_changed=names_changed or status.changed,
    )
    restart_session(shard, group, member)
    return ConsumerGroupHeartbeatResponse(
        ErrorCode.NONE,
        None,
        member.member_id,
        member.member_epoch,
        heartbeat_interval_ms(shard, group.group_id),
        _assignment(before.assigned, member.assigned, request),
    )


def _elects_another(
    shard: Shard, group: Kip848Group, before: Kip848Member, after: Kip848Member
) -> bool:
    """Whether what this member asks for makes another assignor the group's."""
    if not shard.config.follows(Rule.ASSIGNOR_CHANGE_BUMPS):
        return False
    default, tally = shard.config.consumer_assignors[0], group.tally
    elected = tally.elected_assignor() or default
    return elected != (tally.next_assignor(before, after) or default)


def _updated(member: Kip848Member, request: ConsumerGroupHeartbeatRequest) -> Kip848Member:
    """The member with what the request says of it; what is null stays."""
    if _says_nothing(member, request):
        return member
    names = request.subscribed_topic_names
    regex = request.subscribed_topic_regex
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=_given(request.instance_id, member.instance_id),
        rack_id=_given(request.rack_id, member.rack_id),
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        subscribed_topic_names=member.subscribed_topic_names if names is None else frozenset(names),
        subscribed_topic_regex=member.subscribed_topic_regex if regex is None else regex,
        server_assignor=_given(request.server_assignor, member.server_assignor),
        classic=None,
    )


def _says_nothing(member: Kip848Member, request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether a heartbeat only keeps the member alive, as most of them do."""
    return (
        request.rebalance_timeout_ms == -1
        and request.subscribed_topic_names is None
        and request.subscribed_topic_regex is None
        and request.server_assignor is None
        and request.rack_id is None
        and request.instance_id in (None, member.instance_id)
        and request.client_id == member.client_id
        and request.client_host == member.client_host
        and member.classic is None
    )


def _given(new: str | None, old: str | None) -> str | None:
    return old if new is None else new


def _assignment(
    before: Owned, after: Owned, request: ConsumerGroupHeartbeatRequest
) -> tuple[TopicPartitions, ...] | None:
    """The assignment in the answer: on joining, after a full request, on change."""
    full = (
        request.rebalance_timeout_ms != -1
        and (
            request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
        )
        and request.topic_partitions is not None
    )
    if request.member_epoch != JOIN_EPOCH and not full and before == after:
        return None
    return tuple(
        TopicPartitions(topic_id, tuple(partitions)) for topic_id, partitions in after.items()
    )


def _write(shard: Shard, batch: Batch, token: Hashable, *, replayed: bool = True) -> None:
    def failed(error: ErrorCode) -> None:
        shard.reply(token, ConsumerGroupHeartbeatResponse(append_error(error)))

    batch.write(failed, replayed=replayed)
