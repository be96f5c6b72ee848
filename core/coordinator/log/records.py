"""Keys and values of the records in `__consumer_offsets`, as values.

Every record sets or, without a value, deletes what its key names. `record_codec` turns them into
bytes and back. Source: the schemas of `org.apache.kafka.coordinator.group.generated`.
"""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

NO_TIMESTAMP = -1


class OffsetCommitKey(NamedTuple):
    """Key type 1 (0 in old logs): a group's commit for one partition."""

    group_id: str
    topic: str
    partition: int


class OffsetCommitValue(NamedTuple):
    """A commit; `expire_timestamp_ms` is -1 unless the commit asked for its own retention."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    commit_timestamp_ms: int = NO_TIMESTAMP
    expire_timestamp_ms: int = NO_TIMESTAMP
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class GroupMetadataKey:
    """Key type 2: a classic group."""

    group_id: str


class GroupMetadataMember(NamedTuple):
    """A member of a stored classic group, with its bytes for the chosen protocol."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(frozen=True, slots=True)
class GroupMetadataValue:
    """A classic group as it was when its leader last synced, or when it became empty."""

    protocol_type: str
    generation: int
    protocol: str | None = None
    leader: str | None = None
    current_state_timestamp_ms: int = NO_TIMESTAMP
    members: tuple[GroupMetadataMember, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsumerGroupMetadataKey:
    """Key type 3: a consumer group's epoch."""

    group_id: str


@dataclass(frozen=True, slots=True)
class ConsumerGroupMetadataValue:
    """The group epoch and the hash of the subscribed topics' metadata (0: none)."""

    epoch: int
    metadata_hash: int = 0


@dataclass(frozen=True, slots=True)
class ConsumerGroupPartitionMetadataKey:
    """Key type 4: subscribed topics, until Kafka 4.1; since then only deleted."""

    group_id: str


class TopicMetadata(NamedTuple):
    """A topic in the value of key type 4."""

    topic_id: UUID
    topic_name: str
    num_partitions: int

    @property
    def partition_metadata(self) -> tuple[()]:
        """Racks by partition: Kafka wrote them before 4.1; they are read and forgotten."""
        return ()


@dataclass(frozen=True, slots=True)
class ConsumerGroupPartitionMetadataValue:
    """Topics that the group subscribed to, as they were."""

    topics: tuple[TopicMetadata, ...]


@dataclass(frozen=True, slots=True)
class ConsumerGroupMemberMetadataKey:
    """Key type 5: what a member of a consumer group said about itself."""

    group_id: str
    member_id: str


class ClassicProtocol(NamedTuple):
    """One assignor of a classic member of a consumer group."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True)
class ClassicMemberMetadata:
    """The state kept of a member that speaks the classic protocol."""

    session_timeout_ms: int
    supported_protocols: tuple[ClassicProtocol, ...]


@dataclass(frozen=True, slots=True)
class ConsumerGroupMemberMetadataValue:
    """A member's own words; `classic` is None for one that speaks KIP-848."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    classic: ClassicMemberMetadata | None = None


@dataclass(frozen=True, slots=True)
class ConsumerGroupTargetAssignmentMetadataKey:
    """Key type 6: the epoch of a consumer group's target assignment."""

    group_id: str


@dataclass(frozen=True, slots=True)
class ConsumerGroupTargetAssignmentMetadataValue:
    """For which group epoch the target was computed, and when (0: not known)."""

    assignment_epoch: int
    assignment_timestamp_ms: int = 0


class AssignedTopic(NamedTuple):
    """Partitions of one topic; the epochs in which they were assigned, or none where not kept."""

    topic_id: UUID
    partitions: tuple[int, ...]
    assignment_epochs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsumerGroupTargetAssignmentMemberKey:
    """Key type 7: a member's target."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class ConsumerGroupTargetAssignmentMemberValue:
    """Partitions that a member is to have."""

    topic_partitions: tuple[AssignedTopic, ...]


@dataclass(frozen=True, slots=True)
class ConsumerGroupCurrentMemberAssignmentKey:
    """Key type 8: a member's current assignment."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class ConsumerGroupCurrentMemberAssignmentValue:
    """Partitions that a member has and must give back; `state` 0, 1 or 2 as on the wire."""

    member_epoch: int
    previous_member_epoch: int
    state: int
    assigned_partitions: tuple[AssignedTopic, ...] = ()
    partitions_pending_revocation: tuple[AssignedTopic, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsumerGroupRegularExpressionKey:
    """Key type 16: a resolved pattern of a consumer group."""

    group_id: str
    regular_expression: str


@dataclass(frozen=True, slots=True)
class ConsumerGroupRegularExpressionValue:
    """Topics that matched, in which version of the metadata, and when."""

    topics: tuple[str, ...]
    version: int
    timestamp_ms: int


RecordKey = (
    OffsetCommitKey
    | GroupMetadataKey
    | ConsumerGroupMetadataKey
    | ConsumerGroupPartitionMetadataKey
    | ConsumerGroupMemberMetadataKey
    | ConsumerGroupTargetAssignmentMetadataKey
    | ConsumerGroupTargetAssignmentMemberKey
    | ConsumerGroupCurrentMemberAssignmentKey
    | ConsumerGroupRegularExpressionKey
)
RecordValue = (
    OffsetCommitValue
    | GroupMetadataValue
    | ConsumerGroupMetadataValue
    | ConsumerGroupPartitionMetadataValue
    | ConsumerGroupMemberMetadataValue
    | ConsumerGroupTargetAssignmentMetadataValue
    | ConsumerGroupTargetAssignmentMemberValue
    | ConsumerGroupCurrentMemberAssignmentValue
    | ConsumerGroupRegularExpressionValue
)


class Record(NamedTuple):
    """One record; value None deletes what the key names."""

    key: RecordKey
    value: RecordValue | None
