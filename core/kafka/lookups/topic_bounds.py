"""Topics with the bounds of their logs, as writes of offsets need them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.reads.log_bounds import (
    END,
    START,
    TopicListing,
    read_bounds,
    read_topics,
)
from kgroups.core.kafka.transport.broker_connections import Cluster

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.librdkafka_reads import LibrdkafkaClient


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
