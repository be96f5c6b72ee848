"""Topics of the embedded cluster: names, ids, partitions, replicas and leaders.

All replicas of a partition are one log in this process, so a leader change moves nothing; it
grows the leader epoch and changes what Metadata says.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.sandbox.storage.partition_log import PartitionLog

OFFSETS_TOPIC = "__consumer_offsets"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, "__transaction_state"})
MAX_NAME_LENGTH = 249
NO_LEADER = -1
_SHOWN_CHANGES = 8
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def name_fault(name: str) -> str | None:
    """Why a topic cannot have this name; None if it can. Source: Kafka's Topic.validate."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"`{name}` is not allowed"
    if len(name) > MAX_NAME_LENGTH:
        return f"longer than {MAX_NAME_LENGTH} characters"
    if _LEGAL_NAME.fullmatch(name) is None:
        return "only letters, digits, '.', '_' and '-' are allowed"
    return None


@dataclass(slots=True)
class Partition:
    """One partition.

    Args:
        replicas: broker ids, the preferred leader first.
        leader: broker id, or -1 while none of the replicas' brokers is up.
        leader_epoch: grows with each change of the leader.
    """

    index: int
    replicas: tuple[int, ...]
    leader: int
    log: PartitionLog
    leader_epoch: int = 0

    def elect(self, live: Sequence[int]) -> bool:
        """Make the first live replica the leader; whether that changed anything."""
        leader = next((broker for broker in self.replicas if broker in live), NO_LEADER)
        if leader == self.leader:
            return False
        self.leader = leader
        if leader != NO_LEADER:
            self.leader_epoch += 1
        return True

    def prefer(self, broker: int) -> None:
        """Make `broker` the preferred leader, adding it to the replicas if need be."""
        self.replicas = (broker, *(replica for replica in self.replicas if replica != broker))


@dataclass(slots=True)
class Topic:
    """A topic with its partitions in order and the settings it was created with."""

    name: str
    topic_id: UUID
    partitions: list[Partition] = field(default_factory=list)
    configs: dict[str, str] = field(default_factory=dict)

    @property
    def is_internal(self) -> bool:
        """Whether clients hide it from users."""
        return self.name in INTERNAL_TOPICS

    def partition(self, index: int) -> Partition | None:
        """The partition of this number; None if there is none."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None


class Topics:
    """All topics, by name and by id.

    Args:
        brokers: ids of the brokers that replicas are spread over.
        new_log: makes the log of a new partition, from its topic and number.
    """

    def __init__(
        self,
        brokers: Sequence[int],
        *,
        new_log: Callable[[Topic, int], PartitionLog],
        new_id: Callable[[], UUID],
    ) -> None:
        self.brokers = tuple(brokers)
        self._new_log = new_log
        self._new_id = new_id
        self._by_name: dict[str, Topic] = {}
        self._by_id: dict[UUID, Topic] = {}
        self._next_first = 0

    def __iter__(self) -> Iterator[Topic]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def partition_count(self) -> int:
        """Partitions of all topics together."""
        return sum(len(topic.partitions) for topic in self)

    def get(self, name: str | None, topic_id: UUID | None = None) -> Topic | None:
        """The topic of this name or, where the name is empty, of this id."""
        return self._by_name.get(name) if name else self._by_id.get(topic_id or UUID(int=0))

    def partition(self, name: str, index: int) -> Partition | None:
        """A partition of a topic by name."""
        topic = self._by_name.get(name)
        return topic.partition(index) if topic is not None else None

    def create(
        self,
        name: str,
        partitions: int,
        *,
        replication_factor: int,
        configs: Mapping[str, str] | None = None,
        topic_id: UUID | None = None,
        assignments: Sequence[Sequence[int]] = (),
        live: Sequence[int] | None = None,
    ) -> Topic:
        """Make a topic whose name and numbers were checked.

        Args:
            assignments: replicas of each partition; empty to spread them.
            live: brokers that are up; None for all.
        """
        topic = Topic(name, topic_id or self._new_id(), configs=dict(configs or {}))
        self._by_name[name] = topic
        self._by_id[topic.topic_id] = topic
        replicas = assignments or self._spread(partitions, replication_factor)
        self._extend(topic, replicas, self.brokers if live is None else live)
        return topic

    def grow(
        self,
        topic: Topic,
        total: int,
        *,
        assignments: Sequence[Sequence[int]] = (),
        live: Sequence[int],
    ) -> None:
        """Add partitions until there are `total`."""
        missing = total - len(topic.partitions)
        factor = len(topic.partitions[0].replicas)
        self._extend(topic, assignments or self._spread(missing, factor), live)

    def delete(self, topic: Topic) -> None:
        """Forget a topic and its logs."""
        del self._by_name[topic.name]
        del self._by_id[topic.topic_id]

    def elect(self, live: Sequence[int]) -> list[tuple[Topic, Partition]]:
        """Give every partition a leader among the live brokers; those whose leader changed."""
        return [
            (topic, partition)
            for topic in self
            for partition in topic.partitions
            if partition.elect(live)
        ]

    def _extend(self, topic: Topic, replicas: Sequence[Sequence[int]], live: Sequence[int]) -> None:
        for brokers in replicas:
            index = len(topic.partitions)
            partition = Partition(index, tuple(brokers), NO_LEADER, self._new_log(topic, index))
            partition.leader = next((b for b in brokers if b in live), NO_LEADER)
            topic.partitions.append(partition)

    def _spread(self, partitions: int, factor: int) -> list[tuple[int, ...]]:
        """Replicas in turn over the brokers, going on where the last topic ended."""
        count = len(self.brokers)
        first = self._next_first
        self._next_first = (first + partitions) % count
        return [
            tuple(self.brokers[(first + index + step) % count] for step in range(factor))
            for index in range(partitions)
        ]


def creation_error(
    name: str, partitions: int, replication_factor: int, brokers: int
) -> tuple[ErrorCode, str] | None:
    """Why a topic cannot be made so; None if it can."""
    fault = name_fault(name)
    if fault is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {fault}"
    if partitions < 1:
        return ErrorCode.INVALID_PARTITIONS, "Number of partitions must be larger than 0."
    if not 1 <= replication_factor <= brokers:
        return (
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Replication factor {replication_factor} does not fit {brokers} brokers.",
        )
    return None


def changes_text(changed: Sequence[tuple[Topic, Partition]]) -> str:
    """Which partitions have which leader now, in words."""
    shown = [
        f"{topic.name}-{partition.index} to {partition.leader}" for topic, partition in changed
    ]
    more = f" and {len(shown) - _SHOWN_CHANGES} more" if len(shown) > _SHOWN_CHANGES else ""
    return f"leaders moved: {', '.join(shown[:_SHOWN_CHANGES])}{more}"
