"""Random messages of kio's, and the same as our writers take them."""

import dataclasses
import datetime
import io
import random
from types import SimpleNamespace
from typing import Any, get_args, get_origin
from uuid import UUID

from kio.schema.errors import ErrorCode
from kio.serial import entity_writer


def random_value(kind: Any, kafka_type: str, rng: random.Random, *, nullable: bool) -> Any:
    """A value of a kio field that is no struct and no list."""
    if kafka_type == "uuid":
        return rng.choice([None, UUID(int=rng.getrandbits(128) | 1)])
    if nullable and rng.random() < 0.3:
        return None
    match kafka_type:
        case "string":
            return kind("".join(rng.choices("aß漢😀 ", k=rng.choice((0, 1, 4, 60)))))
        case "bytes" | "records":
            return rng.randbytes(rng.choice((0, 1, 5, 200)))
        case "bool":
            return rng.random() < 0.5
        case "error_code":
            return rng.choice(list(ErrorCode))
        case "float64":
            return rng.random()
        case "timedelta_i32" | "timedelta_i64":
            return datetime.timedelta(milliseconds=rng.randrange(2**31))
        case "datetime_i64":
            return datetime.datetime.fromtimestamp(rng.randrange(2**32), datetime.UTC)
    bits = int(kafka_type.lstrip("uint"))
    number = rng.getrandbits(bits)
    return number if kafka_type.startswith("u") else number - 2 ** (bits - 1)


def random_entity(schema: type, rng: random.Random) -> Any:
    """An instance of a kio class with every field drawn."""
    values = {}
    for field in dataclasses.fields(schema):
        kinds = [field.type, *get_args(field.type)]
        nullable = type(None) in kinds
        kind = next(k for k in kinds[1:] or kinds if k is not type(None))
        if nullable or get_origin(field.type) is tuple:
            kind = field.type if get_origin(field.type) is tuple else kind
        values[field.name] = _random_field(field, kind, rng, nullable=nullable)
    return schema(**values)


def _random_field(field: Any, kind: Any, rng: random.Random, *, nullable: bool) -> Any:
    if get_origin(kind) is tuple:
        if nullable and "tag" not in field.metadata and rng.random() < 0.3:
            return None
        inner = get_args(kind)[0]
        count = rng.randrange(3)
        if dataclasses.is_dataclass(inner) and isinstance(inner, type):
            return tuple(random_entity(inner, rng) for _ in range(count))
        kafka_type = field.metadata["kafka_type"]
        return tuple(random_value(inner, kafka_type, rng, nullable=False) for _ in range(count))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return None if nullable and rng.random() < 0.3 else random_entity(kind, rng)
    tagged = "tag" in field.metadata
    return random_value(kind, field.metadata["kafka_type"], rng, nullable=nullable and not tagged)


def kio_bytes(entity: Any) -> bytes:
    """The message as kio writes it."""
    out = io.BytesIO()
    entity_writer(type(entity))(out, entity)
    return out.getvalue()


def as_message(value: Any) -> Any:
    """A message of kio's with Kafka's names and plain values: kio leaves units of times out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return SimpleNamespace(
            **{_name(field): _plain(field, value) for field in dataclasses.fields(value)}
        )
    return tuple(map(as_message, value)) if isinstance(value, tuple) else value


MOMENTS = ("log_append_time", "transaction_start_time")
"""Moments whose names have a unit in Kafka; others have none there either."""


def _name(field: Any) -> str:
    kafka_type = field.metadata.get("kafka_type", "")
    is_time = kafka_type.startswith("timedelta") or field.name in MOMENTS
    return f"{field.name}_ms" if is_time else str(field.name)


def _plain(field: Any, entity: Any) -> Any:
    value = getattr(entity, field.name)
    if isinstance(value, datetime.timedelta):
        return round(value.total_seconds() * 1000)
    if field.metadata.get("kafka_type") == "datetime_i64":
        return -1 if value is None else round(value.timestamp() * 1000)
    return as_message(value)
