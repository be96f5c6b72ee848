"""A group of a snapshot as a coordinator's log would hold it: topics and records.

A coordinator that replays these records goes on where the real one is. What a snapshot does not
show, and what does not decide who gets what, is made up: timeouts, and a generation.

Source: schemas of `org.apache.kafka.coordinator.group.generated`.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

import xxhash

from kgroups.assignors.wire import (
    Subscription,
    WireAssignment,
    encode_assignment,
    encode_subscription,
)
from kgroups.core.coordinator.kip848.group import target_epoch_record, target_record
from kgroups.core.coordinator.kip848.member import (
    Kip848Member,
    MemberState,
    current_record,
    member_record,
)
from kgroups.core.coordinator.kip848.metadata_hash import metadata_hash
from kgroups.core.coordinator.log.records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    GroupMetadataKey,
    GroupMetadataMember,
    GroupMetadataValue,
    Record,
)
from kgroups.core.coordinator.topology import TopicInfo, Topology
from kgroups.core.planning.assignor_request import current_generation
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.outcomes.ids import drawn_id
from kgroups.core.planning.topic_patterns import matching_topics
from kgroups.core.snapshot import Group, Member, Topic
from kgroups.core.uuids import uuid_from

# Kafka's defaults; the virtual clock never comes near them.
SESSION_TIMEOUT_MS: Final = 45_000
REBALANCE_TIMEOUT_MS: Final = 300_000

NEWEST_SUBSCRIPTION: Final = 3

Holdings = Mapping[str, Sequence[int]]


def topology_of(
    topics: Mapping[str, Topic], group: Group, coming: Sequence[Member] = ()
) -> Topology:
    """The topics that a group reads, or by a pattern may read.

    A topic whose id is not known gets one that follows from its name.
    """
    members = (*(group.members or ()), *coming)
    read = {name for member in members for name in member.subscription or ()}
    read |= {name for member in members for name in member.assignment or ()}
    everything = any(member.subscription_regex for member in members)
    return Topology.of(
        [_topic(topic) for name, topic in topics.items() if everything or name in read], version=1
    )


def _topic(topic: Topic) -> TopicInfo:
    topic_id = topic.topic_id
    racks = tuple(
        frozenset(rack for rack in topic.partitions[number].racks if rack is not None)
        for number in sorted(topic.partitions)
    )
    return TopicInfo(
        topic.topic,
        uuid_from(topic_id) if topic_id is not None else drawn_id("topic", *topic.topic.encode()),
        len(topic.partitions),
        racks if any(racks) else (),
    )


def subscription_bytes(member: Member, owned: Holdings, generation: int) -> bytes:
    """The bytes of a classic member's subscription in JoinGroup."""
    version = member.subscription_version
    return encode_subscription(
        Subscription(
            NEWEST_SUBSCRIPTION if version is None else min(version, NEWEST_SUBSCRIPTION),
            member.subscription or (),
            member.user_data,
            tuple((topic, tuple(numbers)) for topic, numbers in owned.items() if numbers),
            generation,
            member.rack,
        )
    )


def classic_records(group: Group) -> list[Record]:
    """The record of a classic group."""
    generation = max(current_generation(group), 1)  # Java's range members show none: -1
    members = tuple(
        GroupMetadataMember(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.host,
            REBALANCE_TIMEOUT_MS,
            SESSION_TIMEOUT_MS,
            subscription_bytes(member, member.assignment or {}, generation),
            _assignment_bytes(member),
        )
        for member in group.members or ()
    )
    leader = group.leader or (members[0].member_id if members else None)
    value = GroupMetadataValue(
        group.protocol_type or "consumer", generation, group.assignor, leader, -1, members
    )
    return [Record(GroupMetadataKey(group.group), value)]


def _assignment_bytes(member: Member) -> bytes:
    version = member.assignment_version
    held = tuple((topic, tuple(numbers)) for topic, numbers in (member.assignment or {}).items())
    return encode_assignment(WireAssignment(version or 0, held, member.assignment_user_data))


def kip848_records(
    group: Group, topology: Topology, strategy: str, asked: Mapping[str, str | None]
) -> list[Record]:
    """The records of a consumer group.

    Args:
        strategy: of those of its members that speak the classic protocol.
        asked: member id to the server-side assignor that it asks for.
    """
    name, epoch = group.group, max(group.group_epoch or 1, 1)
    # The coordinator walks members of one slot from the newest to the oldest: read in reverse they
    # stand as they do now.
    listed = (group.members or ())[::-1]
    members = [_kip848_member(member, topology, epoch, strategy, asked) for member in listed]
    patterns = sorted({m.subscribed_topic_regex for m in members if m.subscribed_topic_regex})
    resolved = {pattern: matching_topics(topology.topics, pattern, "re2") for pattern in patterns}
    read = {topic for member in members for topic in member.subscribed_topic_names}
    read |= {topic for topics in resolved.values() for topic in topics}
    hashed = metadata_hash(read, topology, xxhash.xxh3_64_intdigest)
    records = [member_record(name, member) for member in members]
    records.append(
        Record(ConsumerGroupMetadataKey(name), ConsumerGroupMetadataValue(epoch, hashed))
    )
    records += [
        Record(
            ConsumerGroupRegularExpressionKey(name, pattern),
            ConsumerGroupRegularExpressionValue(topics, topology.version, 0),
        )
        for pattern, topics in resolved.items()
    ]
    for facts in group.members or ():
        target = facts.target_assignment
        held = facts.assignment or {} if target is None else target
        records.append(target_record(name, facts.member_id, _sets(held, topology)))
    target_epoch = epoch if group.target_epoch is None else group.target_epoch
    records.append(target_epoch_record(name, target_epoch, 0))
    return records + [current_record(name, member) for member in members]


def _kip848_member(
    facts: Member,
    topology: Topology,
    epoch: int,
    strategy: str,
    asked: Mapping[str, str | None],
) -> Kip848Member:
    held, target = facts.assignment or {}, facts.target_assignment
    reached = target is None or ownership({"": held}) == ownership({"": target})
    own_epoch = epoch if facts.member_epoch is None else facts.member_epoch
    classic = None
    if facts.member_protocol == "classic":
        offer = ClassicProtocol(strategy, subscription_bytes(facts, held, own_epoch))
        classic = ClassicMemberMetadata(SESSION_TIMEOUT_MS, (offer,))
    return Kip848Member(
        facts.member_id,
        facts.instance_id,
        facts.rack or None,
        facts.client_id,
        facts.host,
        REBALANCE_TIMEOUT_MS,
        frozenset(facts.subscription or ()),
        facts.subscription_regex or "",
        asked.get(facts.member_id),
        classic,
        own_epoch,
        own_epoch,
        MemberState.STABLE if reached else MemberState.UNRELEASED_PARTITIONS,
        {
            topic_id: dict.fromkeys(sorted(numbers), own_epoch)
            for topic_id, numbers in _sets(held, topology).items()
        },
    )


def _sets(held: Holdings, topology: Topology) -> dict[UUID, frozenset[int]]:
    return {
        topology.topics[topic].topic_id: frozenset(numbers)
        for topic, numbers in held.items()
        if numbers and topic in topology.topics
    }
