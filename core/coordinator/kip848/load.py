"""Consumer groups when a log was read or moves away, and when the topics of the cluster change."""

from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.groups import Group
from kgroups.core.coordinator.kip848.bridge.convert import MEMBER_TIMERS
from kgroups.core.coordinator.kip848.group import Kip848Group
from kgroups.core.coordinator.kip848.member import MemberState
from kgroups.core.coordinator.kip848.steps.progress import restart_session
from kgroups.core.coordinator.shard import Shard, TimerKind
from kgroups.core.coordinator.topology import Topology


def load_group(shard: Shard, group: Group) -> None:
    """Begin every member's session anew, and the time of those that give something back."""
    assert isinstance(group, Kip848Group)
    for member in group.members.ordered_values():
        restart_session(shard, group, member)
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            shard.schedule(
                TimerKind.REBALANCE,
                group.group_id,
                member.member_id,
                member.rebalance_timeout_ms,
                member.member_epoch,
            )
    group.metadata_changed = True
    # Patterns are resolved anew: what was created while another broker served them is not known.
    shard.topics_created_version = shard.topology.version
    shard.event(EventKind.GROUP_LOADED, group.group_id)


def unload_group(shard: Shard, group: Group) -> None:
    """Disarm every timer of the group."""
    assert isinstance(group, Kip848Group)
    for member_id in group.members:
        for kind in MEMBER_TIMERS:
            shard.cancel(kind, group.group_id, member_id)
    shard.event(EventKind.GROUP_UNLOADED, group.group_id)


def note_topology(shard: Shard, before: Topology) -> None:
    """Flag every group that subscribes to a topic that came, went or changed."""
    after = shard.topology
    if after.topics.keys() - before.topics.keys():
        shard.topics_created_version = after.version
    names = before.topics.keys() | after.topics.keys()
    changed = {name for name in names if before.topic(name) != after.topic(name)}
    if not changed:
        return
    for group in shard.groups.values():
        if isinstance(group, Kip848Group) and group.tally.heeds(changed):
            group.metadata_changed = True
