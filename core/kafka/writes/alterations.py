"""Deletion of records, and what has to be known before offsets are written.

Every item's own answer is kept: a request that was taken may hold partitions that were refused.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import BrokerFailure, cluster_error
from kgroups.core.kafka.reads.log_bounds import (
    END,
    START,
    Bound,
    TopicListing,
    read_bounds,
    read_topics,
)
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.by_leader import ask_leaders
from kgroups.core.kafka.transport.framing import build, build_part, error_name, schema
from kgroups.core.kafka.writes.doubts import WRITING, Doubts
from kgroups.core.snapshot import Topic

if TYPE_CHECKING:
    from kgroups.core.kafka.librdkafka.fallback import LibrdkafkaClient

Partition = tuple[str, int]

NOBODY = -1


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
) -> dict[Partition, int | None]:
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

    found: dict[Partition, int | None] = {}
    for topic in admin.over_wire(ask, otherwise).values():
        for number, log in topic.partitions.items():
            if log.error is not None:  # what is there then is the start of the log, not an answer
                raise cluster_error(
                    BrokerFailure(log.error, f"`{topic.topic}-{number}`: {log.error}")
                )
            offset = log.log_start_offset
            found[topic.topic, number] = None if offset is None or offset < 0 else offset
    return found


def delete_records(
    admin: ClusterAdmin, before: Mapping[Partition, int], doubts: Doubts[Partition] | None = None
) -> dict[Partition, int | str]:
    """The new start of each partition's log, or an error name.

    Args:
        admin: the cluster.
        before: first offset to keep; -1 for the end of the log.
        doubts: told of deletions that may have been carried out without an answer. Where the log
            shows that they were, they are in the answer like any other.
    Raises:
        ClusterError: the cluster cannot be asked.
    """
    told: Doubts[Partition] = Doubts() if doubts is None else doubts

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[Partition, int | str]:
        writing = deadline.part(WRITING)
        found = await ask_leaders(
            cluster,
            before,
            writing,
            lambda leader, wanted: _delete_on(cluster, leader, wanted, writing, told),
            whole=True,
        )
        async for _ in Attempts(deadline, whole=True):
            left = {
                at: before[at]
                for at, outcome in found.items()
                if isinstance(outcome, str) and told.holds(at)
            }
            if not left:
                break
            with suppress(BrokerFailure):
                found |= await _starts(cluster, left, deadline)
            cluster.forget_failures()
        return found

    def otherwise(client: "LibrdkafkaClient") -> dict[Partition, int | str]:
        from kgroups.core.kafka.librdkafka import librdkafka_writes

        return librdkafka_writes.delete_records(client, before, told)

    return admin.over_wire(ask, otherwise)


async def _starts(
    cluster: Cluster, before: Mapping[Partition, int], deadline: Deadline
) -> dict[Partition, int]:
    """The starts of those logs that have lost everything before these offsets."""
    listing = await read_topics(cluster, {topic for topic, _ in before}, deadline)
    topics = await read_bounds(cluster, listing.topics, (START, END), deadline)
    found: dict[Partition, int] = {}
    for (topic, number), wanted in before.items():
        log = topics[topic].partitions.get(number) if topic in topics else None
        if log is None or log.log_start_offset is None:
            continue
        first = log.log_end_offset if wanted < 0 else wanted
        if first is not None and log.log_start_offset >= first:
            found[topic, number] = log.log_start_offset
    return found


async def _delete_on(
    cluster: Cluster,
    leader: int,
    wanted: Mapping[Partition, int],
    deadline: Deadline,
    doubts: Doubts[Partition],
) -> dict[Partition, int | str]:
    """The records of one leader's partitions."""
    limit = Deadline(deadline.share(2))

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
        wait = timedelta(milliseconds=min(10_000, round(1_000 * limit.left_s)))
        return build("delete_records", version, topics=topics, timeout=wait)

    found: dict[Partition, int | str] = {}
    try:
        _, answer = await cluster.ask(leader, "delete_records", body, limit.at)
    except BrokerFailure as failure:
        for at in wanted:
            doubts.note(at, failure)
            found[at] = failure.code
        return found
    for topic in answer.topics:
        for item in topic.partitions:
            code = error_name(item.error_code)
            doubts.note((topic.name, item.partition_index), code)
            found[topic.name, item.partition_index] = code or item.low_watermark
    return found


def partitions_by_topic(partitions: Iterable[Partition]) -> dict[str, list[int]]:
    """Partition numbers of each topic, in the order given."""
    found: dict[str, list[int]] = {}
    for topic, number in partitions:
        found.setdefault(topic, []).append(number)
    return found


def delete_offsets_body(group: str, partitions: Iterable[Partition]) -> Callable[[int], Any]:
    """The request that deletes a group's commits of these partitions."""

    def body(version: int) -> Any:
        module = schema("offset_delete", version, "request")
        topics = tuple(
            module.OffsetDeleteRequestTopic(
                name=topic,
                partitions=tuple(
                    module.OffsetDeleteRequestPartition(partition_index=number)
                    for number in numbers
                ),
            )
            for topic, numbers in partitions_by_topic(partitions).items()
        )
        return build("offset_delete", version, group_id=group, topics=topics)

    return body
