"""Deletion of records, and what became of it where no answer came.

Every item's own answer is kept: a request that was taken may hold partitions that were refused.
"""

from collections.abc import Mapping
from contextlib import suppress

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.doubts import WRITING, Doubts
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.reads.by_leader import ask_leaders, read_topics
from kgroups.core.kafka.reads.log_bounds import END, START, read_bounds
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.requests import by_topic
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import TopicPartition


def delete_records(
    admin: ClusterAdmin,
    before: Mapping[TopicPartition, int],
    doubts: Doubts[TopicPartition] | None = None,
) -> dict[TopicPartition, int | str]:
    """The new start of each partition's log, or an error name.

    Args:
        before: first offset to keep; -1 for the end of the log.
        doubts: told of deletions that may have been carried out without an answer. Where the log
            shows that they were, they are in the answer like any other.
    """
    noted: Doubts[TopicPartition] = Doubts() if doubts is None else doubts

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[TopicPartition, int | str]:
        writing = deadline.part(WRITING)
        answers = await ask_leaders(
            cluster,
            before,
            writing,
            lambda leader, wanted, _: _delete_on(cluster, leader, wanted, writing, noted),
            whole=True,
        )
        async for _ in Attempts(deadline, whole=True):
            left = {
                at: before[at]
                for at, outcome in answers.items()
                if isinstance(outcome, str) and noted.holds(at)
            }
            if not left:
                break
            with suppress(BrokerFailure):
                answers |= await _starts(cluster, left, deadline)
            cluster.forget_failures()
        return answers

    return admin.over_wire(ask, lambda client: client.delete_records(before, noted), writes=True)


async def _starts(
    cluster: Cluster, before: Mapping[TopicPartition, int], deadline: Deadline
) -> dict[TopicPartition, int]:
    """The starts of those logs that have lost everything before these offsets."""
    listing = await read_topics(cluster, {topic for topic, _ in before}, deadline)
    topics = await read_bounds(cluster, listing.topics, (START, END), deadline)
    starts: dict[TopicPartition, int] = {}
    for (topic, number), wanted in before.items():
        log = topics[topic].partitions.get(number) if topic in topics else None
        if log is None or log.log_start_offset is None:
            continue
        first = log.log_end_offset if wanted < 0 else wanted
        if first is not None and log.log_start_offset >= first:
            starts[topic, number] = log.log_start_offset
    return starts


async def _delete_on(
    cluster: Cluster,
    leader: int,
    wanted: Mapping[TopicPartition, int],
    deadline: Deadline,
    doubts: Doubts[TopicPartition],
) -> dict[TopicPartition, int | str]:
    """The records of one leader's partitions."""
    limit = Deadline(deadline.share(2))
    rows = by_topic(wanted, lambda number, offset: Struct(partition_index=number, offset=offset))
    topics = [Struct(name=topic, partitions=parts) for topic, parts in rows.items()]
    message = Struct(topics=topics, timeout_ms=min(10_000, round(1_000 * limit.left_s)))
    answers: dict[TopicPartition, int | str] = {}
    try:
        _, answer = await cluster.ask(leader, Api.DELETE_RECORDS, message, limit.at)
    except BrokerFailure as failure:
        for at in wanted:
            doubts.note(at, failure)
            answers[at] = failure.code
        return answers
    for topic in answer.topics:
        for item in topic.partitions:
            code = error_name(item.error_code)
            doubts.note((topic.name, item.partition_index), code)
            answers[topic.name, item.partition_index] = code or item.low_watermark
    return answers
