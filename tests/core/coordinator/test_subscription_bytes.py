"""Subscription bytes that are odd or broken: what they count for, here and on Kafka's own 4.3."""

from base64 import b64encode
from collections.abc import Callable, Mapping
from struct import pack

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kgroups.core.coordinator.classic.members import SubscriptionError, read_topics
from tests.support.coordinator.answer_comparison import comparable
from tests.support.coordinator.both_coordinators import Both
from tests.support.coordinator.operations import SENDER, config, heartbeat, join, sync, topics
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import Oracle
from tests.support.coordinator.subscription_base64 import assignment

COMES = heartbeat("modern", 0, subscribedTopicNames=["t"])
T = b"\x00\x01t"
NOTHING = pack(">i", -1)
OWNED = pack(">i", 1) + T + pack(">iii", 2, 0, 1)
GENERATION = pack(">i", 1)


def head(version: int, count: int = 1) -> bytes:
    """Version and number of topics."""
    return pack(">hi", version, count)


READ: Mapping[str, tuple[bytes, tuple[str, ...]]] = {
    "plain": (head(0) + T + NOTHING, ("t",)),
    "two topics and more behind": (head(1, 2) + T + T + NOTHING + b"??", ("t", "t")),
    "more than it announces": (head(0) + T + NOTHING + b"??", ("t",)),
    "version 3": (head(3) + T + NOTHING + OWNED + GENERATION + pack(">h", -1), ("t",)),
    "a version from the future": (
        head(9) + T + NOTHING + OWNED + GENERATION + pack(">h", -1) + b"?",
        ("t",),
    ),
    "one that is far off, and nothing of it": (head(99) + T + NOTHING, ("t",)),
    "a negative version": (head(-1) + T + NOTHING, ("t",)),
    "user data of length -2": (head(0) + T + pack(">i", -2), ("t",)),
    "a name that is not UTF-8": (head(0, 2) + T + b"\x00\x01\xff" + NOTHING, ("t", "\ufffd")),
    "a rack that is not UTF-8": (
        head(3) + T + NOTHING + OWNED + GENERATION + pack(">h", 1) + b"\xff",
        ("t",),
    ),
    "no topics": (head(0, 0) + NOTHING, ()),
    "null for what it owns": (head(1) + T + NOTHING + NOTHING, ("t",)),
    "owned partitions cut off": (head(1) + T + NOTHING + OWNED[:-4], ("t",)),
}
"""Bytes, and the topics that a classic group reads in them."""

UNKNOWN: Mapping[str, bytes] = {
    "no user data": head(0) + T,
    "one byte": b"\x00",
    "nothing": b"",
}
"""Topics that cannot be known, so that every topic counts as subscribed."""

# The reason is one: ApiMessage readers throw other exceptions than the one that
# ClassicGroup.computeSubscribedTopics catches, and the join phase of 4.3.0 ends with neither an
# answer nor a timer. A group must not hang for what one member sends, so ours goes on.
HANGS: Mapping[str, bytes] = {
    "null for the topics": head(0, -1) + NOTHING,
    "a million topics": head(0, 10**6) + T,
    "the largest number of topics": head(0, 2**31 - 1) + T,
    "a null name": head(0) + b"\xff\xff" + NOTHING,
    "a name of negative length": head(0) + b"\xff\xfe" + NOTHING,
    "a name cut off": head(0) + b"\x00\x05t",
    "user data cut off": head(0) + T + pack(">i", 50) + b"x",
}
"""The same, and every member of Kafka's group waits for good."""

# Malformed for Kafka too, but thrown as what only the end of the request catches: its answer is
# UNKNOWN_SERVER_ERROR, ours is that of all malformed bytes.
SAID_OTHERWISE = "null for what it owns"


