"""The input and the output of an assignor.

A strategy is a name and one pure function from `AssignmentRequest` to `Assignment`; it sees
neither the cluster nor the group.

Source: `ConsumerPartitionAssignor` of Kafka's clients, and KIP-848's server-side
`ConsumerGroupPartitionAssignor`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

TopicPartition = tuple[str, int]
"""A partition: the name of its topic and its number. The coordinator's own type is one of these."""


class AssignorError(Exception):
    """A strategy that could not assign; where a Java assignor throws, `java` names its exception.

    Args:
        message: one sentence without a full stop.
        hint: what to do next, or None.
        java: class name of the exception that fails the rebalance of a Java leader, or None.
    """

    def __init__(self, message: str, *, hint: str | None = None, java: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.java = java


@dataclass(frozen=True, slots=True)
class MemberSubscription:
    """One member at the moment of the rebalance.

    Args:
        member_id: the coordinator's id of the member.
        topics: subscribed topics, in the order of the wire, duplicates kept; a list, or one name.
        instance_id: `group.instance.id`, from the JoinGroup answer; None for a dynamic member.
        rack: `client.rack`; None or empty if unknown.
        owned: topic to the partitions that it brings along, in order; for a dry run of the next
            rebalance the current assignment. Server side: the member's target assignment.
        generation: generation in which `owned` was given; -1 if unknown.
        user_data: the assignor's own bytes; None if none.
        owned_ids: topic to the id that it had when its partitions were given; a topic that was
            deleted and created again under its name has another one, and its partitions are not
            kept. Only server-side assignors know ids.
        previous: what `sticky` user data holds, already decoded, as (partitions, generation);
            takes the place of `user_data`. `rejoin` in `assignors/rejoin.py` fills it.
    """

    member_id: str
    topics: tuple[str, ...]  # any sequence, or one name, is made one
    instance_id: str | None = None
    rack: str | None = None
    owned: Sequence[tuple[str, Sequence[int]]] = ()
    generation: int = -1
    user_data: bytes | None = None
    previous: tuple[Sequence[tuple[str, Sequence[int]]], int] | None = None
    owned_ids: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Takes topics as whoever calls has them."""
        topics = self.topics
        if type(topics) is not tuple:
            object.__setattr__(self, "topics", (topics,) if isinstance(topics, str) else (*topics,))


@dataclass(frozen=True, slots=True)
class TopicPartitions:
    """A topic of the cluster's metadata.

    Args:
        partitions: number of partitions; 0 is the same as an unknown topic.
        racks: for each partition the rack of each replica; empty if no broker has a rack.
        lag: for each partition the records that are still to be read; empty if unknown.
        topic_id: Uuid in Kafka's base64 form; server-side assignors order by it.
        leader_racks: for each partition the rack of its leader, None if unknown; empty if no broker
            has a rack.
    """

    partitions: int
    racks: Sequence[Sequence[str | None]] = ()
    lag: Sequence[int | None] = ()
    topic_id: str | None = None
    leader_racks: Sequence[str | None] = ()


@dataclass(frozen=True, slots=True)
class AssignmentRequest:
    """A rebalance to be decided.

    Args:
        members: in the order of the JoinGroup answer (= DescribeGroups), which decides ties.
        topics: topic name to what the cluster knows of it.
        generation: the newest generation that the assignor has seen, -1 if none.
        options: the strategy's own settings, such as `seed` of `random`.
        faithful: repeat what the Java class does wrong instead of reporting it in
            `Assignment.faults`.
        leader: id of the member that leads the group, None if unknown; a kafkajs leader assigns
            the topics that it reads itself.
    """

    members: Sequence[MemberSubscription]
    topics: Mapping[str, TopicPartitions]
    generation: int = -1
    options: Mapping[str, object] = field(default_factory=dict)
    faithful: bool = False
    leader: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that the leader's library does wrong with this input, Java's unless it is named.

    Args:
        code: `EMPTY_SUBSCRIPTION`, `DOUBLED_TOPIC`, `UNSUBSCRIBED_OWNER`, `PHANTOM_PARTITION`,
            `FOREIGN_PARTITION` or `LEADER_FAILS`.
        message: one sentence without a full stop: what a Java leader would do.
    """

    code: str
    message: str
    member_id: str | None = None
    topic: str | None = None
    partition: int | None = None


class Assignment(Protocol):
    """The partitions of each member, in the list order of the Java class.

    Implementations are compact (arrays, not an object a partition).
    """

    @property
    def member_ids(self) -> Sequence[str]:
        """Every member of the request, in the order of the strategy's answer."""
        ...

    @property
    def faults(self) -> Sequence[Fault]:
        """The faults of the Java class with this request; empty as a rule."""
        ...

    @property
    def generation(self) -> int:
        """Newest generation that the strategy has seen; -1 if none, and on the server side."""
        ...

    @property
    def withheld(self) -> Mapping[TopicPartition, str]:
        """(topic, partition) to the member that gets it in the next round; empty as a rule.

        In a cooperative rebalance what changes hands is first given up by its owner.
        """
        ...

    def partitions_of(self, member_id: str) -> Sequence[TopicPartition]:
        """(topic, partition) of one member, in list order; empty if it gets nothing."""
        ...

    def items(self) -> Iterator[tuple[str, dict[str, list[int]]]]:
        """Member id and its partitions by topic, in `member_ids` order; built on demand."""
        ...


class WithUserData(NamedTuple):
    """An answer of a strategy of one's own that gives members bytes besides their partitions.

    Args:
        assignment: member id to topic to partitions.
        user_data: member id to the leader's bytes for it.
    """

    assignment: Mapping[str, Mapping[str, Sequence[int]]]
    user_data: Mapping[str, bytes]


class LastAssignment(NamedTuple):
    """The previous assignment of a member.

    Args:
        partitions: in list order.
        generation: in which it got them.
        user_data: the leader's bytes for it; None in a dry run, and where there were none.
    """

    partitions: Sequence[TopicPartition]
    generation: int
    user_data: bytes | None = None


@runtime_checkable
class Remembering(Protocol):
    """The optional part of a strategy of one's own: each member's memory of what it was given.

    Before each JoinGroup a new object is told the last assignment, and asked for the bytes that go
    into the member's subscription; leaders find them in `MemberSubscription.user_data`.

    Source: `ConsumerPartitionAssignor.onAssignment` and `subscriptionUserData`.
    """

    def on_assignment(self, last: LastAssignment) -> None:
        """Take note of what the member was given; not called before its first assignment."""
        ...

    def subscription_user_data(self, topics: Sequence[str]) -> bytes | None:
        """The bytes for the next subscription, to these topics; None for none."""
        ...


@runtime_checkable
class Assignor(Protocol):
    """A named strategy. One pure function; raises `AssignorError` where Java throws."""

    @property
    def name(self) -> str:
        """Name as in the protocol: `range`, `cooperative-sticky`, ..."""
        ...

    def assign(self, request: AssignmentRequest) -> Assignment:
        """The assignment of every partition of the subscribed topics."""
        ...
