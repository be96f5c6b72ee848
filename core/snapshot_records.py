"""The structs of a snapshot file, one for each kind of object, with the bounds of its values.

Documents and files of lines consist of the same objects. Fields under `derived` follow from the
others: a document has them for the reader's eye, and nobody reads them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from kgroups.core.errors import ItemError
from kgroups.core.group_item import LEADER_SOURCE
from kgroups.core.snapshot import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    Member,
    MemberProtocol,
    Subtopology,
    Topic,
    led_round,
)
from kgroups.core.snapshot_topics import (
    Assignment,
    Int32,
    Int64,
    Moment,
    PartitionNumber,
    Record,
    TopicRecord,
    check_once,
)
from kgroups.core.times import epoch_ms, instant_of


class CommitRecord(Record):
    """A group's commit for a partition; in a document also its lag as far as it is known."""

    topic: str
    partition: PartitionNumber
    committed_offset: Int64 | None = None
    leader_epoch: Int64 | None = None
    metadata: str | None = None
    committed_at: Moment | None = None
    # derived
    log_start_offset: int | None = None
    log_end_offset: int | None = None
    last_stable_offset: int | None = None
    lag: int | None = None
    lag_status: str | None = None
    lost: int | None = None
    member_id: str | None = None
    client_id: str | None = None
    host: str | None = None
    error: str | None = None
    shared_with: list[str] | None = None


class TasksRecord(Record):
    """Tasks of a member of a streams group."""

    active: Assignment = msgspec.field(default_factory=dict)
    standby: Assignment = msgspec.field(default_factory=dict)
    warmup: Assignment = msgspec.field(default_factory=dict)


class StreamsMemberRecord(Record):
    """The further fields of a member of a streams group."""

    process_id: str
    topology_epoch: Int32
    endpoint: str | None = None
    assigned_tasks: TasksRecord = msgspec.field(default_factory=TasksRecord)
    target_tasks: TasksRecord = msgspec.field(default_factory=TasksRecord)
    state_offsets: dict[str, dict[PartitionNumber, Int64]] = msgspec.field(default_factory=dict)


class MemberRecord(Record):
    """A member: the fields of `Member`."""

    member_id: str
    client_id: str
    host: str
    instance_id: str | None = None
    member_protocol: MemberProtocol = "classic"
    member_epoch: Int64 | None = None
    subscription: tuple[str, ...] | None = None
    subscription_regex: str | None = None
    assignment: Assignment | None = None
    target_assignment: Assignment | None = None
    rack: str | None = None
    subscription_version: Int64 | None = None
    generation: Int64 | None = None
    owned: Assignment | None = None
    user_data: bytes | None = None
    assignment_version: Int64 | None = None
    assignment_user_data: bytes | None = None
    streams: StreamsMemberRecord | None = None
    # derived
    partitions: int | None = None
    lag: int | None = None


class LedRecord(Record):
    """A round that a leader has assigned: the group as it was then."""

    assignor: str | None
    members: list[MemberRecord]


class CoordinatorRecord(Record):
    """A group's coordinator by its id."""

    id: Int32
    # derived
    host: str | None = None
    port: int | None = None


class SubtopologyRecord(Record):
    """A part of a streams group's topology."""

    subtopology_id: str
    source_topics: list[str] = msgspec.field(default_factory=list)
    repartition_source_topics: list[str] = msgspec.field(default_factory=list)
    repartition_sink_topics: list[str] = msgspec.field(default_factory=list)
    state_changelog_topics: list[str] = msgspec.field(default_factory=list)


class GroupRecord(Record):
    """A group with its members and commits."""

    group: str
    type: GroupType
    state: str | None
    protocol_type: str | None = None
    assignor: str | None = None
    coordinator: CoordinatorRecord | None = None
    offsets_partition: PartitionNumber | None = None
    group_epoch: Int64 | None = None
    target_epoch: Int64 | None = None
    topology: list[SubtopologyRecord] | None = None
    group_configs: dict[str, str | None] | None = None
    leader: str | None = None
    leader_known_from: Literal["__consumer_offsets"] | None = None
    leader_is_back: bool = False
    led: list[LedRecord] | None = None
    members: list[MemberRecord] | None = None
    offsets: list[CommitRecord] | None = None
    # derived
    lag: int | None = None
    lag_max: int | None = None
    lost: int | None = None
    unknown_partitions: int | None = None
    unowned_partitions: int | None = None
    beyond_end_partitions: int | None = None

    def __post_init__(self) -> None:
        """See that nothing stands twice.

        Raises:
            ValueError: something does.
        """
        check_once("member", (member.member_id for member in self.members or ()))
        check_once("partition", (f"{row.topic}-{row.partition}" for row in self.offsets or ()))


class ClusterRecord(Record):
    """Which cluster it was."""

    id: str | None = None
    bootstrap: str | None = None


