"""Records of `__consumer_offsets` as bytes: written as Kafka 4.3 does, read in every version.

Key and value each begin with an int16: the key's is the kind of record, the value's its version.
Keys are never compact. Kinds that are not about classic or consumer groups are not ours to read.
"""

from kgroups.core.coordinator.log import records as r
from kgroups.core.coordinator.log.record_bytes import Reader, RecordError, Writer
from kgroups.core.coordinator.log.record_kinds import BY_KEY, BY_NUMBER


def encode_key(key: r.RecordKey) -> bytes:
    """The key's bytes."""
    kind = BY_KEY[type(key)]
    out = Writer(flexible=False)
    out.int16(kind.number)
    for name in kind.fields:
        value = getattr(key, name)
        if isinstance(value, int):
            out.int32(value)
        else:
            out.string(value)
    return bytes(out.out)


def encode_value(record: r.Record) -> bytes | None:
    """The value's bytes; None for a deletion."""
    if record.value is None:
        return None
    kind = BY_KEY[type(record.key)]
    version = kind.version(record.value)
    out = Writer(flexible=version >= kind.flexible_from)
    out.int16(version)
    kind.write(out, record.value, version)
    return bytes(out.out)


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
        RecordError: the bytes are broken.
    """
    source = Reader(raw)
    kind = BY_NUMBER.get(source.int16())
    if kind is None:
        return None
    given = (source.int32() if name == "partition" else source.string() for name in kind.fields)
    key: r.RecordKey = kind.key(*given)
    return key


def decode_record(key: bytes, value: bytes | None) -> r.Record | None:
    """The record in these bytes; None if it is of a kind that we do not know.

    Raises:
        RecordError: the bytes are broken, or the value's version is newer than we know.
    """
    name = decode_key(key)
    if name is None:
        return None
    if value is None:
        return r.Record(name, None)
    kind = BY_KEY[type(name)]
    source = Reader(value)
    version = source.int16()
    if not 0 <= version <= kind.newest:
        raise RecordError(f"version {version} of record kind {kind.number} is not known")
    source.flexible = version >= kind.flexible_from
    return r.Record(name, kind.read(source, version))
