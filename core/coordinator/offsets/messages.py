"""Requests about committed offsets, with their answers.

Topics are named, or from version 10 of OffsetCommit and OffsetFetch and 6 of TxnOffsetCommit on
given by id (`topic_id`, with an empty name). Answers carry both, and whoever encodes them picks
what the version has.
"""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode

INVALID_OFFSET = -1
NO_LEADER_EPOCH = -1


class OffsetCommitPartition(NamedTuple):
    """The commit of one partition."""

    partition_index: int
    committed_offset: int
    committed_leader_epoch: int = NO_LEADER_EPOCH
    committed_metadata: str | None = ""


class OffsetCommitTopic(NamedTuple):
    """Partitions of one topic that are committed."""

    name: str
    partitions: tuple[OffsetCommitPartition, ...]
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommitRequest(Request):
    """OffsetCommit (8); a retention time other than -1 came with versions 2 to 4."""

    group_id: str | None
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    retention_time_ms: int = -1
    topics: tuple[OffsetCommitTopic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TxnOffsetCommitRequest(Request):
    """TxnOffsetCommit (28): offsets that count once the producer's transaction commits."""

    group_id: str | None
    transactional_id: str
    producer_id: int
    producer_epoch: int
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
    topics: tuple[OffsetCommitTopic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTxnMarkerRequest(Request):
    """End of a producer's transaction on one partition of `__consumer_offsets`."""

    producer_id: int
    producer_epoch: int
    partition: int
    committed: bool


@dataclass(frozen=True, slots=True)
class WriteTxnMarkerResponse:
    """Answer to the marker."""

    error_code: ErrorCode


class PartitionError(NamedTuple):
    """How it went for one partition."""

    partition_index: int
    error_code: ErrorCode


class TopicErrors(NamedTuple):
    """How it went for the partitions of one topic."""

    name: str
    partitions: tuple[PartitionError, ...]
    topic_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class OffsetCommitResponse:
    """Answer to OffsetCommit and TxnOffsetCommit."""

    topics: tuple[TopicErrors, ...]


class OffsetFetchTopic(NamedTuple):
    """Partitions of one topic whose commits are asked for."""

    name: str
    partition_indexes: tuple[int, ...]
    topic_id: UUID | None = None


class OffsetFetchGroup(NamedTuple):
    """One group of an OffsetFetch; topics None asks for everything committed."""

    group_id: str | None
    topics: tuple[OffsetFetchTopic, ...] | None
    member_id: str | None = None
    member_epoch: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetFetchRequest(Request):
    """OffsetFetch (9); before version 8 exactly one group."""

    groups: tuple[OffsetFetchGroup, ...]
    require_stable: bool = False


class FetchedPartition(NamedTuple):
    """The commit of one partition; offset -1 where there is none."""

    partition_index: int
    committed_offset: int = INVALID_OFFSET
    committed_leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    error_code: ErrorCode = ErrorCode.NONE


class FetchedTopic(NamedTuple):
    """Commits of one topic's partitions."""

    name: str
    partitions: tuple[FetchedPartition, ...]
    topic_id: UUID | None = None


class FetchedGroup(NamedTuple):
    """Commits of one group."""

    group_id: str
    topics: tuple[FetchedTopic, ...] = ()
    error_code: ErrorCode = ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class OffsetFetchResponse:
    """Answer to OffsetFetch, groups in the order of the request."""

    groups: tuple[FetchedGroup, ...]


class OffsetDeleteTopic(NamedTuple):
    """Partitions of one topic whose commits are to go."""

    name: str
    partition_indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetDeleteRequest(Request):
    """OffsetDelete (47)."""

    group_id: str | None
    topics: tuple[OffsetDeleteTopic, ...]


@dataclass(frozen=True, slots=True)
class OffsetDeleteResponse:
    """Answer to OffsetDelete; no topics when the error is at the top."""

    error_code: ErrorCode
    topics: tuple[TopicErrors, ...] = ()
