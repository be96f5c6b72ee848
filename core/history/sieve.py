"""The records of some groups out of the batches of a partition of `__consumer_offsets`.

Offsets without a record tell where compaction removed some. Commits of a transaction count once
its marker says that it committed.
"""

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from kgroups.core.coordinator.log.record_codec import decode_record
from kgroups.core.history.log_entry import WHOLE, LogEntry
from kgroups.core.protocol.batches import (
    CONTROL,
    TRANSACTIONAL,
    BatchHeader,
    Record,
    is_commit_marker,
    may_hold,
    read_records,
)
from kgroups.core.protocol.reader import DecodeError

_TEXT: Final = struct.Struct(">h")
LONGEST_NAME: Final = 2**15 - 1
"""Bytes: longer names are in no key."""

Take = Callable[[str, LogEntry], None]


@dataclass(slots=True)
class Unread:
    """Records that say nothing here.

    Args:
        broken: how many cannot be understood, by group.
        others: groups with records of other types of groups: share and streams.
    """

    broken: dict[str, int] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)


class Sieve:
    """Lets the records of some groups through.

    Args:
        take: is given each record with its group, in the order of the log.
        unread: what could not be, to be added to.
    """

    def __init__(self, groups: Iterable[str], take: Take, unread: Unread) -> None:
        self.groups = {_text(name): name for name in groups if len(name.encode()) <= LONGEST_NAME}
        self._take, self._unread = take, unread
        self._next = 0  # offset
        self._holes = 0
        self._whole_from = WHOLE  # or an offset
        self._holes_seen: dict[str, int] = {}
        self._open: dict[int, list[tuple[str, LogEntry]]] = {}  # by producer

    def pass_batch(self, header: BatchHeader, batch: bytes) -> None:
        """Take one batch of the log."""
        end = header.base_offset + header.last_offset_delta + 1
        if header.record_count < end - self._next:
            self._holes += 1
            self._whole_from = header.base_offset
        self._next = end
        if header.attributes & CONTROL:
            self._mark(header.producer_id, batch)
        elif may_hold(batch, header, self.groups.keys()):
            in_transaction = bool(header.attributes & TRANSACTIONAL)
            producer = header.producer_id if in_transaction else -1
            found = (self._entry(raw, producer) for raw in read_records(batch))
            entries = [entry for entry in found if entry is not None]
            if in_transaction:
                self._open.setdefault(header.producer_id, []).extend(entries)
            else:
                self._give(entries)

    def end(self, stable: int) -> None:
        """The log is read: what is open below its stable end was committed long ago.

        Compaction removes aborted records, and later the markers of both kinds.
        """
        for entries in self._open.values():
            held = (each for each in entries if stable < 0 or each[1].offset < stable)
            self._give(_counting(held, None))

    def _mark(self, producer: int, batch: bytes) -> None:
        entries = self._open.pop(producer, ())
        for marker in read_records(batch):
            if is_commit_marker(marker):
                self._give(_counting(entries, marker.timestamp_ms))

    def _give(self, entries: Iterable[tuple[str, LogEntry]]) -> None:
        for name, entry in entries:
            self._take(name, entry._replace(whole_from=self._whole_from))

    def _entry(self, raw: Record, producer: int) -> tuple[str, LogEntry] | None:
        key = raw.key or b""
        end = 2 + _TEXT.size
        if len(key) < end:
            return None
        name = self.groups.get(key[2 : end + max(0, _TEXT.unpack_from(key, 2)[0])])
        if name is None:
            return None
        try:
            record = decode_record(key, raw.value)
        except DecodeError:
            self._unread.broken[name] = self._unread.broken.get(name, 0) + 1
            return None
        if record is None:
            self._unread.others.add(name)
            return None
        is_torn = self._holes != self._holes_seen.get(name, 0)
        self._holes_seen[name] = self._holes
        return name, LogEntry(
            raw.offset, raw.timestamp_ms, record, is_torn, producer, raw.timestamp_ms
        )


def _counting(
    entries: Iterable[tuple[str, LogEntry]], at_ms: int | None
) -> Iterator[tuple[str, LogEntry]]:
    return ((name, entry._replace(counts_ms=at_ms)) for name, entry in entries)


def _text(name: str) -> bytes:
    """A group's name as it stands in keys, behind their kind."""
    raw = name.encode()
    return _TEXT.pack(len(raw)) + raw
