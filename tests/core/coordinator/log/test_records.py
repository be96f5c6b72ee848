"""Records of `__consumer_offsets` as bytes: Kafka's own bytes, old versions, and broken ones."""

from collections.abc import Callable
from uuid import UUID

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kgroups.core.coordinator.log import records as r
from kgroups.core.coordinator.log.record_codec import (
    BY_NUMBER,
    KINDS,
    decode_key,
    decode_record,
    encode_key,
    encode_value,
)
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.protocol.writer import Struct, writer
from tests.core.coordinator.test_recorded import read_trace

TEXT = st.text(max_size=12)
NAME = st.none() | TEXT
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
IDS = st.uuids()
POSITIVE = st.integers(1, 2**62)


def test_every_recorded_record_has_kafkas_bytes() -> None:
    """Each record of a trace with bytes is read, and written again byte for byte."""
    seen = set()
    for _, answer in read_trace("raw-000"):
        for given_record in answer.get("records", ()):
            key = bytes.fromhex(given_record["k"])
            value = bytes.fromhex(given_record["v"]) if "v" in given_record else None
            record = decode_record(key, value)
            assert record is not None
            assert encode_key(record.key) == key
            assert encode_value(record) == value
            seen.add((given_record["type"], value is None))
    numbers = {kind.number for kind in KINDS}
    assert seen >= {(number, True) for number in numbers}
    assert seen >= {(number, False) for number in numbers - {4}}


KEYS = [
    (r.OffsetCommitKey("g", "t", 3), "0001000167000174" + "00000003"),
    (r.GroupMetadataKey("g"), "0002000167"),
    (r.ConsumerGroupMemberMetadataKey("g", "m"), "000500016700016d"),
    (r.ConsumerGroupRegularExpressionKey("g", ".*"), "001000016700022e2a"),
]


@pytest.mark.parametrize(("key", "raw"), KEYS, ids=lambda value: str(value)[:24])
def test_a_key_is_its_number_and_its_fields(key: r.RecordKey, raw: str) -> None:
    """Keys are never compact."""
    assert encode_key(key).hex() == raw
    assert decode_key(bytes.fromhex(raw)) == key


def test_an_offset_of_version_3_is_read() -> None:
    """Offset 42, epoch 5, "m", with a four-version-old writer's bytes."""
    raw = "0003000000000000002a0000000500016d0000018bcfe56800"
    read = decode_record(encode_key(r.OffsetCommitKey("g", "t", 3)), bytes.fromhex(raw))
    assert read is not None
    assert read.value == r.OffsetCommitValue(42, 5, "m", 1_700_000_000_000)


OLD_OFFSETS = [
    ("0000", "", -1),
    ("0001", "0000000000000007", 7),
    ("0002", "", -1),
]


@pytest.mark.parametrize(("version", "tail", "expires"), OLD_OFFSETS)
def test_offsets_of_old_versions_are_read(version: str, tail: str, expires: int) -> None:
    """Without leader epoch; version 1 with its own time of expiry. Key 0 means the same as 1."""
    raw = bytes.fromhex(version + "0000000000000005" + "0000" + "0000000000000006" + tail)
    key = b"\x00\x00" + encode_key(r.OffsetCommitKey("g", "t", 3))[2:]
    read = decode_record(key, raw)
    assert read == r.Record(
        r.OffsetCommitKey("g", "t", 3), r.OffsetCommitValue(5, -1, "", 6, expires)
    )


def _value_bytes(number: int, version: int, value: object) -> bytes:
    """The value of a record in an older version."""
    out = bytearray(version.to_bytes(2, "big"))
    writer(BY_NUMBER[number].value.table, version)(out, value)
    return bytes(out)


def _old_group(version: int) -> bytes:
    member = Struct(
        member_id="m",
        group_instance_id="i",
        client_id="c",
        client_host="/h",
        rebalance_timeout=60_000,
        session_timeout=10_000,
        subscription=b"sub",
        assignment=b"asg",
    )
    group = Struct(
        protocol_type="consumer",
        generation=7,
        protocol="range",
        leader="m",
        current_state_timestamp=99,
        members=(member,),
    )
    return _value_bytes(2, version, group)


@pytest.mark.parametrize("version", range(5))
def test_groups_of_every_version_are_read(version: int) -> None:
    """What a version does not have gets what Kafka takes for it."""
    read = decode_record(encode_key(r.GroupMetadataKey("g")), _old_group(version))
    assert read is not None
    member = r.GroupMetadataMember(
        "m",
        "i" if version >= 3 else None,
        "c",
        "/h",
        60_000 if version >= 1 else 10_000,
        10_000,
        b"sub",
        b"asg",
    )
    since = 99 if version >= 2 else -1
    assert read.value == r.GroupMetadataValue("consumer", 7, "range", "m", since, (member,))


