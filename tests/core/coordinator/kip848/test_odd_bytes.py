"""Odd and broken bytes of classic members in a consumer group count as they do in Kafka 4.3."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from struct import pack

import pytest

from tests.support.coordinator.answer_comparison import comparable
from tests.support.coordinator.oracle_adapter import Adapter
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import Oracle

SENDER = {"client_id": "c", "host": "10.0.0.1"}
TOPIC = {"t": {"id": "G4Ts-KeIE7qQ7Q38Bj4Iqg", "partitions": 3}}
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


def join(metadata: bytes) -> Json:
    """A classic member that comes with these bytes."""
    request = {
        "groupId": "g",
        "sessionTimeoutMs": 10_000,
        "rebalanceTimeoutMs": 10_000,
        "memberId": "",
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": b64encode(metadata).decode()}],
    }
    return {"op": "join", "version": 3, **SENDER, "id": "join", "request": request}


def beat(epoch: int = 0) -> Json:
    """A member of KIP-848 that comes, or goes on."""
    request: Json = {"groupId": "g", "memberId": "modern", "memberEpoch": epoch}
    if epoch == 0:
        request |= {"rebalanceTimeoutMs": 10_000, "subscribedTopicNames": ["t"]}
        request |= {"topicPartitions": []}
    return {"op": "consumer_heartbeat", "version": 1, **SENDER, "id": "beat", "request": request}


def sync(joined: Json) -> Json:
    """What the classic member that was let in asks next, as its leader where it is one."""
    member_id = joined["memberId"]
    mine = b64encode(pack(">hi", 0, 1) + T + pack(">iii", 2, 0, 1) + NOTHING).decode()
    leads = joined["leader"] == member_id
    request = {
        "groupId": "g",
        "generationId": joined["generationId"],
        "memberId": member_id,
        "assignments": [{"memberId": member_id, "assignment": mine}] if leads else [],
    }
    return {"op": "sync", "version": 2, **SENDER, "id": "sync", "request": request}


class Coordinator:
    """Kafka's coordinator or ours, and all that it answered.

    Args:
        ask: an operation -> the answer to it.
        lent: the random ids of each operation, which the first one of two draws.
    """

    def __init__(self, ask: Callable[[Json], Json], lent: list[list[str]], *, draws: bool) -> None:
        self.said: list[Json] = []
        self._ask, self._lent, self._draws = ask, lent, draws
        self._asked = 0

    def send(self, op: Json) -> Json:
        """The response, at once or when something else completes it."""
        ids = {} if self._draws else {"uuids": self._lent[self._asked]}
        self._asked += 1
        answer = self._ask({**op, **ids})
        if self._draws:
            self._lent.append(answer.get("uuids", []))
        self.said.append(comparable(answer))
        found = answer.get("response")
        if found == "parked":
            done = [one["response"] for one in answer.get("completed", ())]
            found = done[0] if done else None
        return found if isinstance(found, dict) else {}


def enter(coordinator: Coordinator, metadata: bytes) -> None:
    """A classic member joins a consumer group and asks for its partitions."""
    coordinator.send({"op": "config", "config": {}})
    coordinator.send({"op": "topics", "topics": TOPIC})
    coordinator.send(beat())
    joined = coordinator.send(join(metadata))
    if joined.get("errorCode") == 0:
        coordinator.send(sync(joined))
    coordinator.send(beat(1))


def upgrade(coordinator: Coordinator, metadata: bytes) -> None:
    """A classic group of one member becomes a consumer group, if its bytes allow it."""
    settings = {
        "group.initial.rebalance.delay.ms": "0",
        "group.consumer.migration.policy": "bidirectional",
    }
    coordinator.send({"op": "config", "config": settings})
    coordinator.send({"op": "topics", "topics": TOPIC})
    joined = coordinator.send(join(metadata))
    if joined.get("errorCode") == 0:
        coordinator.send(sync(joined))
    coordinator.send(beat())


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
    oracle: Oracle, play: Callable[[Coordinator, bytes], None]
) -> None:
    """Every answer, and every record that is written, is equal."""
    for name, metadata in BYTES.items():
        if play is upgrade and name in HANGS:
            continue
        ids: list[list[str]] = []
        theirs = Coordinator(oracle.ask, ids, draws=True)
        play(theirs, metadata)
        ours = Coordinator(Adapter().answer, ids, draws=False)
        play(ours, metadata)
        if play is upgrade and name == SAID_OTHERWISE:
            assert theirs.said.pop()["response"]["errorCode"] == -1
            assert ours.said.pop()["response"]["errorCode"] == 69
        assert (name, ours.said) == (name, theirs.said)
