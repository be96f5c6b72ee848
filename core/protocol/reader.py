"""Reads messages by their tables, compiled for each version when it is first needed.

A message is an object with Kafka's fields as attributes, in snake case: a light tuple, or an object
of the class that the reader is given (`forms`). Values: int, float, bool, str, bytes, `UUID` (None
for the zero id), None, tuples of these or of structs.

Every length is held against the bytes that are there, and what arrays and texts will take against
the budget, before anything is made of them. Unknown tagged fields are passed over (KIP-482).
"""

import struct
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import groupby
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from kgroups.core.errors import KgroupsError
from kgroups.core.protocol.budget import (
    LONG_TEXT,
    NUMBER_COST,
    SLOT_COST,
    STRUCT_COST,
    TEXT_COST,
    WIDE,
    Budget,
)
from kgroups.core.protocol.forms import Form
from kgroups.core.protocol.table import FORMATS, Field, Table, fields_at
from kgroups.core.protocol.varints import VarintError, read_uvarint

_ID_BYTES: Final = 16
_SMALL: Final = 1 << 12
_FEW: Final = 8
_USUAL: Final = 32
"""So many texts of a field are kept, those that came first."""


class DecodeError(KgroupsError, ValueError):
    """The bytes are no message of this kind and version."""

    default_code = "UNREADABLE"


class Cursor:
    """A place in bytes, and what may be made of them.

    Args:
        data: a frame, or a record.
        pos: where to read next.
        budget: memory; by default more than any message of so many bytes can take.
    """

    __slots__ = ("budget", "data", "pos")

    def __init__(self, data: bytes, pos: int = 0, budget: Budget | None = None) -> None:
        self.data = data
        self.pos = pos
        self.budget = budget or Budget(128 * (len(data) + _SMALL))


Message = Any
"""A message or struct: which attributes it has depends on its table."""

Reader = Callable[[Cursor], Any]


def decode(read: Reader, cursor: Cursor) -> Any:
    """The value that a reader finds from the cursor on.

    Raises:
        DecodeError: they are no such message, or end too early.
        MemoryLimitError: it would take more memory than the budget has left.
    """
    try:
        value = read(cursor)
    except (IndexError, struct.error) as error:
        raise DecodeError(f"the bytes end within a field, after byte {cursor.pos}") from error
    except UnicodeDecodeError as error:
        raise DecodeError(f"a text before byte {cursor.pos} is not UTF-8") from error
    except VarintError as error:
        raise DecodeError(str(error)) from error
    if cursor.pos > len(cursor.data):
        raise DecodeError(f"the message is longer than its {len(cursor.data)} bytes")
    return value


@cache
def reader(table: Table, version: int, form: Form | None = None) -> Reader:
    """The reader of a message of this version; call it through `decode`.

    Args:
        form: the class to make of it. Without one, light tuples with the fields of all versions:
            those that this version lacks have Kafka's defaults.
    """
    return _struct(table.fields, table.name, version, version in table.flexible, form).read


class _Shape:
    """How values of one kind are read.

    Args:
        least: bytes that one takes at least.
        cost: bytes of memory that one takes, long texts and elements of arrays apart.
        formats: of its numbers, if it holds nothing else (tagged fields apart).
        make: what makes a struct of its values.
    """

    __slots__ = ("cost", "formats", "least", "make", "read")

    def __init__(
        self,
        read: Reader,
        least: int,
        cost: int,
        formats: str | None = None,
        make: Callable[[Sequence[Any]], Any] | None = None,
    ) -> None:
        self.read, self.least, self.cost = read, least, cost
        self.formats, self.make = formats, make


def _struct(
    all_fields: list[Field], name: str, version: int, flexible: bool, form: Form | None
) -> _Shape:
    fields = list(fields_at(all_fields, version))
    plain = [field for field in fields if field.tag is None]
    tagged = [field for field in fields if field.tag is not None]
    names = [field.name for field in (*plain, *tagged)]
    absent = {field.name: default_of(field) for field in all_fields if field.name not in names}
    make = form.maker(names, absent) if form else row_maker(name, names, absent)
    shapes = [_field(field, version, flexible, form) for field in plain]
    steps = _merged(shapes)
    defaults = [default_of(field) for field in tagged]
    by_tag = {
        field.tag: (at, _field(field, version, flexible, form).read)
        for at, field in enumerate(tagged)
    }

    def read(cursor: Cursor) -> Any:
        values: list[Any] = []
        for several, read_step in steps:
            if several:
                values += read_step(cursor)
            else:
                values.append(read_step(cursor))
        if flexible:
            if cursor.data[cursor.pos]:
                values += _read_tags(cursor, by_tag, defaults)
            else:
                cursor.pos += 1
                values += defaults
        return make(values)

    least = sum(shape.least for shape in shapes) + flexible
    cost = STRUCT_COST + sum(SLOT_COST + shape.cost for shape in shapes)
    formats = [shape.formats for shape in shapes]
    flat = None if tagged or None in formats else "".join(map(str, formats))
    return _Shape(read, max(least, 1), cost, flat, make)


