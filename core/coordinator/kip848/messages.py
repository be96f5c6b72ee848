"""Requests and answers of the consumer group protocol (KIP-848).

Topics go by id. What the client left null is None, which means unchanged.
"""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode


class TopicPartitions(NamedTuple):
    """Partitions of one topic; the name is filled in only where the answer shows it."""

    topic_id: UUID
    partitions: tuple[int, ...]
    topic_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupHeartbeatRequest(Request):
    """ConsumerGroupHeartbeat (68).

    Args:
        member_epoch: 0 to join, -1 to leave, -2 for a static member that leaves for a while.
        rebalance_timeout_ms: -1 for unchanged.
    """

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: tuple[str, ...] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    topic_partitions: tuple[TopicPartitions, ...] | None = None


@dataclass(frozen=True, slots=True)
class ConsumerGroupHeartbeatResponse:
    """Answer to ConsumerGroupHeartbeat; `assignment` None means unchanged."""

    error_code: ErrorCode
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: tuple[TopicPartitions, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupDescribeRequest(Request):
    """ConsumerGroupDescribe (69)."""

    group_ids: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class ConsumerGroupDescribeMember:
    """One member of a described consumer group.

    Args:
        assignment: assigned and still to be revoked.
        member_type: 0 classic, 1 consumer, -1 before version 1.
    """

    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    assignment: tuple[TopicPartitions, ...]
    target_assignment: tuple[TopicPartitions, ...]
    member_type: int = -1


@dataclass(frozen=True, slots=True)
class DescribedConsumerGroup:
    """One group of a ConsumerGroupDescribe answer."""

    group_id: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    group_state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ""
    members: tuple[ConsumerGroupDescribeMember, ...] = ()


@dataclass(frozen=True, slots=True)
class ConsumerGroupDescribeResponse:
    """Answer to ConsumerGroupDescribe."""

    groups: tuple[DescribedConsumerGroup, ...]