class Head(Record, kw_only=True):
    """The fields beside groups and topics."""

    cluster: ClusterRecord | None = None
    generated_at: Moment
    brokers: list[Broker] | None = None
    errors: list[ItemError] | None = None

    def __post_init__(self) -> None:
        """See that no broker stands twice.

        Raises:
            ValueError: one does.
        """
        check_once("broker", (broker.id for broker in self.brokers or ()))


class LinesHead(Head, kw_only=True):
    """The first line of a file of lines: so many topics follow, then so many groups."""

    schema: Literal["kgroups.snapshot.lines/1"]
    topics: PartitionNumber
    groups: PartitionNumber


class SnapshotRecord(Head, kw_only=True):
    """A whole document."""

    schema: Literal["kgroups.snapshot/1"]
    items: list[GroupRecord]
    topics: list[TopicRecord]
    # of the printed document: derived, and said
    summary: dict[str, Any] | None = None
    notes: list[Any] | None = None

    def __post_init__(self) -> None:
        """See that nothing stands twice.

        Raises:
            ValueError: something does.
        """
        super().__post_init__()
        check_once("group", (group.group for group in self.items))
        check_once("topic", (topic.topic for topic in self.topics))


def snapshot_of(head: Head, topics: Iterable[Topic], groups: Iterable[Group]) -> ClusterSnapshot:
    """The snapshot of these parts."""
    cluster = head.cluster or ClusterRecord()
    return ClusterSnapshot(
        captured_at_ms=epoch_ms(head.generated_at),
        groups=tuple(groups),
        topics={topic.topic: topic for topic in topics},
        brokers=tuple(head.brokers or ()),
        cluster_id=cluster.id,
        bootstrap=cluster.bootstrap,
        errors=tuple(head.errors or ()),
    )


def group_of(record: GroupRecord) -> Group:
    """The group that a record describes."""
    members = record.members
    return Group(
        group=record.group,
        type=record.type,
        state=record.state,
        protocol_type=record.protocol_type,
        assignor=record.assignor,
        coordinator=None if record.coordinator is None else record.coordinator.id,
        offsets_partition=record.offsets_partition,
        group_epoch=record.group_epoch,
        target_epoch=record.target_epoch,
        settings=record.group_configs,
        topology=msgspec.convert(
            record.topology, tuple[Subtopology, ...] | None, from_attributes=True
        ),
        leader=record.leader,
        led=tuple(
            led_round(
                record.protocol_type, led.assignor, record.leader, map(_member_of, led.members)
            )
            for led in record.led or ()
        ),
        leader_is_back=record.leader_is_back,
        members=None if members is None else tuple(map(_member_of, members)),
        offsets=(
            None
            if record.offsets is None
            else _commits_of(record.offsets, with_lag=record.type == "share")
        ),
    )


def _member_of(record: MemberRecord) -> Member:
    return msgspec.convert(record, Member, from_attributes=True)


def _commits_of(
    rows: Iterable[CommitRecord], *, with_lag: bool
) -> dict[str, dict[int, CommittedOffset]]:
    """Topic to partition to commit; rows without one are left out.

    Args:
        with_lag: whether lag is what the coordinator told, and does not follow from the rest.
    """
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    for row in rows:
        if row.committed_offset is not None:
            offsets.setdefault(row.topic, {})[row.partition] = CommittedOffset(
                row.committed_offset,
                row.leader_epoch,
                row.metadata or "",
                None if row.committed_at is None else epoch_ms(row.committed_at),
                row.lag if with_lag else None,
            )
    return offsets


def group_record(group: Group) -> GroupRecord:
    """The record of a group, without what follows from the rest."""
    members, offsets = group.members, group.offsets
    return GroupRecord(
        group=group.group,
        type=group.type,
        state=group.state,
        protocol_type=group.protocol_type,
        assignor=group.assignor,
        coordinator=None if group.coordinator is None else CoordinatorRecord(group.coordinator),
        offsets_partition=group.offsets_partition,
        group_epoch=group.group_epoch,
        target_epoch=group.target_epoch,
        group_configs=None if group.settings is None else dict(group.settings),
        topology=msgspec.convert(
            group.topology, list[SubtopologyRecord] | None, from_attributes=True
        ),
        leader=group.leader,
        leader_known_from=None if group.leader is None else LEADER_SOURCE,
        leader_is_back=group.leader_is_back,
        led=[
            LedRecord(led.assignor, [_member_record(member) for member in led.members or ()])
            for led in group.led
        ]
        or None,
        members=None if members is None else [_member_record(member) for member in members],
        offsets=None if offsets is None else [*_commit_records(offsets)],
    )


def _member_record(member: Member) -> MemberRecord:
    return msgspec.convert(member, MemberRecord, from_attributes=True)


def _commit_records(
    offsets: Mapping[str, Mapping[int, CommittedOffset]],
) -> Iterator[CommitRecord]:
    for topic, commits in offsets.items():
        for number, (offset, leader_epoch, metadata, time_ms, lag) in commits.items():
            committed_at = None if time_ms is None else instant_of(time_ms)
            yield CommitRecord(
                topic, number, offset, leader_epoch, metadata or None, committed_at, lag=lag
            )
