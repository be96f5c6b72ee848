"""A group of KIP-848: members, epochs, target, and what offsets and administrators ask of it.

Only the replay of records (`replay`) changes it, but for what is not in the log: whether
the metadata of a topic changed. Source: `ConsumerGroup`, `ModernGroup`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, NamedTuple
from uuid import UUID

from kgroups.assignors.order.hash_maps import TimelineHashMap
from kgroups.core.coordinator.admin_messages import DescribedGroup, described_as_dead
from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.groups import (
    CommitRequest,
    Group,
    GroupKind,
    GroupSnapshot,
    MemberSnapshot,
    PartitionVerdict,
    RetentionStart,
    Session,
)
from kgroups.core.coordinator.kip848.member import (
    Kip848Member,
    Partitions,
    current_record,
    described_members,
    member_record,
    sets_of,
)
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    DescribedConsumerGroup,
)
from kgroups.core.coordinator.kip848.tally import Tally, is_homogeneous
from kgroups.core.coordinator.log.records import (
    AssignedTopic,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
    Record,
    RecordKey,
)
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest
from kgroups.core.coordinator.topology import Topology
from kgroups.core.protocol.errors import ErrorCode

FIRST_EPOCH = 1
PROTOCOL_TYPE = "consumer"
EPOCH_COMMIT_VERSION = 9  # OffsetCommit: from here on it carries a member epoch


class Kip848GroupState(StrEnum):
    """States of a consumer group, spelled as ConsumerGroupDescribe shows them."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"


class QuietAnswer(NamedTuple):
    """A heartbeat that changed nothing, the member as it was then, and what it was answered."""

    request: ConsumerGroupHeartbeatRequest
    member: Kip848Member
    response: ConsumerGroupHeartbeatResponse


