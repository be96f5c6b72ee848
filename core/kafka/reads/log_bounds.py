"""Topics and the bounds of their logs: one request a leader and bound, all leaders at once."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import RETRIABLE
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import PartitionLog, Topic, TopicPartition
from kgroups.core.uuids import uuid_text

NO_LEADER = "LEADER_NOT_AVAILABLE"


class Bound(NamedTuple):
    """One question to every leader: what it is called here, and how ListOffsets asks it."""

    field: str
    timestamp: int
    isolation: str


START = Bound("log_start_offset", requests.EARLIEST, "read_uncommitted")
END = Bound("log_end_offset", requests.LATEST, "read_uncommitted")
STABLE_END = Bound("last_stable_offset", requests.LATEST, "read_committed")


class TopicListing(NamedTuple):
    """Topics that exist, and those about which the brokers would not say."""

    topics: dict[str, Topic]
    failures: dict[str, str]


def led_only(topics: Mapping[str, Topic]) -> dict[str, Topic]:
    """The topics without the partitions whose logs cannot be asked."""
    return {
        name: replace(
            topic,
            partitions={number: log for number, log in topic.partitions.items() if not log.error},
        )
        for name, topic in topics.items()
    }


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


async def read_bounds(
    cluster: Cluster,
    topics: Mapping[str, Topic],
    bounds: Iterable[Bound],
    deadline: Deadline,
) -> dict[str, Topic]:
    """The topics with the bounds of each partition's log filled in.

    A partition that cannot be asked has an `error` instead; the others are not held up by it.
    """
    learned: dict[TopicPartition, dict[str, int]] = {}
    errors: dict[TopicPartition, str] = {}
    bounds = tuple(bounds)
    leaders = {
        (name, number): log.leader
        for name, topic in topics.items()
        for number, log in topic.partitions.items()
    }
    left = {key: leader for key, leader in leaders.items() if leader is not None}
    errors.update((key, NO_LEADER) for key, leader in leaders.items() if leader is None)
    async for attempt in Attempts(deadline):
        if attempt > 1:
            left = await _find_leaders(cluster, left, errors, deadline)
        answers = await _ask_leaders(cluster, left, bounds, deadline)
        for key in left:
            errors.pop(key, None)
        for bound, outcomes in answers:
            for key, outcome in outcomes.items():
                if isinstance(outcome, str):
                    errors[key] = outcome
                else:
                    learned.setdefault(key, {})[bound.field] = outcome
        left = {key: leader for key, leader in left.items() if errors.get(key) in RETRIABLE}
        if not left:
            break
    return {
        name: replace(
            topic,
            partitions={
                number: _filled(
                    log,
                    leaders.get((name, number)),
                    learned.get((name, number), {}),
                    errors.get((name, number)),
                )
                for number, log in topic.partitions.items()
            },
        )
        for name, topic in topics.items()
    }


def _filled(
    log: PartitionLog, leader: int | None, learned: Mapping[str, int], error: str | None
) -> PartitionLog:
    return log._replace(leader=leader, error=error, **learned)  # type: ignore[arg-type]


async def _find_leaders(
    cluster: Cluster,
    left: Mapping[TopicPartition, int],
    errors: dict[TopicPartition, str],
    deadline: Deadline,
) -> dict[TopicPartition, int]:
    """Where these partitions are led now; those without a leader go to `errors`."""
    listing = await read_topics(cluster, {name for name, _ in left}, deadline)
    leaders: dict[TopicPartition, int] = {}
    for key in left:
        topic = listing.topics.get(key[0])
        log = topic.partitions.get(key[1]) if topic else None
        if log is None:
            errors[key] = "UNKNOWN_TOPIC_OR_PARTITION"
        elif log.leader is None:
            errors[key] = NO_LEADER
        else:
            leaders[key] = log.leader
    return leaders


Answers = list[tuple[Bound, dict[TopicPartition, int | str]]]


async def _ask_leaders(
    cluster: Cluster,
    leaders: Mapping[TopicPartition, int],
    bounds: tuple[Bound, ...],
    deadline: Deadline,
) -> Answers:
    """For each bound the offset, or the error name, of each partition."""
    by_leader: dict[int, dict[str, list[int]]] = {}
    for (topic, number), leader in leaders.items():
        by_leader.setdefault(leader, {}).setdefault(topic, []).append(number)

    async def ask(broker: int, limit: float) -> Answers:
        offsets = await asyncio.gather(
            *(_ask_leader(cluster, broker, by_leader[broker], bound, limit) for bound in bounds)
        )
        return list(zip(bounds, offsets, strict=True))

    results, failures = await cluster.each_broker(ask, deadline, by_leader)
    answers = [answer for result in results.values() for answer in result]
    for broker, failure in failures.items():
        lost: dict[TopicPartition, int | str] = {
            (topic, number): failure.code
            for topic, numbers in by_leader[broker].items()
            for number in numbers
        }
        answers += [(bound, lost) for bound in bounds]
    return answers


async def _ask_leader(
    cluster: Cluster, broker: int, partitions: dict[str, list[int]], bound: Bound, limit: float
) -> dict[TopicPartition, int | str]:
    """One ListOffsets request."""
    question = requests.list_offsets(partitions, bound.timestamp, bound.isolation)
    _, answer = await cluster.ask(broker, Api.LIST_OFFSETS, question, limit)
    return {
        (topic.name, entry.partition_index): entry.offset
        if entry.error_code == 0
        else error_name(entry.error_code) or ""
        for topic in answer.topics
        for entry in topic.partitions
    }
