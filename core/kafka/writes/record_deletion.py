"""Deletion of records.

Every item's own answer is kept: a request that was taken may hold partitions that were refused.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.reads.by_leader import ask_leaders, partitions_by_topic
from kgroups.core.kafka.transport.broker_connections import Cluster, Deadline
from kgroups.core.kafka.transport.framing import build, build_part, error_name, schema
from kgroups.core.snapshot import TopicPartition

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.fallback import LibrdkafkaClient


def delete_records(
    admin: ClusterAdmin, before: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | str]:
    """The new start of each partition's log, or an error name.

    Args:
        admin: the cluster.
        before: first offset to keep; -1 for the end of the log.
    Raises:
        ClusterError: the cluster cannot be asked.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[TopicPartition, int | str]:
        return await ask_leaders(
            cluster,
            before,
            deadline,
            lambda leader, wanted: _delete_on(cluster, leader, wanted, deadline),
            whole=True,
        )

    def otherwise(client: "LibrdkafkaClient") -> dict[TopicPartition, int | str]:
        from kgroups.core.kafka.librdkafka import librdkafka_writes

        return librdkafka_writes.delete_records(client, before)

    return admin.over_wire(ask, otherwise)


async def _delete_on(
    cluster: Cluster, leader: int, wanted: Mapping[TopicPartition, int], deadline: Deadline
) -> dict[TopicPartition, int | str]:
    """The records of one leader's partitions."""

    def body(version: int) -> Any:
        module = schema("delete_records", version, "request")
        topics = tuple(
            build_part(
                module,
                "DeleteRecordsTopic",
                name=topic,
                partitions=tuple(
                    module.DeleteRecordsPartition(
                        partition_index=number, offset=wanted[topic, number]
                    )
                    for number in numbers
                ),
            )
            for topic, numbers in partitions_by_topic(wanted).items()
        )
        wait = timedelta(milliseconds=10_000)
        return build("delete_records", version, topics=topics, timeout=wait)

    try:
        _, answer = await cluster.ask(leader, "delete_records", body, deadline.share(2))
    except BrokerFailure as failure:
        return dict.fromkeys(wanted, failure.code)
    return {
        (topic.name, item.partition_index): error_name(item.error_code) or item.low_watermark
        for topic in answer.topics
        for item in topic.partitions
    }
