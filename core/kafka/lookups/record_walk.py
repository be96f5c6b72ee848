"""Records from an offset on, as a reader gets them, with what lies between: fetched from leaders.

Nothing is joined and nothing is committed: a Fetch has no group. Takes READ on the topics.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Final, Literal, NamedTuple, TypeVar

from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, item_error
from kgroups.core.kafka.lookups.offsets_log import OffsetsLog, code_of, fetch_ahead
from kgroups.core.kafka.reads.by_leader import ask_leaders
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.lag.rules import Isolation
from kgroups.core.protocol.batches import CorruptBatch, Record
from kgroups.core.protocol.errors import meaning_of
from kgroups.core.protocol.passage import Aborted, Gap, passage
from kgroups.core.snapshot import Topic, TopicPartition

FIRST_BYTES: Final = 16 << 10
FETCH_BYTES: Final = 1 << 20
AT_ONCE: Final = 16
"""Partitions of one leader that are read at the same time."""

A_FETCH: Final = 200
"""Partitions whose first records are in one answer."""

Answer = TypeVar("Answer")
Where = TypeVar("Where")


class End(NamedTuple):
    """Where reading stopped.

    Args:
        reason: all is read, a transaction is open from there on, the commit lies beyond the log's
            end, or enough was read.
    """

    offset: int
    reason: Literal["log_end", "open_transaction", "beyond_end", "limit"]

    @property
    def next_offset(self) -> int:
        """The same: an end takes up nothing."""
        return self.offset


Spot = Record | Gap | End


@dataclass(slots=True)
class Allowance:
    """Limits of what may still be read, by all walks together, and until when."""

    records: int
    fetched_bytes: int
    until: Deadline | None = None

    @property
    def is_spent(self) -> bool:
        """Whether no more may be."""
        is_late = self.until is not None and self.until.is_over
        return is_late or self.records <= 0 or self.fetched_bytes <= 0


class Stand(NamedTuple):
    """Where a reader stands in a log, and how many records beside the next one are wanted."""

    committed: int
    log_start: int
    log_end: int
    around: int = 0


async def walk(
    log: OffsetsLog, start: int, allowance: Allowance, take: Callable[[Spot], bool]
) -> None:
    """Give every spot from `start` on to `take`, the `End` last, until that says it has enough.

    Args:
        start: not below the log start.
    Raises:
        BrokerFailure: the log cannot be read.
        CorruptBatch: what it holds cannot be understood.
    """
    offset, size = start, FIRST_BYTES
    while not allowance.is_spent:
        part = await log.fetch(offset, size)
        if part is None:  # held back by a quota: the next answer comes when it may
            continue
        data, before, size = bytes(part.records or b""), offset, FETCH_BYTES
        allowance.fetched_bytes -= len(data)
        aborted = [
            Aborted(row.first_offset, row.producer_id) for row in part.aborted_transactions or ()
        ]
        for spot in passage(data, offset, aborted):
            if take(spot):
                return
            offset = spot.next_offset
            allowance.records -= isinstance(spot, Record)
            if allowance.is_spent:
                break
        if offset > before:
            continue
        is_committed = log.isolation == "read_committed"
        end = part.last_stable_offset if is_committed else part.high_watermark
        if offset >= end:
            take(End(offset, "open_transaction" if offset < part.high_watermark else "log_end"))
            return
        if take(Gap(offset, end, "compacted")):  # nothing is left up to there
            return
        offset = end
    take(End(offset, "limit"))


async def around_commit(log: OffsetsLog, stand: Stand, allowance: Allowance) -> list[Spot]:
    """The next record with what lies before it, and `around` records on either side."""
    if stand.committed > stand.log_end:
        return [End(stand.committed, "beyond_end")]
    ahead: list[Spot] = []
    wanted = stand.around + 1
    start = max(stand.committed, stand.log_start)
    if start > stand.committed:
        ahead.append(Gap(stand.committed, start, "deleted"))

    def take(spot: Spot) -> bool:
        nonlocal wanted
        ahead.append(spot)
        wanted -= isinstance(spot, Record)
        return wanted == 0

    await walk(log, start, allowance, take)
    before = await before_commit(log, stand, allowance) if stand.around else []
    return list(joined([*before, *ahead]))


def look_back(stand: Stand) -> int:
    """From where on the last records before the commit are looked for at first."""
    return max(stand.log_start, stand.committed - 2 * stand.around - 10)


async def before_commit(log: OffsetsLog, stand: Stand, allowance: Allowance) -> list[Spot]:
    """The last records before the commit, looked for in stretches that grow.

    Where not all of a stretch may be read, nobody knows which of them are the last: it is an end.
    """
    low = look_back(stand)
    while True:
        seen: list[Spot] = []
        if low < stand.committed:

            def take(spot: Spot, seen: list[Spot] = seen) -> bool:
                if spot.offset >= stand.committed:
                    return True
                if isinstance(spot, Gap):
                    spot = spot._replace(next_offset=min(spot.next_offset, stand.committed))
                seen.append(spot)
                return spot.next_offset == stand.committed

            await walk(log, low, allowance, take)
            if isinstance(seen[-1], End) and seen[-1].reason == "limit":
                return seen[-1:]
        places = deque(
            (n for n, spot in enumerate(seen) if isinstance(spot, Record)), maxlen=stand.around
        )
        if len(places) == stand.around or low <= stand.log_start:
            return seen[places[0] :] if places else []
        low = max(stand.log_start, stand.committed - 8 * (stand.committed - low))


def joined(spots: Iterable[Spot]) -> Iterator[Spot]:
    """The spots, where neighbouring gaps of one reason are one."""
    for reason, run in groupby(spots, lambda spot: spot.reason if isinstance(spot, Gap) else None):
        first, *more = run
        if reason is not None:
            yield Gap(first.offset, (more or [first])[-1].next_offset, reason)
        else:
            yield from (first, *more)


def read_each(
    admin: ClusterAdmin,
    topics: Mapping[str, Topic],
    stands: Mapping[TopicPartition, Where],
    read: Callable[[OffsetsLog, Where], Awaitable[Answer]],
    *,
    isolation: Isolation,
    until: Deadline | None = None,
    start: Callable[[Where], int] | None = None,
) -> dict[TopicPartition, Answer | str]:
    """Records read of each partition, or the name of its error.

    Args:
        topics: with leaders, as they were just looked up.
        stands: what `read` is told of each partition.
        isolation: `read_committed` passes over records of aborted transactions, and stops where
            one is open.
        until: another deadline than that of every question.
        start: the offset that `read` fetches first, if one answer is to have many partitions.
    """

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[TopicPartition, Answer | str]:
        async def one(log: OffsetsLog, gate: asyncio.Semaphore) -> Answer | str:
            at = log.topic, log.partition
            async with gate:
                try:
                    return await read(log, stands[at])
                except (BrokerFailure, CorruptBatch) as failure:
                    return code_of(failure)

        async def of_leader(
            leader: int, wanted: Mapping[TopicPartition, int], _: float
        ) -> dict[TopicPartition, Answer | str]:
            gate = asyncio.Semaphore(AT_ONCE)
            answers: dict[TopicPartition, Answer | str] = {}
            left = iter(wanted)
            while part := list(islice(left, A_FETCH if start else len(wanted))):
                logs = [
                    OffsetsLog(cluster, leader, at[1], deadline, at[0], isolation) for at in part
                ]
                if start is not None:
                    await fetch_ahead(logs, [start(stands[at]) for at in part], FIRST_BYTES)
                told = await asyncio.gather(*(one(log, gate) for log in logs))
                answers |= zip(part, told, strict=True)
            return answers

        return await ask_leaders(
            cluster, dict.fromkeys(stands, 0), deadline, of_leader, known=topics
        )

    return admin.over_wire(ask, until=until) if stands else {}


def unread_error(at: TopicPartition, code: str) -> ItemError:
    """Why the records of a partition could not be read; names the right that is missing."""
    target = f"{at[0]}-{at[1]}"
    if code == "TOPIC_AUTHORIZATION_FAILED":
        hint = "READ on the topic is required"
        return item_error(
            target, BrokerFailure(code, f"not authorized to read `{at[0]}`", hint=hint)
        )
    return item_error(target, code, f"its records cannot be read: {meaning_of(code).message}")
