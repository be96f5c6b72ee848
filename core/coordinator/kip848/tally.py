"""Counts of a consumer group's members, kept up to date as they change.

Which topics are named and by how many, patterns, votes for assignors, classic members and what
they offer, and the epoch in which each partition is held. Two questions about a group need the
counts as they will be once a request is carried out: those copy and change them.
Source: `ModernGroup`, `ConsumerGroup.updateMember`, `ConsumerGroup.subscriptionType`,
`SubscriptionCount`.
"""

from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple
from uuid import UUID

from kgroups.assignors.order.hash_maps import TimelineHashMap
from kgroups.assignors.order.java_order import (
    INITIAL_CAPACITY,
    copied_map_capacity,
    spread,
    string_hash,
)
from kgroups.core.coordinator.kip848.member import Kip848Member, Owned


class TopicCount(NamedTuple):
    """How many members name a topic, and how many resolved patterns match it."""

    by_name: int = 0
    by_pattern: int = 0


NO_COUNT = TopicCount()


def is_homogeneous(
    patterns: Mapping[str, int], names: Mapping[str, TopicCount], members: int
) -> bool:
    """Whether all members subscribe to the same topics, as far as Kafka looks.

    Args:
        patterns: pattern -> members that subscribe by it.
        names: topic -> who subscribes to it.
        members: how many there are.
    """
    if not patterns:
        return all(count.by_name == members for count in names.values())
    if next(iter(patterns.values())) != members:
        return False
    return all(count.by_pattern == 1 and count.by_name <= 0 for count in names.values())


