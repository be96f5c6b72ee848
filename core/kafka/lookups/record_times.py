"""When single records were written: those that are read next, and the last ones of logs.

Takes READ on the topics. Our own client reads them, also where librdkafka was asked for; not with a
login that only librdkafka has.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Final

from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, item_error
from kgroups.core.kafka.lookups.offsets_log import OffsetsLog
from kgroups.core.kafka.lookups.record_walk import (
    Allowance,
    End,
    Spot,
    Stand,
    before_commit,
    look_back,
    read_each,
    walk,
)
from kgroups.core.lag.rules import Isolation
from kgroups.core.lag.window.unread import Place
from kgroups.core.offsets.copy import Moment
from kgroups.core.protocol.batches import Record
from kgroups.core.protocol.errors import meaning_of
from kgroups.core.snapshot import Topic, TopicPartition

MOST_RECORDS: Final = 1_000_000
MOST_BYTES: Final = 16 << 30
"""Of one partition, to find one record: transactions and compaction leave gaps in a log."""


def next_record_times(
    admin: ClusterAdmin,
    topics: Mapping[str, Topic],
    places: Iterable[Place],
    *,
    timeout_ms: int = 10_000,
    isolation: Isolation = "read_uncommitted",
) -> tuple[dict[Place, int], tuple[ItemError, ...]]:
    """When the record at each place, or the next one that is left, was written.

    Args:
        topics: with leaders, as they were just looked up.
        places: an offset at the log's end has no record.
        timeout_ms: how long nothing may come before the rest is given up.
        isolation: `read_committed` passes over the records of aborted and open transactions.
    Returns:
        Epoch milliseconds of the places that have a record; topics that cannot be read.
    Raises:
        ClusterError: no broker can be reached.
    """
    waiting: dict[TopicPartition, list[int]] = {}
    for topic, partition, offset in sorted(set(places)):
        waiting.setdefault((topic, partition), []).append(offset)
    until = Deadline.after(timeout_ms)
    times: dict[Place, int] = {}

    async def read(log: OffsetsLog, offsets: list[int]) -> None:
        for offset in offsets:
            time_ms = _time(await _next(log, offset))
            until.at = Deadline.after(timeout_ms).at
            if time_ms is not None:
                times[log.topic, log.partition, offset] = time_ms

    with _reader(admin) as own:
        answers = read_each(
            own,
            topics,
            waiting,
            read,
            isolation=isolation,
            until=until,
            start=lambda offsets: offsets[0],
        )
    failed = {topic: code for (topic, _), code in sorted(answers.items()) if code is not None}
    errors = tuple(
        item_error(topic, code, f"its records cannot be read: {meaning_of(code).message}")
        for topic, code in failed.items()
    )
    return times, errors


def record_moments(
    admin: ClusterAdmin, topics: Mapping[str, Topic], stands: Mapping[TopicPartition, Stand]
) -> dict[TopicPartition, Moment]:
    """For each partition the time of the next record; just after the last one where all is read.

    Args:
        topics: with leaders, as they were just looked up.
        stands: where the group stands.
    Raises:
        ClusterError: the cluster cannot be reached.
    """

    async def read(log: OffsetsLog, stand: Stand) -> Moment:
        if stand.committed < stand.log_end:
            found = await _next(log, max(stand.committed, stand.log_start))
            time_ms = _time(found)
            if isinstance(found, Record):
                return Moment(time_ms)
        before = await before_commit(log, _at_end(stand), _allowance(log))
        time_ms = _time(before[0]) if before else None
        return Moment(None if time_ms is None else time_ms + 1, at_end=True)

    with _reader(admin) as own:
        answers = read_each(
            own, topics, stands, read, isolation="read_uncommitted", start=_first_offset
        )
    return {
        at: Moment(error=answer) if isinstance(answer, str) else answer
        for at, answer in answers.items()
    }


def _reader(admin: ClusterAdmin) -> AbstractContextManager[ClusterAdmin]:
    """Who reads records for this admin."""
    if not admin.settings.through_librdkafka:
        return nullcontext(admin)
    settings = replace(admin.settings, through_librdkafka=False)
    return ClusterAdmin(settings, deadline=admin.ends())


def _at_end(stand: Stand) -> Stand:
    return stand._replace(committed=stand.log_end, around=1)


def _first_offset(stand: Stand) -> int:
    """Where reading begins."""
    if stand.committed < stand.log_end:
        return max(stand.committed, stand.log_start)
    return look_back(_at_end(stand))


async def _next(log: OffsetsLog, offset: int) -> Spot:
    """The first record from there on that a reader gets, or where there is none any more."""
    found: list[Spot] = []

    def take(spot: Spot) -> bool:
        found[:] = [spot]
        return isinstance(spot, Record)

    try:
        await walk(log, offset, _allowance(log), take)
    except BrokerFailure as failure:
        if failure.code != "OFFSET_OUT_OF_RANGE":
            raise
        start, _ = await log.bounds()
        if start <= offset:
            raise
        await walk(log, start, _allowance(log), take)
    return found[0]


def _allowance(log: OffsetsLog) -> Allowance:
    return Allowance(MOST_RECORDS, MOST_BYTES, log.deadline)


def _time(spot: Spot) -> int | None:
    """When it was written; None for what is no record, or has no time.

    Raises:
        BrokerFailure: the time was over before one was found.
    """
    if isinstance(spot, End) and spot.reason == "limit":
        raise BrokerFailure("REQUEST_TIMED_OUT")
    return spot.timestamp_ms if isinstance(spot, Record) and spot.timestamp_ms >= 0 else None
