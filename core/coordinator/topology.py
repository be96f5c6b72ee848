"""The topics and brokers of a cluster, as far as a coordinator must know them, and what changed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from uuid import UUID


class TopicInfo(NamedTuple):
    """A topic's name, id and partitions.

    Args:
        racks: per partition the racks of the brokers that hold a replica; empty if not known.
    """

    name: str
    topic_id: UUID
    partitions: int
    racks: tuple[frozenset[str], ...] = ()


class BrokerEndpoint(NamedTuple):
    """Where a broker listens."""

    node_id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Topology:
    """Topics by name and by id, and who leads which partition of `__consumer_offsets`.

    Args:
        offsets_leaders: partition of `__consumer_offsets` -> broker id; absent = no leader.
        version: number of the metadata; grows with each change.
    """

    topics: Mapping[str, TopicInfo] = field(default_factory=dict)
    brokers: Mapping[int, BrokerEndpoint] = field(default_factory=dict)
    offsets_leaders: Mapping[int, int] = field(default_factory=dict)
    version: int = 0
    _by_id: Mapping[UUID, TopicInfo] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_id = {topic.topic_id: topic for topic in self.topics.values()}
        object.__setattr__(self, "_by_id", by_id)

    def topic(self, name: str) -> TopicInfo | None:
        """The topic of this name; None if there is none."""
        return self.topics.get(name)

    def topic_by_id(self, topic_id: UUID) -> TopicInfo | None:
        """The topic of this id; None if there is none."""
        return self._by_id.get(topic_id)

    def has_partition(self, name: str, partition: int) -> bool:
        """Whether the topic exists and has this partition."""
        topic = self.topics.get(name)
        return topic is not None and 0 <= partition < topic.partitions

    def removed_since(self, before: "Topology") -> tuple[TopicInfo, ...]:
        """Topics of `before` that are gone; one made anew under its name counts as gone."""
        return tuple(topic for topic in before.topics.values() if topic.topic_id not in self._by_id)

    @classmethod
    def of(cls, topics: Iterable[TopicInfo], *, version: int = 0) -> "Topology":
        """A topology with these topics and nothing known about brokers."""
        return cls(topics={topic.name: topic for topic in topics}, version=version)


SUBSCRIBED: Final = ("subscribed to", "unsubscribed from")


MATCHED: Final = ("the pattern matches", "the pattern no longer matches")


# A reason is a line: the others are counted.
MAX_NAMED: Final = 3


def named(names: Iterable[str]) -> str:
    """`a, b, c and 2 more`."""
    ordered = sorted(names)
    more = f" and {len(ordered) - MAX_NAMED} more" if len(ordered) > MAX_NAMED else ""
    return ", ".join(ordered[:MAX_NAMED]) + more


def topics_read(
    before: Iterable[str], after: Iterable[str], verbs: tuple[str, str] = SUBSCRIBED
) -> str:
    """`subscribed to bills, unsubscribed from orders`; empty if they are the same."""
    old, new = set(before), set(after)
    sides = zip(verbs, (new - old, old - new), strict=True)
    return ", ".join(f"{verb} {named(names)}" for verb, names in sides if names)


def partitions_changed(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """`orders has 9 partitions instead of 6`; topic -> partitions, 0 for one that is not there."""
    changed = sorted(name for name in before if before[name] != after[name])
    parts = [_partitions(name, before[name], after[name]) for name in changed[:MAX_NAMED]]
    more = f", and {len(changed) - MAX_NAMED} more changed" if len(changed) > MAX_NAMED else ""
    return ", ".join(parts) + more


def _partitions(name: str, before: int, after: int) -> str:
    if not after:
        return f"topic {name} is gone"
    if not before:
        return f"topic {name} was created"
    return f"{name} has {after} partitions instead of {before}"


def topics_changed(
    names: Iterable[str], before: Mapping[str, TopicInfo], after: Mapping[str, TopicInfo]
) -> str:
    """The same of these topics as two topologies have them."""
    counts = [
        {name: topics[name].partitions if name in topics else 0 for name in names}
        for topics in (before, after)
    ]
    return partitions_changed(*counts) or f"metadata of {named(names)} changed"
