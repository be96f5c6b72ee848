"""Plans of classic groups by the client library of their leader."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from kgroups.assignors.wire import encode_sticky_data
from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Pattern,
    RemoveMember,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import leader_matters
from kgroups.core.planning.plan import plan_group
from kgroups.core.planning.plan_item import plan_item
from kgroups.core.snapshot import Group
from tests.support.planning.member_bytes import (
    COOPERATIVE,
    EMPTY_V1,
    NUMBER,
    PREFIXED,
    UNDATED,
    V1,
)
from tests.support.planning.small_groups import cluster_of, group_of, member

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


def test_libraries_that_disagree_are_outcomes() -> None:
    """Where it matters which library leads, both are outcomes, and each says of whom."""
    mixed = group_of(
        member("b", {"t": [0, 1]}, version=3),
        member("z-1", {"t": [2]}, version=3, rack="", user_data=b"", instance_id="z"),
    )
    plan = plan_group(cluster_of(mixed, {"t": 3}), mixed)
    assert plan.confidence == "outcomes"
    assert plan.confidence_reason == (
        "the leader may be a java, librdkafka or franz-go client, and they assign differently"
    )
    assert plan.leader_clients == ("java", "librdkafka", "franz-go")
    assert not plan.depends_on_member_ids
    assert [outcome.leaders for outcome in plan.outcomes.each] == [
        ("java", "franz-go"),
        ("librdkafka",),
    ]
    assert any("librdkafka" in note and "`--as`" in note for note in plan.notes)
    assert plan_group(cluster_of(mixed, {"t": 3}), mixed, leader="java").confidence == "exact"


@pytest.mark.parametrize(
    ("library", "assignor", "version", "data", "wrote"),
    [
        ("aiokafka", "sticky", 0, UNDATED, (0, b"")),
        ("kafka-python", "sticky", 0, PREFIXED, (0, b"")),
        ("sarama", "sticky", 1, V1, (0, V1)),
        ("franz-go", "sticky", 3, EMPTY_V1, (0, None)),
        ("franz-go", COOPERATIVE, 3, V1, (0, None)),
        ("kafka-python", COOPERATIVE, 1, b"", (1, b"")),
    ],
)
def test_a_group_of_another_library_is_not_java_s(
    library: str, assignor: str, version: int, data: bytes, wrote: tuple[int, bytes | None]
) -> None:
    """Nobody is taken for Java whose strategy is another one, and Java's is not its leader."""
    held = [
        member(name, {"t": [number]}, version=version, user_data=data)
        for number, name in enumerate("abc")
    ]
    group = group_of(*held, assignor=assignor, wrote=wrote)
    plan = plan_group(cluster_of(group, {"t": 3}), group, [SetPartitions("t", 5)])
    assert (plan.leader_client, plan.leader_clients) == (library, (library,))


def sarama_group() -> Group:
    """Members of sarama: their subscriptions may be an old Java's, their assignments not."""
    held = [member(name, {"t": [n]}, version=1, user_data=V1) for n, name in enumerate("abc")]
    return group_of(*held, assignor="sticky", wrote=(0, V1))


def test_a_leader_that_stays_is_of_the_library_that_wrote() -> None:
    """Which member leads is worth a look, though all of them show the same."""
    group = sarama_group()
    assert leader_matters(Evidence(group))
    plan = plan_group(cluster_of(group, {"t": 3}), group, [RemoveMember("b")])
    assert set(plan.leader_clients) == {"java", "sarama"}
    logged = replace(group, leader="a")
    plan = plan_group(cluster_of(logged, {"t": 3}), logged, [RemoveMember("b")])
    assert plan.leader_clients == ("sarama",)


def test_where_members_show_one_library_who_leads_does_not_matter() -> None:
    """No look at `__consumer_offsets` is needed."""
    java = [member(name, {"t": [0]}, version=3, user_data=NUMBER) for name in "ab"]
    group = group_of(*java, assignor=COOPERATIVE, wrote=(3, None))
    assert not leader_matters(Evidence(group))


def test_a_leader_that_fails_is_one_outcome() -> None:
    """kafka-python's `roundrobin` fails where subscriptions differ; another leader does not."""
    held = [
        member("a", {"t": [0]}, version=0, user_data=b"", topics=("t", "u")),
        member("b", {"t": [1]}, version=0, user_data=b"", topics=("t",)),
    ]
    group = group_of(*held, assignor="roundrobin")
    plan = plan_group(cluster_of(group, {"t": 2, "u": 3}), group)
    assert plan.confidence == "outcomes"
    assert "a kafka-python leader fails this rebalance" in (plan.confidence_reason or "")
    assert len(plan.outcomes.each) == 1
    (failure,) = plan.outcomes.failures
    assert failure.leaders == ("kafka-python",)
    assert 0 < failure.weight < 1
    assert any("(rank " in note for note in plan.notes)
    assert any("KeyError" in note for note in plan.notes)
    item = plan_item(plan)
    assert item["failures"][0]["leader_clients"] == ["kafka-python"]
    with pytest.raises(KgroupsError, match="KeyError"):
        plan_group(cluster_of(group, {"t": 2, "u": 3}), group, leader="kafka-python")


