"""Messages as Kafka's JSON, by their tables.

The form of Kafka's generated `JsonConverter` classes, in which brokers write their request logs: an
object of the fields that the version has, named as in Kafka's message files. Bytes are text in
base64, ids are text as Kafka prints them. A tagged field is there only if it is not its default.
"""

from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from functools import cache
from typing import Any, Final
from uuid import UUID

from kgroups.core.protocol.reader import DecodeError, Message, default_of
from kgroups.core.protocol.table import Field, Table, fields_at
from kgroups.core.protocol.writer import Struct, is_default

Json = dict[str, Any]
"""One message or struct of it: field name (as Kafka spells it) to what `json` reads and writes."""

_RANGES: Final = {
    "uint16": range(1 << 16),
    **{f"int{bits}": range(-(1 << bits - 1), 1 << bits - 1) for bits in (8, 16, 32, 64)},
}


@cache
def kafka_field(name: str) -> str:
    """The name of a field as Kafka's message files spell it."""
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def to_json(table: Table, version: int, message: Message) -> Json:
    """The message, which must have all fields of this version that have no default."""
    return _struct_to_json(table.fields, version, message)


def _struct_to_json(fields: list[Field], version: int, message: Message) -> Json:
    document: Json = {}
    for field in fields_at(fields, version):
        optional = field.may_be_left_out
        default = default_of(field)
        value = getattr(message, field.name, default) if optional else getattr(message, field.name)
        if field.tag is None or not is_default(value, field):
            document[kafka_field(field.name)] = _to_json(field, version, value)
    return document


def _to_json(field: Field, version: int, value: Any) -> Any:
    if value is None and field.kind != "uuid":
        return None
    if field.is_array:
        return [_single_to_json(field, version, element) for element in value]
    return _single_to_json(field, version, value)


def _single_to_json(field: Field, version: int, value: Any) -> Any:
    match field.kind:
        case "struct":
            return _struct_to_json(field.fields, version, value)
        case "bytes" | "records":
            return b64encode(value).decode()
        case "uuid":
            raw = bytes(16) if value is None else value.bytes
            return urlsafe_b64encode(raw).decode().rstrip("=")
        case "bool" | "string" | "float64":
            return value
    return int(value)


def from_json(table: Table, version: int, document: Json) -> Message:
    """The message, with the fields that this version has; others are passed over.

    Raises:
        DecodeError: it is no such message.
    """
    return _struct_from_json(table.fields, table.name, version, document)


def _struct_from_json(fields: list[Field], name: str, version: int, document: Any) -> Message:
    if not isinstance(document, dict):
        raise DecodeError("no object")
    message = Struct()
    for field in fields:
        key = kafka_field(field.name)
        if version not in field.versions or (field.tag is not None and key not in document):
            value = default_of(field)
        elif key not in document:
            raise DecodeError(f"`{key}` is missing in {name}")
        else:
            value = _within(key, _from_json, field, version, document[key])
        setattr(message, field.name, value)
    return message


def _within(place: str, read: Any, *arguments: Any) -> Any:
    """The value read; an error says in which place it is."""
    try:
        return read(*arguments)
    except DecodeError as error:
        raise DecodeError(f"{place}: {error}") from error


def _from_json(field: Field, version: int, value: Any) -> Any:
    if value is None and version in field.nullable:
        return None
    if not field.is_array:
        return _single_from_json(field, version, value)
    if not isinstance(value, list):
        raise DecodeError("no array")
    return tuple(
        _within(f"[{index}]", _single_from_json, field, version, element)
        for index, element in enumerate(value)
    )


def _single_from_json(field: Field, version: int, value: Any) -> Any:
    kind = field.kind
    if kind == "struct":
        return _struct_from_json(field.fields, kafka_field(field.name), version, value)
    if kind == "float64":
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise DecodeError("no number")
        return float(value)
    if kind in _RANGES:
        return _whole_number(value, _RANGES[kind])
    if kind == "bool":
        if not isinstance(value, bool):
            raise DecodeError("neither true nor false")
        return value
    if not isinstance(value, str):
        raise DecodeError("no text")
    if kind == "uuid":
        return _id(value)
    return _bytes(value) if kind in ("bytes", "records") else value


def _whole_number(value: Any, allowed: range) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise DecodeError("no whole number")
    if value not in allowed:
        raise DecodeError(f"{value} is not from {allowed.start} to {allowed.stop - 1}")
    return value


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError as error:  # not of base64's letters, or not even ASCII
        raise DecodeError("no base64") from error


def _id(text: str) -> UUID | None:
    try:
        raw = urlsafe_b64decode(text + "==")
    except ValueError as error:
        raise DecodeError("no id") from error
    if len(raw) != 16:
        raise DecodeError(f"`{text}` is no id of 16 bytes")
    return UUID(bytes=raw) if any(raw) else None
