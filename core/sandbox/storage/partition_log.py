"""The log of one partition: batches in memory, found by offset and by time.

Offsets, epochs and start follow Kafka's UnifiedLog as far as one replica goes. An append wakes
who waits for it; nobody polls. The last five batches of an idempotent producer are remembered, to
drop repeats and see gaps. Compaction keeps the last record of a key where it was, so that gaps
appear; tombstones stay for a time, and the last batch, which says where the log ends, is never
touched, as Kafka leaves its active segment alone.
Source: ProducerStateManager, ProducerAppendInfo, Cleaner, LogCleaner.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kgroups.core.protocol.batches import (
    BatchHeader,
    Record,
    place_batch,
    read_batch_header,
    read_records,
    thinned_batch,
)
from kgroups.core.protocol.errors import ErrorCode

_REMEMBERED_BATCHES = 5
_SEQUENCE_LIMIT = 2**31


@dataclass(slots=True)
class _Producer:
    epoch: int
    batches: deque[tuple[int, int, int]] = field(
        default_factory=lambda: deque(maxlen=_REMEMBERED_BATCHES)
    )
    """(first sequence, last sequence, base offset), oldest first."""


@dataclass(slots=True)
class ProducerStates:
    """Epoch and last batches of each producer id."""

    _producers: dict[int, _Producer] = field(default_factory=dict)

    def check(self, header: BatchHeader) -> tuple[ErrorCode, int | None]:
        """Whether this batch may be appended.

        Returns:
            An error, or none with the offset of an earlier append of the same batch, or none
            with None: append it.
        """
        if header.producer_id < 0:
            return ErrorCode.NONE, None
        state = self._producers.get(header.producer_id)
        if state is None:
            return ErrorCode.NONE, None
        if header.producer_epoch < state.epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH, None
        if header.producer_epoch > state.epoch:
            fits = header.base_sequence == 0
            return (ErrorCode.NONE if fits else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER), None
        last_sequence = _last_sequence(header)
        for first, last, base_offset in state.batches:
            if first == header.base_sequence and last == last_sequence:
                return ErrorCode.NONE, base_offset
        if state.batches and header.base_sequence != (state.batches[-1][1] + 1) % _SEQUENCE_LIMIT:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, None
        return ErrorCode.NONE, None

    def record(self, header: BatchHeader, base_offset: int) -> None:
        """Remember a batch that was appended."""
        if header.producer_id < 0:
            return
        state = self._producers.get(header.producer_id)
        if state is None or state.epoch != header.producer_epoch:
            state = self._producers[header.producer_id] = _Producer(header.producer_epoch)
        state.batches.append((header.base_sequence, _last_sequence(header), base_offset))


def _last_sequence(header: BatchHeader) -> int:
    return (header.base_sequence + header.last_offset_delta) % _SEQUENCE_LIMIT


DELETE_RETENTION_MS = 86_400_000
"""How long a tombstone stays: `delete.retention.ms` as Kafka has it by default."""


def compact(batches: Sequence[bytes], *, now_ms: int) -> list[tuple[BatchHeader, bytes]]:
    """The batches that are left, as they are to be stored, oldest first.

    Args:
        batches: a whole log, in order; each with its own offsets.
        now_ms: decides which tombstones have stood long enough.
    """
    contents = [list(read_records(batch)) for batch in batches]
    latest = {record.key: record.offset for records in contents for record in records}

    def stays(record: Record) -> bool:
        if record.key is None:
            return True
        if latest[record.key] != record.offset:
            return False
        return record.value is not None or now_ms - record.timestamp_ms <= DELETE_RETENTION_MS

    left: list[tuple[BatchHeader, bytes]] = []
    for number, (batch, records) in enumerate(zip(batches, contents, strict=True)):
        header = read_batch_header(batch)
        kept = [record for record in records if stays(record)]
        if len(kept) == len(records) or number == len(batches) - 1:
            left.append((header, batch))
        elif kept:
            thinned = thinned_batch(header, kept)
            left.append((read_batch_header(thinned), thinned))
    return left


class StoredBatch(NamedTuple):
    """A batch where it lies in the log."""

    base_offset: int
    last_offset: int
    max_timestamp_ms: int
    data: bytes


class TimestampAnswer(NamedTuple):
    """A record's place and time."""

    offset: int
    timestamp_ms: int


