"""Our readers and writers beside kio's own: same bytes for every API and version there is."""

import dataclasses
import datetime
import io
import random
import struct
from typing import Any, get_args, get_origin
from uuid import UUID

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_writer

from kgroups.core.sandbox.apis import API_VERSIONS, Api
from kgroups.core.sandbox.wire.error_bodies import error_body
from kgroups.core.sandbox.wire.frame_codec import read_header, read_request, write_response
from kgroups.core.sandbox.wire.schema import MAX_ELEMENTS, Cursor, DecodeError, struct_codec
from tests.support.sandbox.frame_client import request_frame

ALL = [
    (api, version)
    for api, name in sorted(api_key_map.items())
    for version in sorted(schema_name_map[name])
]


def random_value(kind: Any, kafka_type: str, rng: random.Random, *, nullable: bool) -> Any:
    """A value of a kio field that is no struct and no list."""
    if kafka_type == "uuid":
        return rng.choice([None, UUID(int=rng.getrandbits(128) | 1)])
    if nullable and rng.random() < 0.3:
        return None
    match kafka_type:
        case "string":
            return kind("".join(rng.choices("aß漢😀 ", k=rng.randrange(5))))
        case "bytes" | "records":
            return rng.randbytes(rng.randrange(6))
        case "bool":
            return rng.random() < 0.5
        case "error_code":
            return rng.choice(list(ErrorCode))
        case "float64":
            return rng.random()
        case "timedelta_i32" | "timedelta_i64":
            return datetime.timedelta(milliseconds=rng.randrange(2**31))
        case "datetime_i64":
            return datetime.datetime.fromtimestamp(rng.randrange(2**32), datetime.UTC)
    bits = int(kafka_type.lstrip("uint"))
    number = rng.getrandbits(bits)
    return number if kafka_type.startswith("u") else number - 2 ** (bits - 1)


def random_entity(schema: type, rng: random.Random) -> Any:
    """An instance of a kio class with every field drawn."""
    values = {}
    for field in dataclasses.fields(schema):
        kinds = [field.type, *get_args(field.type)]
        nullable = type(None) in kinds
        kind = next(k for k in kinds[1:] or kinds if k is not type(None))
        if nullable or get_origin(field.type) is tuple:
            kind = field.type if get_origin(field.type) is tuple else kind
        values[field.name] = _random_field(field, kind, rng, nullable=nullable)
    return schema(**values)


def _random_field(field: Any, kind: Any, rng: random.Random, *, nullable: bool) -> Any:
    if get_origin(kind) is tuple:
        if nullable and "tag" not in field.metadata and rng.random() < 0.3:
            return None
        inner = get_args(kind)[0]
        count = rng.randrange(3)
        if dataclasses.is_dataclass(inner) and isinstance(inner, type):
            return tuple(random_entity(inner, rng) for _ in range(count))
        kafka_type = field.metadata["kafka_type"]
        return tuple(random_value(inner, kafka_type, rng, nullable=False) for _ in range(count))
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return None if nullable and rng.random() < 0.3 else random_entity(kind, rng)
    tagged = "tag" in field.metadata
    return random_value(kind, field.metadata["kafka_type"], rng, nullable=nullable and not tagged)


def plain(value: Any) -> Any:
    """An entity as our dict of plain values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {}
        for field in dataclasses.fields(value):
            item = getattr(value, field.name)
            if field.metadata.get("kafka_type") == "datetime_i64" and item is None:
                item = -1
            found[field.name] = plain(item)
        return found
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime.timedelta):
        return round(value.total_seconds() * 1000)
    if isinstance(value, datetime.datetime):
        return round(value.timestamp() * 1000)
    return value


@pytest.mark.parametrize("load", [load_request_schema, load_response_schema])
def test_bytes_equal_kio(load: Any) -> None:
    """Random messages of every API and version: we write kio's bytes and read them back."""
    rng = random.Random(20260821)
    for api, version in ALL:
        schema = load(api, version)
        for _ in range(5):
            entity = random_entity(schema, rng)
            theirs = io.BytesIO()
            entity_writer(schema)(theirs, entity)
            read, write = struct_codec(schema)
            ours = bytearray()
            write(ours, plain(entity))
            assert bytes(ours) == theirs.getvalue(), (api, version, entity)
            cursor = Cursor(bytes(ours))
            assert read(cursor) == plain(entity), (api, version)
            assert cursor.pos == cursor.end


@pytest.mark.parametrize(("api", "version"), ALL)
def test_error_bodies_can_be_written(api: int, version: int) -> None:
    """Every answer that has a place for an error can be made of nothing but one."""
    body = error_body(api, version, {}, 35)
    if body is None:
        assert api == 24, "only AddPartitionsToTxn before version 4 has none for an empty request"
    else:
        assert write_response(api, version, 7, body)


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
    call: tuple[int, int], request_body: Any, place: Any, expected: dict[str, Any]
) -> None:
    """One error code, at the place where that API's clients look for it."""
    body = error_body(*call, request_body, 6)
    assert body is not None
    row = place(body)
    assert {key: row[key] for key in expected} == expected


def test_request_round_trip() -> None:
    """A frame gives back API, version, ids and fields."""
    frame = request_frame(
        Api.HEARTBEAT, 4,
        {"group_id": "g", "generation_id": 3, "member_id": "m", "group_instance_id": None},
        correlation_id=77, client_id="ün",
    )[4:]  # fmt: skip
    request = read_request(frame, read_header(frame))
    assert (request.api, request.version, request.correlation_id) == (Api.HEARTBEAT, 4, 77)
    assert request.client_id == "ün"
    assert request.body["generation_id"] == 3


BROKEN = [
    ("an array that cannot fit", struct.pack(">i", 2**31 - 1)),
    ("an array of negative length", struct.pack(">i", -2)),
    ("a string longer than the frame", struct.pack(">ih", 1, 30_000)),
    ("text that is not UTF-8", struct.pack(">ih", 1, 2) + b"\xff\xfe"),
    ("nothing", b""),
]


@pytest.mark.parametrize("raw", [case[1] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_broken_bytes_are_refused(raw: bytes) -> None:
    """Lengths are checked against the frame before anything is made of them."""
    read, _ = struct_codec(load_request_schema(Api.METADATA, 1))
    with pytest.raises(DecodeError):
        read(Cursor(raw))


def test_elements_are_bounded() -> None:
    """A frame that is all array elements ends at the bound, not at the end of memory."""
    read, _ = struct_codec(load_request_schema(Api.DELETE_GROUPS, 1))
    names = MAX_ELEMENTS + 1
    with pytest.raises(DecodeError):
        read(Cursor(struct.pack(">i", names) + bytes(2 * names)))


def test_unknown_tags_are_passed_over() -> None:
    """A tagged field that nobody knows yet does not disturb (KIP-482)."""
    read, _ = struct_codec(load_request_schema(Api.API_VERSIONS, 3))
    raw = b"\x02a\x02b" + b"\x01" + b"\x63\x03xyz"
    assert read(Cursor(raw)) == {"client_software_name": "a", "client_software_version": "b"}


def test_every_served_version_is_known() -> None:
    """The served ranges have no hole in the message tables."""
    for api, (low, high) in API_VERSIONS.items():
        for version in range(low, high + 1):
            assert load_request_schema(api, version).__version__ == version