@pytest.mark.parametrize("name", [*READ, *UNKNOWN, *HANGS])
def test_topics_are_read_as_far_as_version_0_goes(name: str) -> None:
    """Names in the member's order, or an error that says that they cannot be known."""
    if name in READ:
        raw, names = READ[name]
        assert read_topics(raw) == names
    else:
        with pytest.raises(SubscriptionError):
            read_topics({**UNKNOWN, **HANGS}[name])


def deletion(topic: str) -> Json:
    """The offsets of a topic are to be deleted."""
    request = {"groupId": "g", "topics": [{"name": topic, "partitions": [{"partitionIndex": 0}]}]}
    return {"op": "delete_offsets", "version": 0, **SENDER, "request": request}


def alone(both: Both, metadata: bytes) -> Json:
    """The only member of a classic group joins; offsets of two topics are to be deleted."""
    both.equal(config(group_initial_rebalance_delay_ms="0"))
    both.equal(topics(t=1, u=1))
    both.equal(join(b64encode(metadata).decode()))
    both.equal(deletion("t"))
    return deletion("u")


def let_in(both: Both, metadata: bytes) -> None:
    """A classic member joins with these bytes, and asks for its partitions where it may."""
    answer = both.equal(join(b64encode(metadata).decode()))
    done = [one["response"] for one in answer.get("completed", ())] or [answer["response"]]
    joined = done[0]
    if isinstance(joined, dict) and joined.get("errorCode") == 0:
        mine = {joined["memberId"]: assignment([("t", [0, 1])], version=0)}
        leads = joined["leader"] == joined["memberId"]
        both.equal(sync(joined["memberId"], mine if leads else {}, joined["generationId"]))


def enter(both: Both, metadata: bytes) -> Json:
    """A classic member joins a consumer group; what its member of KIP-848 says next."""
    for op in (config(), topics(t=3), COMES):
        both.equal(op)
    let_in(both, metadata)
    return heartbeat("modern", 1)


def upgrade(both: Both, metadata: bytes) -> Json:
    """A classic group of one member, which becomes a consumer group, if its bytes allow it."""
    both.equal(
        config(
            group_initial_rebalance_delay_ms="0", group_consumer_migration_policy="bidirectional"
        )
    )
    both.equal(topics(t=3))
    let_in(both, metadata)
    return COMES


@pytest.mark.oracle
@pytest.mark.parametrize("play", [alone, enter, upgrade])
def test_odd_bytes_count_as_they_do_in_kafka(
    oracle: Oracle, play: Callable[[Both, bytes], Json]
) -> None:
    """Every answer, and every record that is written, is equal."""
    played = {**{name: raw for name, (raw, _) in READ.items()}, **UNKNOWN}
    if play is enter:  # no join phase that could hang
        played.update(HANGS)
    for name, metadata in played.items():
        both = Both(oracle.ask)
        _, theirs, ours = both.answers(play(both, metadata))
        if play is upgrade and name == SAID_OTHERWISE:
            assert [each["response"]["errorCode"] for each in (theirs, ours)] == [-1, 69]
        else:
            assert (name, comparable(ours)) == (name, comparable(theirs))


@pytest.mark.oracle
@pytest.mark.parametrize("name", HANGS)
def test_broken_bytes_hang_kafkas_group_and_not_ours(oracle: Oracle, name: str) -> None:
    """Every topic counts as subscribed then: its offsets are not deleted."""
    both = Both(oracle.ask)
    both.equal(config(group_initial_rebalance_delay_ms="0"))
    both.equal(topics(t=1, u=1))
    _, theirs, ours = both.answers(join(b64encode(HANGS[name]).decode()))
    assert theirs["response"] == "parked"
    assert ours["response"]["errorCode"] == 0
    for topic in "tu":
        *_, told = both.answers(deletion(topic))
        assert told["response"]["topics"][0]["partitions"][0]["errorCode"] == 86


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_told(raw: bytes) -> None:
    """Names that the bytes can hold, or a SubscriptionError."""
    try:
        names = read_topics(raw)
    except SubscriptionError:
        return
    assert 2 * len(names) <= len(raw)