def test_an_inexact_variant_promises_counts_only() -> None:
    """A library that has no such strategy of its own: how many move, and no more."""
    held = [member(name, {"t": [number]}) for number, name in enumerate("abc")]
    group = group_of(*held, assignor="sticky")
    plan = plan_group(cluster_of(group, {"t": 3}), group, [RemoveMember("b")], leader="librdkafka")
    assert plan.confidence == "counts"
    assert "librdkafka" in (plan.confidence_reason or "")


def test_where_chance_decides_new_ids_do_not() -> None:
    """sarama walks a map to choose what it moves to the new member, whatever its id is."""
    group = group_of(
        member("a-1", {"t": [0, 1, 2, 3]}, version=2, user_data=V1, client_id="a"),
        assignor="sticky",
        wrote=(0, V1),
    )
    joins = AddMembers(client_id="b", topics=("t",), library="sarama")
    plan = plan_group(cluster_of(group, {"t": 4}), group, [joins])
    assert (plan.confidence, plan.confidence_reason) == (
        "outcomes",
        "a sarama leader chooses at random",
    )


def test_an_unknown_library_is_refused() -> None:
    """`--as` takes libraries that are known."""
    with pytest.raises(UsageError, match="unknown client library"):
        plan_group(cluster_of(STATIC, {"t": 3}), STATIC, leader="cobol")


@pytest.mark.parametrize(
    ("leader", "rounds", "unassigned"),
    [("java", 1, 0), ("librdkafka", 1, 0), ("kafka-python", 1, 1)],
)
def test_a_cooperative_member_that_drops_a_topic(leader: str, rounds: int, unassigned: int) -> None:
    """It gives the topic up before it joins, so the first round hands it on.

    kafka-python goes on claiming it: the round withholds it, and nobody asks for a second one.
    """
    data = {"java": NUMBER, "librdkafka": V1, "kafka-python": b""}[leader]
    version, rack = (1, None) if leader == "kafka-python" else (3, None)
    rack = "" if leader == "librdkafka" else rack
    held = [
        member("a", {"t": [0, 1], "u": [0]}, version=version, user_data=data, rack=rack),
        member("b", {"t": [2, 3]}, topics=("t", "u"), version=version, user_data=data, rack=rack),
    ]
    group = group_of(*held, assignor=COOPERATIVE)
    cluster = cluster_of(group, {"t": 4, "u": 1})
    plan = plan_group(cluster, group, [Subscribe(("t",), member="a")], leader=leader)
    assert (plan.metrics.rounds, plan.metrics.unassigned) == (rounds, unassigned)


