"""Topics and who leads their partitions; questions put to each leader, again if that may help."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import BrokerFailure, may_repeat
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import PartitionLog, Topic, TopicPartition
from kgroups.core.uuids import uuid_text

NO_LEADER = "LEADER_NOT_AVAILABLE"

Answer = TypeVar("Answer")


class TopicListing(NamedTuple):
    """Topics that exist, and those about which the brokers would not say."""

    topics: dict[str, Topic]
    failures: dict[str, str]


async def read_topics(
    cluster: Cluster, names: Iterable[str] | None, deadline: Deadline
) -> TopicListing:
    """Topics (None: all) with their partitions and leaders, no offsets; missing ones are absent.

    Raises:
        BrokerFailure: no broker answered.
    """
    asked = None if names is None else sorted(names)
    topics: dict[str, Topic] = {}
    failures: dict[str, str] = {}
    if asked is not None and not asked:
        return TopicListing(topics, failures)
    answer = await cluster.metadata(asked, deadline)
    racks = {broker.id: broker.rack for broker in cluster.brokers.values()}
    for item in sorted(answer.topics, key=lambda topic: topic.name or ""):
        problem = error_name(item.error_code)
        if problem == "UNKNOWN_TOPIC_OR_PARTITION":
            continue
        if problem is not None and not item.partitions:
            failures[item.name] = problem
            continue
        topics[item.name] = Topic(
            item.name,
            {
                partition.partition_index: _partition(partition, racks)
                for partition in sorted(item.partitions, key=lambda entry: entry.partition_index)
            },
            None if item.topic_id is None else uuid_text(item.topic_id),
        )
    return TopicListing(topics, failures)


def _partition(item: Any, racks: Mapping[int, str | None]) -> PartitionLog:
    leader = item.leader_id if item.leader_id >= 0 else None
    return PartitionLog(
        leader=leader,
        racks=tuple(racks.get(replica) for replica in item.replica_nodes),
        error=None if leader is not None else NO_LEADER,
        current_leader_epoch=item.leader_epoch if item.leader_epoch >= 0 else None,
        in_sync_replicas=tuple(item.isr_nodes),
    )


async def ask_leaders(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, int],
    deadline: Deadline,
    ask: Callable[
        [int, Mapping[TopicPartition, int], float],
        Awaitable[Mapping[TopicPartition, Answer | str]],
    ],
    *,
    whole: bool = False,
    known: Mapping[str, Topic] | None = None,
    repeats: Callable[[str], bool] = may_repeat,
) -> dict[TopicPartition, Answer | str]:
    """The answer for each partition, or the name of its error.

    Args:
        wanted: each partition with the number that is asked about.
        ask: the question for one leader: its broker id, its part of `wanted`, and until when.
        whole: try on until the deadline, through a cluster that is gone for a while; otherwise
            stop at half of the time.
        known: the topics, where they were just looked up.
        repeats: whether to ask again after this error.
    Raises:
        BrokerFailure: the topics cannot be looked up.
    """
    outcomes: dict[TopicPartition, Answer | str] = {}
    left = dict(wanted)
    async for _ in Attempts(deadline, whole=whole):
        try:
            if known is None:
                listing = await read_topics(cluster, {topic for topic, _ in left}, deadline)
            else:
                listing, known = TopicListing(dict(known), {}), None
        except BrokerFailure as failure:
            if not whole or not may_repeat(failure):
                raise
            outcomes |= dict.fromkeys(left, failure.code)
            cluster.forget_failures()
            continue
        by_leader: dict[int, dict[TopicPartition, int]] = {}
        for (topic, number), value in left.items():
            looked_up = listing.topics.get(topic)
            log = None if looked_up is None else looked_up.partitions.get(number)
            if log is None:
                missing = "UNKNOWN_TOPIC_OR_PARTITION"
                outcomes[topic, number] = listing.failures.get(topic, missing)
            elif log.leader is None:
                outcomes[topic, number] = NO_LEADER
            else:
                by_leader.setdefault(log.leader, {})[topic, number] = value

        async def work(
            leader: int, limit: float, parts: dict[int, dict[TopicPartition, int]] = by_leader
        ) -> Mapping[TopicPartition, Answer | str]:
            return await ask(leader, parts[leader], limit)

        results, failures = await cluster.each_broker(work, deadline, by_leader)
        for answers in results.values():
            outcomes |= answers
        for leader, lost in failures.items():
            outcomes |= dict.fromkeys(by_leader[leader], lost.code)
        left = {
            at: value
            for at, value in left.items()
            if isinstance(code := outcomes.get(at), str) and repeats(code)
        }
        if not left:
            break
        if whole:
            cluster.forget_failures()
    return outcomes


async def list_offsets(
    cluster: Cluster,
    leader: int,
    times: Mapping[TopicPartition, int],
    limit: float,
    read: Callable[[Any], Answer],
    isolation: str = "read_uncommitted",
) -> dict[TopicPartition, Answer | str]:
    """A leader's answer on the first record that is not older, or the name of the error.

    Args:
        times: by partition, epoch milliseconds, or EARLIEST or LATEST.
        read: takes what is wanted out of the row of a partition.
        isolation: whose end LATEST is.
    Raises:
        BrokerFailure: it cannot be asked.
    """
    question = requests.list_offsets(times, isolation)
    _, answer = await cluster.ask(leader, Api.LIST_OFFSETS, question, limit)
    return {
        (topic.name, row.partition_index): error_name(row.error_code) or read(row)
        for topic in answer.topics
        for row in topic.partitions
    }
