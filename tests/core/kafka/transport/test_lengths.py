"""Lengths are checked before kio reads: whole answers end where they end, others cost little."""

import io
import json
import os
import random
import struct
import sys

import pytest
from kio.index import load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_writer

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.commit_bytes import read_fetched
from kgroups.core.kafka.transport.framing import answer_limit, decode_response, schema
from kgroups.core.kafka.transport.lengths import Budget, LengthError, MemoryLimitError, check
from tests.support.hostile.mutations import unnamed_groups
from tests.support.kafka.child import run_program
from tests.support.protocol.kio_messages import random_entity

FRAMES = int(os.environ.get("KGROUPS_FUZZ_FRAMES", "20000"))
# Thrice what the objects of an answer may cost (256 MiB): those of the one before may still be
# there, and Python returns no memory at once. Without the check it is 17 GB.
MAX_PEAK_BYTES = 3 * 256 * 1024 * 1024
PLENTY = 1 << 28
ALL = [(api, v) for api, name in sorted(api_key_map.items()) for v in sorted(schema_name_map[name])]


def test_whole_messages_end_where_they_end() -> None:
    """Random messages of every API and version, whatever their length."""
    rng = random.Random(20261122)
    for api, version in ALL:
        kind = load_response_schema(api, version)
        for _ in range(5):
            body = io.BytesIO()
            entity_writer(kind)(body, random_entity(kind, rng))
            data = b"\xff" * 3 + body.getvalue()
            end = check(kind, data, 3, Budget(len(data), PLENTY))
            assert end == len(data), (api, version)


def test_broken_answers_end_no_process_and_take_no_memory() -> None:
    """Every extreme number at every place of an answer of each API and version, and then noise."""
    seed = int(os.environ.get("KGROUPS_FUZZ_SEED", "20261122"))
    print(f"KGROUPS_FUZZ_SEED={seed} KGROUPS_FUZZ_FRAMES={FRAMES}")
    run = run_program(
        [sys.executable, "-m", "tests.support.hostile.mutations", str(seed), str(FRAMES)],
        timeout_s=600,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout)
    assert found.pop("peak_bytes") < MAX_PEAK_BYTES
    assert found.keys() == {"read", "CORRUPT_MESSAGE", "UNKNOWN_ERROR"}
    assert found["read"] > FRAMES // 20, "mutations are that are not noticed"
    assert found["CORRUPT_MESSAGE"] > FRAMES // 2


COMPACT, FIXED = b"\xff\xff\xff\xff\x07", b"\x7f\xff\xff\xff"
COUNTS = [
    ("api_versions", 3, struct.pack(">ih", 7, 0) + COMPACT),
    ("api_versions", 0, struct.pack(">ih", 7, 0) + FIXED),
    ("metadata", 12, struct.pack(">ibi", 7, 0, 0) + COMPACT),
    ("metadata", 5, struct.pack(">ii", 7, 0) + FIXED),
    ("list_groups", 5, struct.pack(">ibih", 7, 0, 0, 0) + COMPACT),
    ("list_groups", 0, struct.pack(">ih", 7, 0) + FIXED),
    ("describe_groups", 6, struct.pack(">ibi", 7, 0, 0) + COMPACT),
    ("offset_fetch", 9, struct.pack(">ibi", 7, 0, 0) + COMPACT),
    ("find_coordinator", 6, struct.pack(">ibi", 7, 0, 0) + COMPACT),
    ("list_offsets", 7, struct.pack(">ibi", 7, 0, 0) + COMPACT),
]


@pytest.mark.parametrize(
    ("api", "version", "start"), COUNTS, ids=[f"{api}-v{version}" for api, version, _ in COUNTS]
)
def test_a_count_beyond_the_answer_is_refused(api: str, version: int, start: bytes) -> None:
    """As many elements as fit into 31 bits, in an answer of a few bytes."""
    with pytest.raises(BrokerFailure) as caught:
        decode_response(api, version, start + b"\x01" * 64)
    assert caught.value.code == "CORRUPT_MESSAGE"


LISTING = schema("list_groups", 5, "response").ListGroupsResponse


def test_an_answer_that_would_fill_the_memory_is_refused() -> None:
    """Eight million groups of five bytes each would be gigabytes of objects."""
    with pytest.raises(BrokerFailure) as caught:
        decode_response("list_groups", 5, unnamed_groups(8_000_000))
    assert caught.value.code == "RESPONSE_TOO_LARGE"
    assert len(decode_response("list_groups", 5, unnamed_groups(20_000)).groups) == 20_000


def test_the_budget_grows_with_an_answer_that_was_allowed() -> None:
    """`receive.message.max.bytes` above the default allows more objects too."""
    data = unnamed_groups(1_000_000)
    with pytest.raises(MemoryLimitError):
        check(LISTING, data, 5, Budget(len(data), PLENTY))
    check(LISTING, data, 5, Budget(len(data), 4 * PLENTY))


BROKEN = [
    ("a text that is longer than the answer", b"\x02\xff\xff\xff\x07abc"),
    ("a varint without an end", b"\x02\xff\xff\xff\xff\xff\xff"),
    ("more tagged fields than bytes", b"\x01\xff\xff\x03"),
    ("a tagged field beyond the end", b"\x01\x01\x05\x7f"),
]


@pytest.mark.parametrize("tail", [case[1] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_length_beyond_the_answer_is_refused(tail: bytes) -> None:
    """Texts and tagged fields are bounded as arrays are."""
    data = struct.pack(">ih", 0, 0) + tail
    with pytest.raises(LengthError):
        check(LISTING, data, 0, Budget(len(data), PLENTY))


def test_counts_of_commits_are_bounded_by_the_answer() -> None:
    """The reader of commits has none of kio's checks: a count of 2^31 makes no such list."""
    head = struct.pack(">ibi", 7, 0, 0) + b"\x02\x02g\x02\x02t"
    for count in (b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x00", b"\x7f"):
        assert read_fetched(head + count + b"\x00" * 40) is None


def test_what_a_request_can_be_answered_with() -> None:
    """Fixed for greetings, by its rows where each is answered, else what the settings allow."""
    assert answer_limit("api_versions", 100, 1 << 26) == 1 << 16
    assert answer_limit("delete_groups", 1_000, 1 << 26) == (1 << 20) + 4_000
    assert answer_limit("find_coordinator", 10_000_000, 1 << 26) == 1 << 26
    assert answer_limit("metadata", 100, 1 << 30) == 1 << 30
    assert answer_limit("api_versions", 100, 1_000) == 1_000