class Kip848Group(Group):
    """A consumer group.

    Attributes:
        group_epoch: grows with every change of members, subscriptions or topics.
        target_epoch: group epoch that the target was computed for.
        target_timestamp_ms: when that was; 0 if never.
        target: member id -> partitions that it is to have.
        static_members: instance id -> member id.
        regexes: pattern -> topics that matched.
        metadata_changed: what changed about the topics of its members since the hash was taken;
            empty for nothing.
        homogeneous: whether the members count as subscribing to the same topics.
        tally: counts over the members.
        last_answers: member id -> its last heartbeat that changed nothing, with the answer.

    Args:
        frees_instances: `Rule.INSTANCE_IDS_ARE_FREED`.
    """

    kind: ClassVar[GroupKind] = GroupKind.CONSUMER

    def __init__(self, group_id: str, partition: int, *, frees_instances: bool = False) -> None:
        super().__init__(group_id, partition)
        self._frees_instances = frees_instances
        self.group_epoch = FIRST_EPOCH
        self.metadata_hash = 0
        self.target_epoch = FIRST_EPOCH
        self.target_timestamp_ms = 0
        self.members: TimelineHashMap[Kip848Member] = TimelineHashMap()
        self.target: dict[str, Partitions] = {}
        self.static_members: dict[str, str] = {}
        self.regexes: TimelineHashMap[ConsumerGroupRegularExpressionValue] = TimelineHashMap()
        self.metadata_changed = "a topic changed"
        self.homogeneous = True
        self.tally = Tally()
        self.last_answers: dict[str, QuietAnswer] = {}

    # ------------------------------------------------------------------ members

    def put_member(self, member: Kip848Member) -> None:
        """Take in a member, or what it has become."""
        before = self.members.get(member.member_id)
        self.members[member.member_id] = member
        if self._frees_instances and before is not None and before.instance_id is not None:
            self.static_members.pop(before.instance_id, None)
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        self._note_change(before, member)

    def drop_member(self, member_id: str) -> None:
        """Take out a member; its target stays until its own record goes."""
        member = self.members.remove(member_id)
        if member is None:
            return
        self.last_answers.pop(member_id, None)
        if member.instance_id is not None:
            self.static_members.pop(member.instance_id, None)
        self._note_change(member, None)

    def _note_change(self, before: Kip848Member | None, after: Kip848Member | None) -> None:
        self.tally.change(before, after)
        # Only here: Kafka does not look again when a pattern is resolved.
        self.homogeneous = is_homogeneous(self.tally.patterns, self.tally.names, len(self.members))

    def put_regex(self, pattern: str, value: ConsumerGroupRegularExpressionValue | None) -> None:
        """Take in what a pattern matches; None forgets the pattern."""
        before = self.regexes.remove(pattern)
        if before is not None:
            self.tally.count_pattern_topics(before.topics, -1)
        if value is not None:
            self.regexes[pattern] = value
            self.tally.count_pattern_topics(value.topics, 1)

    # ------------------------------------------------------------------ what is asked of it

    def state(self) -> Kip848GroupState:
        """The state, derived from members and epochs."""
        if not self.members:
            return Kip848GroupState.EMPTY
        if self.group_epoch > self.target_epoch:
            return Kip848GroupState.ASSIGNING
        if all(member.is_at(self.target_epoch) for member in self.members.values()):
            return Kip848GroupState.STABLE
        return Kip848GroupState.RECONCILING

    def static_holder(self, instance_id: str | None) -> tuple[str, Kip848Member | None] | None:
        """Who holds this instance id, with its member; None if nobody does.

        A member that took another instance id and left leaves the first one pointing to nobody.
        """
        holder = None if instance_id is None else self.static_members.get(instance_id)
        return None if holder is None else (holder, self.members.get(holder))

    def target_of(self, member: Kip848Member) -> Partitions:
        """The target assignment of a member; a static one has that of its instance id's holder."""
        holder: str | None = member.member_id
        if member.instance_id is not None:
            holder = self.static_members.get(member.instance_id)
        return {} if holder is None else self.target.get(holder, {})

    def waits_for_others(self, member: Kip848Member) -> bool:
        """Whether somebody still holds a partition that the member is to get."""
        return any(
            partition not in member.assigned.get(topic_id, ())
            and self.tally.is_held(topic_id, partition)
            for topic_id, partitions in self.target.get(member.member_id, {}).items()
            for partition in partitions
        )

    def resolved_topics(self, pattern: str) -> tuple[str, ...]:
        """Topics that a pattern matched; none as long as it is not resolved."""
        resolved = self.regexes.get(pattern)
        return () if resolved is None else resolved.topics

    def names_of(self, member: Kip848Member) -> frozenset[str]:
        """Topics that one member subscribes to, by name or by its resolved pattern."""
        matched = self.resolved_topics(member.subscribed_topic_regex)
        return member.subscribed_topic_names | frozenset(matched)

    # ------------------------------------------------------------------ what every group answers

    def state_name(self) -> str:
        return self.state().value

    def listed_protocol_type(self) -> str:
        return PROTOCOL_TYPE

    def is_empty(self) -> bool:
        return not self.members

    def check_commit(self, request: CommitRequest) -> ErrorCode | PartitionVerdict:
        transactional = not isinstance(request, OffsetCommitRequest)
        epoch = request.generation_id_or_member_epoch
        if epoch < 0 and not self.members:
            return NO_ERROR
        member = self.members.get(request.member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if (
            not transactional
            and request.version < EPOCH_COMMIT_VERSION
            and not member.speaks_classic()
        ):
            return ErrorCode.UNSUPPORTED_VERSION
        stale = stale_epoch_error(member)
        if epoch == member.member_epoch:
            return NO_ERROR
        return stale if epoch > member.member_epoch else _older_commit(member, epoch, stale)

    def renewed_session(self, request: OffsetCommitRequest) -> Session | None:
        """None: a member of a KIP-848 group keeps its session by heartbeats alone."""
        return None

    def check_fetch(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        if member_id is None and member_epoch < 0:
            return ErrorCode.NONE
        member = self.members.get(member_id or "")
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        same = member_epoch == member.member_epoch
        return ErrorCode.NONE if same else stale_epoch_error(member)

    def check_delete_offsets(self) -> ErrorCode:
        return ErrorCode.NONE

    def check_delete(self) -> ErrorCode:
        return ErrorCode.NON_EMPTY_GROUP if self.members else ErrorCode.NONE

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.tally.names

    def retention_start(self) -> RetentionStart | None:
        return lambda value: value.commit_timestamp_ms

    def describe(self, version: int) -> DescribedGroup:
        message = f"Group {self.group_id} is not a classic group."
        return described_as_dead(self.group_id, version, message)

    def describe_kip848(
        self, version: int, topology: Topology, default_assignor: str
    ) -> DescribedConsumerGroup:
        members = self.members.ordered_values()
        return DescribedConsumerGroup(
            self.group_id,
            group_state=self.state_name(),
            group_epoch=self.group_epoch,
            assignment_epoch=self.target_epoch,
            assignor_name=self.tally.elected_assignor() or default_assignor,
            members=described_members(members, self.target, version, topology),
        )

    def tombstones(self) -> list[Record]:
        return self.tombstones_replacing({})

    def tombstones_replacing(self, replaces: Mapping[str, str]) -> list[Record]:
        """Records that delete the group.

        Args:
            replaces: member id -> the one that has taken its place in this very step.
        """
        group_id = self.group_id
        ids = [replaces.get(member_id, member_id) for member_id in self.members.ordered_keys()]
        keys: list[RecordKey] = [
            *(ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id) for member_id in ids),
            *(ConsumerGroupTargetAssignmentMemberKey(group_id, member_id) for member_id in ids),
            ConsumerGroupTargetAssignmentMetadataKey(group_id),
            *(ConsumerGroupMemberMetadataKey(group_id, member_id) for member_id in ids),
            *(ConsumerGroupRegularExpressionKey(group_id, pattern) for pattern in self.regexes),
            ConsumerGroupPartitionMetadataKey(group_id),
            ConsumerGroupMetadataKey(group_id),
        ]
        return [Record(key, None) for key in keys]

    def durable_records(self) -> list[Record]:
        group_id, members = self.group_id, self.members.ordered_values()
        records = [member_record(group_id, member) for member in members]
        records.append(epoch_record(self))
        records += [
            Record(ConsumerGroupRegularExpressionKey(group_id, pattern), value)
            for pattern, value in self.regexes.items()
        ]
        records += [
            target_record(group_id, member_id, target)
            for member_id, target in sorted(self.target.items())
        ]
        records.append(target_epoch_record(group_id, self.target_epoch, self.target_timestamp_ms))
        return records + [current_record(group_id, member) for member in members]

    def snapshot(self) -> GroupSnapshot:
        return GroupSnapshot(
            self.group_id,
            self.kind.value,
            self.state_name(),
            PROTOCOL_TYPE,
            None,
            self.group_epoch,
            None,
            tuple(self._member_snapshot(member) for member in self.members.ordered_values()),
            facts={
                "target_epoch": self.target_epoch,
                "target_timestamp_ms": self.target_timestamp_ms,
                "metadata_hash": self.metadata_hash,
                "target": {member_id: dict(t) for member_id, t in sorted(self.target.items())},
                "regexes": dict(sorted(self.regexes.items())),
            },
        )

    def _member_snapshot(self, member: Kip848Member) -> MemberSnapshot:
        return MemberSnapshot(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.classic.session_timeout_ms if member.classic is not None else -1,
            member.rebalance_timeout_ms,
            epoch=member.member_epoch,
            facts={
                "state": member.state.name,
                "previous_member_epoch": member.previous_member_epoch,
                "assigned": sets_of(member.assigned),
                "pending": sets_of(member.pending),
                "subscribed_topic_names": member.subscribed_topic_names,
                "subscribed_topic_regex": member.subscribed_topic_regex,
            },
        )


def stale_epoch_error(member: Kip848Member) -> ErrorCode:
    """The code for a wrong epoch, as the member's protocol knows it."""
    classic = member.speaks_classic()
    return ErrorCode.ILLEGAL_GENERATION if classic else ErrorCode.STALE_MEMBER_EPOCH


def epoch_record(group: Kip848Group) -> Record:
    """The record of a group's epoch as it is."""
    value = ConsumerGroupMetadataValue(group.group_epoch, group.metadata_hash)
    return Record(ConsumerGroupMetadataKey(group.group_id), value)


def target_record(group_id: str, member_id: str, target: Partitions) -> Record:
    """The record of a member's target."""
    topics = tuple(
        AssignedTopic(topic_id, tuple(sorted(partitions)))
        for topic_id, partitions in target.items()
    )
    return Record(
        ConsumerGroupTargetAssignmentMemberKey(group_id, member_id),
        ConsumerGroupTargetAssignmentMemberValue(topics),
    )


def target_epoch_record(group_id: str, epoch: int, timestamp_ms: int) -> Record:
    """The record of the target's epoch."""
    return Record(
        ConsumerGroupTargetAssignmentMetadataKey(group_id),
        ConsumerGroupTargetAssignmentMetadataValue(epoch, timestamp_ms),
    )


def _older_commit(member: Kip848Member, epoch: int, stale: ErrorCode) -> PartitionVerdict:
    """The facts that decide about a commit of an older epoch (KIP-1251).

    It counts for partitions that the member has, or must give back, since that epoch or longer.
    """

    def verdict(topic_id: UUID, partition: int) -> ErrorCode:
        since = member.assignment_epoch(topic_id, partition)
        return ErrorCode.NONE if since is not None and since <= epoch else stale

    return verdict
