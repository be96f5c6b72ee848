"""Record batches (message format 2): headers read, offsets patched, records read when needed.

A broker does not need to know what is in a batch. Base offset (bytes 0-7) and leader epoch (12-15)
lie outside the checksum, so both are written over and the rest is passed through, compressed or
not. Who looks for the records of some keys passes over batches that do not hold a key's bytes.
Source: Kafka's DefaultRecordBatch and DefaultRecord.
"""

import struct
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import cramjam

from kgroups.core.protocol.varints import VarintError, read_varint, write_varint

_HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = _HEADER.size  # 61
_LENGTH_START = 12  # base offset and length are not counted in `length`
_CRC_FROM = 21
_MAGIC = 2
_MAX_INFLATED_BYTES = 64 * 1024 * 1024
_FIRST_INFLATED_BYTES = 64 * 1024

FEW_KEYS = 20
"""Up to so many keys a batch is searched for each of them before it is read."""

COMPRESSION_MASK = 0x07
LOG_APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20

_MARKER: Final = struct.Struct(">hh")
_COMMIT: Final = 1

Header = tuple[bytes, bytes | None]
"""Name and value of a record's header; names may come twice."""


class CorruptBatch(Exception):
    """Bytes that are no record batch, or whose checksum is wrong."""


class BatchHeader(NamedTuple):
    """The fixed part of a batch, field for field."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int


@dataclass(frozen=True, slots=True)
class Record:
    """One record with its place and time."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()

    @property
    def next_offset(self) -> int:
        """The offset after it."""
        return self.offset + 1


def is_commit_marker(marker: Record) -> bool:
    """Whether a record of a control batch ends a transaction by committing it."""
    key = marker.key or b""
    return len(key) >= _MARKER.size and bool(_MARKER.unpack_from(key)[1] == _COMMIT)


def read_batch_header(data: bytes, start: int = 0) -> BatchHeader:
    """Header of the batch that starts at `start`.

    Raises:
        CorruptBatch: too few bytes.
    """
    if len(data) - start < HEADER_BYTES:
        raise CorruptBatch(f"{len(data) - start} bytes hold no batch header")
    return BatchHeader(*_HEADER.unpack_from(data, start))


def split_batches(data: bytes, *, stored: bool = False) -> list[tuple[BatchHeader, bytes]]:
    """Every batch in what a producer sent, checked as a broker checks it.

    Args:
        stored: they come from a log, where compaction may have taken records out.
    Raises:
        CorruptBatch: wrong length, magic, checksum or count of records.
    """
    batches = []
    start = 0
    while start < len(data):
        header = read_batch_header(data, start)
        stop = start + _LENGTH_START + header.length
        if header.magic != _MAGIC:
            raise CorruptBatch(f"magic {header.magic}")
        if header.length < HEADER_BYTES - _LENGTH_START or stop > len(data):
            raise CorruptBatch(f"length {header.length}")
        whole = header.record_count >= 1 and header.last_offset_delta == header.record_count - 1
        if not whole and not stored:
            raise CorruptBatch(f"{header.record_count} records, last {header.last_offset_delta}")
        if _checksum(memoryview(data)[start + _CRC_FROM : stop]) != header.crc:
            raise CorruptBatch("checksum")
        batches.append((header, data[start:stop]))
        start = stop
    return batches


def _checksum(part: memoryview) -> int:
    from crc32c import crc32c  # 20 ms: it asks the installation for its version

    return crc32c(part)


def place_batch(batch: bytes, base_offset: int, leader_epoch: int) -> bytes:
    """The batch at its offset in the log; nothing that the checksum covers changes."""
    return (
        struct.pack(">q", base_offset) + batch[8:12] + struct.pack(">i", leader_epoch) + batch[16:]
    )


def build_batch(records: Sequence[tuple[bytes | None, bytes | None]], timestamp_ms: int) -> bytes:
    """A batch, not compressed, of these (key, value) pairs; a value of None is a tombstone.

    Its offsets begin at 0: `place_batch` puts it elsewhere.
    """
    out = bytearray(HEADER_BYTES)
    for delta, (key, value) in enumerate(records):
        _write_record(out, delta, 0, key, value)
    return _seal(out, len(records), len(records) - 1, timestamp_ms)


