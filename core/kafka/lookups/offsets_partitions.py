"""Partitions of `__consumer_offsets`: who leads them, how many copies they have, where they end."""

import asyncio
from collections.abc import Collection
from dataclasses import replace

from kgroups.core.coordinator.placement import OFFSETS_TOPIC, offsets_partition
from kgroups.core.doctor.cluster_facts import OffsetsPartition
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.reads.by_leader import ask_leaders, list_offsets, read_topics
from kgroups.core.kafka.reads.log_bounds import END, STABLE_END, read_bounds
from kgroups.core.kafka.transport.broker_connections import Cluster


def offsets_partitions(
    admin: ClusterAdmin, numbers: Collection[int], since_ms: int
) -> dict[int, OffsetsPartition] | str:
    """These partitions with their last stable offsets and elections, or Kafka's error name.

    Takes DESCRIBE on `__consumer_offsets`. The leader epoch of the first record since then, which
    ListOffsets tells from version 4 on, says how many leaders have been elected since.

    Args:
        since_ms: epoch milliseconds, from when on elections are counted.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[int, OffsetsPartition] | str:
        listing = await read_topics(cluster, [OFFSETS_TOPIC], deadline)
        topic = listing.topics.get(OFFSETS_TOPIC)
        if topic is None:
            return listing.failures.get(OFFSETS_TOPIC, "UNKNOWN_TOPIC_OR_PARTITION")
        logs = {number: topic.partitions[number] for number in numbers & topic.partitions.keys()}
        topics = {OFFSETS_TOPIC: replace(topic, partitions=logs)}
        bounded, epochs = await asyncio.gather(
            read_bounds(cluster, topics, (END, STABLE_END), deadline),
            ask_leaders(
                cluster,
                dict.fromkeys(((OFFSETS_TOPIC, number) for number in logs), since_ms),
                deadline,
                lambda leader, wanted, limit: list_offsets(
                    cluster, leader, wanted, limit, lambda row: row.leader_epoch
                ),
                known=topics,
            ),
        )
        parts = {}
        for number, log in bounded[OFFSETS_TOPIC].partitions.items():
            epoch, now = epochs.get((OFFSETS_TOPIC, number)), log.current_leader_epoch
            is_known = isinstance(epoch, int) and epoch >= 0 and now is not None
            parts[number] = OffsetsPartition(log, (now or 0) - int(epoch or 0) if is_known else 0)
        return parts

    return admin.over_wire(ask)


def without_leader(
    admin: ClusterAdmin, groups: Collection[str]
) -> dict[str, tuple[int, OffsetsPartition]]:
    """The groups whose partition of the topic has no leader, with its number.

    Takes DESCRIBE on `__consumer_offsets`; without it there are none.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[str, tuple[int, OffsetsPartition]]:
        topic = (await read_topics(cluster, [OFFSETS_TOPIC], deadline)).topics.get(OFFSETS_TOPIC)
        if topic is None:
            return {}
        numbers = {name: offsets_partition(name, len(topic.partitions)) for name in groups}
        return {
            name: (number, OffsetsPartition(topic.partitions[number]))
            for name, number in numbers.items()
            if topic.partitions[number].leader is None
        }

    return admin.over_wire(ask)