@pytest.mark.parametrize(
    ("leader", "changes", "confidence"),
    [
        ("librdkafka", [Pattern("t.*", "librdkafka"), AddTopic("t2", 2)], "outcomes"),
        ("librdkafka", [Pattern("t.*", "librdkafka"), SetPartitions("t1", 4)], "exact"),
        ("java", [Pattern("t.*", "java"), SetPartitions("t1", 4)], "exact"),
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
    assert ("one after another" in (plan.confidence_reason or "")) == (confidence == "outcomes")
    assert (len(plan.outcomes.each) > 1) == (confidence == "outcomes")
    assert plan.outcomes.complete
    assert not plan.depends_on_member_ids


@pytest.mark.parametrize(
    ("strategy", "leader"),
    [("cooperative-sticky", "java"), ("sticky", "java"), ("sticky", "kafka-python")],
)
def test_a_member_may_look_again_before_its_broker_knows_the_topic(
    strategy: str, leader: str
) -> None:
    """Seen on a broker: Java's members did not find a new topic together, and more moved."""
    held = [member(name, {"t1": [number, number + 2]}) for number, name in enumerate("ab")]
    group = group_of(*held, assignor=strategy)
    changes: list[Change] = [Pattern("t.*", "java"), AddTopic("t2", 2)]
    plan = plan_group(cluster_of(group, {"t1": 4}), group, changes, leader=leader)
    assert (plan.confidence, plan.outcomes.complete) == ("counts", False)
    assert "one after another" in (plan.confidence_reason or "")


def test_one_member_finds_a_new_topic_by_itself() -> None:
    """Nobody can come without it, and `range` does not mind who does."""
    held = [member(name, {"t1": [number, number + 2]}) for number, name in enumerate("ab")]
    changes: list[Change] = [Pattern("t.*", "java", "a"), AddTopic("t2", 2)]
    for strategy in ("cooperative-sticky", "range"):
        group = group_of(*held, assignor=strategy)
        snapshot = cluster_of(group, {"t1": 4})
        plan = plan_group(snapshot, group, changes, leader="librdkafka")
        assert plan.confidence == "exact"
        both = [Pattern("t.*", "java"), *changes[1:]]
        assert strategy != "range" or plan_group(snapshot, group, both).confidence == "exact"


def test_with_three_members_the_race_is_not_told_to_the_end() -> None:
    """Two members: every end; three: only that all get as many, which is certain."""
    held = [member(name, {"t1": [number]}) for number, name in enumerate("abc")]
    changes: list[Change] = [Pattern("t.*", "librdkafka"), AddTopic("t2", 2)]
    group = group_of(*held, assignor="cooperative-sticky")
    plan = plan_group(cluster_of(group, {"t1": 3}), group, changes, leader="librdkafka")
    assert (plan.confidence, plan.outcomes.complete) == ("counts", False)
    assert "one after another" in (plan.confidence_reason or "")
    for outcome in plan.outcomes.each:  # whoever came first, everything is given out in the end
        assert sum(len(p) for held in outcome.settled.shares.values() for p in held.values()) == 5


@pytest.mark.parametrize(
    ("leader", "told"),
    [("a-1", ["they have no owner until"]), ("b-1", []), (None, ["they have no owner until"])],
)
def test_a_librdkafka_leader_looks_at_its_own_topics(leader: str | None, told: list[str]) -> None:
    """Seen with real members: a topic that only the others read grew, and nothing happened."""
    members = [
        member("a-1", {"u": [0]}, rack="", user_data=b""),
        member("b-1", {"t": [0, 1], "u": [1]}, rack="", user_data=b""),
    ]
    group = group_of(*members, leader=leader, wrote=(0, b""))
    plan = plan_group(cluster_of(group, {"t": 2, "u": 2}), group, [SetPartitions("t", 3)])
    assert plan.leader_client == "librdkafka"
    found = [note for note in plan.notes if "not notice new partitions of `t`" in note]
    assert [words in note for words, note in zip(told, found, strict=True)] == [True] * len(told)


OLD_JAVA: Final[Mapping[str, Mapping[str, list[int]]]] = {
    "a-1": {"t": [], "u": [3, 4, 5, 6]},
    "b-1": {"t": [0, 1, 2, 3, 4]},
    "c-1": {"u": [0, 1, 2]},
}


def old_java(version: int, held: Mapping[str, Mapping[str, list[int]]]) -> Group:
    """A `sticky` group of Java clients whose subscriptions have this version."""
    wrote = version, b"" if version == 0 else None
    members = [
        member(name, each, version=version, user_data=encode_sticky_data(list(each.items()), 1))
        for name, each in held.items()
    ]
    return group_of(*members, assignor="sticky", leader="a-1", wrote=wrote)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_an_older_algorithm_may_stop_at_other_sizes(version: int) -> None:
    """Java 2.8.2's `sticky` gives each of these three members four partitions; ours moves none."""
    group = old_java(version, OLD_JAVA)
    snapshot = cluster_of(group, {"t": 5, "u": 7})
    assert plan_group(snapshot, group).confidence == "likely"
    plan = plan_group(snapshot, group, leader="java")
    assert sorted(each.partitions for each in plan.members) == [3, 4, 5]
    assert plan.confidence == "likely"
    assert "older than ours" in (plan.confidence_reason or "")


@pytest.mark.parametrize("version", [0, 1, 2])
def test_an_older_algorithm_deals_evenly_too(version: int) -> None:
    """Sizes are certain where everybody reads the same."""
    group = old_java(version, {"a-1": {"t": [0, 1, 2]}, "b-1": {"t": [3, 4]}})
    plan = plan_group(cluster_of(group, {"t": 5}), group, [AddMembers(client_id="c")])
    assert plan.leader_clients == ("java",)
    assert plan.confidence == "counts"


def test_members_of_an_older_release_that_are_to_use_another_strategy() -> None:
    """Their subscriptions show the release under the strategy of now, too."""
    members = [member(name, {"t": [number]}, version=1) for number, name in enumerate("ab")]
    group = group_of(*members)
    snapshot = cluster_of(group, {"t": 2})
    assert plan_group(snapshot, group).confidence == "exact"
    assert plan_group(snapshot, group, (), "sticky", "java").confidence == "counts"
