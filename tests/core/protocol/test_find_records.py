"""Batches in the answer to a Fetch: searched for keys, beside the embedded cluster's own reader."""

import gzip
import struct

import pytest

from kgroups.core.protocol.batches import (
    HEADER_BYTES,
    CorruptBatch,
    Record,
    build_batch,
    empty_batch,
    find_records,
    place_batch,
    read_batch_header,
    read_records,
    thinned_batch,
)
from tests.core.protocol.test_batches import sealed

TIME_MS = 1_700_000_000_000
A, B, C = b"\x00\x02\x00\x01a", b"\x00\x02\x00\x01b", b"\x00\x01\x00\x01a"


def batch_at(offset: int, *records: tuple[bytes | None, bytes | None]) -> bytes:
    """A batch whose first record has this offset."""
    return place_batch(build_batch(records, TIME_MS), offset, 3)


def record(offset: int, key: bytes, value: bytes | None) -> Record:
    """A record as `batch_at` dates it."""
    return Record(offset, TIME_MS, key, value)


def with_attributes(batch: bytes, attributes: int, content: bytes | None = None) -> bytes:
    """The same batch with other attributes, and its records as these bytes."""
    body = batch[HEADER_BYTES:] if content is None else content
    head = bytearray(batch[:HEADER_BYTES])
    struct.pack_into(">h", head, 21, attributes)
    return sealed(head + body)


def test_the_records_of_the_keys_in_order() -> None:
    """Keys that only begin alike, and records without a key, are passed over."""
    data = batch_at(10, (A, b"1"), (None, b"x"), (C, b"2")) + batch_at(13, (A, None), (B, b"3"))
    found, next_offset = find_records(data, {A, B})
    assert found == (record(10, A, b"1"), record(13, A, None), record(14, B, b"3"))
    assert next_offset == 15
    assert find_records(data, {b"\x00\x02\x00\x02aa"}) == ((), 15)


def test_what_the_answer_cuts_short_is_left_out() -> None:
    """A broker fills an answer to the byte."""
    whole, cut = batch_at(0, (A, b"1")), batch_at(1, (A, b"2"))
    for length in range(len(cut)):
        assert find_records(whole + cut[:length], {A}) == ((record(0, A, b"1"),), 1)
    assert find_records(b"", {A}) == ((), None)


def test_batches_that_compaction_thinned() -> None:
    """Offsets have gaps, and a batch may be empty."""
    full = batch_at(20, (B, b"1"), (A, b"2"), (B, b"3"), (A, b"4"))
    kept = [one for one in read_records(full) if one.offset == 23]
    thinned = thinned_batch(read_batch_header(full), kept)
    data = place_batch(empty_batch(5, 0), 15, 0) + thinned
    assert find_records(data, {A}) == ((record(23, A, b"4"),), 24)


def test_control_batches_hold_no_records_of_groups() -> None:
    """Ends of transactions, whose keys are others' business."""
    marker = with_attributes(batch_at(0, (A, b"1")), 0x30)
    assert find_records(marker, {A}) == ((), 1)


def test_compressed_batches() -> None:
    """What `offsets.topic.compression.codec` makes."""
    plain = batch_at(7, (A, b"1"), (B, b"2"))
    packed = with_attributes(plain, 1, gzip.compress(plain[HEADER_BYTES:]))
    assert find_records(packed, {B}) == ((record(8, B, b"2"),), 9)
    with pytest.raises(CorruptBatch):
        find_records(with_attributes(plain, 1, b"no gzip"), {B})


def test_other_bytes_are_refused() -> None:
    """Old formats, lengths that cannot be, records that end within."""
    batch = bytearray(batch_at(0, (A, b"1")))
    old = bytes(batch[:16] + b"\x01" + batch[17:])
    with pytest.raises(CorruptBatch, match="format 2"):
        find_records(old, {A})
    short = bytes(batch[:8]) + struct.pack(">i", 3) + bytes(batch[12:])
    with pytest.raises(CorruptBatch, match="format 2"):
        find_records(short, {A})
    many = bytearray(batch)
    struct.pack_into(">i", many, 57, 9)
    with pytest.raises(CorruptBatch):
        find_records(bytes(many), {A})
