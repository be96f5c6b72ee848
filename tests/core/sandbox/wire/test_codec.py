"""Frames of the embedded cluster: requests read, and errors where clients look for them."""

import struct
from random import Random
from typing import Any

import pytest

from kgroups.core.coordinator.classic.messages import HeartbeatRequest
from kgroups.core.protocol.frames import read_header, write_request, write_response
from kgroups.core.protocol.frames import read_request as read_message
from kgroups.core.protocol.reader import DecodeError, row_maker
from kgroups.core.protocol.table import request_table, response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.caps import API_VERSIONS
from kgroups.core.sandbox.wire.frame_codec import error_body, read_request
from tests.support.protocol.plain import as_plain
from tests.support.protocol.random_messages import random_message
from tests.support.sandbox.frame_client import request_frame

ALL = [(api, version) for api in Api for version in request_table(api).versions]


@pytest.mark.parametrize(("api", "version"), ALL)
def test_error_bodies_can_be_written(api: Api, version: int) -> None:
    """Every answer has a place for an error, and can be made of nothing but one."""
    rng = Random(7)
    message = random_message(request_table(api), version, rng)
    frame = write_request(api, version, 1, "c", message)[4:]
    _, request = read_message(frame, read_header(frame))
    body = error_body(api, version, request, 35)
    assert body is not None
    assert write_response(api, version, 7, body)


def as_row(value: Any) -> Any:
    """A request that was read, with these fields alone."""
    if isinstance(value, dict):
        return row_maker("Asked", tuple(value), {})([as_row(each) for each in value.values()])
    return tuple(map(as_row, value)) if isinstance(value, list) else value


ERROR_PLACES = [
    (
        "Fetch reports per partition",
        (Api.FETCH, 12),
        {"topics": [{"topic": "t", "partitions": [{"partition": 3}]}]},
        lambda body: body["responses"][0]["partitions"][0],
        {"partition_index": 3, "error_code": 6},
    ),
    (
        "Produce reports per partition",
        (Api.PRODUCE, 9),
        {"topic_data": [{"name": "t", "partition_data": [{"index": 2, "records": b"x"}]}]},
        lambda body: body["responses"][0]["partition_responses"][0],
        {"index": 2, "error_code": 6},
    ),
    (
        "JoinGroup reports at the top",
        (Api.JOIN_GROUP, 9),
        {"group_id": "g", "member_id": "m", "protocols": [{"name": "range"}]},
        lambda body: body,
        {"member_id": "m", "error_code": 6, "members": []},
    ),
    (
        "FindCoordinator reports per key",
        (Api.FIND_COORDINATOR, 4),
        {"coordinator_keys": ["a", "b"], "key_type": 0},
        lambda body: body["coordinators"][1],
        {"key": "b", "error_code": 6, "node_id": -1},
    ),
    (
        "OffsetFetch reports per group",
        (Api.OFFSET_FETCH, 9),
        {"groups": [{"group_id": "g", "topics": None}]},
        lambda body: body["groups"][0],
        {"group_id": "g", "error_code": 6},
    ),
    (
        "DescribeGroups reports per group",
        (Api.DESCRIBE_GROUPS, 5),
        {"groups": ["g"]},
        lambda body: body["groups"][0],
        {"group_id": "g", "error_code": 6, "members": []},
    ),
]


@pytest.mark.parametrize(
    ("call", "request_body", "place", "expected"),
    [case[1:] for case in ERROR_PLACES],
    ids=[case[0] for case in ERROR_PLACES],
)
def test_where_an_error_stands(
    call: tuple[Api, int], request_body: Any, place: Any, expected: dict[str, Any]
) -> None:
    """One error code, at the place where that API's clients look for it."""
    body = error_body(*call, as_row(request_body), 6)
    assert body is not None
    row = place(as_plain(body))
    assert {key: row[key] for key in expected} == expected


def test_request_round_trip() -> None:
    """A frame gives back API, version, ids and fields."""
    frame = request_frame(
        Api.HEARTBEAT, 4,
        {"group_id": "g", "generation_id": 3, "member_id": "m", "group_instance_id": None},
        correlation_id=77, client_id="ün",
    )[4:]  # fmt: skip
    request = read_request(frame, read_header(frame), "/127.0.0.1")
    assert (request.api, request.version, request.correlation_id) == (Api.HEARTBEAT, 4, 77)
    assert request.client_id == "ün"
    assert request.body == HeartbeatRequest(
        version=4,
        client_id="ün",
        client_host="/127.0.0.1",
        group_id="g",
        generation_id=3,
        member_id="m",
    )


def test_elements_are_bounded() -> None:
    """A frame that is all array elements ends at the bound, not at the end of memory."""
    header = struct.pack(">hhih", Api.DELETE_GROUPS, 1, 1, -1)
    names = 8_000_000
    frame = header + struct.pack(">i", names) + bytes(2 * names)
    with pytest.raises(DecodeError, match="memory"):
        read_request(frame, read_header(frame), "/127.0.0.1")


def test_every_served_version_is_known() -> None:
    """The served ranges have no hole in the message tables."""
    for api, (low, high) in API_VERSIONS.items():
        for version in range(low, high + 1):
            assert version in request_table(api).versions
            assert version in response_table(api).versions
