"""What every strategy promises, on groups that hypothesis thinks of."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgroups.assignors.checks import PROPERTIES, broken_promises, holders_of
from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.sticky import StickyAssignor
from kgroups.assignors.other_clients.variants import VARIANTS
from kgroups.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import (
    AssignmentRequest,
    Assignor,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.assignors.user.conformance import check_assignor, random_request

STRATEGIES: dict[str, Assignor] = {
    **CLIENT_ASSIGNORS,
    **{f"server {name}": strategy for name, strategy in SERVER_ASSIGNORS.items()},
    **{
        f"{leader} {name}": strategy
        for leader, strategies in VARIANTS.items()
        for name, strategy in strategies.items()
    },
}
KNOWN_FLAWS = {
    "librdkafka range": {"order-free"},
    "librdkafka roundrobin": {"order-free"},
    "kafka-python range": {"order-free"},
    "kafka-python roundrobin": {"order-free", "answers"},
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_promises(name: str) -> None:
    """Only the known flaws of other libraries are found, and those are."""
    found = {finding.property for finding in check_assignor(STRATEGIES[name], 7, 60)}
    assert found == KNOWN_FLAWS.get(name, set())


@st.composite
def groups(draw: st.DrawFn) -> AssignmentRequest:
    """Members with subscriptions of any kind to a few topics."""
    topics = {
        f"t{number}": TopicPartitions(
            draw(st.integers(0, 12)), topic_id=f"AAAAAAAAAAIAAAAAAAAA{number}w"
        )
        for number in range(draw(st.integers(0, 4)))
    }
    names = [*topics, "unknown"]
    members = [
        MemberSubscription(
            member_id,
            tuple(draw(st.lists(st.sampled_from(names), max_size=4))),
            draw(st.none() | st.just(f"i{index}")),
        )
        for index, member_id in enumerate(
            draw(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=8, unique=True))
        )
    ]
    return AssignmentRequest(members, topics)


@given(groups(), st.sampled_from(["range", "roundrobin", "sticky", "cooperative-sticky", "lag"]))
@settings(max_examples=60)
def test_fresh_groups(request_: AssignmentRequest, name: str) -> None:
    """Any fresh group is served completely, once, and only by subscription."""
    strategy = CLIENT_ASSIGNORS[name]
    result = strategy.assign(request_)
    held = holders_of(result, request_)
    for promise in ("complete", "unique", "subscribed"):
        assert PROPERTIES[promise](strategy, request_, held) is None
    assert set(result.member_ids) == {member.member_id for member in request_.members}


@given(st.integers(0, 10**9))
@settings(max_examples=150)
def test_few_moves_with_equal_subscriptions(seed: int) -> None:
    """What a member owns up to its share stays with it: no fewer moves are possible."""
    request = random_request(seed)
    topics = request.members[0].topics
    members = [replace(member, topics=topics) for member in request.members]
    request = replace(request, members=members)
    result = StickyAssignor().assign(request)
    total = sum(request.topics[topic].partitions for topic in topics)
    low = total // len(members)
    for member in members:
        before = {(topic, p) for topic, parts in member.owned for p in parts if topic in topics}
        after = set(result.partitions_of(member.member_id))
        assert len(before & after) >= min(len(before), low)
        assert low <= len(after) <= low + (total % len(members) > 0)


@given(st.integers(0, 10**9))
@settings(max_examples=80)
def test_cooperative_rounds_settle(seed: int) -> None:
    """After at most four rounds a cooperative group withholds nothing more."""
    request = random_request(seed)
    strategy = CLIENT_ASSIGNORS["cooperative-sticky"]
    withheld = True
    for generation in range(5, 9):
        result = strategy.assign(request)
        assert isinstance(result, CompactAssignment)
        withheld = bool(result.withheld)
        if not withheld:
            break
        back = [
            rejoin(m, strategy.name, result.partitions_of(m.member_id), generation)
            for m in request.members
        ]
        request = replace(request, members=back)
    assert not withheld
    assert [f for f in broken_promises(strategy, request) if f.property != "order-free"] == []
