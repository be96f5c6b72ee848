"""The one picture of a cluster's groups, as planning, lag, the sandbox and the tests see it.

`core/kafka` makes it from a real cluster, `core/snapshot_file` reads and writes it as a file,
`core/coordinator` can be filled from it. It holds facts only: what was not learned is None or
absent, never 0. Maps go from topic to partition number to value; partition numbers are `int`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from kgroups.assignors.spec import TopicPartition as TopicPartition
from kgroups.core.errors import ItemError
from kgroups.core.protocol.errors import broker_error

GroupType = Literal["classic", "consumer", "share", "streams"]
MemberProtocol = Literal["classic", "consumer"]
HIDDEN: Final = "TOPIC_AUTHORIZATION_FAILED"
"""Kafka's error for a topic that may not be described, whether it exists or not."""


class CommittedOffset(NamedTuple):
    """A group's commit for one partition.

    Args:
        offset: next offset to read; of a share group its start offset.
        leader_epoch: epoch stored with the commit; None if none was.
        metadata: the client's text; empty if none.
        committed_at_ms: epoch milliseconds; known only from `__consumer_offsets`.
        lag: of a share group, as its coordinator tells it: records at and after the offset that
            are neither acknowledged nor archived; None where it does not, and of other groups.
    """

    offset: int
    leader_epoch: int | None = None
    metadata: str = ""
    committed_at_ms: int | None = None
    lag: int | None = None


class PartitionLog(NamedTuple):
    """One partition of a topic and the bounds of its log, in records.

    Args:
        log_start_offset: first offset that the log still holds; None if not learned.
        log_end_offset: offset after the last one (the high watermark); None if not learned.
        last_stable_offset: end for read_committed readers; None if it was not asked for.
        leader: broker id; None if the partition has no leader.
        racks: rack of each replica (None where the broker has none); empty if not learned.
        error: Kafka's error name when the bounds could not be read.
        current_leader_epoch: grows with each change of the leader; None if not learned.
        in_sync_replicas: broker ids; empty if not learned.
    """

    log_start_offset: int | None = None
    log_end_offset: int | None = None
    last_stable_offset: int | None = None
    leader: int | None = None
    racks: tuple[str | None, ...] = ()
    error: str | None = None
    current_leader_epoch: int | None = None
    in_sync_replicas: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with its partitions, keyed by partition number.

    Args:
        topic_id: in Kafka's base64 form; None if not learned.
    """

    topic: str
    partitions: Mapping[int, PartitionLog]
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker's id and advertised address."""

    id: int
    host: str
    port: int
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks of a member of a streams group: subtopology to partitions.

    Args:
        standby: whose state it keeps a copy of.
        warmup: whose state it restores, to take them over.
    """

    active: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    standby: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    warmup: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StreamsMember:
    """The further fields of a member of a streams group: it is a thread of an application.

    Args:
        process_id: of the application instance, which its threads share.
        endpoint: `host:port` for interactive queries; None if it has none.
        state_offsets: subtopology to partition to how far its copy of the state is.
    """

    process_id: str
    topology_epoch: int
    endpoint: str | None = None
    assigned_tasks: Tasks = field(default_factory=Tasks)
    target_tasks: Tasks = field(default_factory=Tasks)
    state_offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a group, as DescribeGroups or ConsumerGroupDescribe shows it.

    Args:
        host: as the broker spells it, with its leading slash.
        member_protocol: how this member speaks to the coordinator.
        member_epoch: KIP-848 only.
        subscription: topic names; None where the protocol does not show them (a classic group
            that is not Stable).
        subscription_regex: KIP-848 pattern, RE2 dialect; None if none.
        assignment: topic to partitions, in the order of the wire; None if not shown. Of a streams
            group what its active tasks read.
        target_assignment: KIP-848 only.
        rack: from the subscription (classic, version 3) or the member (KIP-848).
        subscription_version: version of the classic subscription bytes.
        generation: generation in the subscription bytes of the last join (version 2 on).
        owned: partitions owned at the last join, from the subscription bytes; one round stale.
        user_data: the assignor's own bytes of the last join.
        assignment_version: version of the classic assignment bytes, which the leader wrote.
        assignment_user_data: the assignor's own bytes in them.
        streams: of a streams group only.
    """

    member_id: str
    client_id: str
    host: str
    instance_id: str | None = None
    member_protocol: MemberProtocol = "classic"
    member_epoch: int | None = None
    subscription: tuple[str, ...] | None = None
    subscription_regex: str | None = None
    assignment: Mapping[str, tuple[int, ...]] | None = None
    target_assignment: Mapping[str, tuple[int, ...]] | None = None
    rack: str | None = None
    subscription_version: int | None = None
    generation: int | None = None
    owned: Mapping[str, tuple[int, ...]] | None = None
    user_data: bytes | None = None
    assignment_version: int | None = None
    assignment_user_data: bytes | None = None
    streams: StreamsMember | None = None

    @property
    def assigned_partitions(self) -> list[TopicPartition]:
        """Those of its assignment, one by one."""
        assignment = self.assignment or {}
        return [(topic, number) for topic, numbers in assignment.items() for number in numbers]


