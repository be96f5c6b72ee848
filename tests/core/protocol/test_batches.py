"""Record batches beside an independent encoder (aiokafka's), in every compression."""

import random
import struct

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from crc32c import crc32c

from kgroups.core.protocol.batches import (
    CorruptBatch,
    build_batch,
    empty_batch,
    place_batch,
    read_batch_header,
    read_records,
    split_batches,
)

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


def their_batch(codec: int = 0, *, count: int = 5, base_timestamp_ms: int = 1_000) -> bytes:
    """A batch as aiokafka makes it."""
    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=codec, is_transactional=0, producer_id=-1,
        producer_epoch=-1, base_sequence=-1, batch_size=1_000_000,
    )  # fmt: skip
    for index in range(count):
        builder.append(
            index,
            timestamp=base_timestamp_ms + 10 * index,
            key=b"k%d" % index if index else None,
            value=b"v" * 100 if index != 2 else None,
            headers=[("h", b"x")] if index == 3 else [],
        )
    return bytes(builder.build())


def sealed(batch: bytes | bytearray) -> bytes:
    """A batch that was changed, with its length and checksum."""
    whole = bytearray(batch)
    struct.pack_into(">i", whole, 8, len(whole) - 12)
    struct.pack_into(">I", whole, 17, crc32c(bytes(whole[21:])))
    return bytes(whole)


@pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)
def test_their_batches_are_read(codec: int) -> None:
    """Offsets, times, keys and values come out, whatever the compression."""
    ((header, data),) = split_batches(their_batch(codec))
    assert (header.record_count, header.max_timestamp_ms) == (5, 1_040)
    records = list(read_records(place_batch(data, 700, 3)))
    assert [record.offset for record in records] == [700, 701, 702, 703, 704]
    assert [record.timestamp_ms for record in records] == [1_000, 1_010, 1_020, 1_030, 1_040]
    assert [record.key for record in records] == [None, b"k1", b"k2", b"k3", b"k4"]
    assert records[2].value is None
    assert records[4].value == b"v" * 100


def test_snappy_in_javas_blocks() -> None:
    """Java's snappy stream: a header, then blocks with their lengths."""
    import cramjam

    plain = their_batch(0)
    content = plain[61:]
    blocks = b"\x82SNAPPY\x00\0\0\0\1\0\0\0\1"
    for part in (content[:50], content[50:]):
        packed = bytes(cramjam.snappy.compress_raw(part))
        blocks += len(packed).to_bytes(4, "big") + packed
    batch = bytearray(plain[:61] + blocks)
    batch[21:23] = (2).to_bytes(2, "big")
    ((_, data),) = split_batches(sealed(batch))
    assert list(read_records(data)) == list(read_records(plain))


def test_placing_keeps_the_checksum() -> None:
    """Offset and epoch are written over; the rest is passed through untouched."""
    batch = their_batch(1)
    placed = place_batch(batch, 2**40, 9)
    header = read_batch_header(placed)
    assert (header.base_offset, header.leader_epoch) == (2**40, 9)
    assert placed[16:] == batch[16:]
    assert split_batches(placed)


def test_built_batch_round_trip() -> None:
    """What we build we read, tombstones and empty values included."""
    pairs = [(b"a", b"1"), (None, b""), (b"c", None), (b"", b"x" * 300)]
    batch = build_batch(pairs, 1234)
    assert [(record.key, record.value) for record in read_records(batch)] == pairs
    assert {record.timestamp_ms for record in read_records(batch)} == {1234}
    assert split_batches(batch)[0][0].base_offset == 0


def test_empty_batch_takes_up_offsets() -> None:
    """A batch that compaction emptied has a last offset and no record."""
    ((header, data),) = split_batches(empty_batch(1000, 5), stored=True)
    assert (header.last_offset_delta, header.record_count) == (999, 0)
    assert list(read_records(data)) == []
    with pytest.raises(CorruptBatch):
        split_batches(data)


def test_several_batches_in_one_request() -> None:
    """A producer may send batches one after the other."""
    assert len(split_batches(their_batch(0) + their_batch(4) + their_batch(2))) == 3


def test_any_changed_byte_is_noticed() -> None:
    """Wherever a byte changes after the offset and epoch, the batch is refused."""
    batch = bytearray(their_batch(0))
    rng = random.Random(3)
    for place in [*range(8, 12), *range(16, len(batch))]:
        broken = bytearray(batch)
        broken[place] ^= rng.randrange(1, 256)
        with pytest.raises(CorruptBatch):
            split_batches(bytes(broken))


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_broken_compression(codec: int) -> None:
    """Content that does not inflate is a corrupt batch, not a crash."""
    batch = bytearray(their_batch(0))
    batch[21:23] = codec.to_bytes(2, "big")
    with pytest.raises(CorruptBatch):
        list(read_records(bytes(batch)))
