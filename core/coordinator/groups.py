"""The interface of a group to the coordinator, whichever protocol its members speak.

`ClassicGroup` and the consumer group of KIP-848 are both a `Group`; offsets, administration,
expiry and loading know nothing else of them. A snapshot is a group's state as plain values: what
tests compare.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, NamedTuple
from uuid import UUID

from kgroups.core.coordinator.admin_messages import DescribedGroup
from kgroups.core.coordinator.kip848.messages import DescribedConsumerGroup
from kgroups.core.coordinator.log.records import OffsetCommitValue, Record
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest, TxnOffsetCommitRequest
from kgroups.core.coordinator.topology import Topology
from kgroups.core.protocol.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class MemberSnapshot:
    """One member of either protocol.

    Args:
        assignment: classic: the bytes from the leader; empty for a consumer group's member.
        epoch: classic: the generation it is in; consumer: its member epoch.
        waiting_for: `join`, `sync` or None: the parked request.
        facts: whatever else the protocol keeps, by name.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    assignment: bytes = b""
    epoch: int = -1
    waiting_for: str | None = None
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """One group of either protocol, with its offsets.

    Args:
        epoch: generation or group epoch.
        members: in the order in which Kafka walks them.
        offsets: topic -> partition -> commit; filled in by `Coordinator.snapshot`.
        facts: whatever else the protocol keeps, by name.
    """

    group_id: str
    kind: str
    state: str
    protocol_type: str | None
    protocol: str | None
    epoch: int
    leader: str | None
    members: tuple[MemberSnapshot, ...]
    offsets: Mapping[str, Mapping[int, OffsetCommitValue]] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)


CommitRequest = OffsetCommitRequest | TxnOffsetCommitRequest
# (topic id, partition) -> code: a consumer group judges a commit of an older epoch by partition.
PartitionVerdict = Callable[[UUID, int], ErrorCode]
# Start of an offset's retention, in milliseconds.
RetentionStart = Callable[[OffsetCommitValue], int]


class GroupKind(StrEnum):
    """Kinds of groups, spelled as ListGroups shows them."""

    CLASSIC = "classic"
    CONSUMER = "consumer"


class Session(NamedTuple):
    """The session of a classic member: it ends so long after it was begun."""

    member_id: str
    timeout_ms: int


class Group(ABC):
    """A group in memory.

    Attributes:
        group_id: its name.
        partition: partition of `__consumer_offsets` that holds it.
        hidden_until: a group that exists in memory and not in the log (its first commit was
            refused) is shown by no answer before the log has grown beyond this write.
    """

    kind: ClassVar[GroupKind]

    def __init__(self, group_id: str, partition: int) -> None:
        self.group_id = group_id
        self.partition = partition
        self.hidden_until = -1

    @abstractmethod
    def state_name(self) -> str:
        """The state, as ListGroups spells it."""

    @abstractmethod
    def listed_protocol_type(self) -> str:
        """The protocol type that ListGroups shows; empty for a group that only commits."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Whether the group has no members, so that it may be deleted."""

    @abstractmethod
    def check_commit(self, request: CommitRequest) -> ErrorCode | PartitionVerdict:
        """NONE if the commit is welcome, else its error; or what decides by partition."""

    @abstractmethod
    def renewed_session(self, request: OffsetCommitRequest) -> Session | None:
        """The session that begins anew with an accepted commit; None where heartbeats alone do."""

    @abstractmethod
    def check_fetch(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        """NONE if this sender may fetch offsets, else the error."""

    @abstractmethod
    def check_delete_offsets(self) -> ErrorCode:
        """NONE if offsets of topics nobody subscribes to may be deleted now, else the error."""

    @abstractmethod
    def check_delete(self) -> ErrorCode:
        """NONE if the group may be deleted now, else the error."""

    @abstractmethod
    def is_subscribed_to(self, topic: str) -> bool:
        """Whether somebody subscribes to the topic, or might."""

    @abstractmethod
    def retention_start(self) -> RetentionStart | None:
        """From when on the retention of an offset counts; None while no offset expires."""

    @abstractmethod
    def describe(self, version: int) -> DescribedGroup:
        """The group in a DescribeGroups answer of this version."""

    def describe_kip848(
        self, version: int, topology: Topology, default_assignor: str
    ) -> DescribedConsumerGroup:
        """The group in a ConsumerGroupDescribe answer; most kinds are none of these."""
        message = f"Group {self.group_id} is not a consumer group."
        return DescribedConsumerGroup(self.group_id, ErrorCode.GROUP_ID_NOT_FOUND, message)

    @abstractmethod
    def tombstones(self) -> list[Record]:
        """Records that delete the group (not its offsets), in Kafka's order."""

    @abstractmethod
    def durable_records(self) -> list[Record]:
        """The records by which the log holds the group now (not its offsets)."""

    @abstractmethod
    def snapshot(self) -> GroupSnapshot:
        """The group as a value."""
