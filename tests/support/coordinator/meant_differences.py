"""Where ours does not do what Kafka 4.3.0 does, on purpose: plain faults of that release.

Each row has a script that is as short as it gets, whose last operation makes the difference. The
two groups go different ways from there, so a random script that meets a row ends with it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tests.support.coordinator.operations import config, heartbeat, join, topics
from tests.support.coordinator.oracle_json import Json

TARGET, CURRENT, MEMBER, CLASSIC_GROUP = 7, 8, 5, 2


@dataclass(frozen=True, slots=True)
class MeantDifference:
    """One place where the two differ.

    Args:
        name: for the report.
        reason: why.
        covers: whether the answers (the operation with the state before it as `pre`, Kafka's
            answer, ours) differ by this only.
        script: operations of which the last one makes the difference.
    """

    name: str
    reason: str
    covers: Callable[[Json, Json, Json], bool]
    script: tuple[Json, ...]


def _without(answer: Json, *types: int) -> Json:
    records = [one for one in answer.get("records", ()) if one["type"] not in types]
    return {**answer, "records": records, "states": None}


def _downgrade_fails(op: Json, want: Json, got: Json) -> bool:
    asked = op.get("request", {})
    return (
        op["op"] == "join"
        and str(op["pre"]).startswith("consumer/")
        and asked.get("memberId") == ""
        and asked.get("groupInstanceId") is not None
        and want["response"]["errorCode"] == -1
        and got["response"]["errorCode"] == 0
        and any(one["type"] == CLASSIC_GROUP for one in got["records"])
    )


def _target_is_withheld(op: Json, want: Json, got: Json) -> bool:
    asked = op.get("request", {})
    gone = {
        one["key"]["memberId"]
        for one in want.get("records", ())
        if one["type"] == MEMBER and one["value"] is None
    }
    was_there = str(op["pre"]).count("/") == 2  # consumer/Stable/STABLE: the sender's own state
    return (
        op["op"] in ("consumer_heartbeat", "join")
        and asked.get("groupInstanceId" if op["op"] == "join" else "instanceId") is not None
        and was_there
        and bool(gone - {asked["memberId"]})
        and _answer(want) == _answer(got)
        and _without(want, TARGET, CURRENT)["records"] == _without(got, TARGET, CURRENT)["records"]
    )


def _answer(answer: Json) -> Json:
    return {name: one for name, one in answer["response"].items() if name != "assignment"}


MEANT = (
    MeantDifference(
        "a JoinGroup that would end a consumer group is answered with -1",
        "ClassicGroup.fromConsumerGroup finds the member that is replaced by its instance id, and"
        " misses one that has taken another instance id since; the exception becomes -1",
        _downgrade_fails,
        (
            config(),
            topics(t=1),
            heartbeat("m1", 0, instanceId="i2", subscribedTopicNames=["t"]),
            heartbeat("m1", 0, instanceId="i1", subscribedTopicNames=["t"]),
            join(instance_id="i2"),
        ),
    ),
    MeantDifference(
        "a member that also takes a static member's place loses what it was to have",
        "the uniform assignor passes over partitions that are in anybody's target, also in that of"
        " the member whose target is replaced by the static member's; nobody gets them until the"
        " next target",
        _target_is_withheld,
        (
            config(group_consumer_assignment_interval_ms="0"),
            topics(t=4, u=2),
            heartbeat("s1", 0, instanceId="i1", subscribedTopicNames=["u"]),
            heartbeat("m1", 0, subscribedTopicNames=["t"]),
            heartbeat("s1", -2, instanceId="i1"),
            heartbeat("m1", 0, instanceId="i1", subscribedTopicNames=["t"]),
        ),
    ),
)
