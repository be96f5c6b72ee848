"""Members that leave a consumer group, for good or for a while, are fenced, or come back.

Source: `GroupMetadataManager.consumerGroupLeave`, `consumerGroupFenceMember`, KIP-345, KIP-848.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.kip848.batch import Batch
from kgroups.core.coordinator.kip848.bridge.convert import (
    MEMBER_TIMERS,
    can_downgrade,
    downgrade_group,
)
from kgroups.core.coordinator.kip848.group import Kip848Group, target_epoch_record, target_record
from kgroups.core.coordinator.kip848.member import (
    JOIN_EPOCH,
    LEAVE_STATIC_EPOCH,
    NO_ASSIGNMENT_EPOCH,
    Kip848Member,
    current_record,
    member_record,
)
from kgroups.core.coordinator.kip848.metadata_hash import topics_hash
from kgroups.core.coordinator.kip848.steps.progress import bump_epoch
from kgroups.core.coordinator.log.records import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupTargetAssignmentMemberKey,
    Record,
)
from kgroups.core.coordinator.releases import Rule
from kgroups.core.coordinator.shard import Shard, TimerHandler


def leave_group(
    batch: Batch, group: Kip848Group, members: Sequence[Kip848Member], reason: str
) -> bool:
    """Remove members together; what is left may go on by the classic protocol.

    Returns:
        whether the batch is still to be played into the state.
    """
    shard = batch.shard
    for member in members:
        shard.event(EventKind.MEMBER_REMOVED, group.group_id, member.member_id, reason)
    if can_downgrade(shard, group, members):
        downgrade_group(batch, group, leaving={member.member_id for member in members})
        return False
    for member in members:
        remove_member(batch, group, member)
    unused = _unused_patterns(group, members)
    for pattern in unused:
        batch.add(Record(ConsumerGroupRegularExpressionKey(group.group_id, pattern), None))
    forgotten = [topic for pattern in unused for topic in group.resolved_topics(pattern)]
    names = group.tally.names_with([(member, None) for member in members], forgotten)
    bump_epoch(batch, group, topics_hash(shard, names), reason)
    if len(members) == len(group.members) and shard.config.follows(Rule.TARGET_OF_THE_EMPTY):
        batch.add(target_epoch_record(group.group_id, group.group_epoch + 1, 0))
    for member in members:
        cancel_timers(shard, group.group_id, member.member_id)
    return True


def _unused_patterns(group: Kip848Group, gone: Sequence[Kip848Member]) -> list[str]:
    """Patterns that nobody subscribes by once these members are gone."""
    users = Counter(m.subscribed_topic_regex for m in gone if m.subscribed_topic_regex)
    counts = group.tally.patterns
    return [pattern for pattern, count in users.items() if counts.get(pattern) == count]


def remove_member(batch: Batch, group: Kip848Group, member: Kip848Member) -> None:
    """Take one member out of the group, with its target."""
    group_id = group.group_id
    batch.add(
        Record(current_record(group_id, member).key, None),
        Record(ConsumerGroupTargetAssignmentMemberKey(group_id, member.member_id), None),
        Record(member_record(group_id, member).key, None),
    )


def cancel_timers(shard: Shard, group_id: str, member_id: str) -> None:
    """Disarm whatever watches over a member."""
    for kind in MEMBER_TIMERS:
        shard.cancel(kind, group_id, member_id)


def leave_for_a_while(batch: Batch, group: Kip848Group, member: Kip848Member) -> None:
    """A static member will be back: it keeps what it has, but not what it was giving back."""
    away = replace(
        member,
        member_epoch=LEAVE_STATIC_EPOCH,
        assigned={
            topic_id: dict.fromkeys(partitions, NO_ASSIGNMENT_EPOCH)
            for topic_id, partitions in member.assigned.items()
        },
        pending={},
    )
    batch.add(current_record(group.group_id, away))


def rebalance_timer(shard: Shard, group_id: str, member_id: str, epoch: int) -> None:
    """A member has not given back in time what it was told to."""
    group = shard.groups.get(group_id)
    member = group.members.get(member_id) if isinstance(group, Kip848Group) else None
    if member is not None and member.member_epoch == epoch:
        _fence(shard, group_id, member_id, "did not revoke its partitions in time")


def fences(reason: str) -> TimerHandler:
    """The end of a timer that fences its member."""
    return lambda shard, group_id, member_id, _: _fence(shard, group_id, member_id, reason)


def _fence(shard: Shard, group_id: str, member_id: str, reason: str) -> None:
    group = shard.groups.get(group_id)
    if not isinstance(group, Kip848Group):
        return
    member = group.members.get(member_id)
    if member is None:
        return
    batch = Batch(shard, group.partition)
    batch.write(replayed=leave_group(batch, group, [member], reason))


def take_over(batch: Batch, group: Kip848Group, old: Kip848Member, member_id: str) -> Kip848Member:
    """Give a static member's place to `member_id`, at epoch 0; the old id goes."""
    group_id = group.group_id
    remove_member(batch, group, old)
    new = replace(
        old, member_id=member_id, member_epoch=JOIN_EPOCH, previous_member_epoch=JOIN_EPOCH
    )
    batch.add(
        member_record(group_id, new),
        target_record(group_id, member_id, group.target.get(old.member_id, {})),
        current_record(group_id, new),
    )
    batch.shard.event(
        EventKind.MEMBER_REPLACED,
        group_id,
        member_id,
        f"{old.instance_id} is back",
        (old.member_id,),
    )
    return new
