"""Messages by tables: kio's bytes, and what kio reads of them; the rest is left to it."""

import io
from dataclasses import asdict, fields, is_dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, get_args, get_origin
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer

from kgroups.core.kafka.transport.framing import (
    APIS,
    build,
    decode_response,
    encode_request,
    error_name,
    kafka_name,
    memory_budget,
    schema,
)
from kgroups.core.kafka.transport.lengths import Room, check
from kgroups.core.kafka.transport.table_codec import LONGEST, decode
from kgroups.core.kafka.transport.tables import ERROR_NAMES, TABLES

VERSIONS = [
    (api, version) for api in TABLES for version in range(APIS[api].lowest, APIS[api].highest + 1)
]
every_version = pytest.mark.parametrize(
    ("api", "version"), VERSIONS, ids=[f"{api}-v{version}" for api, version in VERSIONS]
)
few = settings(
    max_examples=8,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
ERRORS = st.sampled_from([ErrorCode(0), *map(ErrorCode, ERROR_NAMES)])


def message_type(api: str, version: int, direction: str) -> Any:
    """kio's class of a message."""
    return getattr(schema(api, version, direction), kafka_name(f"{api}_{direction}"))


def messages(kind: Any) -> st.SearchStrategy[Any]:
    """Messages of kio's class with every field drawn, those with a default too."""
    return st.builds(kind, **{field.name: values(field.type) for field in fields(kind)})


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values of the type of a field."""
    if kind is ErrorCode:
        return ERRORS
    if is_dataclass(kind):
        return messages(kind)
    if get_origin(kind) is tuple:
        return st.lists(values(get_args(kind)[0]), max_size=3).map(tuple)
    parts = get_args(kind)
    if type(None) in parts:
        return st.none() | values(next(part for part in parts if part is not type(None)))
    return st.from_type(kind)


def answer_frame(message: Any) -> bytes:
    """An answer as a broker sends it, without its length."""
    buffer = io.BytesIO()
    buffer.write(b"\0\0\0\7" + header_tags(type(message)))
    entity_writer(type(message))(buffer, message)
    return buffer.getvalue()


def header_tags(kind: Any) -> bytes:
    """The empty tagged fields in the header of an answer, where its version has them."""
    return b"\0" if kind.__header_schema__.__version__ >= 1 else b""


def same(ours: Any, kios: Any) -> bool:
    """Whether what the table reads is in kio's message; tagged fields are not read."""
    if isinstance(ours, SimpleNamespace):
        return all(same(value, value_of(kios, name)) for name, value in vars(ours).items())
    if isinstance(ours, tuple):
        return len(ours) == len(kios) and all(map(same, ours, kios))
    return bool(ours == (kios.bytes if isinstance(kios, UUID) else kios))


def value_of(message: Any, name: str) -> Any:
    """A field of kio's message; its times are `timedelta`s."""
    if name != "throttle_time_ms":
        return getattr(message, name)
    return round(message.throttle_time.total_seconds() * 1_000)


@every_version
def test_requests_are_kios_bytes(api: str, version: int) -> None:
    """Any request, in every version that is spoken."""

    @few
    @given(message=messages(message_type(api, version, "request")))
    def compare(message: Any) -> None:
        ours = build(api, version, **asdict(message))
        assert encode_request(api, version, 7, "c", ours) == encode_request(
            api, version, 7, "c", message
        )

    compare()


@every_version
def test_answers_are_read_as_kio_reads_them(api: str, version: int) -> None:
    """Any answer whose errors are those of the table, tagged fields in it or not."""

    @few
    @given(message=messages(message_type(api, version, "response")))
    def compare(message: Any) -> None:
        frame = answer_frame(message)
        found = decode(api, version, frame, memory_budget(frame))
        assert same(found, message)
        assert found is not None
        named = {field.name for field in fields(message) if "tag" not in field.metadata}
        assert {name.removesuffix("_ms") for name in vars(found)} == named

    compare()


@pytest.mark.parametrize("api", [api for api in TABLES if api != "api_versions"])
def test_odd_bytes_are_never_read_otherwise(api: str) -> None:
    """An answer with another byte in it, or cut: we read what kio reads, or leave it to kio.

    But for ApiVersions, whose tagged fields we pass over, whatever is in them.
    """
    version = APIS[api].highest
    kind = message_type(api, version, "response")

    @few
    @given(message=messages(kind), at=st.integers(0, 1 << 16), byte=st.integers(0, 255))
    def compare(message: Any, at: int, byte: int) -> None:
        frame = answer_frame(message)
        start = 4 + len(header_tags(kind))
        at = start + at % (len(frame) - start)
        for odd in (frame[:at], frame[:at] + bytes([byte]) + frame[at + 1 :]):
            found = decode(api, version, odd, memory_budget(odd))
            if found is not None:
                budget = memory_budget(odd)
                check(kind, odd, start, budget)
                if not budget.cuts:
                    assert same(found, entity_reader(kind)(odd, start)[0])

    compare()


def listing(error: ErrorCode, groups: int) -> bytes:
    """An answer to ListGroups."""
    module = schema("list_groups", 5, "response")
    rows = tuple(
        module.ListedGroup(
            group_id=f"g{number:05}",
            protocol_type="consumer",
            group_state="Empty",
            group_type="classic",
        )
        for number in range(groups)
    )
    return answer_frame(
        module.ListGroupsResponse(throttle_time=timedelta(0), error_code=error, groups=rows)
    )


@pytest.mark.parametrize(
    ("error", "groups", "by_table"),
    [
        (ErrorCode.none, 2_000, True),
        (ErrorCode.not_coordinator, 1, True),
        (ErrorCode.sasl_authentication_failed, 1, False),
        (ErrorCode.none, 10_000, False),
    ],
    ids=["of many groups", "of a usual error", "of a rare error", "of very many groups"],
)
def test_answers_by_table_and_by_kio_look_alike(
    error: ErrorCode, groups: int, *, by_table: bool
) -> None:
    """What asks does not see who has read."""
    frame = listing(error, groups)
    answer = decode_response("list_groups", 5, frame)
    assert isinstance(answer, SimpleNamespace) == by_table
    assert (len(frame) <= LONGEST) == (groups < 10_000)
    assert error_name(answer.error_code) == (None if error == 0 else error.name.upper())
    assert [item.group_id for item in answer.groups] == [f"g{i:05}" for i in range(groups)]


def test_much_is_left_to_kio() -> None:
    """The first answers to a question are read by table; the next question begins anew."""
    room, frame = Room(1 << 29), listing(ErrorCode.none, 2_000)
    kinds = [type(decode_response("list_groups", 5, frame, room)) for _ in range(20)]
    by_table = kinds.count(SimpleNamespace)
    assert 10 < by_table < 20
    assert kinds[:by_table] == [SimpleNamespace] * by_table
    room.clear()
    assert isinstance(decode_response("list_groups", 5, frame, room), SimpleNamespace)


def test_errors_have_kios_names() -> None:
    """The table's numbers and names are Kafka's."""
    assert {code: ErrorCode(code).name.upper() for code in ERROR_NAMES} == ERROR_NAMES
