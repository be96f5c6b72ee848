"""Random messages of any API and version, as the dicts that the embedded cluster's codecs take."""

from dataclasses import Field, fields, is_dataclass
from random import Random
from typing import Any, get_args, get_origin
from uuid import UUID

from kgroups.core.sandbox.wire.schema import Body, default_of, without_none

BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "error_code": 16}
BITS |= {"timedelta_i32": 32, "timedelta_i64": 64, "datetime_i64": 64}
UNSIGNED = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
NEVER_NULL = {"datetime_i64", "timedelta_i32", "timedelta_i64"}  # numbers to the codecs
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
)


def random_body(schema: type, random: Random) -> Body:
    """A message or struct of this kio class: extremes, nulls and defaults are frequent."""
    return {field.name: _value(field, random) for field in fields(schema)}


def _value(field: Field[Any], random: Random) -> Any:
    kind, nullable = without_none(field.type)
    if "tag" in field.metadata and random.random() < 0.4:
        return default_of(field)
    kafka_type = field.metadata.get("kafka_type", "")
    if nullable and kafka_type not in NEVER_NULL and random.random() < 0.25:
        return None
    if get_origin(kind) is tuple:
        inner, _ = without_none(get_args(kind)[0])
        size = random.choice((0, 1, 2, 3))
        if isinstance(inner, type) and is_dataclass(inner):
            return [random_body(inner, random) for _ in range(size)]
        return [_primitive(kafka_type, random) for _ in range(size)]
    if isinstance(kind, type) and is_dataclass(kind):
        return random_body(kind, random)
    return _primitive(kafka_type, random)


def _primitive(kafka_type: str, random: Random) -> Any:
    if kafka_type == "string":
        return random.choice(TEXTS)
    if kafka_type in ("bytes", "records"):
        return random.randbytes(random.choice((0, 1, 2, 3, 40)))
    if kafka_type == "uuid":
        return UUID(bytes=random.randbytes(16))
    if kafka_type == "bool":
        return random.random() < 0.5
    if kafka_type == "float64":
        return random.choice((0.0, 0.5, -1.25, 1e100))
    if kafka_type in UNSIGNED:
        highest = (1 << UNSIGNED[kafka_type]) - 1
        return random.choice((0, 1, highest, random.randint(0, highest)))
    half = 1 << BITS[kafka_type] - 1
    return random.choice((-half, -1, 0, 1, half - 1, random.randint(-half, half - 1)))
