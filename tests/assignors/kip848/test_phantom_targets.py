"""`uniform` where an earlier target names partitions that the topic does not have."""

import json

import pytest

from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.registry import server_assignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from tests.support.assignors.oracle import ask_java

TOPICS = {
    "t": TopicPartitions(2, topic_id="AAAAAAAAAAIAAAAAAAAAAw"),
    "u": TopicPartitions(1, topic_id="BBBBBBBBBBIBBBBBBBBBBw"),
}
ALIKE, MIXED = (("t",), ("t",)), (("t", "u"), ("t",))
TARGETS = ([0, 5], [-1], [0, -1], [2], [3, 1])


def group(
    subscriptions: tuple[tuple[str, ...], ...], target: list[int], *, faithful: bool
) -> AssignmentRequest:
    """Two members; the first one had these partitions of `t`."""
    first = MemberSubscription("a", subscriptions[0], owned=[("t", target)])
    members = [first, MemberSubscription("b", subscriptions[1])]
    return AssignmentRequest(members, TOPICS, faithful=faithful)


@pytest.mark.oracle
def test_faithful_requests_fail_as_in_java() -> None:
    """With the exception's class and its package."""
    asked = [(subscriptions, target) for subscriptions in (ALIKE, MIXED) for target in TARGETS]
    cases = [
        {
            "id": json.dumps(one),
            "side": "server",
            "strategy": "uniform",
            "topics": [[name, topic.partitions, topic.topic_id] for name, topic in TOPICS.items()],
            "rounds": [
                {
                    "members": [
                        {
                            "id": "a",
                            "topics": one[0][0],
                            "owned": [[TOPICS["t"].topic_id, one[1]]],
                        },
                        {"id": "b", "topics": one[0][1]},
                    ]
                }
            ],
        }
        for one in asked
    ]
    for (subscriptions, target), case in zip(asked, ask_java(cases), strict=True):
        with pytest.raises(AssignorError) as raised:
            server_assignor("uniform").assign(group(subscriptions, target, faithful=True))
        assert raised.value.java == case["java"][0]["error"]


@pytest.mark.parametrize("subscriptions", [ALIKE, MIXED], ids=["alike", "mixed"])
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_otherwise_they_are_a_fault(
    subscriptions: tuple[tuple[str, ...], ...], target: list[int]
) -> None:
    """What is not there is left out, and everything that is there has an owner."""
    answer = server_assignor("uniform").assign(group(subscriptions, target, faithful=False))
    held = [pair for member in "ab" for pair in answer.partitions_of(member)]
    wanted = [("t", 0), ("t", 1)] + ([("u", 0)] if subscriptions is MIXED else [])
    assert sorted(held) == wanted
    (fault,) = answer.faults
    assert (fault.code, fault.member_id, fault.topic) == ("PHANTOM_PARTITION", "a", "t")
    assert fault.partition in target


def test_range_on_arrays_without_partitions() -> None:
    """Topics that do not exist are no partitions, also for the engine of large groups."""
    members = [MemberSubscription("a", ("gone",)), MemberSubscription("b", ())]
    answer = RangeAssignor(vector_from=0).assign(AssignmentRequest(members, {}))
    assert dict(answer.items()) == {"a": {}, "b": {}}
