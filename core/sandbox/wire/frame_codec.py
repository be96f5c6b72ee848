"""Frames to requests and answers to frames, for every API and version that is served.

A frame is what follows the four bytes of length. A response is written with its length in front.

The answer that says nothing but one error code, at every place that can say it, is for what is not
served (UNSUPPORTED_VERSION) and for fault rules. The places follow from the message tables: the
items of the request's first list become those of the answer's first list with room for an error.
"""

from dataclasses import dataclass
from typing import Any

from kgroups.core.coordinator.wire import WIRE_FORMS
from kgroups.core.protocol.budget import Budget, MemoryLimitError
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.frames import Header, write_response
from kgroups.core.protocol.frames import read_request as read_message
from kgroups.core.protocol.reader import DecodeError, Message, Row, reader
from kgroups.core.protocol.table import Field, fields_at, request_table, response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct, writer
from kgroups.core.sandbox.caps import Caps

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
    first = next(field for field in fields if field.name not in ("error_code", "error_message"))
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
        return Struct(**{field.name: _plain(field, version, Row()) for field in inner})
    match field.kind:
        case "bool":
            return False
        case "string":
            return ""
        case "bytes" | "records":
            return b""
    return 0 if field.name.endswith("_ms") else -1


_MEMORY_BYTES = 1 << 26
"""The memory of a request besides a few times its length; a real one has some thousand rows."""


@dataclass(slots=True)
class Request:
    """One request of a client.

    Args:
        version: of the API; the answer is written in the same.
        correlation_id: echoed in the answer.
        client_id: as the client calls itself; None if it does not.
        body: the message: of the coordinator's APIs its own request, of others a row.
        frame: the bytes that it was read from.
    """

    api: Api
    version: int
    correlation_id: int
    client_id: str | None
    body: Message
    frame: bytes


def is_served(header: Header, caps: Caps) -> bool:
    """Whether this API and version are among those offered."""
    versions = caps.get(header.api)  # type: ignore[call-overload]
    return versions is not None and versions[0] <= header.version <= versions[1]


def read_request(frame: bytes, header: Header, client_host: str) -> Request:
    """The request of a frame whose API and version are served.

    Raises:
        DecodeError: the bytes are no such request, or it would take too much memory.
    """
    api, version = Api(header.api), header.version
    wire_form = WIRE_FORMS.get(api)
    budget = Budget(_MEMORY_BYTES + 4 * len(frame))
    form = None if wire_form is None else wire_form.form(version)
    try:
        client_id, body = read_message(frame, header, budget, form)
    except MemoryLimitError as error:
        raise DecodeError("the request takes too much memory") from error
    if wire_form is not None:
        body = wire_form.request(body, version, client_id, client_host)
    return Request(api, version, header.correlation_id, client_id, body, frame)


def write_error(frame: bytes, header: Header, code: int, **fields: object) -> bytearray | None:
    """The answer to a request that says nothing but one error.

    Args:
        fields: what else the answer says.
    Returns:
        None if there is no such API or version at all, or its answer has no place for an error:
        then only closing the connection is left.
    Raises:
        DecodeError: the bytes are not that request.
    """
    try:
        _, message = read_message(frame, header, Budget(_MEMORY_BYTES + 4 * len(frame)))
    except DecodeError:
        raise
    except MemoryLimitError as error:
        raise DecodeError("the request takes too much memory") from error
    except ValueError:  # an API or a version without a table
        return None
    body = error_body(Api(header.api), header.version, message, code)
    if body is None:
        return None
    vars(body).update(fields)
    return write_response(header.api, header.version, header.correlation_id, body)


def refuse_version(frame: bytes, header: Header, caps: Caps) -> bytearray | None:
    """The answer UNSUPPORTED_VERSION to a request that is not served.

    An ApiVersions request is answered in version 0 with the list, from which the client chooses
    again (KIP-511). Any other is answered in its own version, if `core/protocol` has a table of it.

    Returns:
        None where only closing the connection is left, as of `write_error`.
    Raises:
        DecodeError: the bytes are not that request.
    """
    code = ErrorCode.UNSUPPORTED_VERSION
    if header.api == Api.API_VERSIONS:
        answer = api_versions_answer(caps, code)
        return write_response(Api.API_VERSIONS, 0, header.correlation_id, answer)
    return write_error(frame, header, code)


def api_versions_answer(caps: Caps, error_code: int = 0) -> Message:
    """The answer to ApiVersions: what is offered, by API key."""
    keys = [
        Struct(api_key=int(api), min_version=low, max_version=high)
        for api, (low, high) in sorted(caps.items())
    ]
    return Struct(error_code=error_code, api_keys=keys)


def warm_up(caps: Caps) -> None:
    """Compile the highest version of each API, so that no first request waits for it."""
    for api, (_, high) in caps.items():
        wire_form = WIRE_FORMS.get(api)
        reader(request_table(api), high, wire_form and wire_form.form(high))
        writer(response_table(api), high)
