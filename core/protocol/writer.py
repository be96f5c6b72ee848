"""Writes messages by their tables, compiled for each version when it is first needed.

A message is any object that has Kafka's fields as attributes, in snake case; `Struct` makes one of
names and values.
"""

import struct
from collections.abc import Callable
from functools import cache
from operator import itemgetter
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from kgroups.core.protocol.forms import NO_ID, Aliases, attribute
from kgroups.core.protocol.reader import default_of
from kgroups.core.protocol.table import FORMATS, Field, Table, fields_at
from kgroups.core.protocol.varints import write_uvarint

Struct = SimpleNamespace
"""A message or struct to be written: `Struct(groups=("app",))`."""

Writer = Callable[[bytearray, Any], None]


@cache
def writer(table: Table, version: int, aliases: Aliases = ()) -> Writer:
    """The writer of a message of this version to the end of a buffer.

    It passes over attributes that the version lacks, takes the default for one that is missing and
    has one in the table, and raises AttributeError for any other that is missing.
    """
    return _struct(table.fields, version, version in table.flexible, aliases)


def _struct(fields: list[Field], version: int, flexible: bool, aliases: Aliases) -> Writer:
    plain: list[tuple[str, Writer, bool, Any]] = []
    tagged: list[tuple[int, str, Writer, Field]] = []
    for field in fields_at(fields, version):
        name, write_field = (
            attribute(field.name, aliases),
            _field(field, version, flexible, aliases),
        )
        if field.tag is None:
            plain.append((name, write_field, field.may_be_left_out, default_of(field)))
        else:
            tagged.append((field.tag, name, write_field, field))
    tagged.sort(key=itemgetter(0))

    def write(out: bytearray, value: Any) -> None:
        for name, write_field, optional, default in plain:
            write_field(out, getattr(value, name, default) if optional else getattr(value, name))
        if flexible:
            _write_tags(out, tagged, value)

    return write


def _write_tags(out: bytearray, tags: list[tuple[int, str, Writer, Field]], value: Any) -> None:
    given = [
        (tag, write_field, getattr(value, name))
        for tag, name, write_field, field in tags
        if hasattr(value, name) and not is_default(getattr(value, name), field)
    ]
    write_uvarint(out, len(given))
    for tag, write_field, content in given:
        part = bytearray()
        write_field(part, content)
        write_uvarint(out, tag)
        write_uvarint(out, len(part))
        out += part


def is_default(value: Any, field: Field) -> bool:
    """Whether a field has the value that it would have if it were left out."""
    if field.kind == "uuid" and not field.is_array:
        return value is None or value == NO_ID
    if value is None or field.default is None:
        return value is None and field.default is None
    if field.is_array:
        return not value
    if field.kind != "struct":
        return bool(value == field.default)
    return all(is_default(getattr(value, c.name, c.default), c) for c in field.fields)


def _field(field: Field, version: int, flexible: bool, aliases: Aliases) -> Writer:
    nullable = version in field.nullable
    if field.kind == "struct":
        item = _struct(field.fields, version, flexible, aliases)
        if nullable and not field.is_array:
            return _nullable(item, tagged=field.tag is not None)
    else:
        item = _primitive(field.kind, flexible, nullable and not field.is_array)
    return _array(item, flexible, nullable) if field.is_array else item


def _nullable(item: Writer, *, tagged: bool) -> Writer:
    null = b"\0" if tagged else b"\xff"

    def write(out: bytearray, value: Any) -> None:
        out += null if value is None else b"\1"
        if value is not None:
            item(out, value)

    return write


def _primitive(kind: str, flexible: bool, nullable: bool) -> Writer:
    if kind == "uuid":
        return _write_id
    if kind in FORMATS:
        pack = struct.Struct(">" + FORMATS[kind]).pack

        def write_number(out: bytearray, value: Any) -> None:
            out += pack(value)

        return write_number
    is_text = kind == "string"
    write_length = _length("h" if is_text else "i", flexible, nullable)

    def write(out: bytearray, value: Any) -> None:
        raw = value.encode() if is_text and value is not None else value
        write_length(out, raw)
        out += raw or b""

    return write


def _write_id(out: bytearray, value: UUID | None) -> None:
    out += bytes(16) if value is None else value.bytes


def _length(format_: str, flexible: bool, nullable: bool) -> Writer:
    pack = struct.Struct(">" + format_).pack

    def write(out: bytearray, value: Any) -> None:
        if value is None and not nullable:
            raise TypeError("null in a field that cannot be null")
        if flexible:
            write_uvarint(out, 0 if value is None else len(value) + 1)
        else:
            out += pack(-1 if value is None else len(value))

    return write


def _array(write_item: Writer, flexible: bool, nullable: bool) -> Writer:
    write_length = _length("i", flexible, nullable)

    def write(out: bytearray, value: Any) -> None:
        write_length(out, value)
        for element in value or ():
            write_item(out, element)

    return write
