"""The commands of the client half and the effects that it asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.topology import BrokerEndpoint, TopicInfo


class TopicPartition(NamedTuple):
    """One partition of a topic."""

    topic: str
    partition: int


# ---------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Read these topics from the next poll on, instead of those before.

    Args:
        pattern: what the coordinator resolves (KIP-848), or what the topics were found by: then
            a member joins without any, too; None for none.
    """

    topics: tuple[str, ...]
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    """Read these partitions, chosen by hand; of a consumer that is no member of its group."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Read nothing from now on: give every partition up and leave the group unless static.

    Nothing is committed; a driver whose library does that asks for it before.
    """


@dataclass(frozen=True, slots=True)
class Poll:
    """The application asks for records: it is alive, and a rebalance may begin."""


@dataclass(frozen=True, slots=True)
class Polled:
    """The application polled at this time, not later than now, and nothing was due then.

    For a driver that looks at its application only now and then.
    """

    at_ms: int


@dataclass(frozen=True, slots=True)
class CallbackDone:
    """The application has finished the callback of this number."""

    number: int


@dataclass(frozen=True, slots=True)
class CommitOffsets:
    """Commit these offsets; an Event tells how it went.

    Args:
        number: the Event's detail, so that several commits are told apart.
        sync: the application waits: try again while it may help, for `default_api_timeout_ms`.
    """

    offsets: Mapping[TopicPartition, int]
    number: int = 0
    sync: bool = False


@dataclass(frozen=True, slots=True)
class UpdateTopics:
    """The cluster's topics as they are now; a leader watches those of its group."""

    topics: Mapping[str, TopicInfo]


@dataclass(frozen=True, slots=True)
class Close:
    """Commit, give every partition up, leave the group unless static."""


Command = (
    Subscribe
    | Assign
    | Unsubscribe
    | Poll
    | Polled
    | CallbackDone
    | CommitOffsets
    | UpdateTopics
    | Close
)


# ---------------------------------------------------------------------- effects


class Send(NamedTuple):
    """Send this request; its answer goes to `ClassicClient.response` under `token`.

    Args:
        to: the coordinator; None for any broker.
    """

    token: int
    to: BrokerEndpoint | None
    request: Request


class CallbackKind(StrEnum):
    """The callbacks of a rebalance listener."""

    ASSIGNED = "assigned"
    REVOKED = "revoked"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Callback:
    """Run the rebalance listener; `CallbackDone` with the same number ends it."""

    number: int
    kind: CallbackKind
    partitions: tuple[TopicPartition, ...]


class ClientEventKind(StrEnum):
    """The kind of a ClientEvent."""

    STATE_CHANGED = "state changed"
    COORDINATOR_FOUND = "coordinator found"
    COORDINATOR_LOST = "coordinator lost"
    CONNECTION_CLOSED = "connection closed"
    MEMBER_ID_GIVEN = "member id given"
    REJOIN_REQUESTED = "rejoin requested"
    GENERATION_LOST = "generation lost"
    ASSIGNMENT_COMPUTED = "assignment computed"
    OFFSETS_COMMITTED = "offsets committed"
    COMMIT_FAILED = "commit failed"
    TARGET_GIVEN = "assignment received"
    TOPICS_NEEDED = "metadata needed"
    FAILED = "failed"


class ClientEvent(NamedTuple):
    """Something that happened, for explanations and logs; `reason` is a clause."""

    at_ms: int
    kind: ClientEventKind
    reason: str = ""
    detail: tuple[object, ...] = ()


ClientEffect = Send | Callback | ClientEvent