@dataclass(slots=True)
class PartitionLog:
    """Batches from `start_offset` up to, not including, `end_offset`.

    Args:
        start_offset: first offset that may be read; DeleteRecords moves it.
        end_offset: offset of the next record. One replica: it is the high watermark as well.
        on_append: called with the bytes of each stored batch (the data directory's writer).
        on_rewrite: called with all batches when compaction has changed the log.
    """

    start_offset: int = 0
    end_offset: int = 0
    on_append: Callable[[bytes], None] | None = None
    on_rewrite: Callable[[Sequence[bytes]], None] | None = None
    size_bytes: int = 0
    producers: ProducerStates = field(default_factory=ProducerStates)
    _batches: list[StoredBatch] = field(default_factory=list)
    _bases: list[int] = field(default_factory=list)
    _epochs: list[tuple[int, int]] = field(default_factory=list)
    _waiters: set[Callable[[], None]] = field(default_factory=set)

    def append(self, batches: Sequence[tuple[BatchHeader, bytes]], leader_epoch: int) -> int:
        """Store batches that were checked, at the end, and wake the waiting.

        Returns:
            Offset of the first record.
        Raises:
            OSError: `on_append` could not keep it; then it is not in the log either.
        """
        first = self.end_offset
        for header, data in batches:
            placed = place_batch(data, self.end_offset, leader_epoch)
            if self.on_append is not None:
                self.on_append(placed)
            self._store(header, placed, leader_epoch)
        self.wake()
        return first

    def restore(self, header: BatchHeader, data: bytes) -> None:
        """Put back a batch as it was stored, at its own offset; there may be a gap before it."""
        self.end_offset = max(self.end_offset, header.base_offset)
        self._store(header, data, header.leader_epoch)

    def _store(self, header: BatchHeader, data: bytes, leader_epoch: int) -> None:
        base = self.end_offset
        last = base + header.last_offset_delta
        self._batches.append(StoredBatch(base, last, header.max_timestamp_ms, data))
        self._bases.append(base)
        self.size_bytes += len(data)
        self.end_offset = last + 1
        if not self._epochs or self._epochs[-1][0] < leader_epoch:
            self._epochs.append((leader_epoch, base))
        self.producers.record(header, base)

    def read(self, offset: int, max_bytes: int, *, at_least_one: bool = True) -> bytes:
        """Whole batches from the one that holds `offset`, up to `max_bytes`.

        Args:
            at_least_one: give the first batch even if it is longer, so that readers get on.
        """
        if offset >= self.end_offset or not self._batches:
            return b""
        index = self._index_of(offset)
        parts: list[bytes] = []
        size = 0
        for batch in self._batches[index:] if index else self._batches:
            if size + len(batch.data) > max_bytes and (parts or not at_least_one):
                break
            parts.append(batch.data)
            size += len(batch.data)
            if size >= max_bytes:
                break
        return b"".join(parts)

    def _index_of(self, offset: int) -> int:
        """Which batch holds the offset, or is the next one after the gap that does."""
        index = max(bisect_right(self._bases, offset) - 1, 0)
        return index + (self._batches[index].last_offset < offset)

    def size_from(self, offset: int, enough: int) -> int:
        """Bytes that a read from `offset` finds; counting stops at `enough`."""
        if offset >= self.end_offset or not self._batches:
            return 0
        size = 0
        for index in range(self._index_of(offset), len(self._batches)):
            size += len(self._batches[index].data)
            if size >= enough:
                break
        return size

    def records(self) -> list[Record]:
        """Every record from the start offset on."""
        return [
            record
            for batch in self._batches
            for record in read_records(batch.data)
            if record.offset >= self.start_offset
        ]

    def find_timestamp(self, timestamp_ms: int) -> TimestampAnswer | None:
        """The first record of this time or later; None if there is none."""
        for batch in self._batches:
            if batch.max_timestamp_ms < timestamp_ms or batch.last_offset < self.start_offset:
                continue
            for record in read_records(batch.data):
                if record.timestamp_ms >= timestamp_ms and record.offset >= self.start_offset:
                    return TimestampAnswer(record.offset, record.timestamp_ms)
        return None

    def find_max_timestamp(self) -> TimestampAnswer | None:
        """The first record of the latest time; None if the log is empty."""
        alive = [batch for batch in self._batches if batch.last_offset >= self.start_offset]
        if not alive:
            return None
        return self.find_timestamp(max(batch.max_timestamp_ms for batch in alive))

    def delete_before(self, offset: int) -> None:
        """Move the start to `offset` and forget the batches that lie before it whole."""
        self.start_offset = max(self.start_offset, offset)
        keep = next(
            (i for i, batch in enumerate(self._batches) if batch.last_offset >= offset),
            len(self._batches),
        )
        self.size_bytes -= sum(len(batch.data) for batch in self._batches[:keep])
        del self._batches[:keep]
        del self._bases[:keep]
        self.wake()

    def compact(self, now_ms: int) -> None:
        """Keep the last record of each key; offsets, start and end stay as they are.

        Raises:
            OSError: `on_rewrite` could not keep it; then nothing has changed here either.
        """
        left = compact([batch.data for batch in self._batches], now_ms=now_ms)
        if self.on_rewrite is not None:
            self.on_rewrite([data for _, data in left])
        self._batches = [
            StoredBatch(
                header.base_offset,
                header.base_offset + header.last_offset_delta,
                header.max_timestamp_ms,
                data,
            )
            for header, data in left
        ]
        self._bases = [batch.base_offset for batch in self._batches]
        self.size_bytes = sum(len(batch.data) for batch in self._batches)

    def end_of_epoch(self, epoch: int, current_epoch: int) -> tuple[int, int]:
        """Largest epoch up to `epoch` and the offset after its last record; (-1, -1) if none.

        Source: LeaderEpochFileCache.endOffsetFor.
        """
        if epoch == current_epoch:
            return epoch, self.end_offset
        earlier = [entry for entry in self._epochs if entry[0] <= epoch]
        later = [start for number, start in self._epochs if number > epoch]
        if epoch > current_epoch or not (later or earlier):
            return -1, -1
        if not earlier:
            return epoch, later[0]
        return earlier[-1][0], later[0] if later else self.end_offset

    def latest_epoch(self) -> int:
        """Epoch of the last batch; 0 for an empty log."""
        return self._epochs[-1][0] if self._epochs else 0

    def wait(self, wake: Callable[[], None]) -> None:
        """Have `wake` called at the next append; it stays until `unwait`."""
        self._waiters.add(wake)

    def unwait(self, wake: Callable[[], None]) -> None:
        """Take back `wait`."""
        self._waiters.discard(wake)

    def wake(self) -> None:
        """Call everybody who waits."""
        for wake in tuple(self._waiters):
            wake()
