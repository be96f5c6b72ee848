"""Whether the members of a consumer group count as subscribing to the same topics.

Source: `ConsumerGroup.subscriptionType`, `SubscriptionCount`.
"""

from collections.abc import Mapping
from typing import NamedTuple


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
