"""Subscriptions and assignments of members, out of the bytes in records."""

from collections.abc import Iterable
from functools import lru_cache
from uuid import UUID

from kgroups.assignors import wire
from kgroups.core.coordinator.log.records import AssignedTopic

Partitions = frozenset[tuple[str | UUID, int]]
"""Topic, by name or, in records of KIP-848, by id; and partition."""


@lru_cache(maxsize=4096)  # a group's bytes are the same from one record to the next
def assigned_partitions(raw: bytes) -> Partitions:
    """The partitions in a classic member's assignment; none where it cannot be read."""
    try:
        runs = wire.decode_assignment(raw).partitions
    except wire.WireError:
        return frozenset()
    return frozenset((topic, number) for topic, numbers in runs for number in numbers)


@lru_cache(maxsize=4096)
def subscribed_topics(raw: bytes) -> frozenset[str] | None:
    """The topics in a classic member's subscription; None where it cannot be read."""
    try:
        return frozenset(wire.decode_subscription(raw).topics)
    except wire.WireError:
        return None


def partitions_by_id(topics: Iterable[AssignedTopic]) -> Partitions:
    """The partitions in an assignment of KIP-848."""
    return frozenset((topic.topic_id, number) for topic in topics for number in topic.partitions)