def thinned_batch(header: BatchHeader, kept: Sequence[Record]) -> bytes:
    """A stored batch with only these of its records, each at its offset; not compressed."""
    out = bytearray(HEADER_BYTES)
    for record in kept:
        place = record.offset - header.base_offset
        _write_record(
            out, place, record.timestamp_ms - header.base_timestamp_ms, record.key, record.value
        )
    return _seal(
        out,
        len(kept),
        header.last_offset_delta,
        header.base_timestamp_ms,
        base_offset=header.base_offset,
        epoch=header.leader_epoch,
        max_timestamp_ms=max(record.timestamp_ms for record in kept),
    )


def empty_batch(offsets: int, timestamp_ms: int) -> bytes:
    """A batch that takes up `offsets` offsets and has no record left."""
    return _seal(bytearray(HEADER_BYTES), 0, offsets - 1, timestamp_ms)


def _write_record(
    out: bytearray, delta: int, timestamp_delta_ms: int, key: bytes | None, value: bytes | None
) -> None:
    body = bytearray(b"\0")  # attributes
    write_varint(body, timestamp_delta_ms)
    write_varint(body, delta)
    for part in (key, value):
        write_varint(body, -1 if part is None else len(part))
        body += part or b""
    body.append(0)  # no headers
    write_varint(out, len(body))
    out += body


def _seal(
    out: bytearray,
    count: int,
    last: int,
    timestamp_ms: int,
    *,
    base_offset: int = 0,
    epoch: int = 0,
    max_timestamp_ms: int | None = None,
) -> bytes:
    """The batch in `out` with its header and checksum."""
    latest_ms = timestamp_ms if max_timestamp_ms is None else max_timestamp_ms
    _HEADER.pack_into(
        out, 0, base_offset, len(out) - _LENGTH_START, epoch, _MAGIC, 0, 0,
        last, timestamp_ms, latest_ms, -1, -1, -1, count,
    )  # fmt: skip
    struct.pack_into(">I", out, 17, _checksum(memoryview(out)[_CRC_FROM:]))
    return bytes(out)


def read_records(batch: bytes) -> Iterator[Record]:
    """Records of one batch, in order, inflated if need be.

    Raises:
        CorruptBatch: the content is not what the header says.
    """
    header = read_batch_header(batch)
    content, at = batch, HEADER_BYTES
    codec = header.attributes & COMPRESSION_MASK
    if codec:
        content, at = _inflate(codec, batch[HEADER_BYTES:]), 0
    try:
        for _ in range(header.record_count):
            record, at = _read_record(content, at, header)
            yield record
    except (IndexError, VarintError) as error:
        raise CorruptBatch(f"the records end early: {error}") from error


def _read_record(data: bytes, at: int, header: BatchHeader) -> tuple[Record, int]:
    size, at = read_varint(data, at)
    stop = at + size
    timestamp_delta, at = read_varint(data, at + 1)  # after its attributes
    offset_delta, at = read_varint(data, at)
    key, at = _read_bytes(data, at)
    value, at = _read_bytes(data, at)
    headers: tuple[Header, ...] = ()
    if at < stop and data[at]:
        headers, at = _read_headers(data, at, stop)
    if not at <= stop <= len(data):
        raise CorruptBatch(f"a record ends at byte {stop} and was read to {at} of {len(data)}")
    offset, time_ms = header.base_offset + offset_delta, header.base_timestamp_ms + timestamp_delta
    if header.attributes & LOG_APPEND_TIME:
        time_ms = header.max_timestamp_ms
    return Record(offset, time_ms, key, value, headers), stop


def _read_headers(data: bytes, at: int, stop: int) -> tuple[tuple[Header, ...], int]:
    count, at = read_varint(data, at)
    headers: list[Header] = []
    while len(headers) < count and at < stop:
        name, at = _read_bytes(data, at)
        value, at = _read_bytes(data, at)
        headers.append((name or b"", value))
    return tuple(headers), at


