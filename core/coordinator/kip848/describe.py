"""A consumer group as ConsumerGroupDescribe shows it. Topics that are gone are left out.

Source: `ConsumerGroup.asDescribedGroup`, `ConsumerGroupMember.asConsumerGroupDescribeMember`.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from kgroups.core.coordinator.kip848.member import Kip848Member, Partitions
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupDescribeMember,
    DescribedConsumerGroup,
    TopicPartitions,
)
from kgroups.core.coordinator.topology import Topology

if TYPE_CHECKING:
    from kgroups.core.coordinator.kip848.group import Kip848Group

MEMBER_TYPE_VERSION = 1
CLASSIC_MEMBER, CONSUMER_MEMBER, NO_MEMBER_TYPE = 0, 1, -1


def describe_kip848_group(
    group: "Kip848Group", version: int, topology: Topology, default_assignor: str
) -> DescribedConsumerGroup:
    """The group with its members.

    Args:
        default_assignor: the one that is used where no member asks for any.
    """
    members = tuple(
        _member(one, group.target.get(one.member_id, {}), version, topology)
        for one in group.members.ordered_values()
    )
    return DescribedConsumerGroup(
        group.group_id,
        group_state=group.state_name(),
        group_epoch=group.group_epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.tally.elected_assignor() or default_assignor,
        members=members,
    )


def _member(
    member: Kip848Member, target: Partitions, version: int, topology: Topology
) -> ConsumerGroupDescribeMember:
    member_type = NO_MEMBER_TYPE
    if version >= MEMBER_TYPE_VERSION:
        member_type = CLASSIC_MEMBER if member.speaks_classic() else CONSUMER_MEMBER
    held: dict[UUID, set[int]] = {}
    for owned in (member.assigned, member.pending):
        for topic_id, partitions in owned.items():
            held.setdefault(topic_id, set()).update(partitions)
    return ConsumerGroupDescribeMember(
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.member_epoch,
        member.client_id,
        member.client_host,
        tuple(sorted(member.subscribed_topic_names)),
        member.subscribed_topic_regex,
        _named(held, topology),
        _named(target, topology),
        member_type,
    )


def _named(held: Mapping[UUID, Iterable[int]], topology: Topology) -> tuple[TopicPartitions, ...]:
    named = []
    for topic_id, partitions in held.items():
        topic = topology.topic_by_id(topic_id)
        if topic is not None:
            named.append(TopicPartitions(topic_id, tuple(sorted(partitions)), topic.name))
    return tuple(named)
