"""Requests to the coordinator from frames or Kafka's JSON, and its answers to either.

For programs that drive `kgroups.core.coordinator` without the embedded cluster:

    asked = read_frame(frame, client_host="/127.0.0.1")
    coordinator.submit(now_ms, asked.correlation_id, asked.request)
    ...
    frame = write_frame(asked, reply.response)

`read_json` and `write_json` do the same with messages as Kafka's `JsonConverter` classes write
them, and `frame_json` shows the request of a frame as JSON.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from kio.index import load_request_schema, load_response_schema

from kgroups.core.coordinator.fields.codec import CODECS, write_response
from kgroups.core.coordinator.fields.sender import Sender
from kgroups.core.coordinator.request import Request
from kgroups.core.sandbox.apis import API_VERSIONS, Api
from kgroups.core.sandbox.wire import frame_codec
from kgroups.core.sandbox.wire.json_codec import Json, json_codec
from kgroups.core.sandbox.wire.schema import DecodeError, fields_of


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
    read = frame_codec.read_request(frame, _header(frame))
    sender = Sender(read.version, read.client_id or "", client_host)
    request = CODECS[read.api].read(read.body, sender)
    return Asked(read.api, read.version, read.correlation_id, request)


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
        correlation_id, client_id, client_host: of the sender.
    Raises:
        DecodeError: it is no such message, or of an API or version that is not the coordinator's.
    """
    _check(api, version)
    body = json_codec(load_request_schema(api, version))[0](message)
    sender = Sender(version, client_id, client_host)
    return Asked(api, version, correlation_id, CODECS[api].read(body, sender))


def frame_json(frame: bytes) -> Json:
    """The request in a frame, without its length, as Kafka's JSON.

    Raises:
        DecodeError: as for `read_frame`.
    """
    header = _header(frame)
    body = frame_codec.read_request(frame, header).body
    document: Json = json_codec(load_request_schema(header.api, header.version))[1](body)
    return document


def write_json(asked: Asked, response: object) -> Json:
    """The answer as Kafka's JSON, with the fields that the request's version has."""
    body = write_response(asked.api, asked.version, response)
    document: Json = json_codec(load_response_schema(asked.api, asked.version))[1](body)
    return document


def _header(frame: bytes) -> frame_codec.Header:
    header = frame_codec.read_header(frame)
    _check(header.api, header.version)
    return header


def _check(api: int, version: int) -> None:
    header = frame_codec.Header(api, version, 0)
    if api not in CODECS or not frame_codec.is_served(header, API_VERSIONS):
        raise DecodeError(f"API {api} version {version} is not the coordinator's")


def write_frame(asked: Asked, response: object) -> bytes:
    """The bytes of the answer, length first."""
    body = write_response(asked.api, asked.version, response)
    return bytes(frame_codec.write_response(asked.api, asked.version, asked.correlation_id, body))


@cache
def versions_of_fields(api: Api) -> Mapping[str, tuple[int, int]]:
    """Which served version of an API carries which field, requests and answers.

    Returns:
        `request.generation_id`, `response.members.member_id`, ... to the first and last version.
    """
    lowest, highest = API_VERSIONS[api]
    found: dict[str, tuple[int, int]] = {}
    for version in range(lowest, highest + 1):
        for side, load in (("request", load_request_schema), ("response", load_response_schema)):
            for path in _paths(load(api, version)):
                first, _ = found.get(f"{side}.{path}", (version, version))
                found[f"{side}.{path}"] = (first, version)
    return found


def _paths(schema: type) -> list[str]:
    """Names of a message's fields, those of its structs behind a dot."""
    paths = []
    for name, item in fields_of(schema):
        paths.append(name)
        if item is not None:
            paths += [f"{name}.{path}" for path in _paths(item)]
    return paths