@dataclass(frozen=True, slots=True)
class Subtopology:
    """A part of a streams application's topology: its tasks are one a partition of its sources.

    Args:
        repartition_source_topics: internal topics that it reads.
        repartition_sink_topics: internal topics that it writes.
        state_changelog_topics: internal topics that hold its state.
    """

    subtopology_id: str
    source_topics: tuple[str, ...] = ()
    repartition_source_topics: tuple[str, ...] = ()
    repartition_sink_topics: tuple[str, ...] = ()
    state_changelog_topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """One group: its state, its members and what it committed.

    Args:
        state: Kafka's spelling: Stable, Empty, PreparingRebalance, CompletingRebalance,
            Assigning, Reconciling, Dead.
        protocol_type: `consumer`, `connect`, ...; empty for a group that only commits.
        assignor: the chosen classic protocol or the KIP-848 server-side assignor.
        coordinator: broker id; None if not learned.
        offsets_partition: partition of `__consumer_offsets` that holds the group.
        group_epoch, target_epoch: KIP-848 only.
        topology: of a streams group; None where it has none yet.
        settings: of a share or streams group, those that a plan depends on, by Kafka's names; None
            if not learned.
        leader: member id of a classic group's leader; known only from `__consumer_offsets`.
        generation: of a classic group; known only from there, and not shown.
        led: rounds that the leader has assigned under this id, oldest first: the group as it was
            then, the round of now among them; known only from `__consumer_offsets`, and not shown.
        leader_is_back: whether the leader is a static member that came back without a rebalance,
            so that it has assigned nothing under this id; known and shown as `led`.
        members: in the order of the broker's answer, which decides later rounds; None if the
            members were not asked for.
        offsets: topic to partition to commit; None if offsets were not asked for or not readable.
    """

    group: str
    type: GroupType
    state: str | None
    protocol_type: str | None = None
    assignor: str | None = None
    coordinator: int | None = None
    offsets_partition: int | None = None
    group_epoch: int | None = None
    target_epoch: int | None = None
    topology: tuple[Subtopology, ...] | None = None
    settings: Mapping[str, str | None] | None = None
    leader: str | None = None
    generation: int | None = None
    led: tuple["Group", ...] = ()
    leader_is_back: bool = False
    members: tuple[Member, ...] | None = None
    offsets: Mapping[str, Mapping[int, CommittedOffset]] | None = None

    def commits(self) -> Iterator[tuple[TopicPartition, CommittedOffset]]:
        """Each partition with its commit; nothing where they are not known."""
        for topic, commits in (self.offsets or {}).items():
            for number, commit in commits.items():
                yield (topic, number), commit


def led_round(
    protocol_type: str | None, assignor: str | None, leader: str | None, members: Iterable[Member]
) -> Group:
    """A round that a leader has assigned, as `Group.led` holds it: the group as it was then."""
    return Group(
        group="",
        type="classic",
        state="Stable",
        protocol_type=protocol_type,
        assignor=assignor,
        leader=leader,
        members=tuple(members),
    )


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """A cluster's groups and the topics they touch, at one time.

    Args:
        captured_at_ms: epoch milliseconds, when the last answer (the log end offsets) arrived.
        groups: ascending by name.
        topics: every topic that a group subscribed to, is assigned or committed; a topic that
            is named by a group and missing here does not exist, or is one of `hidden_topics`.
    """

    captured_at_ms: int
    groups: tuple[Group, ...]
    topics: Mapping[str, Topic]
    brokers: tuple[Broker, ...] = ()
    cluster_id: str | None = None
    bootstrap: str | None = None
    errors: tuple[ItemError, ...] = field(default=())

    @property
    def hidden_topics(self) -> frozenset[str]:
        """Topics that may not be described: whether they exist is not known."""
        return frozenset(error.target for error in self.errors if error.code == HIDDEN)

    def broker(self, broker_id: int | None) -> Broker | None:
        """The broker of this id, or None if it is not known."""
        return next((broker for broker in self.brokers if broker.id == broker_id), None)

    def group(self, name: str) -> Group | None:
        """The group of this name, or None."""
        return next((group for group in self.groups if group.group == name), None)

    def needed(self, name: str) -> Group:
        """The group of this name, everything about it learned.

        Raises:
            ClusterError: it may not be looked at, or could not be.
            NotFoundError: it is not there.
        """
        for error in self.errors:
            if error.target == name:
                raise error.as_error()
        group = self.group(name)
        if group is None or (group.state == "Dead" and not group.offsets):
            raise broker_error(name, "GROUP_ID_NOT_FOUND").as_error()
        return group
