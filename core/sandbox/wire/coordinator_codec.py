"""Requests to the coordinator from frames or Kafka's JSON, and its answers to either.

For programs that drive `kgroups.core.coordinator` without the embedded cluster:

    asked = read_frame(frame, client_host="/127.0.0.1")
    coordinator.submit(now_ms, asked.correlation_id, asked.request)
    ...
    frame = write_frame(asked, reply.response)

`read_json` and `write_json` do the same with messages as Kafka's `JsonConverter` classes write
them, and `frame_json` shows the request of a frame as JSON.
"""

import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.wire import WIRE_FORMS
from kgroups.core.errors import UsageError
from kgroups.core.protocol.frames import Header, read_header, write_response
from kgroups.core.protocol.frames import read_request as read_message
from kgroups.core.protocol.kafka_json import Json, from_json, to_json
from kgroups.core.protocol.reader import Cursor, DecodeError, Message, decode, reader
from kgroups.core.protocol.table import Field, fields_at, request_table, response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import writer
from kgroups.core.sandbox.wire import frame_codec


class Asked(NamedTuple):
    """One request of a client to the coordinator."""

    api: Api
    version: int
    correlation_id: int
    request: Request


def read_frame(frame: bytes, *, client_host: str = "") -> Asked:
    """The request in a frame, without its length.

    Raises:
        DecodeError: the bytes are no request, of a version that is not served, or of an API that is
            not the coordinator's.
    """
    read = frame_codec.read_request(frame, _header(frame), client_host)
    return Asked(read.api, read.version, read.correlation_id, read.body)


def read_json(
    api: Api,
    version: int,
    message: Json,
    *,
    correlation_id: int = 0,
    client_id: str = "",
    client_host: str = "",
) -> Asked:
    """The request that Kafka's JSON holds.

    Args:
        api, version: what is asked; a header says that, which is not part of the message.
        message: fields by Kafka's names, those that the version has; others are passed over.
    Raises:
        DecodeError: it is no such message, or of an API or version that is not the coordinator's.
    """
    _check(api, version)
    table, wire_form = request_table(api), WIRE_FORMS[api]
    out = bytearray()
    try:
        writer(table, version)(out, from_json(table, version, message))
    except (struct.error, UnicodeEncodeError) as error:
        raise DecodeError(f"a text that no request can have: {error}") from error
    read = decode(reader(table, version, wire_form.form(version)), Cursor(bytes(out)))
    request = wire_form.request(read, version, client_id, client_host)
    return Asked(api, version, correlation_id, request)


def frame_json(frame: bytes) -> Json:
    """The request in a frame, without its length, as Kafka's JSON.

    Raises:
        DecodeError: as for `read_frame`.
    """
    header = _header(frame)
    _, message = read_message(frame, header)
    return to_json(request_table(header.api), header.version, message)


def write_json(asked: Asked, response: object) -> Json:
    """The answer as Kafka's JSON, with the fields that the request's version has.

    Raises:
        UsageError: it answers another kind of request.
    """
    answer = _answer(asked, response)
    return to_json(response_table(asked.api), asked.version, answer)


def _answer(asked: Asked, response: object) -> Message:
    """The bytes of an answer."""
    name = type(asked.request).__name__.removesuffix("Request") + "Response"
    if type(response).__name__ != name:
        raise UsageError(f"{type(response).__name__} does not answer {asked.api.kafka_name}")
    return WIRE_FORMS[asked.api].answer(response, asked.version)


def _header(frame: bytes) -> Header:
    header = read_header(frame)
    _check(header.api, header.version)
    return header


def _check(api: int, version: int) -> None:
    if api not in WIRE_FORMS or version not in request_table(api).versions:
        raise DecodeError(f"API {api} version {version} is not the coordinator's")


def write_frame(asked: Asked, response: object) -> bytes:
    """The bytes of the answer, length first.

    Raises:
        UsageError: as for `write_json`.
    """
    answer = _answer(asked, response)
    return bytes(write_response(asked.api, asked.version, asked.correlation_id, answer))


@cache
def versions_of_fields(api: Api) -> Mapping[str, tuple[int, int]]:
    """Which served version of an API carries which field, requests and answers.

    Returns:
        `request.generation_id`, `response.members.member_id`, ... to the first and last version.
    """
    versions: dict[str, tuple[int, int]] = {}
    for version in request_table(api).versions:
        for side, table in (("request", request_table(api)), ("response", response_table(api))):
            for path in _paths(table.fields, version):
                first, _ = versions.get(f"{side}.{path}", (version, version))
                versions[f"{side}.{path}"] = (first, version)
    return versions


def _paths(fields: list[Field], version: int) -> Iterator[str]:
    """Names of a message's fields, those of its structs behind a dot."""
    for field in fields_at(fields, version):
        yield field.name
        yield from (f"{field.name}.{path}" for path in _paths(field.fields, version))
