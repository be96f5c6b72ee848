"""A static member that comes back: a new member id takes over what the old one had (KIP-345)."""

from dataclasses import replace

from kgroups.core.coordinator.effects import EventKind
from kgroups.core.coordinator.kip848.batch import Batch
from kgroups.core.coordinator.kip848.group import Kip848Group, target_record
from kgroups.core.coordinator.kip848.member import (
    JOIN_EPOCH,
    Kip848Member,
    current_record,
    member_record,
)
from kgroups.core.coordinator.kip848.steps.leave import remove_member


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
