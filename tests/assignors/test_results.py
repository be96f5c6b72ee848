"""The compact result: what it says about members, topics and sizes."""

import pytest

from kgroups.assignors.compact import CompactAssignment, TopicTable
from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.java.roundrobin import RoundRobinAssignor
from kgroups.assignors.java.sticky import StickyAssignor
from kgroups.assignors.kip848.broker_ranges import ServerRangeAssignor
from kgroups.assignors.kip848.uniform import UniformAssignor
from kgroups.assignors.registry import LEADERS, assignor, server_assignor
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from tests.support.assignors.scenarios import member_in, scenarios, topics_in

TOPICS = {
    "a": TopicPartitions(3, topic_id="AAAAAAAAAAIAAAAAAAAAAg"),
    "b": TopicPartitions(2, topic_id="AAAAAAAAAAIAAAAAAAAAAw"),
}
MEMBERS = [MemberSubscription("m1", ("a", "b")), MemberSubscription("m2", ("a", "b"))]
REQUEST = AssignmentRequest(MEMBERS, TOPICS)


@pytest.mark.parametrize("vector_from", [0, 10**9])
def test_reading_a_result(vector_from: int) -> None:
    """Lists and arrays say the same."""
    result = RoundRobinAssignor(vector_from=vector_from).assign(REQUEST)
    assert result.partitions_of("m1") == [("a", 0), ("a", 2), ("b", 1)]
    assert result.partitions_of("nobody") == []
    assert result.counts() == [3, 2]
    assert dict(result.items()) == {"m1": {"a": [0, 2], "b": [1]}, "m2": {"a": [1], "b": [0]}}


def test_reading_a_target() -> None:
    """The server side's result reads like the client side's."""
    result = ServerRangeAssignor().assign(REQUEST)
    assert result.partitions_of("m1") == [("a", 0), ("a", 1), ("b", 0)]
    assert result.partitions_of("nobody") == []
    assert result.counts() == [3, 2]
    assert dict(result.items())["m2"] == {"a": [2], "b": [1]}
    assert result.numbers_of(0) == [0, 1, 3]


def test_sizes_after_changes() -> None:
    """Sizes of a changed target need no list of partitions."""
    owned = [("a", [0, 1, 2]), ("gone", [0])]
    members = [MemberSubscription("m1", ("a", "b"), owned=owned), MEMBERS[1]]
    result = UniformAssignor().assign(AssignmentRequest(members, TOPICS))
    assert result.counts() == [len(result.numbers_of(i)) for i in range(2)]


@pytest.mark.parametrize("names", [("a", "b"), ("a",)], ids=["equal", "mixed"])
def test_a_topic_made_anew_with_fewer_partitions(names: tuple[str, ...]) -> None:
    """`uniform` forgets partitions that are gone, and gives out all that are there."""
    members = [MemberSubscription("m1", ("a", "b"), owned=[("a", [1, 7])]),
               MemberSubscription("m2", names, owned=[("a", [9])])]  # fmt: skip
    result = UniformAssignor().assign(AssignmentRequest(members, TOPICS))
    given = [at for member in ("m1", "m2") for at in result.partitions_of(member)]
    assert sorted(given) == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)]
    assert ("a", 1) in result.partitions_of("m1")


def test_java_fails_on_partitions_that_are_gone() -> None:
    """Where subscriptions differ the Java class throws, and a faithful request says so."""
    members = [MemberSubscription("m1", ("a", "b"), owned=[("a", [7])]),
               MemberSubscription("m2", ("a",))]  # fmt: skip
    with pytest.raises(AssignorError) as failure:
        UniformAssignor().assign(AssignmentRequest(members, TOPICS, faithful=True))
    assert failure.value.java == "java.lang.ArrayIndexOutOfBoundsException"


def test_a_group_without_members() -> None:
    """Nobody gets anything."""
    empty = AssignmentRequest([], TOPICS)
    for strategy in (RangeAssignor(), RoundRobinAssignor(), StickyAssignor()):
        assert list(strategy.assign(empty).items()) == []
    for server in (UniformAssignor(), ServerRangeAssignor()):
        assert list(server.assign(empty).items()) == []


