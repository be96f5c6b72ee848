"""Committed offsets: a thousand groups of a coordinator a request, all coordinators at once."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, left_out
from kgroups.core.kafka.reads.settling import ask_coordinators
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.messages import decode_fetched
from kgroups.core.kafka.transport.requests import BATCHED_FROM, offset_fetch
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.rows import Offsets
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import CommittedOffset, TopicPartition

GROUPS_AT_ONCE = 1000
"""In one request: the broker works on the next answer while one is read, and neither side holds
those of a large cluster in memory at once."""


class Commits(NamedTuple):
    """What one group committed.

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
        cluster: whom to ask.
        coordinators: group to broker id.
        deadline: of the whole operation.
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
    if version is not None and version < BATCHED_FROM:
        parts = await asyncio.gather(
            *(_fetch(cluster, broker, [group], limit, lane, stable) for group in groups)
        )
        return {group: outcome for part in parts for group, outcome in part.items()}
    parts = await asyncio.gather(
        *(
            _fetch(cluster, broker, groups[start : start + GROUPS_AT_ONCE], limit, lane, stable)
            for start in range(0, len(groups), GROUPS_AT_ONCE)
        )
    )
    found = {group: outcome for part in parts for group, outcome in part.items()}
    return {group: found.get(group) or left_out() for group in groups}


async def _fetch(
    cluster: Cluster,
    broker: int,
    groups: Sequence[str],
    limit: float,
    lane: int,
    stable: Stable | None,
) -> dict[str, Commits | BrokerFailure]:
    """One request; split where its answer is too large."""
    try:
        version, answer = await cluster.ask(
            broker, Api.OFFSET_FETCH, offset_fetch(groups, stable), limit, decode_fetched, lane
        )
    except BrokerFailure as failure:
        if failure.code != "RESPONSE_TOO_LARGE" or len(groups) == 1:
            return dict.fromkeys(groups, failure)
        half = len(groups) // 2
        first = await _fetch(cluster, broker, groups[:half], limit, lane, stable)
        return first | await _fetch(cluster, broker, groups[half:], limit, lane, stable)
    if isinstance(answer, dict):
        return {group: Commits(offsets, {}) for group, offsets in answer.items()}
    if version < BATCHED_FROM:
        return {groups[0]: commits_of(answer)}
    return {item.group_id: commits_of(item) for item in answer.groups}


def commits_of(item: Any) -> Commits | BrokerFailure:
    """What was read of one group."""
    problem = error_name(item.error_code)
    if problem is not None:
        return BrokerFailure(problem)
    offsets: Offsets = {}
    failures: dict[TopicPartition, str] = {}
    for topic in item.topics:
        partitions: dict[int, CommittedOffset] = {}
        for entry in topic.partitions:
            offset = entry.committed_offset
            if entry.error_code != 0:
                failures[topic.name, entry.partition_index] = error_name(entry.error_code) or ""
            elif offset >= 0:  # -1: nothing is committed
                epoch = entry.committed_leader_epoch
                partitions[entry.partition_index] = CommittedOffset(
                    offset, None if epoch < 0 else epoch, entry.metadata or ""
                )
        if partitions:
            offsets[topic.name] = dict(sorted(partitions.items()))
    return Commits(dict(sorted(offsets.items())), failures)
