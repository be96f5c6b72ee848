"""Readers and writers for Kafka's messages, compiled from the tables that kio generates.

kio knows every field of every API and version. Its own reader reserves memory for an array
before it looks whether the frame can hold it, and ends the process where that memory is not to
be had; its writer builds one object a struct. A server meets both. So the field tables are
kio's and the walking is here: a message is a plain dict of field name to value, with kio's
names, and every length is checked against what is left of the frame.

Values: integers, strings, bytes, `uuid.UUID` or None, lists of these or of dicts. Durations and
timestamps are int milliseconds, error codes are int.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin
from uuid import UUID

Body = dict[str, Any]
"""One message or struct of it: field name (as kio spells it) to value."""

MAX_ELEMENTS = 1_000_000
"""Array elements in one request; a real one has a few thousand. Bounds what a frame can cost."""


class DecodeError(Exception):
    """The bytes are no message of this API and version."""


class Cursor:
    """A place in a frame: `data`, the next `pos`, and how many array elements it may still hold."""

    __slots__ = ("data", "elements", "end", "pos")

    def __init__(self, data: bytes, pos: int = 0) -> None:
        self.data = data
        self.pos = pos
        self.end = len(data)
        self.elements = MAX_ELEMENTS

    def take(self, size: int) -> bytes:
        """The next `size` bytes.

        Raises:
            DecodeError: there are not so many.
        """
        start = self.pos
        stop = start + size
        if size < 0 or stop > self.end:
            raise DecodeError(f"length {size} at byte {start} of {self.end}")
        self.pos = stop
        return self.data[start:stop]


Reader = Callable[[Cursor], Any]
Writer = Callable[[bytearray, Any], None]


def read_uvarint(cursor: Cursor) -> int:
    """An unsigned varint of at most 32 bits."""
    shift = value = 0
    data, pos = cursor.data, cursor.pos
    while True:
        if pos >= cursor.end or shift > 28:
            raise DecodeError(f"varint at byte {cursor.pos} has no end")
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    cursor.pos = pos
    return value


def write_uvarint(out: bytearray, value: int) -> None:
    """Append an unsigned varint."""
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _number(form: str) -> tuple[Reader, Writer]:
    packer = struct.Struct(">" + form)
    size, unpack_from, pack = packer.size, packer.unpack_from, packer.pack

    def read(cursor: Cursor) -> Any:
        pos = cursor.pos
        if pos + size > cursor.end:
            raise DecodeError(f"expected {size} bytes at byte {pos} of {cursor.end}")
        cursor.pos = pos + size
        return unpack_from(cursor.data, pos)[0]

    def write(out: bytearray, value: Any) -> None:
        out += pack(value)

    return read, write


_NUMBERS = {
    "int8": _number("b"),
    "int16": _number("h"),
    "int32": _number("i"),
    "int64": _number("q"),
    "uint8": _number("B"),
    "uint16": _number("H"),
    "uint32": _number("I"),
    "uint64": _number("Q"),
    "float64": _number("d"),
    "bool": _number("?"),
    "error_code": _number("h"),
    "timedelta_i32": _number("i"),
    "timedelta_i64": _number("q"),
    "datetime_i64": _number("q"),
}


def _read_uuid(cursor: Cursor) -> UUID | None:
    raw = cursor.take(16)
    return UUID(bytes=raw) if any(raw) else None


def _write_uuid(out: bytearray, value: UUID | None) -> None:
    out += value.bytes if value is not None else bytes(16)


def _blob(kafka_type: str, flexible: bool, nullable: bool) -> tuple[Reader, Writer]:
    text = kafka_type == "string"
    read_length, write_length = _NUMBERS["int16" if text else "int32"]

    def read(cursor: Cursor) -> Any:
        length = read_uvarint(cursor) - 1 if flexible else read_length(cursor)
        if length < 0:
            if length != -1 or not nullable:
                raise DecodeError(f"null or negative length before byte {cursor.pos}")
            return None
        raw = cursor.take(length)
        if not text:
            return raw
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise DecodeError(f"no UTF-8 before byte {cursor.pos}") from error

    def write(out: bytearray, value: Any) -> None:
        if value is None:
            if not nullable:
                raise TypeError("null in a field that cannot be null")
            if flexible:
                out.append(0)
            else:
                write_length(out, -1)
            return
        raw = value.encode() if text else value
        if flexible:
            write_uvarint(out, len(raw) + 1)
        else:
            write_length(out, len(raw))
        out += raw

    return read, write


def _array(item: tuple[Reader, Writer], flexible: bool, nullable: bool) -> tuple[Reader, Writer]:
    read_item, write_item = item
    read_length, write_length = _NUMBERS["int32"]

    def read(cursor: Cursor) -> Any:
        length = read_uvarint(cursor) - 1 if flexible else read_length(cursor)
        if length < 0:
            if length != -1 or not nullable:
                raise DecodeError(f"null or negative array before byte {cursor.pos}")
            return None
        cursor.elements -= length
        if length > cursor.end - cursor.pos or cursor.elements < 0:
            raise DecodeError(f"array of {length} before byte {cursor.pos} of {cursor.end}")
        return [read_item(cursor) for _ in range(length)]

    def write(out: bytearray, value: Any) -> None:
        if value is None:
            if not nullable:
                raise TypeError("null in an array that cannot be null")
            if flexible:
                out.append(0)
            else:
                write_length(out, -1)
            return
        if flexible:
            write_uvarint(out, len(value) + 1)
        else:
            write_length(out, len(value))
        for element in value:
            write_item(out, element)

    return read, write


def _nullable_struct(item: tuple[Reader, Writer]) -> tuple[Reader, Writer]:
    read_item, write_item = item
    read_mark, write_mark = _NUMBERS["int8"]

    def read(cursor: Cursor) -> Any:
        return read_item(cursor) if read_mark(cursor) >= 0 else None

    def write(out: bytearray, value: Any) -> None:
        write_mark(out, -1 if value is None else 1)
        if value is not None:
            write_item(out, value)

    return read, write


def fields_of(schema: type) -> Iterator[tuple[str, type | None]]:
    """Names of a kio class's fields, each with the class of the structs that it holds, if any."""
    for field in fields(schema):
        kind, _ = without_none(field.type)
        if get_origin(kind) is tuple:
            kind, _ = without_none(get_args(kind)[0])
        yield field.name, kind if isinstance(kind, type) and is_dataclass(kind) else None


