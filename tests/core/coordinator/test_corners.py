"""Corners that random scripts met once in some 100,000 operations, as short as they get.

Kafka's coordinator and ours get each script; every answer must be equal, and the last one is told.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.coordinator.both_coordinators import Both
from tests.support.coordinator.operations import (
    SENDER,
    config,
    heartbeat,
    join,
    leave,
    sync,
    topics,
)
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import Oracle
from tests.support.coordinator.subscription_base64 import assignment, subscription

pytestmark = pytest.mark.oracle

JOINED = "$the member id of the last answer"
ANEW = "PmK-afNRhknhLr9ODK8PCA"
FULL = {"rebalanceTimeoutMs": 30_000, "topicPartitions": []}


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
        topics(foo0=1),
        heartbeat("m1", 0, subscribedTopicRegex="foo.*", **FULL),
        join(subscription(["foo1"], version=0), "classic"),
        heartbeat("m1", -1),
        leave("classic"),
        *then,
        heartbeat("m2", 0, subscribedTopicRegex="foo.*", **FULL),
        topics(foo1=1),
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
            join(),
            sync(JOINED, {JOINED: assignment([("t", [0, 1, 2, 3])], version=0)}),
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
            join(member_id="classic"),
            heartbeat("m1", -1),
            heartbeat("m2", 0, subscribedTopicNames=["t"]),
            leave("classic"),
            heartbeat("m2", -1),
            {"op": "advance", "ms": 44_000},
            {**join(), "version": 5},
            {"op": "advance", "ms": 2_000},
            {**join(member_id=JOINED), "version": 5},
        ],
        _generation,
        2,
    ),
]


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
    both = Both(oracle.ask)
    member_id, last = "", {}
    for op in corner.script:
        theirs = both.equal(named(op, member_id))
        last = theirs["response"]
        for one in [done["response"] for done in theirs.get("completed", ())] + [last]:
            if isinstance(one, dict) and one.get("memberId"):
                member_id = one["memberId"]
    assert corner.field(last) == corner.value
