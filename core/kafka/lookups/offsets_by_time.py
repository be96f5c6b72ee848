"""The first offset that is not older than a time: ListOffsets by timestamp, a request a leader."""

from collections.abc import Iterable, Mapping
from typing import Any

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.reads.by_leader import ask_leaders, list_offsets
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.lag.ages import MOST_QUESTIONS, AgeSearch
from kgroups.core.lag.window.unread import Place
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import Topic, TopicPartition

Found = dict[TopicPartition, int | str | None]
"""An offset; an error name; None where every record is older."""


def offsets_at_times(
    admin: ClusterAdmin,
    times: Mapping[TopicPartition, int],
    known: Mapping[str, Topic] | None = None,
) -> Found:
    """The first offset of each partition that is not older than its time.

    Args:
        times: epoch milliseconds, not negative.
        known: their topics, where they were just looked up.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> Found:
        return await ask_leaders(
            cluster,
            times,
            deadline,
            lambda leader, wanted, limit: list_offsets(cluster, leader, wanted, limit, _offset),
            known=known,
        )

    return admin.over_wire(ask, lambda client: client.offsets_at(times)) if times else {}


def offsets_at(
    admin: ClusterAdmin, topics: Mapping[str, Topic], time_ms: int
) -> dict[TopicPartition, int | None]:
    """`offsets_at_times` of one time for every partition of these topics.

    Returns:
        None where every record is older.
    Raises:
        ClusterError: the cluster cannot be asked, or not about one of the partitions.
    """
    times = {(name, n): time_ms for name, topic in topics.items() for n in topic.partitions}
    offsets: dict[TopicPartition, int | None] = {}
    for at, offset in offsets_at_times(admin, times, topics).items():
        if isinstance(offset, str):
            raise broker_error(f"{at[0]}-{at[1]}", offset).as_error()
        offsets[at] = offset
    return offsets


def ends_at(
    admin: ClusterAdmin, topics: Mapping[str, Topic], time_ms: int
) -> dict[TopicPartition, int]:
    """Where each partition's log ended at a time.

    A log does not say how long it was an hour ago, but it finds the first record that is not
    older: there it ended then, as far as its records' times are in order.

    Args:
        topics: with log end offsets; a partition without one is left out.
    Returns:
        Partitions whose answer failed are absent.
    """
    ends_now = {
        (name, number): log.log_end_offset
        for name, topic in topics.items()
        for number, log in topic.partitions.items()
        if log.log_end_offset is not None
    }
    offsets = offsets_at_times(admin, dict.fromkeys(ends_now, time_ms), topics)
    return {
        at: ends_now[at] if then is None else min(then, ends_now[at])
        for at, then in offsets.items()
        if not isinstance(then, str)
    }


def _offset(row: Any) -> int | None:
    return None if row.offset < 0 else int(row.offset)


def record_ages(admin: ClusterAdmin, places: Iterable[Place], now_ms: int) -> dict[Place, float]:
    """Seconds since the records at these places were written, as far as their logs tell.

    Args:
        places: of records that logs hold.
        now_ms: epoch milliseconds that the ages are counted back from.
    """
    search = AgeSearch(places, now_ms)
    for _ in range(MOST_QUESTIONS):
        times = search.times()
        if not times:
            break
        search.take(times, offsets_at_times(admin, times))
    return search.ages_s