def without_none(kind: Any) -> tuple[Any, bool]:
    """A type of kio's without None, and whether it was there."""
    if get_origin(kind) not in (UnionType, Union):
        return kind, False
    args = get_args(kind)
    return next(arg for arg in args if arg is not NoneType), NoneType in args


def _field_codec(
    field: Field[Any], flexible: bool, legacy_client_id: bool
) -> tuple[Reader, Writer]:
    kind, nullable = without_none(field.type)
    if get_origin(kind) is tuple:
        inner, _ = without_none(get_args(kind)[0])
        if isinstance(inner, type) and is_dataclass(inner):
            item: tuple[Reader, Writer] = struct_codec(inner)
        else:
            item = _primitive(field.metadata["kafka_type"], flexible, nullable=False)
        return _array(item, flexible, nullable)
    if isinstance(kind, type) and is_dataclass(kind):
        return _nullable_struct(struct_codec(kind)) if nullable else struct_codec(kind)
    if legacy_client_id and field.name == "client_id":
        flexible = False  # the one string of a flexible header that stays as it was (KIP-482)
    return _primitive(field.metadata["kafka_type"], flexible, nullable)


def _primitive(kafka_type: str, flexible: bool, nullable: bool) -> tuple[Reader, Writer]:
    if kafka_type == "uuid":
        return _read_uuid, _write_uuid
    number = _NUMBERS.get(kafka_type)
    return number if number is not None else _blob(kafka_type, flexible, nullable)


