"""Corners that random scripts met once in some 100,000 operations, as short as they get.

Kafka's coordinator and ours get each script; every answer must be equal, and the last one is told.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from struct import pack
from typing import Any

import pytest

from tests.support.coordinator.answer_comparison import comparable
from tests.support.coordinator.meant_differences import SENDER, config, heartbeat, topics
from tests.support.coordinator.oracle_adapter import Adapter
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import Oracle

pytestmark = pytest.mark.oracle

JOINED = "$the member id of the last answer"
IDS = {"foo0": "LDz-eOD-dfSvbreazd8M-g", "foo1": "XMBbUf-SjF1GrMyMCWAoNw"}
ANEW = "PmK-afNRhknhLr9ODK8PCA"
FULL = {"rebalanceTimeoutMs": 30_000, "topicPartitions": []}


def subscription(name: str) -> str:
    """Bytes of a classic member that names one topic."""
    raw = pack(">hih", 0, 1, len(name)) + name.encode() + pack(">i", -1)
    return b64encode(raw).decode()


def assignment(name: str, *partitions: int) -> str:
    """Bytes of an assignment of one topic."""
    raw = pack(">hih", 0, 1, len(name)) + name.encode()
    raw += pack(f">{len(partitions) + 1}i", len(partitions), *partitions) + pack(">i", -1)
    return b64encode(raw).decode()


def foo(name: str) -> Json:
    """A topic of one partition is made."""
    return {"op": "topics", "topics": {name: {"id": IDS[name], "partitions": 1}}}


def join(member_id: str, topic: str) -> Json:
    """A classic member joins."""
    request = {
        "groupId": "g",
        "sessionTimeoutMs": 45_000,
        "rebalanceTimeoutMs": 45_000,
        "memberId": member_id,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": subscription(topic)}],
    }
    return {"op": "join", "version": 3, "id": "r1", **SENDER, "request": request}


def sync(topic: str, *partitions: int) -> Json:
    """The one classic member gives itself these partitions."""
    given = {"memberId": JOINED, "assignment": assignment(topic, *partitions)}
    request = {"groupId": "g", "generationId": 1, "memberId": JOINED, "assignments": [given]}
    return {"op": "sync", "version": 3, "id": "r2", **SENDER, "request": request}


def leave(member_id: str) -> Json:
    """A classic member leaves."""
    request = {"groupId": "g", "members": [{"memberId": member_id, "groupInstanceId": None}]}
    return {"op": "leave", "version": 3, **SENDER, "request": request}


def commit(member_id: str, epoch: int, metadata: str) -> Json:
    """A member commits for t-0."""
    partition = {
        "partitionIndex": 0,
        "committedOffset": 1,
        "committedLeaderEpoch": -1,
        "committedMetadata": metadata,
    }
    request = {
        "groupId": "g",
        "generationIdOrMemberEpoch": epoch,
        "memberId": member_id,
        "groupInstanceId": None,
        "retentionTimeMs": -1,
        "topics": [{"name": "t", "partitions": [partition]}],
    }
    return {"op": "commit", "version": 9, **SENDER, "request": request}


def downgraded(*then: Json) -> list[Json]:
    """A consumer group with a classic member that names foo1: downgraded, left, begun anew."""
    return [
        config(),
        foo("foo0"),
        heartbeat("m1", 0, subscribedTopicRegex="foo.*", **FULL),
        join("classic", "foo1"),
        heartbeat("m1", -1),
        leave("classic"),
        *then,
        heartbeat("m2", 0, subscribedTopicRegex="foo.*", **FULL),
        foo("foo1"),
        heartbeat("m2", 0, subscribedTopicRegex="none", **FULL),
    ]


@dataclass(frozen=True)
class Corner:
    """A script, and what a field of the last answer must be."""

    name: str
    script: list[Json]
    field: Callable[[Json], Any]
    value: int


def _epoch(answer: Json) -> Any:
    return answer["memberEpoch"]


def _error(answer: Json) -> Any:
    return answer["errorCode"]


def _generation(answer: Json) -> Any:
    return answer["generationId"]


def _commit_error(answer: Json) -> Any:
    return answer["topics"][0]["partitions"][0]["errorCode"]


CORNERS = [
    # A downgrade's tombstones are not played into the state, so that 4.3 never unsubscribes the
    # group from its topics; a later group of the same name looks at its topics again when one of
    # those changes, which shows when it has just dropped a pattern.
    Corner("topics from before a downgrade still count", downgraded(), _epoch, 3),
    Corner("a broker that loads forgets them", downgraded({"op": "reload"}), _epoch, 2),
    # The uniform assignor fails on the partitions that are gone: UniformHeterogeneous-
    # AssignmentBuilder, ArrayIndexOutOfBoundsException.
    Corner(
        "an upgrade after a topic was made anew with fewer partitions is answered with -1",
        [
            config(group_initial_rebalance_delay_ms="0"),
            topics(t=4, u=1),
            join("", "t"),
            sync("t", 0, 1, 2, 3),
            {"op": "topics", "topics": {}, "delete": ["t"]},
            {"op": "topics", "topics": {"t": {"id": ANEW, "partitions": 1}}},
            heartbeat("m1", 0, subscribedTopicNames=["u"]),
        ],
        _error,
        -1,
    ),
    Corner(
        "metadata that is too long is told before the epoch is looked at",
        [
            config(offset_metadata_max_bytes="4"),
            topics(t=1),
            heartbeat("m1", 0, subscribedTopicNames=["t"]),
            commit("m1", 1, "longer"),
        ],
        _commit_error,
        12,
    ),
    Corner(
        "an older epoch of a partition that the member got later is refused",
        [
            config(offset_metadata_max_bytes="4"),
            topics(t=1),
            heartbeat("m1", 0, subscribedTopicNames=["t"]),
            commit("m1", 1, "short"[:4]),
        ],
        _commit_error,
        113,
    ),
    # The join phase of the downgrade is forgotten with the group, and its timer is not: it finds
    # the classic group that begins anew with a member that has only just got its id.
    Corner(
        "a join phase from before an upgrade counts a generation",
        [
            config(group_initial_rebalance_delay_ms="0"),
            topics(t=2),
            heartbeat("m1", 0, subscribedTopicNames=["t"]),
            join("classic", "t"),
            heartbeat("m1", -1),
            heartbeat("m2", 0, subscribedTopicNames=["t"]),
            leave("classic"),
            heartbeat("m2", -1),
            {"op": "advance", "ms": 44_000},
            {**join("", "t"), "version": 5},
            {"op": "advance", "ms": 2_000},
            {**join(JOINED, "t"), "version": 5},
        ],
        _generation,
        2,
    ),
]


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    """Kafka's coordinator; each script begins a new one."""
    with Oracle() as running:
        yield running


def named(value: Any, member_id: str) -> Any:
    """The value with the member id in its places."""
    if isinstance(value, dict):
        return {name: named(one, member_id) for name, one in value.items()}
    if isinstance(value, list):
        return [named(one, member_id) for one in value]
    return member_id if value == JOINED else value


@pytest.mark.parametrize("corner", CORNERS, ids=lambda corner: corner.name)
def test_a_corner_is_answered_equally(corner: Corner, oracle: Oracle) -> None:
    """Every answer and record of the script is equal, and the last one is as told."""
    ours = Adapter()
    member_id, last = "", {}
    for number, op in enumerate(corner.script):
        sent = named(op, member_id)
        theirs = oracle.ask(sent)
        mine = ours.answer({**sent, "uuids": theirs.get("uuids", ())})
        assert comparable(theirs) == comparable(mine), number
        last = theirs["response"]
        for one in [done["response"] for done in theirs.get("completed", ())] + [last]:
            if isinstance(one, dict) and one.get("memberId"):
                member_id = one["memberId"]
    assert corner.field(last) == corner.value
