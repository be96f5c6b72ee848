"""Where leaders' logs end: what they hold beyond the high watermark, no consumer gets yet."""

from collections.abc import Mapping

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.reads.by_leader import ask_leaders
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.requests import offset_for_leader_epoch
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import Topic, TopicPartition

Found = dict[TopicPartition, int | str]


def leader_ends(admin: ClusterAdmin, topics: Mapping[str, Topic]) -> dict[TopicPartition, int]:
    """The offset after the last record in each leader's log; absent where nobody tells it.

    For its own epoch a leader answers OffsetForLeaderEpoch with the end of its log, for another
    with the end of that epoch (KIP-101, KIP-320; Java: Partition.lastOffsetForLeaderEpoch).

    Args:
        topics: with leaders and their epochs.
    """
    epochs = {
        (name, number): log.current_leader_epoch
        for name, topic in topics.items()
        for number, log in topic.partitions.items()
        if log.current_leader_epoch is not None
    }

    async def ask(cluster: Cluster, deadline: Deadline) -> Found:
        async def of_leader(
            leader: int, wanted: Mapping[TopicPartition, int], limit: float
        ) -> Found:
            question = offset_for_leader_epoch(wanted)
            _, answer = await cluster.ask(leader, Api.OFFSET_FOR_LEADER_EPOCH, question, limit)
            return {
                (topic.topic, row.partition): error_name(row.error_code) or row.end_offset
                for topic in answer.topics
                for row in topic.partitions
            }

        return await ask_leaders(cluster, epochs, deadline, of_leader, known=topics)

    ends = admin.over_wire(ask, lambda _: {}) if epochs else {}
    return {at: end for at, end in ends.items() if isinstance(end, int) and end >= 0}
