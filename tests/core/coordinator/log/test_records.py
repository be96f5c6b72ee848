"""Records of `__consumer_offsets` as bytes: Kafka's own bytes, old versions, and broken ones."""

from contextlib import suppress
from random import Random
from uuid import UUID

import pytest

from kgroups.core.coordinator.log import records as r
from kgroups.core.coordinator.log.record_codec import (
    BY_NUMBER,
    KINDS,
    Kind,
    decode_key,
    decode_record,
    encode_key,
    encode_record,
    encode_value,
)
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.protocol.writer import Struct, writer
from tests.core.coordinator.test_recorded import read_trace
from tests.support.protocol.random_messages import random_message

ROUNDS = 40
# Kinds and versions of values that are written; of kinds 2, 4 and 5 not every value comes back as
# the bytes that it was read from.
WRITTEN = {(1, 1), (1, 4), *((number, 0) for number in (3, 6, 7, 8, 16))}


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


# Key 0 means the same as 1.
OLD_OFFSETS = [
    (0, "0000" + "0000000000000005" + "0000" + "0000000000000006", (5, -1, "", 6, -1)),
    (0, "0001" + "0000000000000005" + "0000" + "0000000000000006" + "0000000000000007",
     (5, -1, "", 6, 7)),
    (0, "0002" + "0000000000000005" + "0000" + "0000000000000006", (5, -1, "", 6, -1)),
    (1, "0003" + "000000000000002a" + "00000005" + "00016d" + "0000018bcfe56800",
     (42, 5, "m", 1_700_000_000_000, -1)),
]  # fmt: skip


@pytest.mark.parametrize(("number", "raw", "value"), OLD_OFFSETS)
def test_offsets_of_old_versions_are_read(
    number: int, raw: str, value: tuple[int, int, str, int, int]
) -> None:
    """Without leader epoch before 3; version 1 with its own time of expiry."""
    name = r.OffsetCommitKey("g", "t", 3)
    read = decode_record(number.to_bytes(2, "big") + encode_key(name)[2:], bytes.fromhex(raw))
    assert read == r.Record(name, r.OffsetCommitValue(*value))


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


def random_record(kind: Kind, version: int, rng: Random) -> tuple[bytes, bytes]:
    """Bytes of a key and of a value of this version."""
    key = bytearray(kind.number.to_bytes(2, "big"))
    writer(kind.key.table, 0)(key, random_message(kind.key.table, 0, rng))
    value = random_message(kind.value.table, version, rng)
    return bytes(key), _value_bytes(kind.number, version, value)


VERSIONS = [(kind, version) for kind in KINDS for version in kind.value.table.versions]
of_every_version = pytest.mark.parametrize(
    ("kind", "version"), VERSIONS, ids=lambda one: str(getattr(one, "number", one))
)


@of_every_version
def test_what_is_written_is_read(kind: Kind, version: int) -> None:
    """Every record survives its bytes, and so does its deletion."""
    rng = Random(f"written {kind.number} {version}")
    for _ in range(ROUNDS):
        key, value = random_record(kind, version, rng)
        record = decode_record(key, value)
        assert record is not None
        assert decode_record(*encode_record(record)) == record
        assert decode_record(key, None) == r.Record(record.key, None)
        assert encode_record(r.Record(record.key, None)) == (key, None)
        if (kind.number, version) in WRITTEN and kind.version(record.value) == version:
            assert encode_value(record) == value


@of_every_version
def test_broken_bytes_are_told_apart(kind: Kind, version: int) -> None:
    """Cut or overwritten bytes give a record or a DecodeError, nothing else."""
    rng = Random(f"broken {kind.number} {version}")
    for _ in range(ROUNDS):
        key, value = random_record(kind, version, rng)
        cut, noise = rng.randrange(len(value) + 1), rng.randbytes(rng.randrange(5))
        for broken in (value[:cut], value[:cut] + noise + value[cut + len(noise) :]):
            with suppress(DecodeError):
                decode_record(key, broken)
        with suppress(DecodeError):
            decode_key(key[: cut % (len(key) + 1)])


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