def test_strays_have_numbers_of_their_own() -> None:
    """A partition that exists only in a claim is numbered behind the others."""
    table = TopicTable(["a"], [2])
    assert table.claimed("a", 7) == table.claimed("a", 7) == 2
    assert table.partition(2) == ("a", 7)
    assert table.topic_of(2) == 0
    permuted = CompactAssignment.of_lists(["x", "y"], table, [[0], [1]], withheld={1: 1}).permuted(
        [1, 0]
    )
    assert permuted.withheld_numbers == {1: 0}
    assert permuted.withheld == {("a", 1): "y"}
    assert permuted.member_ids == ["y", "x"]


@pytest.mark.parametrize("request_", [AssignmentRequest([MEMBERS[0], MEMBERS[0]], TOPICS)])
def test_two_members_with_one_id(request_: AssignmentRequest) -> None:
    """A group cannot have them."""
    with pytest.raises(AssignorError, match="two members have the id `m1`"):
        RangeAssignor().assign(request_)


def test_broker_assignors_need_topic_ids() -> None:
    """Order by id is not possible without one."""
    request = AssignmentRequest(MEMBERS, {"a": TopicPartitions(1)})
    with pytest.raises(AssignorError, match="no topic id"):
        UniformAssignor().assign(request)


def test_registry() -> None:
    """Names find their strategy, unknown ones tell the known."""
    assert assignor("range").name == "range"
    assert server_assignor("uniform").name == "uniform"
    assert assignor("sticky", "franz-go").name == "sticky"
    assert "librdkafka" in LEADERS
    with pytest.raises(AssignorError) as failure:
        assignor("rnage")
    assert "roundrobin" in (failure.value.hint or "")
    with pytest.raises(AssignorError, match="unknown assignor `sticky`"):
        server_assignor("sticky")
    with pytest.raises(AssignorError, match="unknown client library `telnet`") as failure:
        assignor("range", "telnet")
    assert "sarama" in (failure.value.hint or "")


def test_rejoining_an_eager_group() -> None:
    """Range members bring nothing along."""
    back = rejoin(MEMBERS[0], "range", [("a", 0)], 4)
    assert (back.owned, back.user_data, back.previous, back.generation) == ((), None, None, 4)


@pytest.mark.parametrize("cooperative", [False, True])
def test_faults_are_told_and_not_repeated(cooperative: bool) -> None:
    """A claim on a partition that is gone, a member without topics, an older owner."""
    name = "cooperative-sticky" if cooperative else "sticky"
    strategy = StickyAssignor(name, cooperative=cooperative)

    def member(
        member_id: str, topics: tuple[str, ...], owned: list[tuple[str, list[int]]], generation: int
    ) -> MemberSubscription:
        return MemberSubscription(
            member_id, topics, owned=owned, generation=generation, previous=(owned, generation)
        )

    phantom = strategy.assign(AssignmentRequest([member("m1", ("a",), [("a", [0, 9])], 1)], TOPICS))
    assert [fault.code for fault in phantom.faults] == ["PHANTOM_PARTITION"]
    assert sorted(phantom.partitions_of("m1")) == [("a", 0), ("a", 1), ("a", 2)]
    idle = [MemberSubscription("B", ()), MemberSubscription("C", ("a",))]
    result = strategy.assign(AssignmentRequest(idle, TOPICS))
    assert [fault.code for fault in result.faults] == ["EMPTY_SUBSCRIPTION"]
    assert result.partitions_of("B") == []
    older = [
        member("m1", ("a",), [("a", [0, 1, 2])], 5),
        member("m2", ("b",), [("a", [0])], 3),
        member("m3", ("a",), [], 5),
    ]
    result = strategy.assign(AssignmentRequest(older, TOPICS))
    assert [fault.code for fault in result.faults] == ["UNSUBSCRIBED_OWNER"]
    assert ("a", 0) not in result.partitions_of("m2")


@pytest.mark.parametrize("literal", [False, True])
def test_moves_in_a_circle_end_after_a_while(literal: bool) -> None:
    """Where a Java leader never answers, ours stops, says so, and still serves everybody."""
    case = next(c for c in scenarios("golden.yaml", (), {}) if "circle" in c.name).case
    members = [member_in(text, "sticky", {}) for text in case["members"]]
    request = AssignmentRequest(members, topics_in(case["topics"]))
    result = StickyAssignor(literal=literal).assign(request)
    assert [fault.code for fault in result.faults] == ["LEADER_FAILS"]
    assert sum(result.counts()) == 20
    faithful = AssignmentRequest(members, request.topics, faithful=True)
    with pytest.raises(AssignorError, match="never finishes"):
        StickyAssignor(literal=literal).assign(faithful)