TARGETS = st.lists(st.builds(r.AssignedTopic, IDS, st.just((1, 2)), st.just(())), max_size=3).map(
    tuple
)
TOPICS = st.lists(
    st.builds(r.AssignedTopic, IDS, st.just((1, 2)), st.just(()) | st.just((4, 5))), max_size=3
).map(tuple)
CLASSIC = st.builds(
    r.ClassicMemberMetadata,
    INT32,
    st.lists(st.builds(r.ClassicProtocol, TEXT, st.binary(max_size=9)), max_size=2).map(tuple),
)
NAMES = st.lists(TEXT, max_size=3).map(tuple)
MEMBERS = st.lists(
    st.builds(
        r.GroupMetadataMember,
        TEXT,
        NAME,
        TEXT,
        TEXT,
        st.integers(0, 2**31 - 1),
        INT32,
        st.binary(max_size=9),
        st.binary(max_size=300),
    ),
    max_size=3,
).map(tuple)
RECORDS = st.one_of(
    st.builds(
        r.Record,
        st.builds(r.OffsetCommitKey, TEXT, TEXT, INT32),
        st.builds(r.OffsetCommitValue, INT64, INT32, TEXT, INT64, st.just(-1), st.none() | IDS)
        | st.builds(r.OffsetCommitValue, INT64, st.just(-1), TEXT, INT64, POSITIVE, st.none()),
    ),
    st.builds(
        r.Record,
        st.builds(r.GroupMetadataKey, TEXT),
        st.builds(r.GroupMetadataValue, TEXT, INT32, NAME, NAME, INT64, MEMBERS),
    ),
    st.builds(
        r.Record,
        st.builds(r.ConsumerGroupMetadataKey, TEXT),
        st.builds(r.ConsumerGroupMetadataValue, INT32, INT64),
    ),
    st.builds(
        r.Record,
        st.builds(r.ConsumerGroupPartitionMetadataKey, TEXT),
        st.builds(
            r.ConsumerGroupPartitionMetadataValue,
            st.lists(st.builds(r.TopicMetadata, IDS, TEXT, INT32), max_size=2).map(tuple),
        ),
    ),
    st.builds(
        r.Record,
        st.builds(r.ConsumerGroupMemberMetadataKey, TEXT, TEXT),
        st.builds(
            r.ConsumerGroupMemberMetadataValue,
            NAME,
            NAME,
            TEXT,
            TEXT,
            NAMES,
            NAME,
            INT32,
            NAME,
            st.none() | CLASSIC,
        ),
    ),
    st.builds(
        r.Record,
        st.builds(r.ConsumerGroupTargetAssignmentMetadataKey, TEXT),
        st.builds(r.ConsumerGroupTargetAssignmentMetadataValue, INT32, INT64),
    ),
    st.builds(
        r.Record,
        st.builds(r.ConsumerGroupTargetAssignmentMemberKey, TEXT, TEXT),
        st.builds(r.ConsumerGroupTargetAssignmentMemberValue, TARGETS),
    ),
    st.builds(
        r.Record,
        st.builds(r.ConsumerGroupCurrentMemberAssignmentKey, TEXT, TEXT),
        st.builds(
            r.ConsumerGroupCurrentMemberAssignmentValue,
            INT32,
            INT32,
            st.integers(0, 2),
            TOPICS,
            TOPICS,
        ),
    ),
    st.builds(
        r.Record,
        st.builds(r.ConsumerGroupRegularExpressionKey, TEXT, TEXT),
        st.builds(r.ConsumerGroupRegularExpressionValue, NAMES, INT64, INT64),
    ),
)


@given(RECORDS)
def test_what_is_written_is_read(record: r.Record) -> None:
    """Every record survives its bytes, and so does its deletion."""
    if isinstance(record.value, r.OffsetCommitValue) and record.value.topic_id == UUID(int=0):
        return
    key = encode_key(record.key)
    assert decode_record(key, encode_value(record)) == record
    assert decode_record(key, None) == r.Record(record.key, None)
    assert encode_value(r.Record(record.key, None)) is None


def _is_told(read: Callable[[], object]) -> bool:
    """Whether reading gives a value or a DecodeError; anything else is raised."""
    try:
        read()
    except DecodeError:
        return True
    return True


@given(RECORDS, st.integers(0, 400), st.binary(max_size=4))
def test_broken_bytes_are_told_apart(record: r.Record, cut: int, noise: bytes) -> None:
    """Cut or overwritten bytes give a record or a DecodeError, nothing else."""
    key, value = encode_key(record.key), encode_value(record)
    assert value is not None
    overwritten = value[:cut] + noise + value[cut + len(noise) :]
    assert _is_told(lambda: decode_record(key, value[:cut]))
    assert _is_told(lambda: decode_record(key, overwritten))
    assert _is_told(lambda: decode_key(key[: cut % (len(key) + 1)]))


def test_records_of_other_kinds_are_passed_over() -> None:
    """Share and streams groups have kinds of their own."""
    assert decode_key(b"\x00\x0a\x00\x01g") is None
    assert decode_record(b"\x00\x11\x00\x01g", b"\x00\x00") is None


def test_a_version_from_the_future_is_refused() -> None:
    """Its fields cannot be known."""
    with pytest.raises(DecodeError, match="version 9 of record kind 2"):
        decode_record(encode_key(r.GroupMetadataKey("g")), b"\x00\x09")


def test_topics_of_kind_4_may_have_racks() -> None:
    """Kafka before 4.1 wrote them; they are read and forgotten."""
    racks = [Struct(partition=partition, racks=["r1"]) for partition in range(2)]
    topic = Struct(topic_id=UUID(int=7), topic_name="t", num_partitions=2, partition_metadata=racks)
    value = _value_bytes(4, 0, Struct(topics=[topic]))
    read = decode_record(encode_key(r.ConsumerGroupPartitionMetadataKey("g")), value)
    assert read is not None
    assert read.value == r.ConsumerGroupPartitionMetadataValue(
        (r.TopicMetadata(UUID(int=7), "t", 2),)
    )