def _merged(shapes: list[_Shape]) -> list[tuple[bool, Reader]]:
    """How to read fields one after the other; neighbouring numbers are read at once."""
    steps: list[tuple[bool, Reader]] = []
    for are_numbers, run in groupby(shapes, lambda shape: shape.formats is not None):
        if are_numbers:
            steps.append((True, _numbers("".join(str(shape.formats) for shape in run))))
        else:
            steps += [(False, shape.read) for shape in run]
    return steps


def _numbers(formats: str) -> Reader:
    form = struct.Struct(">" + formats)
    unpack, size = form.unpack_from, form.size

    def read(cursor: Cursor) -> tuple[Any, ...]:
        pos = cursor.pos
        cursor.pos = pos + size
        return unpack(cursor.data, pos)

    return read


class Row(tuple[Any, ...]):
    """A message or struct that was read: its values, with their names as attributes."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    def __repr__(self) -> str:
        values = (f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({', '.join(values)})"


def row_maker(
    name: str, names: Sequence[str], absent: dict[str, Any]
) -> Callable[[Sequence[Any]], Any]:
    """The constructor of a row; fields that the version lacks are attributes of its class."""
    places = {name: property(itemgetter(at)) for at, name in enumerate(names)}
    kind = type(name, (Row,), {"__slots__": (), "_fields": tuple(names), **absent, **places})
    return partial(tuple.__new__, kind)


def default_of(field: Field) -> Any:
    """The default of a field: of a struct, one with nothing but defaults."""
    if field.kind != "struct" or field.is_array or field.default is None:
        return field.default
    if field.nullable:
        return None
    return SimpleNamespace(**{field.name: default_of(field) for field in field.fields})


def _field(field: Field, version: int, flexible: bool, form: Form | None) -> _Shape:
    nullable = version in field.nullable
    if field.kind == "struct":
        inner = form.inner(field.name) if form else None
        name = field.name.title().replace("_", "")
        item = _struct(field.fields, name, version, flexible, inner)
        if field.is_array:
            return _array(item, flexible, nullable)
        if nullable:
            return _nullable(item, tagged=field.tag is not None)
        return _Shape(item.read, item.least, item.cost)
    if field.is_array:
        return _array(_primitive(field.kind, flexible, nullable=False), flexible, nullable)
    return _primitive(field.kind, flexible, nullable)


def _primitive(kind: str, flexible: bool, nullable: bool) -> _Shape:
    if kind in FORMATS:
        read, size = _numbers(FORMATS[kind]), struct.calcsize(">" + FORMATS[kind])
        return _Shape(lambda cursor: read(cursor)[0], size, NUMBER_COST, FORMATS[kind])
    if kind == "uuid":
        return _Shape(_read_id, _ID_BYTES, TEXT_COST + STRUCT_COST)
    return _blob(kind == "string", flexible, nullable)


def _read_id(cursor: Cursor) -> UUID | None:
    start = cursor.pos
    cursor.pos = start + _ID_BYTES
    raw = cursor.data[start : cursor.pos]
    if len(raw) < _ID_BYTES:
        raise DecodeError("the bytes end within an id")
    return UUID(bytes=raw) if any(raw) else None


def _length(format_: str, flexible: bool, nullable: bool) -> Reader:
    """Reads the length of a text or an array; -1 for null."""
    form = struct.Struct(">" + format_)
    unpack, size = form.unpack_from, form.size

    def read(cursor: Cursor) -> int:
        pos = cursor.pos
        if not flexible:
            length: int = unpack(cursor.data, pos)[0]
            cursor.pos = pos + size
        else:
            length, cursor.pos = read_uvarint(cursor.data, pos)
            length -= 1
        if length < 0 and (length < -1 or not nullable):
            raise DecodeError(f"null or a negative length at byte {pos}")
        return length

    return read


def _blob(is_text: bool, flexible: bool, nullable: bool) -> _Shape:
    read_length = _length("h" if is_text else "i", flexible, nullable)
    usual: dict[bytes, str] = {}  # states, types: each text once, however many structs have it

    def read(cursor: Cursor) -> Any:
        data, start = cursor.data, cursor.pos
        short = data[start]
        if flexible and 0 < short < 0x80:
            start, stop = start + 1, start + short
        else:
            length = read_length(cursor)
            if length < 0:
                return None
            start = cursor.pos
            stop = start + length
        if stop > len(data):
            raise DecodeError(f"a text from byte {start} to {stop} of {len(data)}")
        if stop - start > LONG_TEXT:
            cursor.budget.spend((WIDE if is_text else 1) * (stop - start))
        cursor.pos = stop
        raw = data[start:stop]
        if not is_text:
            return raw
        text = usual.get(raw)
        if text is None:
            text = raw.decode()
            if len(usual) < _USUAL and len(raw) <= LONG_TEXT:
                usual[raw] = text
        return text

    return _Shape(read, 1 if flexible else 2 if is_text else 4, TEXT_COST)


def _array(item: _Shape, flexible: bool, nullable: bool) -> _Shape:
    read_length = _length("i", flexible, nullable)
    read_item, least, cost = item.read, item.least, SLOT_COST + item.cost
    read_flat = None if item.formats is None else _flat(item, flexible)

    def read(cursor: Cursor) -> Any:
        short = cursor.data[cursor.pos]
        if flexible and 0 < short < 0x80:
            count = short - 1
            cursor.pos += 1
        else:
            count = read_length(cursor)
        if count <= 0:
            return None if count else ()
        if count * least > len(cursor.data) - cursor.pos:
            raise DecodeError(f"an array of {count} at byte {cursor.pos} of {len(cursor.data)}")
        cursor.budget.spend(count * cost)
        if read_flat is not None:
            values = read_flat(cursor, count)
            if values is not None:
                return values
        return tuple([read_item(cursor) for _ in range(count)])

    return _Shape(read, 1 if flexible else 4, STRUCT_COST)


def _flat(item: _Shape, flexible: bool) -> Callable[[Cursor, int], tuple[Any, ...] | None]:
    """Reads an array of numbers, or of structs of numbers if none of them has tagged fields."""
    make, end = item.make, "x" if flexible and item.make else ""
    rows = struct.Struct(f">{item.formats}{end}")
    few = [struct.Struct(f">{count}{item.formats}").unpack_from for count in range(_FEW)]

    def read(cursor: Cursor, count: int) -> tuple[Any, ...] | None:
        start, stop = cursor.pos, cursor.pos + count * rows.size
        data = cursor.data
        if make is None:
            cursor.pos = stop
            if count < _FEW:
                return few[count](data, start)
            return struct.unpack_from(f">{count}{item.formats}", data, start)
        if flexible and data[start + rows.size - 1 : stop : rows.size].count(0) != count:
            return None
        cursor.pos = stop
        return tuple(map(make, rows.iter_unpack(data[start:stop])))

    return read


def _nullable(item: _Shape, *, tagged: bool) -> _Shape:
    """A struct behind a mark: negative for null, and in a tagged field zero as well."""
    read_item = item.read

    def read(cursor: Cursor) -> Any:
        mark = cursor.data[cursor.pos]
        cursor.pos += 1
        return None if mark > 0x7F or (tagged and not mark) else read_item(cursor)

    return _Shape(read, 1, item.cost)


def _read_tags(
    cursor: Cursor, by_tag: dict[int | None, tuple[int, Reader]], defaults: list[Any]
) -> list[Any]:
    values = list(defaults)
    count, cursor.pos = read_uvarint(cursor.data, cursor.pos)
    for _ in range(count):
        tag, at = read_uvarint(cursor.data, cursor.pos)
        size, cursor.pos = read_uvarint(cursor.data, at)
        stop = cursor.pos + size
        if stop > len(cursor.data):
            raise DecodeError(f"tagged field {tag} of {size} bytes at byte {cursor.pos}")
        if tag in by_tag:
            place, read_field = by_tag[tag]
            values[place] = read_field(cursor)
            if cursor.pos != stop:
                raise DecodeError(f"tagged field {tag} is not {size} bytes long")
        cursor.pos = stop
    return values
