"""Subscription bytes that are odd or broken: what they count for, here and on Kafka's own.

Where 4.3.0 differs on purpose is the second table: bytes that announce more than they hold make
its end of the join phase fail without an answer, so that every member waits for good.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator
from struct import pack

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kgroups.core.coordinator.classic.members import SubscriptionError, read_topics
from tests.support.coordinator.answer_comparison import comparable
from tests.support.coordinator.oracle_adapter import Adapter
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import Oracle

Ask = Callable[[bytes], tuple[list[Json], list[Json]]]

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


def script(metadata: bytes) -> list[Json]:
    """One member joins with these bytes; then offsets of two topics are to be deleted."""
    sender = {"client_id": "c", "host": "10.0.0.1"}
    topics = {"t": "G4Ts-KeIE7qQ7Q38Bj4Iqg", "other": "FwL_aBx5qpfQ77mqddshVw"}
    joining = {
        "groupId": "g",
        "sessionTimeoutMs": 10_000,
        "rebalanceTimeoutMs": 10_000,
        "memberId": "",
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": b64encode(metadata).decode()}],
    }
    deletions = [
        {"groupId": "g", "topics": [{"name": name, "partitions": [{"partitionIndex": 0}]}]}
        for name in topics
    ]
    return [
        {"op": "config", "config": {"group.initial.rebalance.delay.ms": "0"}},
        {"op": "topics", "topics": {n: {"id": i, "partitions": 1} for n, i in topics.items()}},
        {"op": "join", "version": 3, "id": "r1", **sender, "request": joining},
        *({"op": "delete_offsets", "version": 0, **sender, "request": one} for one in deletions),
    ]


def play(ask: Callable[[Json], Json], metadata: bytes, ids: list[list[str]]) -> list[Json]:
    """The answers to the script; `ids` lends the random ids of each operation, or gets them."""
    answers = []
    for number, op in enumerate(script(metadata)):
        lent = {"uuids": ids[number]} if number < len(ids) else {}
        answer = ask({**op, **lent})
        if not lent:
            ids.append(answer.get("uuids", []))
        answers.append(comparable(answer))
    return answers[2:]  # without the set-up


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    """Metadata -> the answers of Kafka's coordinator and of ours."""
    with Oracle() as oracle:

        def both(metadata: bytes) -> tuple[list[Json], list[Json]]:
            ids: list[list[str]] = []
            theirs = play(oracle.ask, metadata, ids)
            return theirs, play(Adapter().answer, metadata, ids)

        yield both


@pytest.mark.parametrize(
    ("metadata", "topics"), [row[1:] for row in EQUAL], ids=[row[0] for row in EQUAL]
)
def test_topics_are_read_as_far_as_version_0_goes(
    metadata: bytes, topics: tuple[str, ...] | None
) -> None:
    """Names in the member's order, or an error that says that they cannot be known."""
    if topics is None:
        with pytest.raises(SubscriptionError):
            read_topics(metadata)
    else:
        assert read_topics(metadata) == topics


@pytest.mark.oracle
def test_odd_bytes_count_as_they_do_in_kafka(ask: Ask) -> None:
    """Every answer to every row of the first table is equal."""
    for name, metadata, _ in EQUAL:
        theirs, ours = ask(metadata)
        assert (name, theirs) == (name, ours)


@pytest.mark.oracle
def test_broken_bytes_hang_kafkas_group_and_not_ours(ask: Ask) -> None:
    """Every row of the second table still makes the difference that it stands for."""
    for name, metadata in MEANT:
        (theirs, *_), (ours, *deletions) = ask(metadata)
        assert (name, theirs["response"]) == (name, "parked")
        assert ours["response"]["errorCode"] == 0
        codes = [one["response"]["topics"][0]["partitions"][0]["errorCode"] for one in deletions]
        assert codes == [86, 86]


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_told(raw: bytes) -> None:
    """Names that the bytes can hold, or a SubscriptionError."""
    try:
        topics = read_topics(raw)
    except SubscriptionError:
        return
    assert 2 * len(topics) <= len(raw)
