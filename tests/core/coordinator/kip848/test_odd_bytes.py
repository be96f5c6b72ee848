"""Odd and broken bytes of classic members in a consumer group count as they do in Kafka 4.3."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from struct import pack

import pytest

from tests.support.coordinator.answer_comparison import comparable
from tests.support.coordinator.both_coordinators import Both
from tests.support.coordinator.operations import config, heartbeat, join, sync, topics
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import Oracle
from tests.support.coordinator.subscription_base64 import assignment

COMES = heartbeat("modern", 0, subscribedTopicNames=["t"])
T = b"\x00\x01t"
NOTHING = pack(">i", -1)
OWNED = pack(">i", 1) + T + pack(">iii", 2, 0, 1)
PLAIN = pack(">hi", 0, 1) + T + NOTHING

BYTES = {
    "plain": PLAIN,
    "version 3": pack(">hi", 3, 1) + T + NOTHING + OWNED + pack(">i", 1) + pack(">h", -1),
    "a version from the future": pack(">hi", 9, 1)
    + T
    + NOTHING
    + OWNED
    + pack(">ih", 1, -1)
    + b"?",
    "a negative version": pack(">hi", -1, 1) + T + NOTHING,
    "more than it announces": PLAIN + b"??",
    "user data of length -2": pack(">hi", 0, 1) + T + pack(">i", -2),
    "a name that is not UTF-8": pack(">hi", 0, 2) + T + b"\x00\x01\xff" + NOTHING,
    "a rack that is not UTF-8": pack(">hi", 3, 1)
    + T
    + NOTHING
    + OWNED
    + pack(">ih", 1, 1)
    + b"\xff",
    "no topics": pack(">hi", 0, 0) + NOTHING,
    "null for the topics": pack(">hi", 0, -1) + NOTHING,
    "null for what it owns": pack(">hi", 1, 1) + T + NOTHING + NOTHING,
    "a null name": pack(">hi", 0, 1) + b"\xff\xff" + NOTHING,
    "a million topics": pack(">hi", 0, 10**6) + T,
    "a name cut off": pack(">hi", 0, 1) + b"\x00\x05t",
    "owned partitions cut off": pack(">hi", 1, 1) + T + NOTHING + OWNED[:-4],
    "nothing": b"",
}


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


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    """Kafka's own coordinator."""
    with Oracle() as process:
        yield process


# Where the bytes make Kafka's own end of a join phase fail, so that no member is answered:
# tests/core/coordinator/classic/test_subscription.py. There is no group to upgrade then.
HANGS = {
    "null for the topics",
    "a null name",
    "a million topics",
    "a name cut off",
}
# Malformed for Kafka too, but thrown as what only the end of the request catches: its answer is
# UNKNOWN_SERVER_ERROR, ours is that of all malformed bytes.
SAID_OTHERWISE = "null for what it owns"


@pytest.mark.oracle
@pytest.mark.parametrize("play", [enter, upgrade])
def test_odd_bytes_count_as_they_do_in_kafka(
    oracle: Oracle, play: Callable[[Both, bytes], Json]
) -> None:
    """Every answer, and every record that is written, is equal."""
    for name, metadata in BYTES.items():
        if play is upgrade and name in HANGS:
            continue
        both = Both(oracle.ask)
        _, theirs, ours = both.answers(play(both, metadata))
        if play is upgrade and name == SAID_OTHERWISE:
            assert [each["response"]["errorCode"] for each in (theirs, ours)] == [-1, 69]
        else:
            assert (name, comparable(ours)) == (name, comparable(theirs))
