"""One question about many partitions, put to the leader of each, and again where that may help."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import BrokerFailure, may_repeat
from kgroups.core.kafka.reads.log_bounds import TopicListing, read_topics
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.snapshot import Topic, TopicPartition

Answer = TypeVar("Answer")


async def ask_leaders(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, int],
    deadline: Deadline,
    ask: Callable[
        [int, Mapping[TopicPartition, int]], Awaitable[Mapping[TopicPartition, Answer | str]]
    ],
    *,
    whole: bool = False,
    known: Mapping[str, Topic] | None = None,
) -> dict[TopicPartition, Answer | str]:
    """The answer for each partition, or the name of its error.

    Args:
        wanted: each partition with the number that is asked about.
        ask: the question for one leader: its broker id and its part of `wanted`.
        whole: try on until the deadline, through a cluster that is gone for a while; otherwise
            stop at half of the time.
        known: the topics, where they were just looked up.
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
                outcomes[topic, number] = "LEADER_NOT_AVAILABLE"
            else:
                by_leader.setdefault(log.leader, {})[topic, number] = value
        for answers in await asyncio.gather(
            *(ask(leader, part) for leader, part in by_leader.items())
        ):
            outcomes |= answers
        left = {
            at: wanted[at]
            for at, code in outcomes.items()
            if isinstance(code, str) and may_repeat(code)
        }
        if not left:
            break
        if whole:
            cluster.forget_failures()
    return outcomes


def partitions_by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Partition numbers of each topic, in the order given."""
    numbers: dict[str, list[int]] = {}
    for topic, number in partitions:
        numbers.setdefault(topic, []).append(number)
    return numbers
