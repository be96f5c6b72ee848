"""Committed offsets: a thousand groups of a coordinator a request, all coordinators at once.

What share groups have instead, start offsets, is asked for in the same way.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, left_out
from kgroups.core.kafka.group_kinds import kind_of
from kgroups.core.kafka.reads.settling import ask_coordinators
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.messages import decode_fetched, decode_response
from kgroups.core.kafka.transport.requests import (
    BATCHED_FROM,
    describe_start_offsets,
    offset_fetch,
)
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.rows import Offsets
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import CommittedOffset, TopicPartition

GROUPS_AT_ONCE = 1000
"""In one request: the broker works on the next answer while one is read, and neither side holds
those of a large cluster in memory at once."""


class Commits(NamedTuple):
    """Commits of one group.

    Args:
        offsets: topic to partition to commit.
        failures: topic and partition to the error name, where one partition could not be read.
    """

    offsets: Offsets
    failures: Mapping[TopicPartition, str]


Stable = Mapping[str, Collection[TopicPartition]]


async def fetch_commits(
    cluster: Cluster,
    coordinators: Mapping[str, int],
    deadline: Deadline,
    lane: int = 0,
    stable: Stable | None = None,
) -> dict[str, Commits | BrokerFailure]:
    """Commits of each group, or why they could not be read.

    Args:
        coordinators: group to broker id.
        lane: which of the connections to each broker.
        stable: the partitions of each group to ask about instead of all that it committed; where
            a commit is pending, it is a failure, UNSTABLE_OFFSET_COMMIT.
    """

    async def ask(
        broker: int, groups: Sequence[str], limit: float
    ) -> dict[str, Commits | BrokerFailure]:
        return await _fetch_on(cluster, broker, groups, limit, lane, stable)

    return await ask_coordinators(cluster, coordinators, deadline, ask)


async def _fetch_on(
    cluster: Cluster,
    broker: int,
    groups: Sequence[str],
    limit: float,
    lane: int,
    stable: Stable | None,
) -> dict[str, Commits | BrokerFailure]:
    """Commits of groups of one coordinator; group by group where the broker is too old."""
    connection = await cluster.connection(broker, limit, lane)
    version = connection.offers(Api.OFFSET_FETCH)
    size = 1 if version is not None and version < BATCHED_FROM else GROUPS_AT_ONCE
    kinds: dict[Api, list[str]] = {}
    for group in groups:
        kinds.setdefault(kind_of(cluster.types, group).fetcher, []).append(group)
    parts = await asyncio.gather(
        *(
            _fetch(cluster, (broker, lane), api, own[start : start + size], limit, stable)
            for api, own in kinds.items()
            for start in range(0, len(own), size)
        )
    )
    outcomes = {group: outcome for part in parts for group, outcome in part.items()}
    return {group: outcomes.get(group) or left_out() for group in groups}


async def _fetch(
    cluster: Cluster,
    place: tuple[int, int],
    api: Api,
    groups: Sequence[str],
    limit: float,
    stable: Stable | None,
) -> dict[str, Commits | BrokerFailure]:
    """One request; split where its answer is too large.

    Args:
        place: the coordinator, and which of the connections to it.
    """
    broker, lane = place
    commits = api == Api.OFFSET_FETCH
    question = offset_fetch(groups, stable) if commits else describe_start_offsets(groups)
    read = decode_fetched if commits else decode_response
    try:
        version, answer = await cluster.ask(broker, api, question, limit, read, lane)
    except BrokerFailure as failure:
        if failure.code != "RESPONSE_TOO_LARGE" or len(groups) == 1:
            return dict.fromkeys(groups, failure)
        half = len(groups) // 2
        first = await _fetch(cluster, place, api, groups[:half], limit, stable)
        return first | await _fetch(cluster, place, api, groups[half:], limit, stable)
    if isinstance(answer, dict):
        return {group: Commits(offsets, {}) for group, offsets in answer.items()}
    if not commits:
        return {item.group_id: _commits_of(item, "topic_name", _start) for item in answer.groups}
    if version < BATCHED_FROM:
        return {groups[0]: _commits_of(answer, "name", _commit)}
    return {item.group_id: _commits_of(item, "name", _commit) for item in answer.groups}


def _commit(entry: Any) -> CommittedOffset:
    return CommittedOffset(
        entry.committed_offset, _known(entry.committed_leader_epoch), entry.metadata or ""
    )


def _start(entry: Any) -> CommittedOffset:
    lag = _known(getattr(entry, "lag", -1))
    return CommittedOffset(entry.start_offset, _known(entry.leader_epoch), lag=lag)


def _known(number: int) -> int | None:
    return None if number < 0 else number


def _commits_of(
    item: Any, name: str, read: Callable[[Any], CommittedOffset]
) -> Commits | BrokerFailure:
    """Answer about one group.

    Args:
        name: the field of a topic's name.
        read: what stands in a partition; -1 if nothing does.
    """
    problem = error_name(item.error_code)
    if problem is not None:
        return BrokerFailure(problem)
    offsets: Offsets = {}
    failures: dict[TopicPartition, str] = {}
    for topic in item.topics:
        partitions: dict[int, CommittedOffset] = {}
        for entry in topic.partitions:
            commit = read(entry)
            if entry.error_code != 0:
                at = (getattr(topic, name), entry.partition_index)
                failures[at] = error_name(entry.error_code) or ""
            elif commit.offset >= 0:
                partitions[entry.partition_index] = commit
        if partitions:
            offsets[getattr(topic, name)] = dict(sorted(partitions.items()))
    return Commits(dict(sorted(offsets.items())), failures)
