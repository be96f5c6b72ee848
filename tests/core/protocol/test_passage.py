"""Records and gaps in the answer to a Fetch: what compaction and transactions leave of a log."""

import struct

import cramjam
import pytest

from kgroups.core.protocol.batches import (
    CONTROL,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    CorruptBatch,
    Record,
    build_batch,
    empty_batch,
    place_batch,
    read_batch_header,
    read_records,
    thinned_batch,
)
from kgroups.core.protocol.passage import Aborted, Gap, passage
from tests.core.protocol.test_batches import sealed

TIME_MS = 1_700_000_000_000
ABORT, COMMIT = struct.pack(">hh", 0, 0), struct.pack(">hh", 0, 1)


def batch_at(
    offset: int, *values: bytes, attributes: int = 0, producer: int = -1, latest_ms: int = TIME_MS
) -> bytes:
    """A batch of records with these keys."""
    batch = bytearray(place_batch(build_batch([(key, b"") for key in values], TIME_MS), offset, 3))
    struct.pack_into(">h", batch, 21, attributes)
    struct.pack_into(">q", batch, 35, latest_ms)
    struct.pack_into(">q", batch, 43, producer)
    return sealed(batch)


def told(data: bytes, start: int, *aborted: Aborted) -> list[int | Gap]:
    """Offsets of records, and gaps."""
    return [
        spot.offset if isinstance(spot, Record) else spot for spot in passage(data, start, aborted)
    ]


def test_every_offset_is_told_once() -> None:
    """From the middle of a batch on, over what compaction has taken."""
    full = batch_at(20, b"a", b"b", b"c", b"d")
    kept = [one for one in read_records(full) if one.offset in (21, 23)]
    data = batch_at(10, b"x", b"y", b"z") + thinned_batch(read_batch_header(full), kept)
    data += place_batch(empty_batch(3, 0), 24, 0)
    assert told(data, 11) == [
        11,
        12,
        Gap(13, 20, "compacted"),
        Gap(20, 21, "compacted"),
        21,
        Gap(22, 23, "compacted"),
        23,
        Gap(24, 27, "compacted"),
    ]


def test_transactions() -> None:
    """One producer aborts, then commits; another one's records lie between."""
    txn, marker = TRANSACTIONAL, TRANSACTIONAL | CONTROL
    data = (
        batch_at(0, b"lost", b"lost", attributes=txn, producer=7)
        + batch_at(2, b"plain")
        + batch_at(3, b"kept", attributes=txn, producer=8)
        + batch_at(4, ABORT, attributes=marker, producer=7)
        + batch_at(5, b"kept", attributes=txn, producer=7)
        + batch_at(6, COMMIT, attributes=marker, producer=7)
        + batch_at(7, COMMIT, attributes=marker, producer=8)
        + batch_at(8, b"lost", attributes=txn, producer=7)
    )
    gaps = [Gap(4, 5, "control"), 5, Gap(6, 7, "control"), Gap(7, 8, "control")]
    aborted = Aborted(0, 7), Aborted(8, 7)
    assert told(data, 0, *aborted) == [
        Gap(0, 2, "aborted"), 2, 3, *gaps, Gap(8, 9, "aborted")
    ]  # fmt: skip
    assert told(data, 0) == [0, 1, 2, 3, *gaps, 8], "who reads uncommitted gets them all"
    assert told(data, 1, *aborted)[0] == Gap(1, 2, "aborted")


def test_the_time_of_appending() -> None:
    """Where a topic dates records by that, it stands in the batch."""
    data = batch_at(0, b"a", attributes=LOG_APPEND_TIME, latest_ms=TIME_MS + 5)
    (record,) = passage(data, 0)
    assert isinstance(record, Record)
    assert record.timestamp_ms == TIME_MS + 5


@pytest.mark.parametrize(("codec", "module"), [(3, cramjam.lz4), (4, cramjam.zstd)])
def test_what_would_fill_the_memory(codec: int, module: object) -> None:
    """A small batch may claim to be of any length: it is refused at the limit."""
    whole = bytearray(batch_at(0, b"a"))
    bomb = bytes(module.compress(bytes(80 << 20)))  # type: ignore[attr-defined] # of a C library
    struct.pack_into(">h", whole, 21, codec)
    with pytest.raises(CorruptBatch, match="compressed"):
        list(passage(sealed(whole[:HEADER_BYTES] + bomb), 0))
