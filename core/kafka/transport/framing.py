"""Kafka's messages as bytes: which version to speak, how to frame a request, how to read an answer.

The messages themselves are kio's: one class for each API and version. They are imported one
version at a time, when first spoken, because all of them together take a second; those of listings
and descriptions are read by tables of our own while they are small, because even kio alone takes
as long to import as Python takes to start, twice.
"""

import importlib
import io
import re
import struct
import sys
from functools import cache
from typing import Any, Final, NamedTuple

from kgroups.core.errors import shorten
from kgroups.core.kafka.config.settings import DEFAULT_ANSWER_BYTES
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.lengths import (
    Budget,
    LengthError,
    MemoryLimitError,
    Room,
    check,
    without_unknown_tags,
)
from kgroups.core.kafka.transport.table_codec import decode, encode
from kgroups.core.kafka.transport.tables import ERROR_NAMES, TABLES

_UNSUPPORTED_VERSION: Final = 35

_MEMORY_FACTOR: Final = 4
"""Bytes of memory that an answer may take as objects, for each byte that it may be long."""

_MUCH: Final = 1 << 24
"""Bytes of memory of the answers to one question: 27,000 listed groups, read in 40 ms by tables."""

Message = Any
"""A message of kio's: its class depends on a version that is known only at run time."""


class Encoded(NamedTuple):
    """A request that is bytes already, but for its header; flexible ones have tags there.

    Args:
        version: lower than the one asked for, where the request cannot be said in that one.
    """

    data: bytes
    flexible: bool = True
    version: int | None = None


class Api(NamedTuple):
    """An API that the adapter speaks: its key and the versions that it can build and read."""

    key: int
    lowest: int
    highest: int


APIS: dict[str, Api] = {
    "fetch": Api(1, 4, 11),  # 13 names topics by id
    "list_offsets": Api(2, 1, 7),
    "metadata": Api(3, 5, 12),
    "offset_commit": Api(8, 2, 10),
    "offset_fetch": Api(9, 2, 9),  # 10 names topics by id, which a deleted topic has no more
    "find_coordinator": Api(10, 1, 6),
    "leave_group": Api(13, 3, 5),
    "describe_groups": Api(15, 0, 6),
    "list_groups": Api(16, 0, 5),
    "sasl_handshake": Api(17, 1, 1),
    "api_versions": Api(18, 0, 3),
    "delete_records": Api(21, 0, 2),
    "describe_configs": Api(32, 1, 4),
    "describe_quorum": Api(55, 1, 2),  # 0 has no times
    "sasl_authenticate": Api(36, 0, 2),
    "delete_groups": Api(42, 0, 2),
    "offset_delete": Api(47, 0, 0),
    "consumer_group_describe": Api(69, 0, 1),
    "share_group_describe": Api(77, 1, 1),
    "streams_group_describe": Api(89, 0, 0),
}
"""Lowest is what brokers from 2.4 on offer at least, highest what kio knows and we need."""


_SHORT_ANSWERS: Final = {
    "api_versions": 1 << 16,
    "sasl_handshake": 1 << 16,
    "sasl_authenticate": 1 << 20,
}
"""Bytes of answers whose length nothing in the cluster decides."""

_ROW_FACTORS: Final = {
    "find_coordinator": 256,  # a name of two bytes is answered with a host
    "list_offsets": 4,
    "offset_commit": 4,
    "leave_group": 4,
    "delete_records": 4,
    "delete_groups": 4,
    "offset_delete": 4,
}
"""Bytes of answer to each byte of the request, where every row answers one of the request's."""

_ROW_BASE: Final = 1 << 20


def answer_limit(api: str, request_bytes: int, most: int) -> int:
    """Bytes that the answer to a request of this length may have.

    Args:
        most: bytes that any answer may have.
    """
    if api in _SHORT_ANSWERS:
        return min(most, _SHORT_ANSWERS[api])
    if api in _ROW_FACTORS:
        return min(most, _ROW_BASE + _ROW_FACTORS[api] * request_bytes)
    return most


class VersionRange(NamedTuple):
    """Versions of one API that a broker offers, both ends included."""

    lowest: int
    highest: int


def choose_version(api: str, offered: VersionRange | None) -> int | None:
    """Highest version of `api` that both sides speak, or None if there is none."""
    if offered is None:
        return None
    known = APIS[api]
    version = min(known.highest, offered.highest)
    return version if version >= max(known.lowest, offered.lowest) else None


@cache
def _serial() -> Any:
    """kio's readers and writers.

    kio registers Hypothesis strategies for its types when Hypothesis is installed, which it is
    where kgroups is developed; importing that costs more than everything else together, so it is
    kept out unless it is there already.
    """
    hidden = [name for name in ("hypothesis", "hypothesis.strategies") if name not in sys.modules]
    if "hypothesis" not in hidden:
        return importlib.import_module("kio.serial")
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        return importlib.import_module("kio.serial")
    finally:
        for name in hidden:
            sys.modules.pop(name, None)


@cache
def schema(api: str, version: int, direction: str) -> Any:
    """kio's module of one message; `direction` is `request`, `response` or `data`."""
    _serial()
    return importlib.import_module(f"kio.schema.{api}.v{version}.{direction}")


def _class_name(api: str, direction: str) -> str:
    return kafka_name(f"{api}_{direction}" if direction != "data" else api)


