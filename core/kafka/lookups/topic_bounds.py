"""What has to be known before offsets are written: bounds of logs, offsets at a time."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.failures import BrokerFailure, cluster_error
from kgroups.core.kafka.reads.log_bounds import (
    END,
    START,
    Bound,
    TopicListing,
    read_bounds,
    read_topics,
)
from kgroups.core.kafka.transport.broker_connections import Cluster, Deadline
from kgroups.core.snapshot import Topic, TopicPartition

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.fallback import LibrdkafkaClient


def topics_with_bounds(admin: ClusterAdmin, names: Iterable[str]) -> TopicListing:
    """Those of the topics that exist, with start and end of each partition's log.

    Raises:
        ClusterError: the cluster cannot be asked.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> TopicListing:
        listing = await read_topics(cluster, set(names), deadline)
        bounds = await read_bounds(cluster, listing.topics, (START, END), deadline)
        return TopicListing(bounds, listing.failures)

    def otherwise(client: "LibrdkafkaClient") -> TopicListing:
        from kgroups.core.kafka.librdkafka import librdkafka_writes

        return librdkafka_writes.topics_with_bounds(client, tuple(names))

    return admin.over_wire(ask, otherwise)


def offsets_at(
    admin: ClusterAdmin, topics: Mapping[str, Topic], time_ms: int
) -> dict[TopicPartition, int | None]:
    """The first offset of each partition whose record is not older than a time; None without one.

    Args:
        admin: the cluster.
        topics: with their leaders; only their partitions are asked for.
        time_ms: epoch milliseconds, not negative.
    Raises:
        ClusterError: the cluster cannot be asked.
    """
    moment = Bound("log_start_offset", time_ms, "read_uncommitted")

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[str, Topic]:
        return await read_bounds(cluster, topics, (moment,), deadline)

    def otherwise(client: "LibrdkafkaClient") -> dict[str, Topic]:
        from kgroups.core.kafka.librdkafka import librdkafka_writes

        return librdkafka_writes.topics_at(client, topics, time_ms)

    found: dict[TopicPartition, int | None] = {}
    for topic in admin.over_wire(ask, otherwise).values():
        for number, log in topic.partitions.items():
            if log.error is not None:  # what is there then is the start of the log, not an answer
                raise cluster_error(
                    BrokerFailure(log.error, f"`{topic.topic}-{number}`: {log.error}")
                )
            offset = log.log_start_offset
            found[topic.topic, number] = None if offset is None or offset < 0 else offset
    return found
