"""The first offset at a time that is each partition's own: one request a leader."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.reads.by_leader import ask_leaders, partitions_by_topic
from kgroups.core.kafka.transport.broker_connections import Cluster, Deadline
from kgroups.core.kafka.transport.framing import build, error_name, schema
from kgroups.core.snapshot import TopicPartition

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.fallback import LibrdkafkaClient

Found = dict[TopicPartition, int | str | None]


def offsets_at_times(admin: ClusterAdmin, times: Mapping[TopicPartition, int]) -> Found:
    """The first offset of each partition that is not older than its time.

    Args:
        admin: the cluster.
        times: epoch milliseconds, not negative.
    Returns:
        An offset; an error name; None where every record is older.
    Raises:
        ClusterError: the cluster cannot be asked.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> Found:
        return await ask_leaders(
            cluster,
            times,
            deadline,
            lambda leader, wanted: _ask(cluster, leader, wanted, deadline),
        )

    def otherwise(client: "LibrdkafkaClient") -> Found:
        from kgroups.core.kafka.librdkafka.librdkafka_writes import offsets_at

        return offsets_at(client, times)

    return admin.over_wire(ask, otherwise) if times else {}


async def _ask(
    cluster: Cluster, leader: int, wanted: Mapping[TopicPartition, int], deadline: Deadline
) -> Found:
    """The answers of one leader."""

    def body(version: int) -> Any:
        module = schema("list_offsets", version, "request")
        topics = tuple(
            module.ListOffsetsTopic(
                name=topic,
                partitions=tuple(
                    module.ListOffsetsPartition(
                        partition_index=number, timestamp=wanted[topic, number]
                    )
                    for number in numbers
                ),
            )
            for topic, numbers in partitions_by_topic(wanted).items()
        )
        return build("list_offsets", version, replica_id=-1, isolation_level=0, topics=topics)

    try:
        _, answer = await cluster.ask(leader, "list_offsets", body, deadline.share(2))
    except BrokerFailure as failure:
        return dict.fromkeys(wanted, failure.code)
    return {
        (topic.name, row.partition_index): error_name(row.error_code)
        or (None if row.offset < 0 else row.offset)
        for topic in answer.topics
        for row in topic.partitions
    }
