"""The newest records of keys in `__consumer_offsets`, looked for from the log's end.

What a group is, and what it has committed, is in the newest records of its keys, among those of
every group on the same partition. So the log is read backwards, in windows that grow: the last
records first, then ever more before them, until each key's newest record is found, the log has no
more, or enough was read.
"""

import asyncio
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.lookups.offsets_log import OffsetsLog, code_of
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.protocol.batches import CorruptBatch, find_records

FIRST_WINDOW: Final = 2_000  # offsets
GROWTH: Final = 4
FETCH_BYTES: Final = 1 << 20
MAX_BYTES: Final = 256 << 20
MOST_BEFORE: Final = 32  # records of one key that are kept


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back the log is read.

    Args:
        windows: None: as many as it takes.
        fetches: of one window.
        most_bytes: of one partition.
    """

    windows: int | None = None
    fetches: int | None = None
    most_bytes: int = MAX_BYTES


FAR: Final = Reach()
"""As far as it takes, up to a quarter of a gigabyte of each partition."""


@dataclass(slots=True)
class NewestRecords:
    """Records that were found.

    Args:
        found: value by key; None: the newest record deletes it.
        failures: Kafka's error name by partition of `__consumer_offsets` that could not be read.
        unread: partitions that hold more than was read, to the offset down to which they were.
        before: by key, what its records said before the newest one, as far as they were read on
            the way, oldest first and without a gap.
    """

    found: dict[bytes, bytes | None] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    unread: dict[int, int] = field(default_factory=dict)
    before: dict[bytes, tuple[bytes | None, ...]] = field(default_factory=dict)


def newest_records(
    admin: ClusterAdmin, wanted: Mapping[tuple[int, int], Collection[bytes]], reach: Reach
) -> NewestRecords:
    """The newest record of each key; takes READ on `__consumer_offsets`.

    Args:
        wanted: the keys by broker, which leads, and partition.
    """

    newest = NewestRecords()

    async def ask(cluster: Cluster, deadline: Deadline) -> None:
        logs = {at: OffsetsLog(cluster, *at, deadline) for at in wanted}
        await asyncio.gather(
            *(_Search(log, wanted[at], reach, newest).run() for at, log in logs.items())
        )

    if wanted:
        admin.over_wire(ask)
    return newest


class _Search:
    """The search through one partition."""

    def __init__(
        self, log: OffsetsLog, keys: Collection[bytes], reach: Reach, newest: NewestRecords
    ) -> None:
        self._log, self._reach, self._newest = log, reach, newest
        self._left = set(keys)
        self._bytes = 0

    async def run(self) -> None:
        """Add what is found."""
        try:
            lowest, start = await self._search()
        except (BrokerFailure, CorruptBatch) as failure:
            self._newest.failures[self._log.partition] = code_of(failure)
            return
        if self._left and lowest > start:
            self._newest.unread[self._log.partition] = lowest

    async def _search(self) -> tuple[int, int]:
        """Down to which offset was read, and where the log starts."""
        start, high = await self._log.bounds()
        width, windows = FIRST_WINDOW, 0
        while self._left and high > start and windows != self._reach.windows:
            low = max(start, high - width)
            if not await self._read(low, high):
                break
            high, width, windows = low, width * GROWTH, windows + 1
        return high, start

    async def _read(self, low: int, high: int) -> bool:
        """Read a window; False if not all of it could be, so that nothing is known of it."""
        seen: dict[bytes, deque[bytes | None]] = {}
        offset, fetches = low, 0
        while offset < high:
            if fetches == self._reach.fetches or self._bytes >= self._reach.most_bytes:
                return False
            if self._log.deadline.left_s <= 0:
                return False
            part = await self._log.fetch(offset, FETCH_BYTES)
            if part is None:  # held back by a quota: the next answer comes when it may
                continue
            data = bytes(part.records or b"")
            fetches, self._bytes = fetches + 1, self._bytes + len(data)
            records, next_offset = find_records(data, self._left)
            for record in records:
                if record.key is not None and record.offset < high:
                    values = seen.setdefault(record.key, deque(maxlen=MOST_BEFORE + 1))
                    values.append(record.value)
            if next_offset is None:  # compaction left nothing up to the end
                break
            offset = max(offset + 1, next_offset)
        for key, said in seen.items():
            self._left.discard(key)
            *before, self._newest.found[key] = said
            self._newest.before[key] = tuple(before)
        return True
