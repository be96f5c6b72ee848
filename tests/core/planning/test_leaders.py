"""Which client library leads a group, told from what its members send."""

from dataclasses import dataclass

import pytest

from kgroups.assignors.wire import encode_sticky_data
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import (
    AddTopic,
    Change,
    Pattern,
    RemoveMember,
    SetPartitions,
)
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.planning.plan import plan_group
from tests.support.planning.small_groups import cluster_of, group_of, member

GENERATION = b"\x00\x00\x00\x03"
V1 = encode_sticky_data((("t", (0,)),), 3)
EMPTY_V1 = encode_sticky_data((), -1)


@dataclass(frozen=True)
class Case:
    """What a member sends, and the libraries that it can be, the likeliest first."""

    id: str
    protocol: str
    version: int | None
    rack: str | None
    user_data: bytes | None
    expected: tuple[str, ...]
    client_id: str = "app"


CASES = [
    Case("nothing known is taken as Java", "range", None, None, None, ("java",)),
    Case("an empty rack is librdkafka's", "range", 3, "", None, ("librdkafka",)),
    Case("no rack is Java's or franz-go's", "range", 3, None, None, ("java", "franz-go")),
    Case("a client id decides between equals", "range", 3, None, None, ("franz-go", "java"), "kgo"),
    Case("a rack can be anybody's", "range", 3, "r1", None, ("java", "librdkafka", "franz-go")),
    Case("a generation alone is Java's", "cooperative-sticky", 3, None, GENERATION, ("java",)),
    Case("sticky's layout is franz-go's", "cooperative-sticky", 3, None, V1, ("franz-go",)),
    Case("and librdkafka's", "cooperative-sticky", 3, "", V1, ("librdkafka",)),
    Case("previous partitions are not franz-go's", "sticky", 3, None, V1, ("java",)),
    Case("none may be", "sticky", 3, None, EMPTY_V1, ("java", "franz-go")),
    Case("no data is not", "sticky", 3, None, None, ("java",)),
    Case("version 1", "range", 1, None, None, ("java", "sarama", "kafka-python")),
    Case("version 1 of sarama", "range", 1, None, None, ("sarama", "java", "kafka-python"),
         "sarama"),
    Case("version 0", "range", 0, None, None, ("java", "kafka-python", "aiokafka")),
    Case("a future version", "range", 9, "", None, ("librdkafka",)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_members_send_tells_the_library(case: Case) -> None:
    """Version, rack, user data and client id leave few libraries."""
    one = member("m", {"t": [0]}, client_id=case.client_id, version=case.version, rack=case.rack,
                 user_data=case.user_data)  # fmt: skip
    guess = infer_leader(group_of(one, assignor=case.protocol))
    assert guess.libraries == case.expected
    assert not guess.said
    assert guess.reason


STATIC = group_of(
    member("b", {"t": [0, 1]}, version=3),
    member("z-1", {"t": [2, 3]}, version=3, instance_id="z"),
)


def test_the_library_decides_the_order_of_members() -> None:
    """Java puts static members first; librdkafka sorts this pair by member id."""
    counts = {"t": 3}
    java = plan_group(cluster_of(STATIC, counts), STATIC, leader="java")
    rdkafka = plan_group(cluster_of(STATIC, counts), STATIC, leader="librdkafka")
    assert (java.leader_client, rdkafka.leader_client) == ("java", "librdkafka")
    assert [dict(m.assignment) for m in java.members] == [{"t": (2,)}, {"t": (0, 1)}]
    assert [dict(m.assignment) for m in rdkafka.members] == [{"t": (0, 1)}, {"t": (2,)}]


def test_libraries_that_agree_leave_no_doubt() -> None:
    """Java and franz-go both may lead, and both do the same: the plan is exact."""
    plan = plan_group(cluster_of(STATIC, {"t": 3}), STATIC)
    assert plan.confidence == "exact"


def test_libraries_that_disagree_are_named() -> None:
    """Where it matters which library leads, the plan says so and has both outcomes."""
    mixed = group_of(
        member("b", {"t": [0, 1]}, version=3, rack="r"),
        member("z-1", {"t": [2]}, version=3, rack="r", instance_id="z"),
    )
    plan = plan_group(cluster_of(mixed, {"t": 3}), mixed)
    assert plan.confidence == "likely"
    assert not plan.depends_on_member_ids
    assert len(plan.outcomes.each) == 2
    assert any("librdkafka" in note and "`--as`" in note for note in plan.notes)
    assert plan_group(cluster_of(mixed, {"t": 3}), mixed, leader="java").confidence == "exact"


def test_an_inexact_variant_promises_counts_only() -> None:
    """A library whose choice of partitions is not known says how many move, and no more."""
    group = group_of(
        member("a", {"t": [0, 1]}), member("b", {"t": [2, 3]}), assignor="cooperative-sticky"
    )
    plan = plan_group(cluster_of(group, {"t": 4}), group, [RemoveMember("b")], leader="franz-go")
    assert plan.confidence == "counts"
    assert any("franz-go" in note for note in plan.notes)


def test_an_unknown_library_is_refused() -> None:
    """`--as` takes libraries that are known."""
    with pytest.raises(UsageError, match="no client library"):
        plan_group(cluster_of(STATIC, {"t": 3}), STATIC, leader="cobol")


@pytest.mark.parametrize(
    ("leader", "changes", "confidence"),
    [
        ("librdkafka", [Pattern("t.*", "librdkafka"), AddTopic("t2", 2)], "outcomes"),
        ("librdkafka", [Pattern("t.*", "librdkafka"), SetPartitions("t1", 4)], "exact"),
        ("java", [Pattern("t.*", "java"), AddTopic("t2", 2)], "exact"),
    ],
    ids=["new topic", "known topic", "Java"],
)
def test_a_new_topic_under_a_pattern_is_a_race_for_librdkafka(
    leader: str, changes: list[Change], confidence: str
) -> None:
    """Its cooperative members learn of the topic one by one: every order is an outcome."""
    held = (member("a", {"t1": [0]}), member("b", {"t1": [1]}))
    group = group_of(*held, assignor="cooperative-sticky")
    plan = plan_group(cluster_of(group, {"t1": 2}), group, changes, leader=leader)
    assert plan.confidence == confidence
    assert any("one after another" in note for note in plan.notes) == (confidence == "outcomes")
    assert (len(plan.outcomes.each) > 1) == (confidence == "outcomes")
    assert plan.outcomes.complete
    assert not plan.depends_on_member_ids


def test_with_three_members_the_race_is_not_told_to_the_end() -> None:
    """Two members: every end; three: those that are likely, and no promise."""
    held = [member(name, {"t1": [number]}) for number, name in enumerate("abc")]
    changes: list[Change] = [Pattern("t.*", "librdkafka"), AddTopic("t2", 2)]
    group = group_of(*held, assignor="cooperative-sticky")
    plan = plan_group(cluster_of(group, {"t1": 3}), group, changes, leader="librdkafka")
    assert (plan.confidence, plan.outcomes.complete) == ("likely", False)
    assert any("the likely ones, not all there are" in note for note in plan.notes)
    for outcome in plan.outcomes.each:  # whoever came first, everything is given out in the end
        assert sum(len(p) for held in outcome.settled.shares.values() for p in held.values()) == 5
