"""The answer of any API that says nothing but one error code, at every place it can say it.

Used for what is not served (UNSUPPORTED_VERSION) and by the fault rules. The places follow from
the message tables: the items of the request's first list become the items of the answer's first
list that has room for an error.
"""

from dataclasses import Field, fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin

from kio.index import load_response_schema

from kgroups.core.sandbox.apis import Api
from kgroups.core.sandbox.wire.schema import Body

_SESSION_ERRORS = frozenset({70, 71})
"""Errors that Fetch reports for the whole session; all others belong to a partition."""

_SAME_FIELD = {
    "partition": ("partition_index", "index", "partition"),
    "partition_index": ("partition_index", "partition", "index"),
    "index": ("index", "partition_index"),
}


def error_body(api: int, version: int, request: Body, code: int) -> Body | None:
    """An answer with this error code.

    Args:
        request: the fields of the request, for the names that the answer repeats.
        code: Kafka's error number.
    Returns:
        None where the answer has no place for an error, so that closing is all that is left.
    """
    schema = load_response_schema(api, version)
    if not _has_error(schema):
        return None
    per_item = api == Api.FETCH and code not in _SESSION_ERRORS
    body = _struct_error(schema, request, code, whole=not per_item)
    if api == Api.DESCRIBE_TOPIC_PARTITIONS:
        body["next_cursor"] = None
    return body


@cache
def _has_error(schema: type) -> bool:
    for field in fields(schema):
        if field.name == "error_code":
            return True
        item = _item_struct(field)
        if item is not None and _has_error(item):
            return True
    return False


def _item_struct(field: Field[Any]) -> type | None:
    """The struct in a list field; None for anything else."""
    kinds = [field.type, *get_args(field.type)]
    for kind in kinds:
        if get_origin(kind) is tuple and is_dataclass(get_args(kind)[0]):
            item = get_args(kind)[0]
            return item if isinstance(item, type) else None
    return None


def _struct_error(schema: type, source: Body, code: int, *, whole: bool) -> Body:
    body: Body = {}
    names = {field.name for field in fields(schema)}
    lists = [value for value in source.values() if isinstance(value, list)]
    stop_here = whole and "error_code" in names
    for field in fields(schema):
        item = _item_struct(field)
        if field.name == "error_code":
            body[field.name] = code if whole or not lists else 0
        elif item is not None:
            goes_down = _has_error(item) and not stop_here and lists
            body[field.name] = (
                [_item_error(item, value, code) for value in lists.pop(0)] if goes_down else []
            )
        else:
            body[field.name] = _plain(field, source)
    return body


def _item_error(schema: type, value: Any, code: int) -> Body:
    if isinstance(value, dict):
        return _struct_error(schema, value, code, whole=True)
    first = next(f.name for f in fields(schema) if f.name not in ("error_code", "error_message"))
    return _struct_error(schema, {first: value}, code, whole=True)


def _plain(field: Field[Any], source: Body) -> Any:
    """The request's value where it has the field, else an empty one of its type."""
    for name in _SAME_FIELD.get(field.name, (field.name,)):
        if name in source and field.name not in ("records", "error_message"):
            return source[name]
    kafka_type = field.metadata.get("kafka_type", "")
    if kafka_type.startswith("datetime"):
        return -1
    if type(None) in get_args(field.type):
        return None
    if is_dataclass(field.type):
        return {f.name: _plain(f, {}) for f in fields(field.type)}
    if get_origin(field.type) is tuple:
        return []
    if kafka_type == "string":
        return ""
    if kafka_type in ("bytes", "records"):
        return b""
    if kafka_type == "uuid":
        return None
    if kafka_type == "bool":
        return False
    return 0 if kafka_type.startswith("timedelta") else -1
