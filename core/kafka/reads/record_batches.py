"""Records in the answer to a Fetch: batches of message format 2, searched before they are read.

Who looks for the records of one key need not read the others: a batch that does not hold the key's
bytes is passed over. A batch that the answer cuts short at its end is left out.
Source: Kafka's DefaultRecordBatch and DefaultRecord.
"""

import struct
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from kgroups.core.coordinator.log.record_bytes import Reader, RecordError

_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_BEFORE_LENGTH: Final = 12
_COMPRESSED: Final = 0x07
_CONTROL: Final = 0x20
_MAGIC: Final = 2

FEW: Final = 20
"""Up to so many keys a batch is searched for each of them before it is read."""


class KeyedRecord(NamedTuple):
    """A record that has a key; `value` None deletes it."""

    offset: int
    key: bytes
    value: bytes | None


class Batches(NamedTuple):
    """What an answer held.

    Args:
        found: the records of the keys, in order.
        next_offset: of the record after the last whole batch; None if there was none.
    """

    found: tuple[KeyedRecord, ...]
    next_offset: int | None


def find_records(data: bytes, keys: Collection[bytes]) -> Batches:
    """The records of these keys.

    Raises:
        RecordError: the bytes are no batches.
    """
    found: list[KeyedRecord] = []
    start, after = 0, None
    while start + _HEADER.size <= len(data):
        head = _HEADER.unpack_from(data, start)
        base, length, magic, attributes, last = head[0], head[1], head[3], head[5], head[6]
        stop = start + _BEFORE_LENGTH + length
        if magic != _MAGIC or length < _HEADER.size - _BEFORE_LENGTH:
            raise RecordError(f"no record batch of format 2 at byte {start}")
        if stop > len(data):
            break
        if not attributes & _CONTROL:
            batch = data[start:stop]
            if attributes & _COMPRESSED:
                found += _inflated(batch, keys)
            elif len(keys) > FEW or any(key in batch for key in keys):
                found += [each for each in _records(batch, base, head[-1]) if each.key in keys]
        start, after = stop, base + last + 1
    return Batches(tuple(found), after)


def _records(batch: bytes, base: int, count: int) -> Iterator[KeyedRecord]:
    source = Reader(batch, at=_HEADER.size)
    for _ in range(count):
        stop = _signed(source) + source.at
        source.at += 1  # attributes
        _signed(source)  # time
        offset = base + _signed(source)
        key, value = _part(source), _part(source)
        if stop > len(batch):
            raise RecordError("a record ends behind its batch")
        source.at = stop
        if key is not None:
            yield KeyedRecord(offset, key, value)


def _part(source: Reader) -> bytes | None:
    size = _signed(source)
    return None if size < 0 else source.take(size)


def _signed(source: Reader) -> int:
    """A zig-zag varint."""
    value = source.varint()
    return (value >> 1) ^ -(value & 1)


def _inflated(batch: bytes, keys: Collection[bytes]) -> list[KeyedRecord]:
    """Of a compressed batch, which `offsets.topic.compression.codec` makes."""
    from kgroups.core.sandbox.storage.batches import CorruptBatch, read_records

    try:
        return [
            KeyedRecord(each.offset, each.key, each.value)
            for each in read_records(batch)
            if each.key is not None and each.key in keys
        ]
    except CorruptBatch as broken:
        raise RecordError(str(broken)) from broken
