"""Settings of a consumer of the ZooKeeper era, what it needs done, and what it tells."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.zookeeper.client_session import Dial, Transmit


@dataclass(frozen=True, slots=True)
class ZookeeperConsumerConfig:
    """A consumer's settings, by the names of its properties; defaults of Kafka 0.8.2.

    Args:
        consumer_id: the consumer's own part of its id; the group's name is put before it.
        topics: subscribed by name -> streams; empty if by pattern.
        pattern: a white list; `ZookeeperConsumerPorts.matches` knows what it stands for.
        streams: of a pattern: threads that share all of its topics.
        auto_commit_enable: whether it commits before it gives partitions up; whoever drives the
            consumer calls `commit` every `auto.commit.interval.ms`.
        rebalance_backoff_ms: by default zookeeper.sync.time.ms.
    """

    group_id: str
    consumer_id: str
    topics: Mapping[str, int] = field(default_factory=dict)
    pattern: str | None = None
    streams: int = 1
    zookeeper_session_timeout_ms: int = 6_000
    rebalance_max_retries: int = 4
    rebalance_backoff_ms: int = 2_000
    partition_assignment_strategy: str = "range"
    auto_commit_enable: bool = True
    servers: int = 3

    @property
    def id(self) -> str:
        """The consumer's id in its group."""
        return f"{self.group_id}_{self.consumer_id}"


def every_topic(topic: str) -> bool:
    """A white list of everything."""
    return True


def no_positions(partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
    """Nothing was read."""
    return {}


@dataclass(frozen=True, slots=True)
class ZookeeperConsumerPorts:
    """Functions that a consumer calls.

    Args:
        draw: a random number below its argument.
        positions: the next offset to read of each of these partitions that has one.
        matches: whether a topic is on the white list.
    """

    draw: Callable[[int], int]
    positions: Callable[[Iterable[TopicPartition]], Mapping[TopicPartition, int]] = no_positions
    matches: Callable[[str], bool] = every_topic


# ---------------------------------------------------------------------- effects


class Fetch(NamedTuple):
    """Read these partitions from now on, from these offsets; None: none was committed."""

    positions: Mapping[TopicPartition, int | None]


class StopFetching(NamedTuple):
    """Read nothing until the next Fetch; partitions that were read until now."""

    partitions: tuple[TopicPartition, ...]


class Committed(NamedTuple):
    """These offsets stand in ZooKeeper now."""

    offsets: Mapping[TopicPartition, int]


class EventKind(StrEnum):
    """The kind of a ZookeeperConsumerEvent."""

    SESSION = "session"
    REGISTERED = "consumer registered"
    WATCH_FIRED = "watch fired"
    REBALANCE = "begin rebalancing"
    RELEASED = "ownership released"
    CLAIMED = "partition owned"
    CONFLICT = "partition still owned"
    REBALANCED = "end rebalancing"
    ATTEMPT_FAILED = "attempt failed"
    REBALANCE_FAILED = "ConsumerRebalanceFailedException"
    NO_BROKERS = "no brokers"
    ERROR = "error"
    CLOSED = "shut down"


@dataclass(frozen=True, slots=True)
class ZookeeperConsumerEvent:
    """Something that happened, for explanations and logs.

    Args:
        reason: a clause.
        partitions: those that it is about.
    """

    at_ms: int
    kind: EventKind
    reason: str = ""
    partitions: tuple[TopicPartition, ...] = ()


ConsumerEffect = Dial | Transmit | Fetch | StopFetching | Committed | ZookeeperConsumerEvent
