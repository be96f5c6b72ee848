"""What answers may take: broken ones cost little, large ones are refused."""

import json
import os
import struct
import sys

import pytest

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.messages import answer_limit, decode_response
from kgroups.core.protocol.budget import Budget, MemoryLimitError
from kgroups.core.protocol.frames import read_response
from kgroups.core.protocol.tables.api_keys import Api
from tests.support.hostile.mutations import unnamed_groups
from tests.support.kafka.child import run_program

# Thrice what the objects of an answer may cost (256 MiB): those of the one before may still be
# there, and Python returns no memory at once. Without the check it is 17 GB.
MAX_PEAK_BYTES = 3 * 256 * 1024 * 1024
PLENTY = 1 << 25


@pytest.mark.parametrize(
    "frames",
    [6_000, pytest.param(20_000, marks=pytest.mark.slow("each version, not the ends alone"))],
)
def test_broken_answers_end_no_process_and_take_no_memory(frames: int) -> None:
    """Every extreme number at every place of answers of each API, and then noise."""
    seed = int(os.environ.get("KGROUPS_FUZZ_SEED", "20261122"))
    print(f"KGROUPS_FUZZ_SEED={seed} frames={frames}")
    run = run_program(
        [sys.executable, "-m", "tests.support.hostile.mutations", str(seed), str(frames)],
        timeout_s=600,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout)
    assert found.pop("peak_bytes") < MAX_PEAK_BYTES
    assert found.keys() == {"read", "CORRUPT_MESSAGE"}
    assert found["read"] > frames // 20, "mutations are that are not noticed"
    assert found["CORRUPT_MESSAGE"] > frames // 2


COMPACT, FIXED = b"\xff\xff\xff\xff\x07", b"\x7f\xff\xff\xff"
COUNTS = [
    (Api.API_VERSIONS, 3, struct.pack(">ih", 7, 0) + COMPACT),
    (Api.API_VERSIONS, 0, struct.pack(">ih", 7, 0) + FIXED),
    (Api.METADATA, 12, struct.pack(">ibi", 7, 0, 0) + COMPACT),
    (Api.METADATA, 5, struct.pack(">ii", 7, 0) + FIXED),
    (Api.LIST_GROUPS, 5, struct.pack(">ibih", 7, 0, 0, 0) + COMPACT),
    (Api.LIST_GROUPS, 0, struct.pack(">ih", 7, 0) + FIXED),
    (Api.DESCRIBE_GROUPS, 6, struct.pack(">ibi", 7, 0, 0) + COMPACT),
    (Api.OFFSET_FETCH, 9, struct.pack(">ibi", 7, 0, 0) + COMPACT),
    (Api.FIND_COORDINATOR, 6, struct.pack(">ibi", 7, 0, 0) + COMPACT),
    (Api.LIST_OFFSETS, 7, struct.pack(">ibi", 7, 0, 0) + COMPACT),
]


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("api", "version", "start"),
    COUNTS,
    ids=[f"{api.name}-v{version}" for api, version, _ in COUNTS],
)
def test_a_count_beyond_the_answer_is_refused(api: Api, version: int, start: bytes) -> None:
    """As many elements as fit into 31 bits, in an answer of a few bytes."""
    with pytest.raises(BrokerFailure) as caught:
        decode_response(api, version, start + b"\x01" * 64)
    assert caught.value.code == "CORRUPT_MESSAGE"


def test_an_answer_that_would_fill_the_memory_is_refused() -> None:
    """Eight million groups of five bytes each would be gigabytes of objects."""
    with pytest.raises(BrokerFailure) as caught:
        decode_response(Api.LIST_GROUPS, 5, unnamed_groups(8_000_000))
    assert caught.value.code == "RESPONSE_TOO_LARGE"
    assert len(decode_response(Api.LIST_GROUPS, 5, unnamed_groups(20_000)).groups) == 20_000


def test_the_budget_grows_with_an_answer_that_was_allowed() -> None:
    """`receive.message.max.bytes` above the default allows more objects too."""
    data = unnamed_groups(125_000)
    with pytest.raises(MemoryLimitError):
        read_response(Api.LIST_GROUPS, 5, data, Budget(PLENTY))
    assert len(read_response(Api.LIST_GROUPS, 5, data, Budget(4 * PLENTY)).groups) == 125_000


BROKEN = [
    ("a text that is longer than the answer", b"\x02\xff\xff\xff\x07abc"),
    ("a varint without an end", b"\x02\xff\xff\xff\xff\xff\xff"),
    ("more tagged fields than bytes", b"\x01\xff\xff\x03"),
    ("a tagged field beyond the end", b"\x01\x01\x05\x7f"),
]


@pytest.mark.share(4)
@pytest.mark.parametrize("tail", [case[1] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_length_beyond_the_answer_is_refused(tail: bytes) -> None:
    """Texts and tagged fields are bounded as arrays are."""
    with pytest.raises(BrokerFailure) as caught:
        decode_response(Api.LIST_GROUPS, 5, struct.pack(">ibih", 7, 0, 0, 0) + tail)
    assert caught.value.code == "CORRUPT_MESSAGE"


def test_what_a_request_can_be_answered_with() -> None:
    """Fixed for greetings, by its rows where each is answered, else what the settings allow."""
    assert answer_limit(Api.API_VERSIONS, 100, 1 << 26) == 1 << 16
    assert answer_limit(Api.DELETE_GROUPS, 1_000, 1 << 26) == (1 << 20) + 4_000
    assert answer_limit(Api.FIND_COORDINATOR, 10_000_000, 1 << 26) == 1 << 26
    assert answer_limit(Api.METADATA, 100, 1 << 30) == 1 << 30
    assert answer_limit(Api.API_VERSIONS, 100, 1_000) == 1_000
