"""Frames to requests and responses to frames, for every API and version that is served.

A frame is what follows the four bytes of length. A response is written with its length in front.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from kio.index import KioIndexError, load_request_schema, load_response_schema
from kio.schema.request_header.v1.header import RequestHeader as HeaderV1
from kio.schema.request_header.v2.header import RequestHeader as HeaderV2

from kgroups.core.sandbox.apis import Api, Caps
from kgroups.core.sandbox.wire.error_bodies import error_body
from kgroups.core.sandbox.wire.schema import Body, Cursor, DecodeError, Reader, Writer, struct_codec

_HEADER_START = struct.Struct(">hhi")
_LENGTH_AND_CORRELATION = struct.Struct(">ii")


@dataclass(frozen=True, slots=True)
class Header:
    """What every request starts with, readable whatever the API and version."""

    api: int
    version: int
    correlation_id: int


@dataclass(slots=True)
class Request:
    """One request of a client.

    Args:
        api: what is asked.
        version: of the API; the answer is written in the same.
        correlation_id: echoed in the answer.
        client_id: as the client calls itself; None if it does not.
        body: the fields (see `schema.Body`).
    """

    api: Api
    version: int
    correlation_id: int
    client_id: str | None
    body: Body


UNSUPPORTED_VERSION = 35


@cache
def _request_codec(api: int, version: int) -> tuple[Reader, Reader]:
    schema = load_request_schema(api, version)
    header = HeaderV2 if schema.__flexible__ else HeaderV1
    return struct_codec(header)[0], struct_codec(schema)[0]


@cache
def _response_codec(api: int, version: int) -> tuple[bool, Writer]:
    schema = load_response_schema(api, version)
    tagged_header = schema.__flexible__ and api != Api.API_VERSIONS  # KIP-511: always header v0
    return tagged_header, struct_codec(schema)[1]


def read_header(frame: bytes) -> Header:
    """API, version and correlation id of a frame.

    Raises:
        DecodeError: the frame is shorter than that.
    """
    if len(frame) < _HEADER_START.size:
        raise DecodeError(f"a frame of {len(frame)} bytes holds no request header")
    return Header(*_HEADER_START.unpack_from(frame))


def is_served(header: Header, caps: Caps) -> bool:
    """Whether this API and version are among those offered."""
    versions = caps.get(header.api)  # type: ignore[call-overload]
    return versions is not None and versions[0] <= header.version <= versions[1]


def read_request(frame: bytes, header: Header) -> Request:
    """The request of a frame whose API and version are served.

    Bytes after it are passed over, as a broker does: librdkafka's Metadata v13 has some.

    Raises:
        DecodeError: the bytes are no such request.
    """
    read_head, read_body = _request_codec(header.api, header.version)
    cursor = Cursor(frame)
    client_id = read_head(cursor)["client_id"]
    body = read_body(cursor)
    return Request(Api(header.api), header.version, header.correlation_id, client_id, body)


def write_response(
    api: int, version: int, correlation_id: int, body: Mapping[str, Any]
) -> bytearray:
    """The bytes of an answer, length first.

    Args:
        body: fields by name; those that this version does not have are left out.
    """
    tagged_header, write_body = _response_codec(api, version)
    out = bytearray(_LENGTH_AND_CORRELATION.size)
    if tagged_header:
        out.append(0)
    write_body(out, body)
    _LENGTH_AND_CORRELATION.pack_into(out, 0, len(out) - 4, correlation_id)
    return out


def refuse_version(frame: bytes, header: Header, caps: Caps) -> bytearray | None:
    """The answer UNSUPPORTED_VERSION to a request that is not served.

    An ApiVersions request is answered in version 0 with the list, from which the client chooses
    again (KIP-511). Any other is answered in its own version, if that exists anywhere.

    Returns:
        None if there is no such API or version at all, or its answer has no place for an error:
        then only closing the connection is left.
    Raises:
        DecodeError: the bytes are not that request.
    """
    if header.api == Api.API_VERSIONS:
        body: Body | None = api_versions_body(caps, UNSUPPORTED_VERSION)
        return write_response(Api.API_VERSIONS, 0, header.correlation_id, body or {})
    try:
        read_head, read_body = _request_codec(header.api, header.version)
    except KioIndexError:
        return None
    cursor = Cursor(frame)
    read_head(cursor)
    body = error_body(header.api, header.version, read_body(cursor), UNSUPPORTED_VERSION)
    if body is None:
        return None
    return write_response(header.api, header.version, header.correlation_id, body)


def api_versions_body(caps: Caps, error_code: int = 0) -> Body:
    """The answer to ApiVersions: what is offered, by API key."""
    keys = [
        {"api_key": int(api), "min_version": low, "max_version": high}
        for api, (low, high) in sorted(caps.items())
    ]
    return {"error_code": error_code, "api_keys": keys}


def warm_up(caps: Caps) -> None:
    """Compile the highest version of each API, so that no first request waits for it."""
    for api, (_, high) in caps.items():
        _request_codec(api, high)
        _response_codec(api, high)
