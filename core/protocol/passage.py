"""The records in the answer to a Fetch, and why other offsets have none. Pure.

Source: Kafka's CompletedFetch, for which transactions are aborted.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from kgroups.core.protocol.batches import (
    CONTROL,
    TRANSACTIONAL,
    Record,
    is_commit_marker,
    read_records,
    whole_batches,
)

Reason = Literal["deleted", "compacted", "aborted", "control"]


class Gap(NamedTuple):
    """Offsets from `offset` up to, not with, `next_offset` that no reader gets a record of.

    Args:
        reason: they lie below the log start, compaction removed them, their transaction was
            aborted, or they hold a transaction's marker.
    """

    offset: int
    next_offset: int
    reason: Reason


class Aborted(NamedTuple):
    """A transaction that was aborted, as the answer to a Fetch tells it."""

    first_offset: int
    producer_id: int


def passage(data: bytes, start: int, aborted: Iterable[Aborted] = ()) -> Iterator[Record | Gap]:
    """Every offset from `start` to the end of the last whole batch: records, and gaps between.

    Args:
        aborted: transactions whose records are passed over.
    Raises:
        CorruptBatch: the bytes are no batches.
    """
    at = start
    coming = sorted(aborted, reverse=True)
    gone: set[int] = set()
    for header, batch in whole_batches(data):
        end = header.base_offset + header.last_offset_delta + 1
        while coming and coming[-1].first_offset < end:
            gone.add(coming.pop().producer_id)
        reason: Reason = "compacted"
        records: Iterable[Record] = ()
        if header.attributes & CONTROL:
            reason = "control"
            if not any(map(is_commit_marker, read_records(batch))):
                gone.discard(header.producer_id)
        elif header.attributes & TRANSACTIONAL and header.producer_id in gone:
            reason = "aborted"
        else:
            records = read_records(batch)
        if header.base_offset > at:
            yield Gap(at, header.base_offset, "compacted")
            at = header.base_offset
        for record in records:
            if record.offset < at:
                continue
            if record.offset > at:
                yield Gap(at, record.offset, "compacted")
            yield record
            at = record.next_offset
        if at < end:
            yield Gap(at, end, reason)
            at = end
