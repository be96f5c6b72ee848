"""ConsumerGroupHeartbeat: join, stay, reconcile.

One heartbeat goes through the steps of KIP-848: update the member, bump the group epoch if its
subscription or its topics changed, compute a new target when it is due, bring the member one step
closer to it, answer. Source: `GroupMetadataManager.consumerGroupHeartbeat`.
"""

import base64
from collections.abc import Hashable
from dataclasses import replace

from kgroups.core.coordinator.classic_group import ClassicGroup
from kgroups.core.coordinator.consumer_batch import Batch
from kgroups.core.coordinator.consumer_checks import (
    Refusal,
    check_epoch,
    check_room,
    find_member,
    find_static,
    owned_partitions,
    refuse_heartbeat,
)
from kgroups.core.coordinator.consumer_convert import (
    answer_parked,
    check_members,
    check_upgrade,
    upgrade_group,
)
from kgroups.core.coordinator.consumer_group import ConsumerGroup
from kgroups.core.coordinator.consumer_leave import leave_for_a_while, leave_group
from kgroups.core.coordinator.consumer_member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    ConsumerMember,
    Owned,
    Partitions,
    member_record,
    sets_of,
)
from kgroups.core.coordinator.consumer_messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from kgroups.core.coordinator.consumer_progress import (
    advance_group,
    heartbeat_interval_ms,
    reconcile_member,
    restart_session,
)
from kgroups.core.coordinator.consumer_regex import RegexStatus, regex_status, resolve_if_due
from kgroups.core.coordinator.consumer_static import take_over
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.errors import ErrorCode, append_error
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.shard import Shard


def heartbeat(
    shard: Shard, token: Hashable, request: ConsumerGroupHeartbeatRequest, group: Group | None
) -> None:
    """ConsumerGroupHeartbeat, whatever the group is."""
    if request.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH):
        refusal = _leave(shard, token, request, group)
    else:
        refusal = _stay(shard, token, request, group)
    if refusal is not None:
        shard.reply(token, refuse_heartbeat(request, refusal.error, refusal.message))


def _leave(
    shard: Shard, token: Hashable, request: ConsumerGroupHeartbeatRequest, group: Group | None
) -> Refusal | None:
    if group is None:
        return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
    if not isinstance(group, ConsumerGroup):
        return _other_kind(request.group_id)
    member = find_member(group, request)
    if isinstance(member, Refusal):
        return member
    batch = Batch(shard, group.partition)
    if request.member_epoch == LEAVE_STATIC_EPOCH:
        leave_for_a_while(batch, group, member)
    else:
        leave_group(batch, group, [member], "left")
    _write(shard, batch, token, request)
    shard.reply(
        token,
        ConsumerGroupHeartbeatResponse(
            ErrorCode.NONE, None, request.member_id, request.member_epoch
        ),
    )
    return None


def _stay(
    shard: Shard, token: Hashable, request: ConsumerGroupHeartbeatRequest, group: Group | None
) -> Refusal | None:
    joining = request.member_epoch == JOIN_EPOCH
    refusal = _check_group(shard, request, group)
    if refusal is not None:
        return refusal
    if not request.member_id:
        request = replace(request, member_id=_new_member_id(shard))
    known: ConsumerMember | None = None
    if isinstance(group, ConsumerGroup):
        found = _find(shard, request, group)
        if isinstance(found, Refusal):
            return found
        known = found
    member_id = request.member_id
    status = regex_status(shard, group, known, request)
    if isinstance(status, Refusal):
        return status
    batch = Batch(shard, shard.partition_of(request.group_id))
    group, upgraded = _own_group(batch, request, group)
    if upgraded:
        found = _find(shard, request, group)
        assert not isinstance(found, Refusal), "classic members do not hold their instance ids"
        known = found
    foreign: Partitions = {}
    taken_over: str | None = None
    if joining and known is not None and request.instance_id in group.static_members:
        overwritten = group.members.get(member_id)
        if overwritten is not None and overwritten is not known:
            foreign = sets_of(overwritten.assigned)
        if member_id not in group.target:
            taken_over = member_id
        known = take_over(batch, group, known, member_id)
    before = known or ConsumerMember(member_id)
    if known is None:
        shard.event(EventKind.MEMBER_ADDED, group.group_id, member_id, "joined")
    answer = _step(batch, group, before, request, status, foreign, taken_over)
    _write(shard, batch, token, request)
    shard.reply(token, answer)
    return None


