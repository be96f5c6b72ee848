"""Messages as Kafka's JSON, compiled from the tables that kio generates.

The form of Kafka's generated `JsonConverter` classes, in which brokers write their request logs: an
object of the fields that the version has, named as in Kafka's message files. Bytes are text in
base64, ids are text as Kafka prints them, durations and times are numbers of milliseconds. A tagged
field is there only if it is not its default.
"""

from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, Final, get_args, get_origin
from uuid import UUID

from kgroups.core.sandbox.wire.schema import Body, DecodeError, default_of, without_none

Json = dict[str, Any]
"""One message or struct of it: field name (as Kafka spells it) to what `json` reads and writes."""

FromJson = Callable[[Any], Any]
ToJson = Callable[[Any], Any]

_BITS: Final[Mapping[str, int]] = {
    "int8": 8,
    "int16": 16,
    "int32": 32,
    "int64": 64,
    "error_code": 16,
    "timedelta_i32": 32,
    "timedelta_i64": 64,
    "datetime_i64": 64,
}
_UNSIGNED: Final[Mapping[str, int]] = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


_NAMES: Final[Mapping[str, str]] = {"log_append_time": "logAppendTimeMs"}
"""Times of which kio leaves the unit out as well; the others have none in Kafka either."""


def kafka_field(name: str, kafka_type: str = "") -> str:
    """The name of a field as Kafka's message files spell it.

    Args:
        name: kio's, in snake case, which leaves the unit of durations out.
        kafka_type: kio's.
    """
    if name in _NAMES:
        return _NAMES[name]
    first, *others = name.split("_")
    unit = "Ms" if kafka_type.startswith("timedelta") else ""
    return first + "".join(other.capitalize() for other in others) + unit


def _number(kafka_type: str) -> tuple[FromJson, ToJson]:
    bits = _BITS.get(kafka_type)
    if bits is None:
        lowest, highest = 0, (1 << _UNSIGNED[kafka_type]) - 1
    else:
        lowest, highest = -(1 << bits - 1), (1 << bits - 1) - 1

    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise DecodeError("no whole number")
        if not lowest <= value <= highest:
            raise DecodeError(f"{value} is not from {lowest} to {highest}")
        return value

    return read, int


def _read_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DecodeError("no number")
    return float(value)


def _read_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise DecodeError("neither true nor false")
    return value


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise DecodeError("no text")
    return value


def _read_bytes(value: Any) -> bytes:
    try:
        return b64decode(_read_text(value), validate=True)
    except ValueError as error:  # not of base64's letters, or not even ASCII
        raise DecodeError("no base64") from error


def _write_bytes(value: bytes) -> str:
    return b64encode(value).decode()


def _read_id(value: Any) -> UUID | None:
    text = _read_text(value)
    try:
        raw = urlsafe_b64decode(text + "==")
    except ValueError as error:
        raise DecodeError("no id") from error
    if len(raw) != 16:
        raise DecodeError(f"`{text}` is no id of 16 bytes")
    return UUID(bytes=raw) if any(raw) else None


def _write_id(value: UUID | None) -> str:
    raw = bytes(16) if value is None else value.bytes
    return urlsafe_b64encode(raw).decode().rstrip("=")


_PRIMITIVES: Final[Mapping[str, tuple[FromJson, ToJson]]] = {
    **{name: _number(name) for name in (*_BITS, *_UNSIGNED)},
    "float64": (_read_float, float),
    "bool": (_read_bool, bool),
    "string": (_read_text, str),
    "bytes": (_read_bytes, _write_bytes),
    "records": (_read_bytes, _write_bytes),
    "uuid": (_read_id, _write_id),
}


def _nullable(item: tuple[FromJson, ToJson]) -> tuple[FromJson, ToJson]:
    read, write = item
    return (
        lambda value: None if value is None else read(value),
        lambda value: None if value is None else write(value),
    )


def _array(item: tuple[FromJson, ToJson]) -> tuple[FromJson, ToJson]:
    read_item, write_item = item

    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise DecodeError("no array")
        found = []
        for index, element in enumerate(value):
            try:
                found.append(read_item(element))
            except DecodeError as error:
                raise DecodeError(f"[{index}]: {error}") from error
        return found

    return read, lambda value: [write_item(element) for element in value]


def _field_codec(field: Field[Any]) -> tuple[FromJson, ToJson]:
    kind, is_nullable = without_none(field.type)
    kafka_type = field.metadata.get("kafka_type", "")
    if get_origin(kind) is tuple:
        inner, _ = without_none(get_args(kind)[0])
        codec = _array(
            json_codec(inner)
            if isinstance(inner, type) and is_dataclass(inner)
            else _PRIMITIVES[kafka_type]
        )
    elif isinstance(kind, type) and is_dataclass(kind):
        codec = json_codec(kind)
    else:
        codec = _PRIMITIVES[kafka_type]
        is_nullable = is_nullable and kafka_type != "uuid"  # where None is the zero id
    return _nullable(codec) if is_nullable else codec


@cache
def json_codec(schema: type) -> tuple[FromJson, ToJson]:
    """Reader and writer of one kio class as JSON.

    Args:
        schema: a message or nested struct of `kio.schema`.
    Returns:
        A reader (JSON to `schema.Body`) that raises DecodeError and passes over fields that it
        does not know, and a writer (body to JSON) that ignores keys that this version does not
        have and raises KeyError for a missing one.
    """
    rows = []
    for field in fields(schema):
        name = kafka_field(field.name, field.metadata.get("kafka_type", ""))
        rows.append((field.name, name, *_field_codec(field), default_of(field)))
    tagged = {field.name for field in fields(schema) if "tag" in field.metadata}

    def read(document: Any) -> Body:
        if not isinstance(document, Mapping):
            raise DecodeError("no object")
        body: Body = {}
        for own, name, read_field, _, default in rows:
            if name in document:
                try:
                    body[own] = read_field(document[name])
                except DecodeError as error:
                    raise DecodeError(f"{name}: {error}") from error
            elif own in tagged:
                body[own] = default
            else:
                raise DecodeError(f"`{name}` is missing in {schema.__name__}")
        return body

    def write(body: Mapping[str, Any]) -> Json:
        document: Json = {}
        for own, name, _, write_field, default in rows:
            value = body.get(own, default)
            if own in tagged and value == default:
                continue
            if value is MISSING:
                raise KeyError(f"{schema.__name__}.{own}")
            document[name] = write_field(value)
        return document

    return read, write
