"""Records of `__consumer_offsets` as bytes: written as Kafka 4.3 does, read in every version.

Key and value each begin with an int16: the key's is the kind of record, the value's its version.
Keys have one version, which is never compact. Kinds that are not about classic or consumer groups
are not ours to read.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from kgroups.core.coordinator.log import records as r
from kgroups.core.protocol.forms import Aliases, Form
from kgroups.core.protocol.reader import Cursor, DecodeError, decode, reader
from kgroups.core.protocol.table import Table, tables_of
from kgroups.core.protocol.writer import writer

OFFSET_VERSION: Final = 4
OFFSET_VERSION_WITH_EXPIRY: Final = 1
GROUP_VERSION: Final = 3

ALIASES: Final[Aliases] = (
    ("group", "group_id"),
    ("classic_member_metadata", "classic"),
    ("assignment_timestamp", "assignment_timestamp_ms"),
    ("commit_timestamp", "commit_timestamp_ms"),
    ("current_state_timestamp", "current_state_timestamp_ms"),
    ("expire_timestamp", "expire_timestamp_ms"),
    ("rebalance_timeout", "rebalance_timeout_ms"),
    ("session_timeout", "session_timeout_ms"),
    ("timestamp", "timestamp_ms"),
)
"""Kafka leaves the unit out of most times in records."""


_TABLES: Final = {table.name: table for table in tables_of("group_records")}


class Layout(NamedTuple):
    """A key or a value: its table, and the class that it is read into."""

    table: Table
    form: Form


class Kind(NamedTuple):
    """How one kind of record is written and read.

    Args:
        version: what a value is written as.
        read: what a value is, of what was read.
    """

    number: int
    key: Layout
    value: Layout
    version: Callable[[Any], int]
    read: Callable[[Any], Any]


def _offset_version(value: r.OffsetCommitValue) -> int:
    own_expiry = value.expire_timestamp_ms != r.NO_TIMESTAMP
    return OFFSET_VERSION_WITH_EXPIRY if own_expiry else OFFSET_VERSION


def _with_rebalance_timeouts(value: r.GroupMetadataValue) -> r.GroupMetadataValue:
    """The group; a member of version 0 has its session timeout for both."""
    members = tuple(
        member._replace(rebalance_timeout_ms=member.session_timeout_ms)
        if member.rebalance_timeout_ms == -1
        else member
        for member in value.members
    )
    return replace(value, members=members)


def _kind(
    number: int,
    key: type,
    value: type,
    version: Callable[[Any], int] = lambda _: 0,
    read: Callable[[Any], Any] = lambda value: value,
) -> Kind:
    return Kind(number, _layout(key), _layout(value), version, read)


def _layout(kind: type) -> Layout:
    return Layout(_TABLES[kind.__name__], Form(kind, ALIASES))


KINDS: Final = (
    _kind(1, r.OffsetCommitKey, r.OffsetCommitValue, _offset_version),
    _kind(
        2,
        r.GroupMetadataKey,
        r.GroupMetadataValue,
        lambda _: GROUP_VERSION,
        _with_rebalance_timeouts,
    ),
    _kind(3, r.ConsumerGroupMetadataKey, r.ConsumerGroupMetadataValue),
    _kind(4, r.ConsumerGroupPartitionMetadataKey, r.ConsumerGroupPartitionMetadataValue),
    _kind(5, r.ConsumerGroupMemberMetadataKey, r.ConsumerGroupMemberMetadataValue),
    _kind(
        6,
        r.ConsumerGroupTargetAssignmentMetadataKey,
        r.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    _kind(7, r.ConsumerGroupTargetAssignmentMemberKey, r.ConsumerGroupTargetAssignmentMemberValue),
    _kind(
        8, r.ConsumerGroupCurrentMemberAssignmentKey, r.ConsumerGroupCurrentMemberAssignmentValue
    ),
    _kind(16, r.ConsumerGroupRegularExpressionKey, r.ConsumerGroupRegularExpressionValue),
)
BY_KEY: Final[Mapping[type, Kind]] = {kind.key.form.kind: kind for kind in KINDS}
# Kind 0 is kind 1 in logs of before Kafka 0.9.
BY_NUMBER: Final[Mapping[int, Kind]] = {0: KINDS[0], **{kind.number: kind for kind in KINDS}}


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
