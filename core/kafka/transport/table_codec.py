"""Messages written and read by `tables`: small ones, for which kio need not be imported.

Whatever is not as the table says (bytes that are no such answer, a rare error) is left to kio,
which knows what to say of it.
"""

import struct
from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any, Final

from kgroups.core.kafka.transport.lengths import (
    Budget,
    LengthError,
    MemoryLimitError,
    read_uvarint,
    uvarint,
)
from kgroups.core.kafka.transport.tables import ERROR_NAMES, TABLES, Fields

LONGEST: Final = 1 << 17
"""Bytes of an answer that is read here: kio takes as long to import as these to read."""

_LATEST: Final = 1 << 15
_NUMBERS: Final = {
    "bool": struct.Struct(">?"),
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "int32": struct.Struct(">i"),
    "int64": struct.Struct(">q"),
}
_ERROR: Final = struct.Struct(">h").unpack_from
_VALUE_COST: Final = 72  # bytes of memory, as `lengths` counts them
_STRUCT_COST: Final = 300

Read = Callable[[bytes, int, Budget], tuple[Any, int]]
"""The value at an index and where it ends."""


class UnreadableError(Exception):
    """The bytes are not what the table says."""


def encode(api: str, version: int, values: Mapping[str, Any]) -> bytes:
    """The request without its header.

    Args:
        values: by the names of fields; those that the version lacks are left out, structs are
            mappings, arrays sequences.
    """
    table = TABLES[api]
    parts: list[bytes] = []
    _write(parts, table.request, values, version, version >= table.flexible_from)
    return b"".join(parts)


def decode(api: str, version: int, frame: bytes, budget: Budget) -> Any | None:
    """The answer in a frame that begins with its correlation id; errors are numbers.

    Returns:
        None where kio has to be asked: it is too large, or not as the table says.
    """
    if len(frame) > LONGEST:
        return None
    try:
        start = 4
        if (
            version >= TABLES[api].flexible_from and api != "api_versions"
        ):  # which has the header of old for ever
            start = _skip_tags(frame, start)
        answer, end = _answer_reader(api, version)(frame, start, budget)
    except (IndexError, ValueError, struct.error, LengthError, MemoryLimitError, UnreadableError):
        return None
    return answer if end <= len(frame) else None


def _write(parts: list[bytes], kind: Any, value: Any, version: int, flexible: bool) -> None:
    """Append the bytes of a value."""
    if isinstance(kind, tuple):
        for name, of, *since in kind:
            if _has(since, version):
                _write(parts, of, value[name], version, flexible)
        if flexible:
            parts.append(b"\0")
    elif isinstance(kind, list):
        parts.append(_count(None if value is None else len(value), flexible, ">i"))
        for item in value or ():
            _write(parts, kind[0], item, version, flexible)
    elif kind in _NUMBERS:
        parts.append(_NUMBERS[kind].pack(value))
    elif kind == "uuid":
        parts.append(bytes(16) if value is None else value.bytes)
    else:
        data = None if value is None else value.encode()
        parts += (_count(None if data is None else len(data), flexible, ">h"), data or b"")


def _count(size: int | None, flexible: bool, form: str) -> bytes:
    """The length of an array or text; None for null."""
    if flexible:
        return uvarint(0 if size is None else size + 1)
    return struct.pack(form, -1 if size is None else size)


def _has(since: list[int], version: int) -> bool:
    first, last = (*since, _LATEST)[:2]
    return first <= version <= last


@cache
def _answer_reader(api: str, version: int) -> Read:
    table = TABLES[api]
    return _reader(table.response, version, version >= table.flexible_from)


def _reader(fields: Fields, version: int, flexible: bool) -> Read:
    """What reads a struct."""
    steps = [
        (name, _value_reader(kind, version, flexible))
        for name, kind, *since in fields
        if _has(since, version)
    ]

    def read(data: bytes, at: int, budget: Budget) -> tuple[Any, int]:
        found = {}
        for name, of in steps:
            found[name], at = of(data, at, budget)
        if flexible:
            at = at + 1 if not data[at] else _skip_tags(data, at)
        return SimpleNamespace(**found), at

    return read


def _value_reader(kind: Any, version: int, flexible: bool) -> Read:
    if isinstance(kind, tuple):
        return _reader(kind, version, flexible)
    if isinstance(kind, list):
        return _array_reader(kind[0], version, flexible)
    if kind in _NUMBERS:
        return _number_reader(_NUMBERS[kind])
    if kind == "error":
        return _read_error
    if kind == "uuid":
        return _read_uuid
    return _text_reader(kind, flexible)


def _number_reader(form: struct.Struct) -> Read:
    unpack, size = form.unpack_from, form.size

    def read(data: bytes, at: int, budget: Budget) -> tuple[Any, int]:
        return unpack(data, at)[0], at + size

    return read


def _array_reader(kind: Any, version: int, flexible: bool) -> Read:
    form = _NUMBERS.get(kind) if isinstance(kind, str) else None
    of = _value_reader(kind, version, flexible)
    cost = _STRUCT_COST + _VALUE_COST * len(kind) if isinstance(kind, tuple) else _VALUE_COST

    def read(data: bytes, at: int, budget: Budget) -> tuple[Any, int]:
        if flexible:
            count, at = read_uvarint(data, at)
            count -= 1
        else:
            (count,) = struct.unpack_from(">i", data, at)
            at += 4
        if not 0 <= count <= len(data) - at:
            raise UnreadableError
        budget.spend(count * cost)
        if form is not None:
            end = at + count * form.size
            return struct.unpack(f">{count}{form.format[-1]}", data[at:end]), end
        found = []
        for _ in range(count):
            value, at = of(data, at, budget)
            found.append(value)
        return tuple(found), at

    return read


def _text_reader(kind: str, flexible: bool) -> Read:
    form = ">i" if kind == "bytes" else ">h"
    is_bytes, nullable = kind == "bytes", kind.endswith("?")

    def read(data: bytes, at: int, budget: Budget) -> tuple[Any, int]:
        if flexible:
            size, at = read_uvarint(data, at)
            size -= 1
        else:
            (size,) = struct.unpack_from(form, data, at)
            at += 2 if form == ">h" else 4
        end = at + size
        if size < 0:
            if size < -1 or not nullable:
                raise UnreadableError
            return None, at
        if end > len(data):
            raise UnreadableError
        found = data[at:end]
        return found if is_bytes else found.decode(), end

    return read


def _read_error(data: bytes, at: int, budget: Budget) -> tuple[int, int]:
    (code,) = _ERROR(data, at)
    if code and code not in ERROR_NAMES:
        raise UnreadableError
    return code, at + 2


def _read_uuid(data: bytes, at: int, budget: Budget) -> tuple[bytes | None, int]:
    """Its bytes: a `UUID`, which kio makes of them, takes a tenth of a start to import."""
    found = data[at : at + 16]
    if len(found) < 16:
        raise UnreadableError
    return found if any(found) else None, at + 16


def _skip_tags(data: bytes, at: int) -> int:
    """Where tagged fields end."""
    count, at = read_uvarint(data, at)
    for _ in range(count):
        _, at = read_uvarint(data, at)
        size, at = read_uvarint(data, at)
        at += size
        if at > len(data):
            raise UnreadableError
    return at
