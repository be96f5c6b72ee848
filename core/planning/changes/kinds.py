"""What-if changes to a group, as data."""

from dataclasses import dataclass
from typing import Final, Literal

from kgroups.core.snapshot import MemberProtocol

Dialect = Literal["java", "librdkafka", "re2"]
DIALECTS: Final[tuple[Dialect, ...]] = ("java", "librdkafka", "re2")

# More members or partitions than any cluster has would only fill the memory.
MAX_MEMBERS: Final = 100_000
MAX_PARTITIONS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class AddMembers:
    """Members that join.

    Args:
        client_id: their `client.id`; None: that of most present members, or the next number where
            each has its own.
        instance_id: `group.instance.id`, with a number behind it if several join; None for
            dynamic members.
        topics: what they subscribe to; None: what most present members of the same client id,
            or else of the group, subscribe to.
        member_id: their exact id, where it is known before they join; None otherwise.
        library: their client library; None: what leads the group.
        pattern: by which they subscribe instead.
        protocol: which they speak; None: that of most present members.
    """

    count: int = 1
    client_id: str | None = None
    rack: str | None = None
    instance_id: str | None = None
    topics: tuple[str, ...] | None = None
    member_id: str | None = None
    library: str | None = None
    pattern: "Pattern | None" = None
    protocol: MemberProtocol | None = None


@dataclass(frozen=True, slots=True)
class RemoveMember:
    """One member leaves; named by member id, instance id, or a client id that only it has."""

    member: str


@dataclass(frozen=True, slots=True)
class RemoveMembers:
    """So many members leave: the last ones in the order of their ids.

    Args:
        name: the number as it was written: in a group that has a member of this id, it means that.
    """

    count: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class DropHost:
    """Every member on this host leaves; with or without the leading slash of the broker."""

    host: str


@dataclass(frozen=True, slots=True)
class SetPartitions:
    """A topic of the cluster gets this number of partitions."""

    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class AddTopic:
    """A topic is created."""

    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Members subscribe to other topics.

    Args:
        topics: the whole new subscription, or what is added to the present one.
        added: whether `topics` is added.
        member: member id, instance id or client id of those that change; None: all.
    """

    topics: tuple[str, ...]
    added: bool = False
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """Members subscribe by a pattern over topic names.

    Args:
        pattern: the regular expression, without the `^` that librdkafka asks for.
        dialect: whose rules it is read by.
        member: member id, instance id or client id of those that change; None: all.
        said: whether the dialect was named; else it is that of the group's clients.
    """

    pattern: str
    dialect: Dialect
    member: str | None = None
    said: bool = True


@dataclass(frozen=True, slots=True)
class Restart:
    """A member goes and comes back at once: a static one before its session ends."""

    member: str


@dataclass(frozen=True, slots=True)
class Expire:
    """A member is away for longer than its session, and then comes back."""

    member: str


@dataclass(frozen=True, slots=True)
class RollingRestart:
    """Members restart one after another, each when the group has settled.

    Args:
        who: client id of those that do; None: all.
    """

    who: str | None = None


@dataclass(frozen=True, slots=True)
class SwitchClient:
    """Members move to another client library, one after another: a deploy."""

    library: str


@dataclass(frozen=True, slots=True)
class MoveToProtocol:
    """Members move to KIP-848 (`consumer`), or back to the classic protocol, one after another."""

    protocol: MemberProtocol


# What leads to one rebalance, and what leads to a sequence of them.
Change = (
    AddMembers
    | RemoveMember
    | RemoveMembers
    | DropHost
    | SetPartitions
    | AddTopic
    | Subscribe
    | Pattern
)
Deploy = Restart | Expire | RollingRestart | SwitchClient | MoveToProtocol
