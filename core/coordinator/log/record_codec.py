"""Records of `__consumer_offsets` as bytes: written as Kafka 4.3 does, read in every version.

Key and value each begin with an int16: the key's is the kind of record, the value's its version.
Keys have one version, which is never compact. Kinds that are not about classic or consumer groups
are not ours to read.
"""

import struct
from typing import Final

from kgroups.core.coordinator.log import records as r
from kgroups.core.coordinator.log.record_kinds import ALIASES, BY_KEY, BY_NUMBER
from kgroups.core.protocol.reader import Cursor, DecodeError, decode, reader
from kgroups.core.protocol.writer import writer

_NUMBER: Final = struct.Struct(">h")


def encode_key(key: r.RecordKey) -> bytes:
    """The key's bytes."""
    kind = BY_KEY[type(key)]
    out = bytearray(_NUMBER.pack(kind.number))
    writer(kind.key.table, 0, ALIASES)(out, key)
    return bytes(out)


def encode_value(record: r.Record) -> bytes | None:
    """The value's bytes; None for a deletion."""
    if record.value is None:
        return None
    kind = BY_KEY[type(record.key)]
    version = kind.version(record.value)
    out = bytearray(_NUMBER.pack(version))
    writer(kind.value.table, version, ALIASES)(out, record.value)
    return bytes(out)


def kind_number(key: r.RecordKey) -> int:
    """The number that the key begins with."""
    return BY_KEY[type(key)].number


def value_version(record: r.Record) -> int | None:
    """The version that the value is written in; None for a deletion."""
    return None if record.value is None else BY_KEY[type(record.key)].version(record.value)


def encode_record(record: r.Record) -> tuple[bytes, bytes | None]:
    """Key and value of a record; no value for a tombstone. `decode_record` is its inverse."""
    return encode_key(record.key), encode_value(record)


def decode_key(raw: bytes) -> r.RecordKey | None:
    """The key in these bytes; None if it is of a kind that we do not know.

    Raises:
        DecodeError: the bytes are broken.
    """
    kind = BY_NUMBER.get(_number(raw))
    if kind is None:
        return None
    read = reader(kind.key.table, 0, kind.key.form)
    key: r.RecordKey = decode(read, Cursor(raw, _NUMBER.size))
    return key


def decode_record(key: bytes, value: bytes | None) -> r.Record | None:
    """The record in these bytes; None if it is of a kind that we do not know.

    Raises:
        DecodeError: the bytes are broken, or the value's version is newer than we know.
    """
    name = decode_key(key)
    if name is None:
        return None
    if value is None:
        return r.Record(name, None)
    kind = BY_KEY[type(name)]
    version = _number(value)
    if version not in kind.value.table.versions:
        raise DecodeError(f"version {version} of record kind {kind.number} is not known")
    read = reader(kind.value.table, version, kind.value.form)
    return r.Record(name, kind.read(decode(read, Cursor(value, _NUMBER.size))))


def _number(raw: bytes) -> int:
    if len(raw) < _NUMBER.size:
        raise DecodeError("the bytes end within a number")
    return int(_NUMBER.unpack_from(raw)[0])
