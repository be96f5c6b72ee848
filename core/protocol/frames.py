"""Requests and answers as frames: length, header, message; which version both sides speak.

A frame that is read is what follows the four bytes of its length; one that is written has them in
front. A header has tagged fields where the message is flexible, but for the answer to ApiVersions,
which a client must be able to read before it knows what the broker speaks (KIP-511).
"""

import struct
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from kgroups.core.protocol.budget import Budget
from kgroups.core.protocol.forms import Form
from kgroups.core.protocol.reader import Cursor, DecodeError, Message, decode, reader
from kgroups.core.protocol.table import request_table, response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.varints import read_uvarint
from kgroups.core.protocol.writer import writer

_HEADER: Final = struct.Struct(">hhi")
_START: Final = struct.Struct(">ii")
_LENGTH: Final = struct.Struct(">i")
_CLIENT_ID: Final = struct.Struct(">h")
_CORRELATION_BYTES: Final = 4


class VersionRange(NamedTuple):
    """Versions of one API, both ends included."""

    lowest: int
    highest: int


def common_version(ours: VersionRange, theirs: VersionRange | None) -> int | None:
    """The highest version that both sides speak, or None if there is none."""
    if theirs is None:
        return None
    version = min(ours.highest, theirs.highest)
    return version if version >= max(ours.lowest, theirs.lowest) else None


class Header(NamedTuple):
    """The header of every request, readable whatever the API and version."""

    api: int
    version: int
    correlation_id: int


@dataclass(frozen=True, slots=True)
class Encoded:
    """A message that is bytes already, without its header.

    Args:
        version: lower than the one asked for, where the message cannot be said in that one.
    """

    data: bytes
    version: int | None = None


def read_header(frame: bytes) -> Header:
    """API, version and correlation id of a request.

    Raises:
        DecodeError: the frame is shorter than that.
    """
    if len(frame) < _HEADER.size:
        raise DecodeError(f"a frame of {len(frame)} bytes holds no request header")
    return Header(*_HEADER.unpack_from(frame))


def read_request(
    frame: bytes, header: Header, budget: Budget | None = None, form: Form | None = None
) -> tuple[str | None, Message]:
    """The client id and the message of a request.

    Bytes after it are passed over, as a broker does: librdkafka's Metadata v13 has some.

    Args:
        form: the class to make of the message.
    Raises:
        DecodeError: the bytes are no such request.
        MemoryLimitError: it would take more memory than the budget has.
        ValueError: kgroups does not speak the API or its version.
    """
    table = _spoken(request_table(header.api), header.version)
    cursor = Cursor(frame, _HEADER.size, budget)
    client_id = decode(_read_client_id, cursor)
    if header.version in table.flexible:
        decode(_skip_tags, cursor)
    return client_id, decode(reader(table, header.version, form), cursor)


def write_request(
    api: Api, version: int, correlation_id: int, client_id: str | None, message: Message
) -> bytes:
    """A request as it goes over the wire, length first."""
    table = request_table(api)
    name = b"" if client_id is None else client_id.encode()
    out = bytearray(_LENGTH.size)
    out += _HEADER.pack(api, version, correlation_id)
    out += _CLIENT_ID.pack(-1 if client_id is None else len(name)) + name
    if version in table.flexible:
        out.append(0)
    if isinstance(message, Encoded):
        out += message.data
    else:
        writer(table, version)(out, message)
    _LENGTH.pack_into(out, 0, len(out) - _LENGTH.size)
    return bytes(out)


def read_response(api: Api, version: int, frame: bytes, budget: Budget | None = None) -> Message:
    """The message of an answer, whose frame starts with the correlation id.

    Raises:
        DecodeError: the bytes are no such answer.
        MemoryLimitError: it would take more memory than the budget has left.
    """
    table = _spoken(response_table(api), version)
    cursor = Cursor(frame, _CORRELATION_BYTES, budget)
    if version in table.flexible and api != Api.API_VERSIONS:
        decode(_skip_tags, cursor)
    return decode(reader(table, version), cursor)


def write_response(api: int, version: int, correlation_id: int, message: Message) -> bytearray:
    """An answer as it goes over the wire, length first."""
    table = response_table(api)
    out = bytearray(_START.size)
    if version in table.flexible and api != Api.API_VERSIONS:
        out.append(0)
    writer(table, version)(out, message)
    _START.pack_into(out, 0, len(out) - _LENGTH.size, correlation_id)
    return out


def _spoken(table: Any, version: int) -> Any:
    if version not in table.versions:
        raise ValueError(f"{table.name} has no version {version}")
    return table


def _read_client_id(cursor: Cursor) -> str | None:
    (size,) = _CLIENT_ID.unpack_from(cursor.data, cursor.pos)
    start = cursor.pos + _CLIENT_ID.size
    cursor.pos = start + max(size, 0)
    if size < -1 or cursor.pos > len(cursor.data):
        raise DecodeError("a client id is longer than its frame")
    return None if size < 0 else cursor.data[start : cursor.pos].decode()


def _skip_tags(cursor: Cursor) -> None:
    count, cursor.pos = read_uvarint(cursor.data, cursor.pos)
    for _ in range(count):
        _, at = read_uvarint(cursor.data, cursor.pos)
        size, at = read_uvarint(cursor.data, at)
        cursor.pos = at + size
