"""Messages as bytes: versions, requests, answers, numbers that nobody knows yet."""

import struct
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_request_schema
from kio.serial import entity_reader

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.group_kinds import KINDS
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.messages import APIS, choose_version, decode_response
from kgroups.core.kafka.writes.group_writes import (
    alter_start_request,
    decode_written,
    delete_start_request,
)
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.frames import VersionRange, write_request, write_response
from kgroups.core.protocol.rows import BY_ID, BY_NAME
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import CommittedOffset
from tests.core.protocol.test_rows import ids_of
from tests.support.protocol.plain import as_message
from tests.support.protocol.spoken_apis import NEWER_THAN_KIO

CHOICES = [
    ("both know more than the other", Api.OFFSET_FETCH, VersionRange(1, 10), 9),
    ("an older broker", Api.OFFSET_FETCH, VersionRange(0, 6), 6),
    ("a newer broker that dropped ours", Api.OFFSET_FETCH, VersionRange(10, 12), None),
    ("too old a broker", Api.METADATA, VersionRange(0, 4), None),
    ("not offered", Api.OFFSET_FETCH, None, None),
    ("one version in common", Api.LIST_OFFSETS, VersionRange(7, 11), 7),
]


@pytest.mark.parametrize(
    ("api", "offered", "version"), [c[1:] for c in CHOICES], ids=[c[0] for c in CHOICES]
)
def test_highest_common_version_is_chosen(
    api: Api, offered: VersionRange | None, version: int | None
) -> None:
    """The highest version of both sides, or none."""
    assert choose_version(api, offered) == version


REQUESTS = {
    Api.API_VERSIONS: requests.introduction(),
    Api.METADATA: requests.metadata(["t"]),
    Api.FIND_COORDINATOR: requests.find_coordinator(["g"]),
    Api.LIST_GROUPS: requests.list_groups(),
    Api.OFFSET_FETCH: requests.offset_fetch(["g"]),
    Api.LIST_OFFSETS: requests.list_offsets({("t", 0): requests.LATEST}, "read_committed"),
    Api.FETCH: requests.fetch({("t", 0): 7}, 1_000),
    Api.DELETE_GROUPS: requests.delete_groups(["g"]),
    Api.DESCRIBE_CONFIGS: requests.describe_broker_configs(1, ["a"]),
    Api.DESCRIBE_QUORUM: requests.describe_quorum("t"),
    Api.DESCRIBE_PRODUCERS: requests.describe_producers([("t", 0)]),
    Api.LIST_TRANSACTIONS: requests.list_transactions([7]),
    Api.DESCRIBE_TRANSACTIONS: requests.describe_transactions(["app-1"]),
    Api.DESCRIBE_SHARE_GROUP_OFFSETS: requests.describe_start_offsets(["g"]),
    Api.ALTER_SHARE_GROUP_OFFSETS: alter_start_request("g", {("t", 0): CommittedOffset(7)}, {}, 0),
    Api.DELETE_SHARE_GROUP_OFFSETS: delete_start_request("g", {("t", 0): None}, {}, 0),
} | dict.fromkeys((kind.describer for kind in KINDS.values()), requests.describe_groups(["g"]))
WRITTEN = [
    (api, version)
    for api in REQUESTS
    for version in range(APIS[api].lowest, APIS[api].highest + 1)
    if (api, version) not in NEWER_THAN_KIO
]


@pytest.mark.parametrize(
    ("api", "version"), WRITTEN, ids=[f"{api.name}-v{version}" for api, version in WRITTEN]
)
def test_every_request_is_written_at_every_version(api: Api, version: int) -> None:
    """One object has what all versions need; kio reads the same of it."""
    frame = write_request(api, version, 7, "kgroups", REQUESTS[api])
    size, key, written, correlation_id = struct.unpack_from(">ihhi", frame)
    assert (size, key, written, correlation_id) == (len(frame) - 4, api, version, 7)
    kind = load_request_schema(api, version)
    start = 14 + len("kgroups") + kind.__flexible__
    _, size = entity_reader(kind)(frame, start)
    assert start + size == len(frame)


def test_answer_of_find_coordinator_is_read() -> None:
    """Bytes written by hand, header with tagged fields included."""
    frame = struct.pack(">ib", 7, 0) + struct.pack(">i", 0) + b"\x02\x02g"
    frame += struct.pack(">i", 1) + b"\x02h" + struct.pack(">ih", 9092, 0) + b"\x00\x00\x00"
    answer = decode_response(Api.FIND_COORDINATOR, 4, frame)
    (item,) = answer.coordinators
    assert (item.key, item.node_id, item.host, item.port, item.error_code) == ("g", 1, "h", 9092, 0)


def test_error_number_from_the_future_is_named() -> None:
    """A number that is not known spoils nothing beside it."""
    frame = struct.pack(">ib", 7, 0) + struct.pack(">i", 0) + b"\x03\x02g"
    frame += struct.pack(">h", 999) + b"\x00\x02h" + struct.pack(">h", 0) + b"\x00\x00"
    future, known = decode_response(Api.DELETE_GROUPS, 2, frame).results
    assert error_name(future.error_code) == "UNKNOWN_ERROR_999"
    assert (known.group_id, error_name(known.error_code)) == ("h", None)


@pytest.mark.parametrize("size", range(4, 24))
def test_cut_answer_is_a_failure(size: int) -> None:
    """Whatever is missing, it is a failure of that broker."""
    frame = struct.pack(">ib", 7, 0) + struct.pack(">i", 0) + b"\x02\x02g"
    frame += struct.pack(">i", 1) + b"\x02h" + struct.pack(">ih", 9092, 0) + b"\x00\x00\x00"
    with pytest.raises(BrokerFailure) as caught:
        decode_response(Api.FIND_COORDINATOR, 4, frame[:size])
    assert caught.value.code == "CORRUPT_MESSAGE"


ROWS = st.dictionaries(
    st.text(min_size=1, max_size=200).filter(str.isprintable),
    st.dictionaries(st.integers(0, 99), st.sampled_from([0, 0, 0, 3, 16, 25]), min_size=1),
    max_size=3,
)


@pytest.mark.parametrize("version", [7, *BY_NAME, BY_ID])
@given(topics=ROWS)
def test_what_became_of_commits(version: int, topics: dict[str, dict[int, int]]) -> None:
    """All taken, some refused, or none there; topics by their names and by their ids."""
    ids = ids_of([*topics, "of another question"])
    rows_by_topic = [
        {
            "name": topic,
            "topic_id": UUID(bytes=ids[topic]),
            "partitions": [{"partition_index": n, "error_code": code} for n, code in rows.items()],
        }
        for topic, rows in topics.items()
    ]
    answer = as_message({"throttle_time_ms": 0, "topics": rows_by_topic})
    frame = bytes(write_response(Api.OFFSET_COMMIT, version, 7, answer)[4:])
    names = {ids[topic]: topic for topic in ids}
    assert decode_written(Api.OFFSET_COMMIT, version, frame, names=names) == {
        (topic, number): error_name(code)
        for topic, rows in topics.items()
        for number, code in rows.items()
    }


@pytest.mark.parametrize("version", [*BY_NAME, BY_ID])
@given(st.binary(max_size=60))
def test_wild_bytes_are_a_failure(version: int, wild: bytes) -> None:
    """Bytes that are no answer never end in another exception."""
    outcome: object = None
    try:
        outcome = decode_written(Api.OFFSET_COMMIT, version, b"\0\0\0\7" + wild)
    except BrokerFailure as failure:
        outcome = failure.code
    assert isinstance(outcome, dict) or outcome == "CORRUPT_MESSAGE"