def _read_bytes(data: bytes, at: int) -> tuple[bytes | None, int]:
    size, at = read_varint(data, at)
    if size > len(data) - at:
        raise CorruptBatch(f"{size} bytes are announced at byte {at} of {len(data)}")
    return (None, at) if size < 0 else (data[at : at + size], at + size)


def find_records(data: bytes, keys: Collection[bytes]) -> tuple[tuple[Record, ...], int | None]:
    """The records of these keys in the answer to a Fetch.

    Returns:
        The records in order; the offset after the last whole batch, None if there was none. A
        batch that is cut short at the end is left out.
    Raises:
        CorruptBatch: the bytes are no batches.
    """
    records: list[Record] = []
    next_offset = None
    for header, batch in whole_batches(data):
        if may_hold(batch, header, keys):
            records += [record for record in read_records(batch) if record.key in keys]
        next_offset = header.base_offset + header.last_offset_delta + 1
    return tuple(records), next_offset


def whole_batches(data: bytes) -> Iterator[tuple[BatchHeader, bytes]]:
    """The batches in the answer to a Fetch; one that is cut short at the end is left out.

    Raises:
        CorruptBatch: the bytes are no batches.
    """
    start = 0
    while start + HEADER_BYTES <= len(data):
        header = read_batch_header(data, start)
        stop = start + _LENGTH_START + header.length
        if header.magic != _MAGIC or header.length < HEADER_BYTES - _LENGTH_START:
            raise CorruptBatch(f"no record batch of format 2 at byte {start}")
        if stop > len(data):
            return
        yield header, data[start:stop]
        start = stop


def may_hold(batch: bytes, header: BatchHeader, keys: Collection[bytes]) -> bool:
    """Whether a batch may have records with one of these keys, or keys that hold these bytes."""
    if header.attributes & CONTROL:
        return False
    if header.attributes & COMPRESSION_MASK or len(keys) > FEW_KEYS:
        return True
    return any(key in batch for key in keys)


def _inflate(codec: int, content: bytes) -> bytes:
    """Records of a compressed batch: 1 gzip, 2 snappy, 3 lz4, 4 zstd."""
    try:
        match codec:
            case 1:
                inflater = zlib.decompressobj(wbits=31)
                return inflater.decompress(content, _MAX_INFLATED_BYTES)
            case 2:
                return _inflate_snappy(content)
            case 3:
                return _inflate_into(cramjam.lz4.decompress_into, content)
            case 4:
                return _inflate_into(cramjam.zstd.decompress_into, content)
    except (zlib.error, cramjam.DecompressionError, ValueError) as error:
        raise CorruptBatch(f"compressed content: {error}") from error
    raise CorruptBatch(f"compression {codec}")


def _inflate_into(inflate: Callable[[bytes, bytearray], int], content: bytes) -> bytes:
    """Records out of a frame that need not say how long they are, up to the limit."""
    room = max(_FIRST_INFLATED_BYTES, 8 * len(content))
    while True:
        out = bytearray(min(room, _MAX_INFLATED_BYTES))
        try:
            return bytes(memoryview(out)[: inflate(content, out)])
        except cramjam.DecompressionError:  # too little room, or broken
            if room >= _MAX_INFLATED_BYTES:
                raise
            room *= 8


_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = 16


def _inflate_snappy(content: bytes) -> bytes:
    """Raw snappy, or blocks of it with Java's (xerial's) header and lengths."""
    if not content.startswith(_XERIAL_MAGIC):
        return _inflate_snappy_block(content)
    out = bytearray()
    at = _XERIAL_HEADER_BYTES
    while at < len(content):
        stop = at + 4 + int.from_bytes(content[at : at + 4], "big")
        if stop > len(content):
            raise CorruptBatch(f"a snappy block ends at byte {stop} of {len(content)}")
        out += _inflate_snappy_block(content[at + 4 : stop])
        at = stop
    return bytes(out)


def _inflate_snappy_block(block: bytes) -> bytes:
    if cramjam.snappy.decompress_raw_len(block) > _MAX_INFLATED_BYTES:
        raise CorruptBatch("snappy block claims to be too long")
    return bytes(cramjam.snappy.decompress_raw(block))
