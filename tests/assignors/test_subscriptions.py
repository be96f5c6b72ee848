"""From members' bytes to what assignors take and give, and back."""

import uuid
from typing import Any

import pytest

from kgroups.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS, assignor, server_assignor
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.assignors.subscriptions import (
    assignment_bytes,
    member_subscription,
    subscription_bytes,
)
from kgroups.assignors.wire import WireError, decode_assignment, decode_subscription
from kgroups.core.uuids import uuid_text

OLD, NEW = uuid_text(uuid.UUID(int=7)), uuid_text(uuid.UUID(int=8))


@pytest.mark.parametrize("protocol", ["range", "sticky", "cooperative-sticky"])
@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_what_a_member_sends_next(protocol: str, version: int) -> None:
    """The bytes of its next subscription give back what it brings along."""
    member = MemberSubscription("m", ("b", "a"), instance_id="i", rack="r1")
    following = rejoin(member, protocol, [("a", 1), ("a", 0)], 4)
    read = decode_subscription(subscription_bytes(following, version))
    assert (read.version, read.topics) == (version, ("a", "b"))
    assert read.rack == ("r1" if version == 3 else None)
    again = member_subscription("m", subscription_bytes(following), instance_id="i")
    assert again.owned == ((("a", (0, 1)),) if protocol == "cooperative-sticky" else ())
    if protocol != "range":
        request = AssignmentRequest([again], {"a": TopicPartitions(2)})
        owned = [("a", 0), ("a", 1)]
        assert sorted(assignor(protocol).assign(request).partitions_of("m")) == owned


def test_bytes_that_are_none() -> None:
    """They are refused."""
    with pytest.raises(WireError):
        member_subscription("m", b"\x00")


def test_an_assignment_as_bytes() -> None:
    """What a member of the plan reads; nothing for anybody else."""
    plan = assignor("range").assign(
        AssignmentRequest([MemberSubscription("m", ("t",))], {"t": TopicPartitions(2)})
    )
    assert decode_assignment(assignment_bytes(plan, "m")).partitions == (("t", (0, 1)),)
    assert decode_assignment(assignment_bytes(plan, "x")).partitions == ()


def test_topics_as_a_list_or_a_name() -> None:
    """Whatever is given, it is a tuple of names."""
    given: Any
    for given, topics in ((["a", "b"], ("a", "b")), ("ab", ("ab",))):
        assert MemberSubscription("m", given).topics == topics


@pytest.mark.parametrize(
    "strategy", [*CLIENT_ASSIGNORS.values(), *SERVER_ASSIGNORS.values()], ids=lambda one: one.name
)
def test_every_assignment_says_what_it_holds_back(strategy: object) -> None:
    """`withheld`, `generation` and `faults` are there, server side too."""
    topics = {"t": TopicPartitions(4, lag=(1, 2, 3, 4), topic_id=OLD)}
    members = [MemberSubscription("a", ("t",), owned=[("t", [0, 1, 2, 3])], generation=3)]
    members.append(MemberSubscription("b", ("t",)))
    plan = strategy.assign(AssignmentRequest(members, topics, 3))  # type: ignore[attr-defined]
    assert set(plan.withheld.values()) <= {"a", "b"}
    assert isinstance(plan.generation, int)
    assert list(plan.faults) == []


def test_what_a_cooperative_round_holds_back() -> None:
    """By topic and partition, with the member that gets it next."""
    members = [
        MemberSubscription("a", ("t",), owned=[("t", [0, 1, 2, 3])], generation=3),
        MemberSubscription("b", ("t",)),
    ]
    request = AssignmentRequest(members, {"t": TopicPartitions(4)}, 3)
    plan = assignor("cooperative-sticky").assign(request)
    assert set(plan.withheld.values()) == {"b"}
    assert len(plan.withheld) == 2
    assert plan.partitions_of("b") == []


@pytest.mark.parametrize("then", [OLD, NEW])
def test_a_topic_made_anew_is_told_apart(then: str) -> None:
    """Its partitions are not kept by who owned those of the old one."""
    members = [
        MemberSubscription("b", ("t",), owned=[("t", [0])], owned_ids={"t": OLD}),
        MemberSubscription("a", ("t",)),
    ]
    request = AssignmentRequest(members, {"t": TopicPartitions(1, topic_id=then)})
    plan = server_assignor("uniform").assign(request)
    keeps = plan.partitions_of("b") == [("t", 0)]
    alone = AssignmentRequest(
        [MemberSubscription("b", ("t",)), MemberSubscription("a", ("t",))], request.topics
    )
    fresh = server_assignor("uniform").assign(alone).partitions_of("b") == [("t", 0)]
    assert keeps is (True if then == OLD else fresh)


@pytest.mark.parametrize("topic_id", ["", "x", str(uuid.UUID(int=7)), OLD + "A"])
def test_a_malformed_topic_id_is_named(topic_id: str) -> None:
    """Kafka's base64 of 22 characters is the only form."""
    topics = {"t": TopicPartitions(1, topic_id=topic_id)}
    with pytest.raises(AssignorError, match=f"`{topic_id}` is not a topic id"):
        server_assignor("uniform").assign(
            AssignmentRequest([MemberSubscription("m", ("t",))], topics)
        )
