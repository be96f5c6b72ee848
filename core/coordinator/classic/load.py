"""Classic groups from the log: replay of their records, and what happens when a log moves.

A record of a classic group is written when the group is created, when its leader has synced, when
a static member was replaced, and when it became empty; so a group comes back as it last was
Stable or Empty. Source: `GroupMetadataManager.replay`, `onLoaded`, `onUnloaded`.
"""

from kgroups.core.coordinator.classic.group import ClassicGroup
from kgroups.core.coordinator.classic.members import ClassicMember
from kgroups.core.coordinator.classic.messages import JoinGroupProtocol
from kgroups.core.coordinator.classic.rebalance import (
    cancel_timers,
    release_parked,
    restart_session,
    start_rebalance,
)
from kgroups.core.coordinator.classic.states import ClassicState
from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.log.records import (
    NO_TIMESTAMP,
    GroupMetadataKey,
    GroupMetadataValue,
)
from kgroups.core.coordinator.offsets.store import Undo
from kgroups.core.coordinator.shard import Shard
from kgroups.core.protocol.errors import ErrorCode


def replay_group(
    shard: Shard, key: GroupMetadataKey, value: GroupMetadataValue | None, producer_id: int
) -> Undo:
    """Play a classic group's record into the state."""
    if value is None:
        return shard.remove_group(key.group_id, "deleted")
    before = shard.groups.get(key.group_id)
    shard.groups[key.group_id] = group_from_record(shard, key.group_id, value)

    def undo() -> None:
        if before is None:
            del shard.groups[key.group_id]
        else:
            shard.groups[key.group_id] = before

    return undo


def group_from_record(shard: Shard, group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """The group that a record holds."""
    since_ms = value.current_state_timestamp_ms
    group = ClassicGroup(
        group_id,
        shard.partition_of(group_id),
        ClassicState.STABLE if value.members else ClassicState.EMPTY,
        None if since_ms == NO_TIMESTAMP else since_ms,
    )
    group.generation = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol = value.protocol
    group.leader = value.leader
    group.stored = value
    for stored in value.members:
        member = ClassicMember(
            stored.member_id,
            stored.group_instance_id,
            stored.client_id,
            stored.client_host,
            stored.rebalance_timeout_ms,
            stored.session_timeout_ms,
            value.protocol_type,
            (JoinGroupProtocol(value.protocol or "", stored.subscription),),
            stored.assignment,
        )
        group.add(member, None)
    group.subscribed_topics = group.compute_topics()
    return group


def load_group(shard: Shard, group: ClassicGroup) -> None:
    """Begin every member's session; a group that is too large now rebalances."""
    for member in group.members.values():
        restart_session(shard, group, member)
    shard.event(EventKind.GROUP_LOADED, group.group_id)
    if len(group.members) > shard.config.classic_max_size:
        start_rebalance(shard, group, "loaded with more members than allowed")


def unload_group(shard: Shard, group: ClassicGroup) -> None:
    """Answer whatever is parked with 16, and disarm every timer."""
    release_parked(shard, group, ErrorCode.NOT_COORDINATOR)
    cancel_timers(shard, group)
    group.move_to(ClassicState.DEAD, shard.now_ms)
    shard.event(EventKind.GROUP_UNLOADED, group.group_id)