_IMPLICIT: Mapping[str, Any] = {"error_code": 0, "timedelta_i32": 0, "timedelta_i64": 0}


def default_of(field: Field[Any]) -> Any:
    """Plain value of a field that a message leaves out, or MISSING if it must be given."""
    kafka_type = field.metadata.get("kafka_type", "")
    if field.default is not MISSING:
        value = field.default
        if kafka_type.startswith("timedelta") and value is not None:
            return round(value.total_seconds() * 1000)
        if kafka_type.startswith("datetime"):
            return -1 if value is None else round(value.timestamp() * 1000)
        if isinstance(value, tuple):
            return list(value)
        if is_dataclass(value):
            return {item.name: getattr(value, item.name) for item in fields(value)}
        return value
    if "tag" in field.metadata and get_origin(without_none(field.type)[0]) is tuple:
        return []
    return _IMPLICIT.get(kafka_type, MISSING)


@cache
def struct_codec(schema: type) -> tuple[Reader, Writer]:
    """Reader and writer of one kio class.

    Args:
        schema: a message or nested struct of `kio.schema`.
    Returns:
        A reader (cursor to dict) that raises DecodeError, and a writer (buffer, dict) that
        ignores keys that this version does not have and raises KeyError for a missing one.
    """
    flexible: bool = schema.__flexible__  # type: ignore[attr-defined]
    header = schema.__name__ == "RequestHeader"
    plain, tagged = [], {}
    for field in fields(schema):
        read_field, write_field = _field_codec(field, flexible, header)
        row = (field.name, read_field, write_field, default_of(field))
        if "tag" in field.metadata:
            tagged[field.metadata["tag"]] = row
        else:
            plain.append(row)
    reads = [(name, read_field) for name, read_field, _, _ in plain]
    writes = [(name, write_field, default) for name, _, write_field, default in plain]
    tags = sorted(tagged.items())
    tag_defaults = {name: default for name, _, _, default in tagged.values()}

    def read(cursor: Cursor) -> Body:
        body = {name: read_field(cursor) for name, read_field in reads}
        if flexible:
            body.update(tag_defaults)
            _read_tags(cursor, tagged, body)
        return body

    def write(out: bytearray, body: Mapping[str, Any]) -> None:
        for name, write_field, default in writes:
            value = body.get(name, default)
            if value is MISSING:
                raise KeyError(f"{schema.__name__}.{name}")
            write_field(out, value)
        if flexible:
            _write_tags(out, tags, body)

    return read, write


Tagged = tuple[str, Reader, Writer, Any]


def _read_tags(cursor: Cursor, tagged: Mapping[int, Tagged], body: Body) -> None:
    for _ in range(read_uvarint(cursor)):
        tag = read_uvarint(cursor)
        size = read_uvarint(cursor)
        stop = cursor.pos + size
        if stop > cursor.end:
            raise DecodeError(f"tag {tag} of {size} bytes at byte {cursor.pos} of {cursor.end}")
        if tag in tagged:
            name, read_field, _, _ = tagged[tag]
            body[name] = read_field(cursor)
            if cursor.pos != stop:
                raise DecodeError(f"tag {tag} is not {size} bytes long")
        cursor.pos = stop


def _write_tags(out: bytearray, tags: list[tuple[int, Tagged]], body: Mapping[str, Any]) -> None:
    given = [
        (tag, write_field, body[name])
        for tag, (name, _, write_field, default) in tags
        if name in body and body[name] != default
    ]
    write_uvarint(out, len(given))
    for tag, write_field, value in given:
        content = bytearray()
        write_field(content, value)
        write_uvarint(out, tag)
        write_uvarint(out, len(content))
        out += content
