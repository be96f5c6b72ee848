"""Subscription bytes that are odd or broken: what they count for, here and on Kafka's own.

Where 4.3.0 differs on purpose is the second table: bytes that announce more than they hold make
its end of the join phase fail without an answer, so that every member waits for good.
"""

from base64 import b64encode
from collections.abc import Iterator
from struct import pack

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kgroups.core.coordinator.classic.members import SubscriptionError, read_topics
from tests.support.coordinator.both_coordinators import Both
from tests.support.coordinator.operations import SENDER, config, join, topics
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import Oracle

T = b"\x00\x01t"
NOTHING = pack(">i", -1)

# name, bytes, topics (None: they cannot be known, so that every topic counts as subscribed)
EQUAL: list[tuple[str, bytes, tuple[str, ...] | None]] = [
    ("plain", pack(">hi", 0, 1) + T + NOTHING, ("t",)),
    ("two topics and more behind", pack(">hi", 1, 2) + T + T + NOTHING + b"??", ("t", "t")),
    ("a version from the future", pack(">hi", 99, 1) + T + NOTHING, ("t",)),
    ("a negative version", pack(">hi", -1, 1) + T + NOTHING, ("t",)),
    ("user data of length -2", pack(">hi", 0, 1) + T + pack(">i", -2), ("t",)),
    ("a name that is not UTF-8", pack(">hi", 0, 1) + b"\x00\x01\xff" + NOTHING, ("\ufffd",)),
    ("no topics", pack(">hi", 0, 0) + NOTHING, ()),
    ("no user data", pack(">hi", 0, 1) + T, None),
    ("one byte", b"\x00", None),
    ("nothing", b"", None),
]
# The reason is one: ApiMessage readers throw other exceptions than the one that
# ClassicGroup.computeSubscribedTopics catches, and the join phase of 4.3.0 ends with neither an
# answer nor a timer. A group must not hang for what one member sends, so ours goes on.
MEANT: list[tuple[str, bytes]] = [
    ("null for the topics", pack(">hi", 0, -1) + NOTHING),
    ("a million topics announced", pack(">hi", 0, 10**6) + T),
    ("the largest number of topics announced", pack(">hi", 0, 2**31 - 1) + T),
    ("a null name", pack(">hi", 0, 1) + b"\xff\xff" + NOTHING),
    ("a name of negative length", pack(">hi", 0, 1) + b"\xff\xfe" + NOTHING),
    ("a name cut off", pack(">hi", 0, 1) + b"\x00\x05t"),
    ("user data cut off", pack(">hi", 0, 1) + T + pack(">i", 50) + b"x"),
]


def script(metadata: bytes) -> Iterator[Json]:
    """One member joins with these bytes; then offsets of two topics are to be deleted."""
    yield config(group_initial_rebalance_delay_ms="0")
    yield topics(t=1, u=1)
    yield join(b64encode(metadata).decode())
    for name in ("t", "u"):
        topic = {"name": name, "partitions": [{"partitionIndex": 0}]}
        request = {"groupId": "g", "topics": [topic]}
        yield {"op": "delete_offsets", "version": 0, **SENDER, "request": request}


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    """Kafka's coordinator."""
    with Oracle() as running:
        yield running


@pytest.mark.parametrize(
    ("metadata", "names"), [row[1:] for row in EQUAL], ids=[row[0] for row in EQUAL]
)
def test_topics_are_read_as_far_as_version_0_goes(
    metadata: bytes, names: tuple[str, ...] | None
) -> None:
    """Names in the member's order, or an error that says that they cannot be known."""
    if names is None:
        with pytest.raises(SubscriptionError):
            read_topics(metadata)
    else:
        assert read_topics(metadata) == names


@pytest.mark.oracle
def test_odd_bytes_count_as_they_do_in_kafka(oracle: Oracle) -> None:
    """Every answer to every row of the first table is equal."""
    for _, metadata, _ in EQUAL:
        both = Both(oracle.ask)
        for op in script(metadata):
            both.equal(op)


@pytest.mark.oracle
def test_broken_bytes_hang_kafkas_group_and_not_ours(oracle: Oracle) -> None:
    """Every row of the second table still makes the difference that it stands for."""
    for name, metadata in MEANT:
        both = Both(oracle.ask)
        _, _, (_, theirs, ours), *deletions = map(both.answers, script(metadata))
        assert (name, theirs["response"]) == (name, "parked")
        assert ours["response"]["errorCode"] == 0
        codes = [
            one["response"]["topics"][0]["partitions"][0]["errorCode"] for *_, one in deletions
        ]
        assert codes == [86, 86]


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_told(raw: bytes) -> None:
    """Names that the bytes can hold, or a SubscriptionError."""
    try:
        names = read_topics(raw)
    except SubscriptionError:
        return
    assert 2 * len(names) <= len(raw)
