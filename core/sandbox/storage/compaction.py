"""Compaction: of the records of a key only the last one stays, each where it was.

Offsets never change, so gaps appear, and the start of the log stays. A tombstone stays for a time,
so that who reads behind learns of it. The last batch is never touched, as Kafka leaves its active
segment alone: it says where the log ends. Source: Kafka's Cleaner and LogCleaner.
"""

from collections.abc import Sequence

from kgroups.core.protocol.batches import (
    BatchHeader,
    Record,
    read_batch_header,
    read_records,
    thinned_batch,
)

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
