"""Which partitions a write is about: topics, partitions of topics, or all that was committed."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kgroups.core.errors import ItemError, UsageError
from kgroups.core.protocol.errors import broker_error, meaning_of
from kgroups.core.snapshot import PartitionLog, Topic, TopicPartition


@dataclass(frozen=True, slots=True)
class Scope:
    """Topics and partitions that were named.

    Args:
        topics: whole topics.
        partitions: single ones.
    """

    topics: tuple[str, ...] = ()
    partitions: tuple[TopicPartition, ...] = ()

    @property
    def names(self) -> set[str]:
        """Every topic that is named, whole or in part."""
        return {*self.topics, *(topic for topic, _ in self.partitions)}

    def holds(self, at: TopicPartition) -> bool:
        """Whether a partition is in the scope."""
        return at[0] in self.topics or at in self.partitions

    def missing(self, held: Collection[TopicPartition]) -> list[str]:
        """Names of the scope, `topic` or `topic-partition`, that none of these is in."""
        topics = {topic for topic, _ in held}
        missing = [topic for topic in self.topics if topic not in topics]
        return missing + [f"{at[0]}-{at[1]}" for at in self.partitions if at not in held]


def parse_scope(texts: Iterable[str]) -> Scope:
    """The scope of texts like `orders`, `orders:0,3` and `orders:0-5`; each partition once.

    Raises:
        UsageError: a text without topic, or with partitions that are no numbers.
    """
    topics: dict[str, None] = {}
    partitions: dict[TopicPartition, None] = {}
    for text in texts:
        topic, colon, numbers = text.partition(":")
        if not topic or (colon and not numbers):
            raise UsageError(f"`{text}` names no topic or no partition", hint="`orders:0,3-5`")
        if not colon:
            topics[topic] = None
        for part in numbers.split(",") if colon else ():
            for number in _numbers(part, text):
                partitions[topic, number] = None
    return Scope(tuple(topics), tuple(at for at in partitions if at[0] not in topics))


def _numbers(part: str, text: str) -> range:
    first, dash, last = part.partition("-")
    last = last if dash else first
    if not all(n.isascii() and n.isdecimal() and len(n) < 8 for n in (first, last)):
        raise UsageError(f"`{part}` in `{text}` is not a partition", hint="`orders:0,3-5`")
    if int(last) < int(first):
        raise UsageError(f"`{part}` in `{text}` is not an ascending range", hint="`orders:3-5`")
    return range(int(first), int(last) + 1)


def partitions_of(
    scope: Scope, topics: Mapping[str, Topic]
) -> tuple[list[TopicPartition], list[ItemError]]:
    """The partitions of a scope that exist, in order, and an error for each that does not.

    Args:
        topics: the topics that exist, by name.
    """
    chosen: set[TopicPartition] = set()
    errors: list[ItemError] = []
    for topic in scope.topics:
        if topic in topics:
            chosen |= {(topic, number) for number in topics[topic].partitions}
        else:
            errors.append(not_there(topic))
    for topic, number in scope.partitions:
        if topic in topics and number in topics[topic].partitions:
            chosen.add((topic, number))
        else:
            errors.append(not_there(f"{topic}-{number}"))
    return sorted(chosen), errors


def log_of(topics: Mapping[str, Topic], at: TopicPartition) -> PartitionLog | None:
    """The log of a partition; None if there is no such partition."""
    topic = topics.get(at[0])
    return None if topic is None else topic.partitions.get(at[1])


def not_there(name: str) -> ItemError:
    """The error of a topic or partition that does not exist."""
    return broker_error(name, "UNKNOWN_TOPIC_OR_PARTITION")


def unmeasured(name: str, code: str) -> ItemError:
    """The error of a partition whose log's bounds could not be read."""
    text = f"the bounds of its log are not known: {meaning_of(code).message}"
    return broker_error(name, code, text)