def _check_group(
    shard: Shard, request: ConsumerGroupHeartbeatRequest, group: Group | None
) -> Refusal | None:
    """Whether this kind of group, or none, can be heartbeaten with this epoch."""
    if isinstance(group, ConsumerGroup):
        return check_room(group, shard.config, request.member_id)
    if request.member_epoch != JOIN_EPOCH:
        if group is None:
            text = f"Consumer group {request.group_id} not found."
            return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, text)
        return _other_kind(request.group_id)
    if group is None or group.is_empty():
        if shard.config.consumer_max_size > 0:
            return None
        return check_room(ConsumerGroup(request.group_id, 0), shard.config, request.member_id)
    if not isinstance(group, ClassicGroup):
        return _other_kind(request.group_id)
    refusal = check_upgrade(shard, group)
    if refusal is None:
        # From here on Kafka has told the members to join again, whatever becomes of the upgrade.
        answer_parked(shard, group)
        refusal = check_members(group)
    return refusal


def _other_kind(group_id: str) -> Refusal:
    text = f"Group {group_id} is not a consumer group."
    return Refusal(ErrorCode.GROUP_ID_NOT_FOUND, text)


def _find(
    shard: Shard, request: ConsumerGroupHeartbeatRequest, group: ConsumerGroup
) -> ConsumerMember | Refusal | None:
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
) -> tuple[ConsumerGroup, bool]:
    """The consumer group, made or converted if need be; and whether it was a classic one."""
    if isinstance(group, ConsumerGroup):
        return group, False
    if group is None:
        return batch.create_group(request.group_id, "a member joined"), False
    return upgrade_group(batch, group), True


def _new_member_id(shard: Shard) -> str:
    raw = base64.urlsafe_b64encode(shard.new_id().bytes)
    return raw.decode().rstrip("=")


def _step(
    batch: Batch,
    group: ConsumerGroup,
    before: ConsumerMember,
    request: ConsumerGroupHeartbeatRequest,
    status: RegexStatus,
    foreign: Partitions,
    taken_over: str | None,
) -> ConsumerGroupHeartbeatResponse:
    """Bring the group and the member on, and give the answer."""
    shard = batch.shard
    group.update_kind()
    updated = _updated(before, request)
    names_changed = updated.subscribed_topic_names != before.subscribed_topic_names
    regex_changed = updated.subscribed_topic_regex != before.subscribed_topic_regex
    if updated != before or before.member_id not in group.members:
        batch.add(member_record(group.group_id, updated))
    status.apply(batch, group)
    bump = names_changed or status.bumps
    advance_group(batch, group, updated, bump=bump, taken_over=taken_over)
    member = group.members[updated.member_id]
    member = reconcile_member(
        batch,
        group,
        member,
        owned_partitions(request.topic_partitions),
        subscription_changed=names_changed or regex_changed,
        foreign=foreign,
    )
    resolve_if_due(shard, group, required=status.resolves)
    restart_session(shard, group, member)
    return ConsumerGroupHeartbeatResponse(
        ErrorCode.NONE,
        None,
        member.member_id,
        member.member_epoch,
        heartbeat_interval_ms(shard, group.group_id),
        _assignment(before.assigned, member.assigned, request),
    )


def _updated(member: ConsumerMember, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember:
    """The member with what the request says of it; what is null stays."""
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


def _given(new: str | None, old: str | None) -> str | None:
    return old if new is None else new


def _assignment(
    before: Owned, after: Owned, request: ConsumerGroupHeartbeatRequest
) -> tuple[TopicPartitions, ...] | None:
    """What the member is told to have: on joining, in answer to a full request, on change."""
    full = (
        request.rebalance_timeout_ms != -1
        and (
            request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
        )
        and request.topic_partitions is not None
    )
    if request.member_epoch != JOIN_EPOCH and not full and sets_of(before) == sets_of(after):
        return None
    return tuple(
        TopicPartitions(topic_id, tuple(partitions)) for topic_id, partitions in after.items()
    )


def _write(
    shard: Shard, batch: Batch, token: Hashable, request: ConsumerGroupHeartbeatRequest
) -> None:
    batch.write(lambda error: shard.reply(token, refuse_heartbeat(request, append_error(error))))
