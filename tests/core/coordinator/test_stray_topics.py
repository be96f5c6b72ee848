"""Topics of a group that was downgraded: Kafka 4.3 goes on telling the group of their changes.

A downgrade writes tombstones that are not played into the state, so nothing unsubscribes the group
from its topics. A later consumer group of the same name looks at its topics again when one of
those changes, which shows when it has just dropped a pattern. Ours does the same.
"""

from base64 import b64encode
from collections.abc import Callable
from struct import pack

import pytest

from tests.core.coordinator.comparison import comparable
from tests.core.coordinator.oracle_adapter import Adapter
from tests.core.coordinator.oracle_json import Json
from tests.core.coordinator.oracle_process import Oracle

SENDER = {"client_id": "c", "host": "10.0.0.1"}
IDS = {"foo0": "G4Ts-KeIE7qQ7Q38Bj4Iqg", "foo1": "FwL_aBx5qpfQ77mqddshVw"}
NAMES_FOO1 = pack(">hi", 0, 1) + b"\x00\x04foo1" + pack(">i", -1)
CLASSIC = "classic-member"
AFTER_THE_PATTERN_IS_DROPPED = -1


def heartbeat(member_id: str, epoch: int, pattern: str | None = None) -> Json:
    """A heartbeat; a pattern makes it a full one."""
    request: Json = {
        "groupId": "g",
        "memberId": member_id,
        "memberEpoch": epoch,
        "rebalanceTimeoutMs": 30_000 if pattern is not None else -1,
        "subscribedTopicRegex": pattern,
        "topicPartitions": [] if pattern is not None else None,
    }
    return {"op": "consumer_heartbeat", "version": 1, **SENDER, "request": request}


def topic(name: str) -> Json:
    """A topic is made."""
    return {"op": "topics", "topics": {name: {"id": IDS[name], "partitions": 1}}}


def script(*, reload: bool) -> list[Json]:
    """A consumer group with a classic member that names foo1; downgraded, left, and begun anew."""
    joining = {
        "groupId": "g",
        "sessionTimeoutMs": 45_000,
        "rebalanceTimeoutMs": 45_000,
        "memberId": CLASSIC,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": b64encode(NAMES_FOO1).decode()}],
    }
    leaving = {"groupId": "g", "members": [{"memberId": CLASSIC, "groupInstanceId": None}]}
    return [
        {"op": "config", "config": {"group.initial.rebalance.delay.ms": "0"}},
        topic("foo0"),
        heartbeat("m1", 0, "foo.*"),
        {"op": "join", "version": 3, "id": "r1", **SENDER, "request": joining},
        heartbeat("m1", -1),
        {"op": "leave", "version": 3, **SENDER, "request": leaving},
        *([{"op": "reload"}] if reload else []),
        heartbeat("m2", 0, "foo.*"),
        topic("foo1"),
        heartbeat("m2", 0, "none"),
    ]


def play(ask: Callable[[Json], Json], ops: list[Json], ids: list[list[str]]) -> list[Json]:
    """The answers; `ids` lends the random ids of each operation, or gets them."""
    answers = []
    for number, op in enumerate(ops):
        lent = {"uuids": ids[number]} if number < len(ids) else {}
        answer = ask({**op, **lent})
        if not lent:
            ids.append(answer.get("uuids", []))
        answers.append(comparable(answer))
    return answers[2:]


@pytest.mark.oracle
@pytest.mark.parametrize(("reload", "epoch"), [(False, 3), (True, 2)])
def test_topics_from_before_a_downgrade_still_count(reload: bool, epoch: int) -> None:
    """The change of foo1 reaches a group that no longer reads it; a broker that loaded forgot."""
    ids: list[list[str]] = []
    with Oracle() as oracle:
        theirs = play(oracle.ask, script(reload=reload), ids)
    ours = play(Adapter().answer, script(reload=reload), ids)
    assert theirs == ours
    last = ours[AFTER_THE_PATTERN_IS_DROPPED]["response"]
    assert (last["errorCode"], last["memberEpoch"]) == (0, epoch)
