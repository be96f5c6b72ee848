"""Random messages by their tables, and whether two messages say the same."""

from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from kgroups.core.protocol.reader import default_of
from kgroups.core.protocol.table import Field, Table, fields_at

BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
TEXTS = (
    "",
    "a",
    "billing",
    "orders-2",
    "grüße",
    "日本",
    "🦜",
    'quoted "text" \\ and /',
    "\n\t\x00",
    "long" * 60,
)


def random_message(table: Table, version: int, random: Random) -> SimpleNamespace:
    """A message of this version: extremes, nulls and defaults are frequent."""
    return _struct(table.fields, version, random)


def _struct(fields: list[Field], version: int, random: Random) -> SimpleNamespace:
    return SimpleNamespace(
        **{field.name: _value(field, version, random) for field in fields_at(fields, version)}
    )


def _value(field: Field, version: int, random: Random) -> Any:
    if field.tag is not None and random.random() < 0.4:
        return default_of(field)
    if version in field.nullable and random.random() < 0.25:
        return None
    if field.is_array:
        size = random.choice((0, 1, 2, 3))
        return tuple(_single(field, version, random) for _ in range(size))
    return _single(field, version, random)


def _single(field: Field, version: int, random: Random) -> Any:
    match field.kind:
        case "struct":
            return _struct(field.fields, version, random)
        case "string":
            return random.choice(TEXTS)
        case "bytes" | "records":
            return random.randbytes(random.choice((0, 1, 2, 3, 40, 300)))
        case "uuid":
            return random.choice((None, UUID(bytes=random.randbytes(16))))
        case "bool":
            return random.random() < 0.5
        case "float64":
            return random.choice((0.0, 0.5, -1.25, 1e100))
        case "uint16":
            return random.choice((0, 1, 0xFFFF, random.randint(0, 0xFFFF)))
    half = 1 << BITS[field.kind] - 1
    return random.choice((-half, -1, 0, 1, half - 1, random.randint(-half, half - 1)))


def same(message: Any, other: SimpleNamespace) -> bool:
    """Whether a message has the attributes that another has, with the same values."""
    if isinstance(other, SimpleNamespace):
        return all(same(getattr(message, name), value) for name, value in vars(other).items())
    if isinstance(other, tuple):
        return len(message) == len(other) and all(map(same, message, other))
    return bool(message == other)
