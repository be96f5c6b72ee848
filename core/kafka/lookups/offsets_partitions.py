"""Partitions of `__consumer_offsets`: who leads them, how many copies they have, where they end."""

from collections.abc import Collection
from dataclasses import replace

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.reads.log_bounds import END, STABLE_END, read_bounds, read_topics
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.snapshot import PartitionLog


def offsets_partitions(
    admin: ClusterAdmin, numbers: Collection[int]
) -> dict[int, PartitionLog] | str:
    """These partitions with their last stable offsets, or Kafka's error name.

    Takes DESCRIBE on `__consumer_offsets`.

    Raises:
        ClusterError: the cluster cannot be asked, or only through librdkafka.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[int, PartitionLog] | str:
        listing = await read_topics(cluster, [OFFSETS_TOPIC], deadline)
        topic = listing.topics.get(OFFSETS_TOPIC)
        if topic is None:
            return listing.failures.get(OFFSETS_TOPIC, "UNKNOWN_TOPIC_OR_PARTITION")
        wanted = {number: topic.partitions[number] for number in numbers & topic.partitions.keys()}
        topics = {OFFSETS_TOPIC: replace(topic, partitions=wanted)}
        found = await read_bounds(cluster, topics, (END, STABLE_END), deadline)
        return dict(found[OFFSETS_TOPIC].partitions)

    return admin.over_wire(ask)
