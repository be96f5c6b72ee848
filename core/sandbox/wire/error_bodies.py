"""The answer of any API that says nothing but one error code, at every place it can say it.

Used for what is not served (UNSUPPORTED_VERSION) and by the fault rules. The places follow from
the message tables: the items of the request's first list become the items of the answer's first
list that has room for an error.
"""

from typing import Any

from kgroups.core.protocol.reader import Row
from kgroups.core.protocol.table import Field, fields_at, response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct

_SESSION_ERRORS = frozenset({70, 71})
"""Errors that Fetch reports for the whole session; all others belong to a partition."""

_SAME_FIELD = {
    "partition": ("partition_index", "index", "partition"),
    "partition_index": ("partition_index", "partition", "index"),
    "index": ("index", "partition_index"),
}


def error_body(api: Api, version: int, request: Row, code: int) -> Struct | None:
    """An answer with this error code.

    Args:
        request: as a row, for the names that the answer repeats.
        code: Kafka's error number.
    Returns:
        None where the answer has no place for an error, so that closing is all that is left.
    """
    fields = list(fields_at(response_table(api).fields, version))
    if not _has_error(fields, version):
        return None
    per_item = api is Api.FETCH and code not in _SESSION_ERRORS
    return _struct(fields, version, request, code, whole=not per_item)


def _has_error(fields: list[Field], version: int) -> bool:
    return any(
        field.name == "error_code"
        or (_is_list(field) and _has_error(list(fields_at(field.fields, version)), version))
        for field in fields
    )


def _is_list(field: Field) -> bool:
    return field.is_array and field.kind == "struct"


def _struct(fields: list[Field], version: int, source: Row, code: int, *, whole: bool) -> Struct:
    body = Struct()
    lists = [value for value in source if isinstance(value, tuple) and not isinstance(value, Row)]
    stop_here = whole and any(field.name == "error_code" for field in fields)
    for field in fields:
        value: Any
        if field.name == "error_code":
            value = code if whole or not lists else 0
        elif _is_list(field):
            inner = list(fields_at(field.fields, version))
            goes_down = _has_error(inner, version) and not stop_here and lists
            items = lists.pop(0) if goes_down else ()
            value = [_item(inner, version, item, code) for item in items]
        else:
            value = _plain(field, version, source)
        setattr(body, field.name, value)
    return body


def _item(fields: list[Field], version: int, asked: Any, code: int) -> Struct:
    if isinstance(asked, Row):
        return _struct(fields, version, asked, code, whole=True)
    first = next(each for each in fields if each.name not in ("error_code", "error_message"))
    body = _struct(fields, version, Row(), code, whole=True)
    setattr(body, first.name, asked)
    return body


def _plain(field: Field, version: int, source: Row) -> Any:
    """The request's value where it has the field, else an empty one of its type."""
    for name in _SAME_FIELD.get(field.name, (field.name,)):
        if name in source._fields and field.name not in ("records", "error_message"):
            return getattr(source, name)
    if version in field.nullable or field.kind == "uuid":
        return None
    if field.is_array:
        return ()
    if field.kind == "struct":
        inner = fields_at(field.fields, version)
        return Struct(**{each.name: _plain(each, version, Row()) for each in inner})
    match field.kind:
        case "bool":
            return False
        case "string":
            return ""
        case "bytes" | "records":
            return b""
    return 0 if field.name.endswith("_ms") else -1
