"""Where brokers and consumers keep what about them in ZooKeeper, and how it is written there.

Source: kafka.utils.ZkUtils, kafka.consumer.TopicCount (Kafka 0.8.2).
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.topology import BrokerEndpoint

BROKER_IDS: Final = "/brokers/ids"
BROKER_TOPICS: Final = "/brokers/topics"
STATIC, WHITE_LIST = "static", "white_list"


def topic_path(topic: str) -> str:
    """Node of a topic."""
    return f"{BROKER_TOPICS}/{topic}"


def ids_path(group: str) -> str:
    """Node below which a group's consumers register."""
    return f"/consumers/{group}/ids"


def owner_path(group: str, one: TopicPartition) -> str:
    """Node that says which thread owns a partition."""
    return f"/consumers/{group}/owners/{one.topic}/{one.partition}"


def offset_path(group: str, one: TopicPartition) -> str:
    """Node with a group's committed offset of a partition."""
    return f"/consumers/{group}/offsets/{one.topic}/{one.partition}"


class Subscription(NamedTuple):
    """What a consumer registers.

    Args:
        topics: (topic or pattern, streams), sorted.
        white_list: the one topic is a pattern.
    """

    topics: tuple[tuple[str, int], ...]
    white_list: bool = False


def write_registration(subscription: Subscription, now_ms: int) -> str:
    """The data of a consumer's node."""
    pattern = WHITE_LIST if subscription.white_list else STATIC
    found = dict(subscription.topics)
    return json.dumps(
        {"version": 1, "subscription": found, "pattern": pattern, "timestamp": str(now_ms)},
        separators=(",", ":"),
    )


@lru_cache(maxsize=4096)
def read_registration(data: str) -> Subscription:
    """What a consumer's node says."""
    found = json.loads(data)
    topics = tuple(sorted(found["subscription"].items()))
    return Subscription(topics, found["pattern"] == WHITE_LIST)


def write_topic(partitions: int, replicas: Mapping[int, Iterable[int]] | None = None) -> str:
    """The data of a topic's node.

    Args:
        replicas: broker ids by partition; broker 0 for those that are not named.
    """
    held = {str(n): list((replicas or {}).get(n, (0,))) for n in range(partitions)}
    return json.dumps({"version": 1, "partitions": held}, separators=(",", ":"))


@lru_cache(maxsize=1024)
def count_partitions(data: str) -> int:
    """How many partitions a topic's node speaks of."""
    return len(json.loads(data)["partitions"])


def write_broker(broker: BrokerEndpoint) -> str:
    """The data of a broker's node."""
    found = {"version": 1, "host": broker.host, "port": broker.port}
    return json.dumps(found, separators=(",", ":"))
