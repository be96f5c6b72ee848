"""One member of a consumer group, as a value: what it said of itself and what it has.

A member never changes; a heartbeat, a replayed record or the reconciler makes a new one.
ConsumerGroupDescribe shows it without topics that are gone.
Source: `org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from uuid import UUID

from kgroups.assignors.order.java_order import int_map_order, uuid_map_order
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupDescribeMember,
    TopicPartitions,
)
from kgroups.core.coordinator.log.records import (
    AssignedTopic,
    ClassicMemberMetadata,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    Record,
)
from kgroups.core.coordinator.topology import Topology

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
LEAVE_STATIC_EPOCH = -2
NO_ASSIGNMENT_EPOCH = 0

# topic id -> partition -> target epoch in which the member was given it.
Owned = Mapping[UUID, Mapping[int, int]]
# topic id -> partitions.
Partitions = Mapping[UUID, frozenset[int]]


class MemberState(IntEnum):
    """Where a member stands on its way to its target; numbers as in the records."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2


@dataclass(frozen=True, slots=True)
class Kip848Member:
    """A member of a consumer group.

    Args:
        subscribed_topic_names: as a set; the records have them sorted.
        subscribed_topic_regex: empty for none.
        classic: what is kept of a member that speaks the classic protocol; else None.
        member_epoch: -2 for a static member that left for a while.
        pending: what it must give back before it gets more.
    """

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str = ""
    server_assignor: str | None = None
    classic: ClassicMemberMetadata | None = None
    member_epoch: int = 0
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: Owned = field(default_factory=dict)
    pending: Owned = field(default_factory=dict)

    def speaks_classic(self) -> bool:
        """Whether the member joined by JoinGroup."""
        return self.classic is not None

    def has_left_for_a_while(self) -> bool:
        """Whether a static member said that it will be back."""
        return self.member_epoch == LEAVE_STATIC_EPOCH

    def is_at(self, target_epoch: int) -> bool:
        """Whether the member has all that this target gives it."""
        return self.state is MemberState.STABLE and self.member_epoch == target_epoch

    def assignment_epoch(self, topic_id: UUID, partition: int) -> int | None:
        """Target epoch in which the member got a partition that it has or must give back."""
        for owned in (self.assigned, self.pending):
            epoch = owned.get(topic_id, {}).get(partition)
            if epoch is not None:
                return epoch
        return None


def member_record(group_id: str, member: Kip848Member) -> Record:
    """The record of what a member said of itself."""
    return Record(
        ConsumerGroupMemberMetadataKey(group_id, member.member_id),
        ConsumerGroupMemberMetadataValue(
            member.instance_id,
            member.rack_id,
            member.client_id,
            member.client_host,
            tuple(sorted(member.subscribed_topic_names)),
            member.subscribed_topic_regex,
            member.rebalance_timeout_ms,
            member.server_assignor,
            member.classic,
        ),
    )


def current_record(group_id: str, member: Kip848Member) -> Record:
    """The record of what a member has."""
    return Record(
        ConsumerGroupCurrentMemberAssignmentKey(group_id, member.member_id),
        ConsumerGroupCurrentMemberAssignmentValue(
            member.member_epoch,
            member.previous_member_epoch,
            int(member.state),
            _topics_of(member.assigned),
            _topics_of(member.pending),
        ),
    )


def with_metadata(member: Kip848Member, value: ConsumerGroupMemberMetadataValue) -> Kip848Member:
    """The member after a record of what it said of itself."""
    return replace(
        member,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        subscribed_topic_names=frozenset(value.subscribed_topic_names),
        subscribed_topic_regex=value.subscribed_topic_regex or "",
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        server_assignor=value.server_assignor,
        classic=value.classic,
    )


def with_current(
    member: Kip848Member, value: ConsumerGroupCurrentMemberAssignmentValue
) -> Kip848Member:
    """The member after a record of what it has."""
    return replace(
        member,
        member_epoch=value.member_epoch,
        previous_member_epoch=value.previous_member_epoch,
        state=MemberState(value.state),
        assigned=owned_of(value.assigned_partitions, value.member_epoch),
        pending=owned_of(value.partitions_pending_revocation, value.member_epoch),
    )


def without_current(member: Kip848Member) -> Kip848Member:
    """The member after its current assignment was deleted."""
    return replace(
        member,
        member_epoch=LEAVE_EPOCH,
        previous_member_epoch=LEAVE_EPOCH,
        state=MemberState.STABLE,
        assigned={},
        pending={},
    )


def owned_of(topics: Iterable[AssignedTopic], epoch: int) -> Owned:
    """Partitions with their epochs from a record; without epochs they count as of `epoch`."""
    owned: dict[UUID, Mapping[int, int]] = {}
    for topic in topics:
        if not topic.partitions:
            continue
        epochs = topic.assignment_epochs or (max(epoch, 0),) * len(topic.partitions)
        by_partition = dict(zip(topic.partitions, epochs, strict=True))
        owned[topic.topic_id] = {p: by_partition[p] for p in int_map_order(by_partition)}
    return {topic_id: owned[topic_id] for topic_id in uuid_map_order(owned)}


def sets_of(owned: Owned) -> Partitions:
    """The same without epochs."""
    return {topic_id: frozenset(partitions) for topic_id, partitions in owned.items()}


def _topics_of(owned: Owned) -> tuple[AssignedTopic, ...]:
    return tuple(
        AssignedTopic(topic_id, tuple(epochs), tuple(epochs.values()))
        for topic_id, epochs in owned.items()
    )


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
    return tuple(_member(m, targets.get(m.member_id, {}), version, topology) for m in members)


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