def build(api: str, version: int, /, **fields: object) -> Message:
    """A request of this version; fields that the version does not have are left out.

    Args:
        fields: where a table has the API, structs within them are mappings.
    """
    if api in TABLES:
        return Encoded(encode(api, version, fields), version >= TABLES[api].flexible_from)
    return build_part(schema(api, version, "request"), _class_name(api, "request"), **fields)


def build_part(module: Any, class_name: str, /, **fields: object) -> Message:
    """A message or a nested struct of `module`; fields that its version lacks are left out."""
    kind = getattr(module, class_name)
    known = kind.__dataclass_fields__
    return kind(**{name: value for name, value in fields.items() if name in known})


def encode_request(api: str, version: int, correlation_id: int, client_id: str, body: Any) -> bytes:
    """The request as it goes over the wire, length prefix included."""
    buffer = io.BytesIO()
    name = client_id.encode()
    buffer.write(struct.pack(">hhih", APIS[api].key, version, correlation_id, len(name)) + name)
    if isinstance(body, Encoded):
        buffer.write(b"\0" + body.data if body.flexible else body.data)
    else:
        if type(body).__header_schema__.__version__ >= 2:
            buffer.write(b"\0")  # no tagged fields
        _serial().entity_writer(type(body))(buffer, body)
    frame = buffer.getvalue()
    return struct.pack(">i", len(frame)) + frame


def decode_response(api: str, version: int, frame: bytes, room: Room | None = None) -> Message:
    """The answer in `frame`, which starts with the correlation id.

    Args:
        room: memory that it shares with other answers.
    Raises:
        BrokerFailure: the bytes are not an answer of this version, or hold an error number that
            is not known (then its code is `UNKNOWN_ERROR_<number>`).
    """
    if api in TABLES:
        answer = _decode_small(api, version, frame, room)
        if answer is not None:
            return answer
    kind = getattr(schema(api, version, "response"), _class_name(api, "response"))
    what = f"the answer to {kafka_name(api)} v{version}"
    budget = memory_budget(frame, room)
    start = 4
    if kind.__header_schema__.__version__ >= 1:
        _, start = _decode(kind.__header_schema__, frame, 0, what, budget)
    message, _ = _decode(kind, frame, start, what, budget)
    budget.keep()
    return message


def introduction(version: int) -> Any:
    """ApiVersions of this version."""
    return build(
        "api_versions",
        version,
        client_software_name="kgroups",
        client_software_version="0.1.0",
    )


def read_introduction(api: str, version: int, frame: bytes, room: Room) -> Any:
    """The broker's versions; one that does not know our ApiVersions says so in version 0."""
    return decode_response(api, 0 if _is_refused_introduction(frame) else version, frame, room)


def _is_refused_introduction(frame: bytes) -> bool:
    """Whether a broker did not know our ApiVersions version: then its answer is in version 0."""
    return len(frame) >= 6 and struct.unpack_from(">h", frame, 4)[0] == _UNSUPPORTED_VERSION


def decode_passing(api: str, version: int, frame: bytes, _: Room) -> Message:
    """An answer that is searched and let go: it takes nothing of the memory that others share."""
    return decode_response(api, version, frame)


def _decode_small(api: str, version: int, frame: bytes, room: Room | None) -> Message | None:
    """The answer, if it is small and as its table says; None where kio has to be asked.

    Of a question that has been told much already the rest is kio's, which reads three times as
    fast once it is imported.
    """
    if room is not None and room.spent > _MUCH:
        return None
    budget = memory_budget(frame, room)
    answer = decode(api, version, frame, budget)
    if answer is not None:
        budget.keep()
    return answer


def memory_budget(data: bytes, room: Room | None = None) -> Budget:
    """What reading these bytes may cost."""
    return Budget(len(data), _MEMORY_FACTOR * max(len(data), DEFAULT_ANSWER_BYTES), room)


def kafka_name(api: str) -> str:
    """Kafka's spelling of an API: `ListGroups`."""
    return "".join(word.capitalize() for word in api.split("_"))


def _decode(kind: Any, data: bytes, start: int, what: str, budget: Budget) -> tuple[Message, int]:
    """A message and where it ends; kio's reader gets no bytes whose lengths were not checked."""
    try:
        end = check(kind, data, start, budget)
    except LengthError as error:
        raise _unreadable(what, error) from error
    except MemoryLimitError as error:
        raise BrokerFailure(
            "RESPONSE_TOO_LARGE", f"{what} is larger than kgroups reads at once"
        ) from error
    if budget.cuts:
        data = without_unknown_tags(data, budget)
        budget.cuts.clear()
    try:
        message, _ = _serial().entity_reader(kind)(data, start)
    except ValueError as error:
        unknown = re.match(r"(-?\d+) is not a valid ErrorCode", str(error))
        if unknown:
            raise BrokerFailure(
                f"UNKNOWN_ERROR_{unknown[1]}",
                f"the broker returned the unknown error code {unknown[1]}",
            ) from error
        raise _unreadable(what, error) from error
    except Exception as error:  # kio has a class for every way in which bytes can be wrong
        raise _unreadable(what, error) from error
    return message, end


def _unreadable(what: str, error: Exception) -> BrokerFailure:
    return BrokerFailure("CORRUPT_MESSAGE", f"{what} cannot be read: {shorten(str(error))}")


def error_name(code: Any) -> str | None:
    """Kafka's name of an error in an answer, or None for no error."""
    if code == 0:
        return None
    return ERROR_NAMES[code] if code.__class__ is int else str(code.name).upper()
