"""Members of a KIP-848 group as ConsumerGroupDescribe shows them, without topics that are gone.

Source: `ConsumerGroup.asDescribedGroup`, `ConsumerGroupMember.asConsumerGroupDescribeMember`.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from kgroups.core.coordinator.kip848.member import Kip848Member, Partitions
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupDescribeMember,
    TopicPartitions,
)
from kgroups.core.coordinator.topology import Topology

MEMBER_TYPE_VERSION = 1
CLASSIC_MEMBER, CONSUMER_MEMBER, NO_MEMBER_TYPE = 0, 1, -1


def described_members(
    members: Iterable[Kip848Member],
    targets: Mapping[str, Partitions],
    version: int,
    topology: Topology,
) -> tuple[ConsumerGroupDescribeMember, ...]:
    """Members with what they have and what they are to have, by the names of the topics.

    Args:
        targets: by member id; a member that is not there is to have nothing.
        version: of ConsumerGroupDescribe.
    """
    return tuple(_member(one, targets.get(one.member_id, {}), version, topology) for one in members)


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