class Tally:
    """Counts over the members of one consumer group.

    Attributes:
        names: topic -> who subscribes to it.
        patterns: pattern -> members that subscribe by it.
        assignors: server-side assignor -> members that ask for it.
        classic_members: members that speak the classic protocol.
        strays: `Shard.stray_topics` of this group; a topic is one no more once nobody subscribes
            to it any longer.
    """

    def __init__(self) -> None:
        self.names: dict[str, TopicCount] = {}
        self.patterns: TimelineHashMap[int] = TimelineHashMap()
        self.assignors: TimelineHashMap[int] = TimelineHashMap()
        self.classic_members = 0
        self.strays: set[str] = set()
        self._classic_protocols: dict[str, int] = {}
        self._epochs: dict[UUID, dict[int, int]] = {}

    def change(self, old: Kip848Member | None, new: Kip848Member | None) -> None:
        """A member came (`old` is None), changed, or went (`new` is None)."""
        before = self._strays_named()
        _count_names(self.names, old, new)
        self._forget_strays(before)
        for pattern, step in _steps(_pattern(old), _pattern(new)):
            _add(self.patterns, pattern, step)
        for assignor, step in _steps(_vote(old), _vote(new)):
            _add(self.assignors, assignor, step)
        for member, step in ((old, -1), (new, 1)):
            if member is None:
                continue
            if member.classic is not None:
                self.classic_members += step
                for offer in member.classic.supported_protocols:
                    _add(self._classic_protocols, offer.name, step)
            for owned in (member.assigned, member.pending):
                (self._hold if step > 0 else self._release)(owned, member.member_epoch)

    def count_pattern_topics(self, topics: Iterable[str], step: int) -> None:
        """A pattern was resolved to these topics (1), or is forgotten (-1)."""
        before = self._strays_named()
        for topic in topics:
            _add_count(self.names, topic, TopicCount(0, step))
        self._forget_strays(before)

    def heeded(self, topics: Set[str]) -> list[str]:
        """Those of these topics whose changes are this group's business."""
        return [name for name in topics if name in self.names or name in self.strays]

    def names_with(
        self,
        changes: Iterable[tuple[Kip848Member, Kip848Member | None]],
        forgotten_topics: Iterable[str],
    ) -> dict[str, TopicCount]:
        """Who will subscribe to what once the members have changed, or are gone (None).

        Args:
            forgotten_topics: what matched the patterns that nobody uses any more then.
        """
        names = dict(self.names)
        for old, new in changes:
            _count_names(names, old, new)
        for topic in forgotten_topics:
            _add_count(names, topic, TopicCount(0, -1))
        return names

    def patterns_with(
        self, old: Kip848Member | None, new: Kip848Member | None
    ) -> Mapping[str, int]:
        """How many members will subscribe by which pattern once `old` has become `new`."""
        counts = {pattern: self.patterns[pattern] for pattern in self.patterns.ordered_keys()}
        for pattern, step in _steps(_pattern(old), _pattern(new)):
            _add(counts, pattern, step)
        return counts

    def classic_supports(self, names: Iterable[str]) -> bool:
        """Whether one of these assignors is offered by every classic member."""
        size = self.classic_members
        return any(self._classic_protocols.get(name, 0) == size for name in names)

    def is_held(self, topic_id: UUID, partition: int) -> bool:
        """Whether some member has the partition, or must still give it back."""
        return partition in self._epochs.get(topic_id, ())

    def elected_assignor(self) -> str | None:
        """The assignor that most members ask for, as an answer to a reader shows it."""
        votes = self.assignors
        return max(votes.ordered_keys(), key=votes.__getitem__, default=None)

    def next_assignor(self, old: Kip848Member | None, new: Kip848Member) -> str | None:
        """The assignor that most members will ask for once `old` has become `new`.

        A tie goes to the first name in the order of the copy that Kafka makes of the counts: a
        `HashMap` to which `compute` adds a name at the head of its bucket.
        """
        votes = {name: self.assignors[name] for name in self.assignors.ordered_keys()}
        capacity = copied_map_capacity(len(votes)) if votes else INITIAL_CAPACITY
        buckets: dict[int, list[str]] = {}
        for name in votes:
            buckets.setdefault(spread(string_hash(name)) & capacity - 1, []).append(name)
        for name, step in _steps(_vote(old), _vote(new)):
            bucket = buckets.setdefault(spread(string_hash(name)) & capacity - 1, [])
            was_there = name in votes
            _add(votes, name, step)
            if name not in votes and was_there:
                bucket.remove(name)
            elif name in votes and not was_there:
                bucket.insert(0, name)
        order = [name for bucket in sorted(buckets) for name in buckets[bucket]]
        return max(order, key=votes.__getitem__, default=None)

    def _strays_named(self) -> set[str]:
        return {topic for topic in self.strays if topic in self.names}

    def _forget_strays(self, named: set[str]) -> None:
        self.strays -= named - self.names.keys()

    def _hold(self, owned: Owned, epoch: int) -> None:
        for topic_id, partitions in owned.items():
            epochs = self._epochs.setdefault(topic_id, {})
            for partition in partitions:
                epochs[partition] = max(epoch, epochs.get(partition, epoch))

    def _release(self, owned: Owned, epoch: int) -> None:
        for topic_id, partitions in owned.items():
            epochs = self._epochs.get(topic_id, {})
            for partition in partitions:
                if epochs.get(partition) == epoch:
                    del epochs[partition]
            if not epochs:
                self._epochs.pop(topic_id, None)


def _count_names(
    counts: dict[str, TopicCount], old: Kip848Member | None, new: Kip848Member | None
) -> None:
    for member, step in ((old, -1), (new, 1)):
        if member is not None:
            for name in member.subscribed_topic_names:
                _add_count(counts, name, TopicCount(step, 0))


def _add_count(counts: dict[str, TopicCount], name: str, step: TopicCount) -> None:
    """Add to a count; as in Kafka, taking from a count that is not there does nothing."""
    count = counts.get(name)
    if count is None and min(step) < 0:
        return
    by_name, by_pattern = count or NO_COUNT
    after = TopicCount(by_name + step.by_name, by_pattern + step.by_pattern)
    if after == NO_COUNT:
        counts.pop(name, None)
    else:
        counts[name] = after


def _steps(old: str | None, new: str | None) -> Iterable[tuple[str, int]]:
    return [(name, step) for name, step in ((old, -1), (new, 1)) if name is not None]


def _pattern(member: Kip848Member | None) -> str | None:
    return (member.subscribed_topic_regex or None) if member is not None else None


def _vote(member: Kip848Member | None) -> str | None:
    return member.server_assignor if member is not None else None


def _add(counts: dict[str, int], name: str, step: int) -> None:
    count = counts.get(name, 0) + step
    if count > 0:
        counts[name] = count
    elif name in counts:
        del counts[name]
