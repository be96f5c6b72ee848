"""The bounds of topics' logs: one request a leader and bound, all leaders at once."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import RETRIABLE
from kgroups.core.kafka.reads.by_leader import ask_leaders, list_offsets
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.snapshot import PartitionLog, Topic, TopicPartition


class Bound(NamedTuple):
    """One question to every leader: what it is called here, and how ListOffsets asks it."""

    field: str
    timestamp: int
    isolation: str


START = Bound("log_start_offset", requests.EARLIEST, "read_uncommitted")
END = Bound("log_end_offset", requests.LATEST, "read_uncommitted")
STABLE_END = Bound("last_stable_offset", requests.LATEST, "read_committed")


def led_only(topics: Mapping[str, Topic]) -> dict[str, Topic]:
    """The topics without the partitions whose logs cannot be asked."""
    return {
        name: replace(
            topic,
            partitions={number: log for number, log in topic.partitions.items() if not log.error},
        )
        for name, topic in topics.items()
    }


async def read_bounds(
    cluster: Cluster, topics: Mapping[str, Topic], bounds: Iterable[Bound], deadline: Deadline
) -> dict[str, Topic]:
    """The topics with the bounds of each partition's log filled in.

    A partition that cannot be asked has an `error` instead; the others are not held up by it.
    """
    bounds = tuple(bounds)

    async def ask(
        leader: int, wanted: Mapping[TopicPartition, int], limit: float
    ) -> dict[TopicPartition, dict[str, Any] | str]:
        answers = await asyncio.gather(
            *(
                list_offsets(
                    cluster,
                    leader,
                    dict.fromkeys(wanted, bound.timestamp),
                    limit,
                    lambda row: row.offset,
                    bound.isolation,
                )
                for bound in bounds
            )
        )
        found: dict[TopicPartition, dict[str, Any] | str] = {}
        for at in wanted:
            told = {bound.field: a[at] for bound, a in zip(bounds, answers, strict=True) if at in a}
            failed = (offset for offset in told.values() if isinstance(offset, str))
            found[at] = next(failed, told)
        return found

    wanted = {(name, number): 0 for name, topic in topics.items() for number in topic.partitions}
    found = await ask_leaders(
        cluster, wanted, deadline, ask, known=topics, repeats=RETRIABLE.__contains__
    )

    def filled(log: PartitionLog, told: dict[str, Any] | str) -> PartitionLog:
        if isinstance(told, str):
            return log._replace(error=told)
        return log._replace(error=None, **told)

    return {
        name: replace(
            topic,
            partitions={
                number: filled(log, found[name, number]) for number, log in topic.partitions.items()
            },
        )
        for name, topic in topics.items()
    }
