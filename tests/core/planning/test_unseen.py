"""What a leader sees and nobody else does: every way in which it may be is among the outcomes."""

from dataclasses import replace

import pytest

from kgroups.assignors.wire import encode_sticky_data
from kgroups.core.planning.assignor_request import Assumed, build_request, first_round
from kgroups.core.planning.changes.apply import next_roster
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
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.planning.leaders.strategies import leader_strategies
from kgroups.core.planning.moves import Shares, ownership, round_step
from kgroups.core.planning.outcomes.outcome import Outcomes, Settled
from kgroups.core.planning.outcomes.races import race_ends
from kgroups.core.planning.outcomes.search import unseen
from kgroups.core.planning.plan import plan_group
from kgroups.core.planning.reasons import HIDDEN_RACKS
from kgroups.core.snapshot import Broker, ClusterSnapshot, PartitionLog, Topic
from tests.support.planning.ends import ends
from tests.support.planning.member_bytes import NUMBER, PREFIXED, UNDATED, V1
from tests.support.planning.small_groups import cluster_of, group_of, member

BROKERS = (Broker(1, "h", 1, "a"), Broker(2, "h", 2, "b"))


def racked(assignor: str, replicas: int = 1) -> ClusterSnapshot:
    """A Java group of four members in two racks, each with one of the topic's partitions."""
    group = group_of(
        *(member(f"{name}-1", {"t": [n]}, rack="ab"[n % 2]) for n, name in enumerate("cdef")),
        assignor=assignor,
    )
    racks = [tuple("ab"[(number + copy) % 2] for copy in range(replicas)) for number in range(4)]
    logs = {n: PartitionLog(0, 1, None, 1 + n % 2, racks[n]) for n in range(4)}
    snapshot = cluster_of(group, {"t": 4})
    return replace(snapshot, brokers=BROKERS, topics={"t": Topic("t", logs)})


@pytest.mark.parametrize(
    ("assignor", "leader"),
    [
        ("range", "java"),
        ("sticky", "java"),
        ("cooperative-sticky", "java"),
        ("range", "librdkafka"),
        ("cooperative-sticky", "librdkafka"),
    ],
)
def test_racks_of_new_partitions_are_not_known(assignor: str, leader: str) -> None:
    """Brokers place them at random, and these leaders look at racks."""
    snapshot = racked(assignor)
    plan = plan_group(snapshot, snapshot.groups[0], [SetPartitions("t", 6)], leader=leader)
    assert plan.confidence == "outcomes"
    assert plan.confidence_reason == "the racks in which brokers place new partitions decide"
    assert len(ends(plan)) > 1


@pytest.mark.parametrize(("assignor", "leader"), [("roundrobin", "java"), ("range", "sarama")])
def test_racks_do_not_matter_to_who_does_not_look(assignor: str, leader: str) -> None:
    """Java's roundrobin and other libraries do not."""
    snapshot = racked(assignor)
    plan = plan_group(snapshot, snapshot.groups[0], [SetPartitions("t", 6)], leader=leader)
    assert plan.confidence == "exact"


@pytest.mark.parametrize("assignor", ["range", "sticky", "cooperative-sticky"])
def test_a_franz_go_leader_may_look_at_racks(assignor: str) -> None:
    """Where its application asks for it (`BalanceRacks`), which does not show."""
    snapshot = racked(assignor)
    leaves = [RemoveMember("c-1")]
    plan = plan_group(snapshot, snapshot.groups[0], leaves, leader="franz-go")
    assert plan.confidence == "outcomes"
    assert HIDDEN_RACKS in (plan.confidence_reason or "")
    bare = replace(snapshot, brokers=tuple(replace(each, rack=None) for each in snapshot.brokers))
    plan = plan_group(bare, bare.groups[0], leaves, leader="franz-go")
    assert plan.confidence in ("exact", "outcomes")


def test_replicas_everywhere_are_known() -> None:
    """With a replica in every rack new partitions have one, too."""
    snapshot = racked("sticky", replicas=2)
    plan = plan_group(snapshot, snapshot.groups[0], [SetPartitions("t", 6)], leader="java")
    assert plan.confidence == "exact"


def test_so_many_new_partitions_are_not_all_tried() -> None:
    """Two racks for each of ten partitions are few ways, but three are too many."""
    snapshot = racked("sticky")
    plan = plan_group(snapshot, snapshot.groups[0], [SetPartitions("t", 14)], leader="java")
    assert plan.outcomes.complete
    snapshot = replace(snapshot, brokers=(*BROKERS, Broker(3, "h", 3, "c")))
    plan = plan_group(snapshot, snapshot.groups[0], [SetPartitions("t", 14)], leader="java")
    assert not plan.outcomes.complete
    assert plan.confidence == "counts"


def test_a_new_topic_may_have_any_number_of_replicas() -> None:
    """In one rack or the other, or in both."""
    snapshot = racked("range")
    changes: list[Change] = [AddTopic("t2", 2), Pattern("t.*", "java")]
    plan = plan_group(snapshot, snapshot.groups[0], changes, leader="java")
    assert plan.confidence == "outcomes"


def aiokafka(*orders: str) -> ClusterSnapshot:
    """Two aiokafka members with nine partitions of two topics, named in these orders."""
    x2 = member("x2-1", {"e": [0, 1, 3, 4]}, topics=orders[0], version=0, user_data=UNDATED)
    x1 = member("x1-1", {"e": [2], "f": [0, 1, 2, 3]}, topics=orders[1], version=0, user_data=b"")
    return cluster_of(group_of(x2, x1, assignor="sticky"), {"e": 5, "f": 4})


JOINS = AddMembers(client_id="z5", topics=("e", "f"), library="aiokafka")
SEEN_ON_A_BROKER = ownership(
    {
        "x1-1": {"f": [1, 2, 3]},
        "x2-1": {"e": [2, 3, 4]},
        "z5-new-1": {"e": [0, 1], "f": [0]},
    }
)


@pytest.mark.parametrize("by_pattern", [False, True])
def test_members_that_name_topics_in_different_orders(*, by_pattern: bool) -> None:
    """They subscribe to the same, but aiokafka compares lists; patterns leave the orders alone."""
    snapshot = aiokafka("fe", "ef")
    changes: list[Change] = [JOINS]
    if by_pattern:
        changes += [Pattern(".", "java", name) for name in ("x1-1", "x2-1")]
    plan = plan_group(snapshot, snapshot.groups[0], changes, leader="aiokafka")
    assert plan.confidence == "exact"
    assert ends(plan) == {SEEN_ON_A_BROKER}


def test_the_order_of_a_newcomer_is_not_known() -> None:
    """It may name them as the others do, or not."""
    snapshot = aiokafka("fe", "fe")
    plan = plan_group(snapshot, snapshot.groups[0], [JOINS], leader="aiokafka")
    assert plan.confidence == "outcomes"
    assert SEEN_ON_A_BROKER in ends(plan)
    assert len(ends(plan)) == 2


FRANZ_OR_JAVA = b"\0\0\0\0\0\0\0\2"
JAVA_BYTES = encode_sticky_data((("a", (0, 1, 2)),), 2)


def java_and(data: bytes) -> ClusterSnapshot:
    """A Java leader with three partitions, and a member with three that sent these bytes."""
    y1 = member("k-y1-8b14", {"a": [3, 4, 5]}, instance_id="k-y1", user_data=data)
    a2 = member("a2-195c", {"a": [0, 1, 2]}, user_data=JAVA_BYTES)
    return cluster_of(group_of(y1, a2, assignor="sticky", wrote=(3, None)), {"a": 6, "b": 2})


def test_a_member_may_be_franz_gos_under_a_java_leader() -> None:
    """It sent no partitions: Java's does so after it had none, franz-go's always does.

    Seen on a broker: franz-go's member forgets what it has, and the leader deals anew.
    """
    snapshot = java_and(FRANZ_OR_JAVA)
    changes = [Subscribe(("b",), added=True, member="k-y1-8b14")]
    plan = plan_group(snapshot, snapshot.groups[0], changes)
    assert (plan.leader_client, plan.confidence) == ("java", "outcomes")
    assert "do not show their client libraries" in (plan.confidence_reason or "")
    assert {each.assignment["a"] for each in plan.members} == {(4, 5), (0, 1, 2, 3)}
    forgets = ownership({"k-y1-8b14": {"a": [3, 5], "b": [0, 1]}, "a2-195c": {"a": [0, 1, 2, 4]}})
    assert forgets in ends(plan)


def test_a_member_that_sent_its_partitions_is_javas() -> None:
    """Then there is one way."""
    snapshot = java_and(encode_sticky_data((("a", (3, 4, 5)),), 2))
    plan = plan_group(snapshot, snapshot.groups[0], [SetPartitions("a", 8)])
    assert plan.confidence == "exact"


def test_a_leader_may_meet_an_unread_topic_late() -> None:
    """Java's leader may look up a topic that nobody reads after it has dealt the others.

    Seen on a broker: the newcomer took part of the others first, and gave it back for the topic.
    """
    y1 = member(
        "k-y1", {"b": [0, 1], "a": [3, 5]}, topics=("a", "b"), user_data=FRANZ_OR_JAVA[:-1] + b"\4"
    )
    a2 = member("a2", {"a": [0, 1, 2, 4]}, user_data=encode_sticky_data((("a", (0, 1, 2)),), 4))
    group = group_of(y1, a2, assignor="sticky", wrote=(3, None))
    snapshot = cluster_of(group, {"a": 6, "b": 2, "f": 7})
    joins = AddMembers(client_id="z3", topics=("a", "b", "f"), library="java")
    plan = plan_group(snapshot, snapshot.groups[0], [joins])
    assert plan.confidence == "outcomes"
    assert "may not know a topic" in (plan.confidence_reason or "")
    came = {"k-y1": {"b": [0, 1], "a": [0, 3]}, "a2": {"a": [1, 2, 4, 5]}}
    assert ownership({**came, "z3-new-1": {"f": list(range(7))}}) in ends(plan)


def test_kafka_pythons_roundrobin_may_fail_while_members_change() -> None:
    """Each comes with what is new by itself, and the leader raises where they differ."""
    members = [
        member(f"{name}-1", {"t": [n], "u": [n]}, version=0, user_data=b"")
        for n, name in enumerate("ab")
    ]
    snapshot = cluster_of(group_of(*members, assignor="roundrobin"), {"t": 2, "u": 2})
    changes = [Subscribe(("t",))]
    plan = plan_group(snapshot, snapshot.groups[0], changes, leader="kafka-python")
    assert plan.confidence == "outcomes"
    assert plan.outcomes.failures


def test_what_follows_a_sarama_leader_that_fails_is_not_known() -> None:
    """Seen on a broker: its application joins again, and seven of nine ends were not listed."""
    members = [
        member("a-1", {"t": [0, 1]}, instance_id="a", version=2, user_data=b""),
        member("b-1", {"t": [2, 3]}, version=2, user_data=b""),
    ]
    group = group_of(*members, assignor="sticky", leader="a-1")
    joins = AddMembers(client_id="n", library="kafka-python", instance_id="n")
    plan = plan_group(cluster_of(group, {"t": 4}), group, [joins], leader="sarama")
    (failure,) = plan.outcomes.failures  # of whatever id the newcomer gets
    assert "`n-new-1`" in failure.message
    assert not plan.outcomes.complete
    assert plan.confidence == "likely"
    assert "a sarama leader may fail and join again" in (plan.confidence_reason or "")


def test_a_leader_that_follows_may_not_know_what_others_read() -> None:
    """kafka-python: the first leader leaves, and the next one reads one topic of two.

    Seen on a broker: it dealt the topic that it knew first, and both a moment later.
    """
    c2 = member("k-c2-1", {"f": [4, 6], "h": [1, 3]}, instance_id="k-c2", version=1, user_data=b"")
    x3 = member("x3-1", {"f": [0, 1, 2]}, version=1, user_data=b"")
    c1 = member("l-c1-1", {"f": [3, 5], "h": [0, 2]}, instance_id="l-c1", version=1, user_data=b"")
    group = group_of(c2, x3, c1, assignor="cooperative-sticky", wrote=(1, None))
    snapshot = cluster_of(group, {"f": 7, "h": 4})
    plan = plan_group(snapshot, snapshot.groups[0], [RemoveMember("k-c2")], leader="kafka-python")
    assert plan.confidence == "outcomes"
    came = {"x3-1": {"f": [0, 1, 2, 3, 4]}, "l-c1-1": {"f": [5, 6], "h": [0, 1, 2, 3]}}
    assert ownership(came) in ends(plan)


def test_a_sarama_member_begins_anew_with_another_subscription() -> None:
    """It claims nothing of what it had, so that the leader deals all of it."""
    members = [
        member("a-1", {"c": [0, 1]}, topics=("c",), version=2, user_data=NUMBER),
        member("b-1", {"c": [2, 3]}, topics=("c",), version=2, user_data=NUMBER),
    ]
    group = group_of(*members, assignor="cooperative-sticky")
    snapshot = cluster_of(group, {"c": 4, "d": 2})
    roster = next_roster(snapshot, group, [Subscribe(("c", "d"), member="a-1")])
    brought = first_round(roster, "cooperative", "sarama")
    assert "a-1" not in brought.held
    assert brought.held["b-1"] == {"c": (2, 3)}
    assert set(first_round(roster, "cooperative", "java").held) == {"a-1", "b-1"}


def test_sticky_sarama_members_say_what_their_leader_wrote() -> None:
    """Java's leader writes no user data, so they join with none, and may lose any partition."""
    java = member("j-1", {"t": [0, 1, 2]}, version=3, user_data=V1)
    other = member("s-1", {"t": [3, 4, 5]}, version=2)
    group = group_of(java, other, assignor="sticky", leader="j-1", wrote=(3, None))
    roster = next_roster(cluster_of(group, {"t": 6}), group, [])
    brought = first_round(roster, "eager", "java")

    def says(library: str) -> bool:
        request = build_request(
            roster, brought, "sticky", Assumed("java", libraries={"s-1": library})
        )
        claim = next(m for m in request.members if m.member_id == "s-1")
        return claim.previous is not None or claim.user_data is not None

    assert (says("java"), says("sarama")) == (True, False)
    strategy = leader_strategies("sticky", infer_leader(Evidence(group)))[0]
    assert strategy.leader_client == "java"
    found, complete = unseen(roster, strategy)
    assert complete
    assert {each.libraries["s-1"] for each in found} == {"java", "sarama"}


def test_sizes_are_sure_where_all_read_the_same() -> None:
    """More orders of seven newcomers than are tried, but all strategies deal evenly."""
    group = group_of(member("a-1", {"t": [0, 1, 2, 3]}), assignor="cooperative-sticky")
    joins = [AddMembers(client_id=name) for name in ("b", "b", "c", "c", "d", "d", "e")]
    plan = plan_group(cluster_of(group, {"t": 20}), group, joins, leader="librdkafka")
    assert plan.confidence == "counts"
    unlike = [replace(join, topics=("t", "u")) for join in joins]
    plan = plan_group(cluster_of(group, {"t": 4, "u": 13}), group, unlike, leader="librdkafka")
    assert plan.confidence != "counts"


def test_who_follows_the_leader_may_use_another_library() -> None:
    """Any of them may have led, with franz-go; who follows it may use librdkafka."""
    members = [
        member(name, {"t": [n]}, rack="r", user_data=encode_sticky_data((("t", (n,)),), 7))
        for n, name in enumerate(("z1-1", "b3-1", "b2-1"))
    ]
    group = group_of(*members, assignor="cooperative-sticky", wrote=(0, None))
    plan = plan_group(cluster_of(group, {"t": 3}), group, [RemoveMember("b2-1")])
    assert set(plan.leader_clients) == {"franz-go", "librdkafka"}


def test_a_race_that_never_comes_to_rest_has_an_end() -> None:
    """A leader that takes something from a member in every round: shown is where it stops."""
    group = group_of(
        member("a", {"t": [0]}), member("b", {"t": [1]}), assignor="cooperative-sticky"
    )
    snapshot = cluster_of(group, {"t": 2, "u": 1})
    roster = next_roster(snapshot, group, [Subscribe(("u",), added=True)])
    strategy = leader_strategies("cooperative-sticky", infer_leader(Evidence(group), "java"))[0]
    held: Shares = {"a": {"t": (0,)}, "b": {"t": ()}}
    step = round_step({"a": {"t": (0,)}, "b": {"t": (1,)}}, held)
    found = race_ends(
        roster,
        first_round(roster, "cooperative"),
        strategy,
        lambda _, __, ___: Outcomes.alike([Settled(held, (step,))]),
        rounds=100,
    )
    assert not found.complete
    assert [each.settled.settled for each in found.each] == [False]


def test_a_restarted_leader_of_kafka_python_knows_its_own_topics_only() -> None:
    """Static, it shows that it began anew, and does not know what the others read."""
    members = [
        member("a-1", {"t": [0, 2, 4]}, topics=("t",), version=0, user_data=b"", instance_id="a"),
        member("b-1", {"t": [1, 3], "u": [0]}, version=0, user_data=PREFIXED),
    ]
    group = group_of(*members, assignor="sticky")
    cluster = cluster_of(group, {"t": 5, "u": 3})
    join = AddMembers(client_id="c", topics=("t", "u"))
    assert len(ends(plan_group(cluster, group, [join], leader="kafka-python"))) > 1
    knows = group_of(replace(members[0], user_data=PREFIXED), members[1], assignor="sticky")
    cluster = cluster_of(knows, {"t": 5, "u": 3})
    assert len(ends(plan_group(cluster, knows, [join], leader="kafka-python"))) < len(
        ends(plan_group(cluster, group, [join], leader="kafka-python"))
    )


def test_a_sticky_member_that_has_just_joined_may_be_of_another_library() -> None:
    """Seen on a broker: kafka-python leads, and cannot read what aiokafka's member says it has."""
    y1 = "l-y1-aa012223-9c90-4d2b-b549-286a81c4c105"
    z2 = "z2-d0e85b1a-6852-4487-9975-97888a155a1c"
    members = [
        member(y1, {"f": [0, 1, 2, 3]}, version=0, user_data=PREFIXED, instance_id="l-y1"),
        member(z2, {"f": [4, 5, 6]}, version=0, user_data=b""),
    ]
    group = group_of(*members, assignor="sticky", leader=y1, wrote=(0, b""))
    join = AddMembers(client_id="c3", instance_id="m-c3", library="kafka-python")
    plan = plan_group(cluster_of(group, {"f": 7}), group, [join])
    came = {y1: {"f": [0, 1, 2]}, z2: {"f": [3, 5]}, "m-c3-new-1": {"f": [4, 6]}}
    assert ownership(came) in ends(plan)
    assert plan.confidence == "outcomes"
    told = plan_group(cluster_of(group, {"f": 7}), group, [join], leader="kafka-python")
    assert ownership(came) not in ends(told)


def test_a_late_leader_learns_between_two_rounds() -> None:
    """Seen on a broker: kafka-python's leader forgot a topic in one round and dealt it the next."""
    a1 = "l-a1-9cfc8227-3a55-4898-8b05-4f2b2102b486"
    x2 = "x2-d1cfb83a-3aa7-43ed-8f1e-641f2529969b"
    c3 = "c3-334c2731-523e-46c3-b15f-747958d26e69"
    z4 = "z4-61bb944d-81dd-4fb7-ae36-3c5bac985637"
    both = ("a", "f")
    members = [
        member(a1, {"f": [1, 2, 3]}, version=1, user_data=b"", instance_id="l-a1"),
        member(x2, {"a": [1, 4], "f": [0]}, topics=both, version=1, user_data=b""),
        member(c3, {"a": [0, 3, 6]}, topics=both, version=1, user_data=b""),
        member(z4, {"a": [2, 5]}, topics=both, version=1, user_data=b""),
    ]
    group = group_of(*members, assignor="cooperative-sticky")
    cluster = cluster_of(group, {"a": 7, "f": 4})
    plan = plan_group(cluster, group, [RemoveMember(z4)], leader="kafka-python")
    came = {a1: {"f": [1, 2, 3]}, x2: {"a": [2, 4, 6], "f": [0]}, c3: {"a": [0, 1, 3, 5]}}
    assert ownership(came) in ends(plan)
    assert plan.confidence == "outcomes"


def java_without(topics: str) -> ClusterSnapshot:
    """A cooperative Java group as seen on a broker; `k-z2`, which leads it, reads these topics."""
    held = {
        "m-c4": {"b": [2], "e": [2], "f": [2]},
        "c3": {"f": [3, 4, 5, 6]},
        "c1": {"b": [0], "f": [0], "e": [1]},
        "k-z2": {"e": [0], "b": [1], "f": [1]},
    }
    group = group_of(
        *(
            member(f"{name}-1", given, topics=topics if name == "k-z2" else "bef", user_data=NUMBER)
            for name, given in held.items()
        ),
        assignor="cooperative-sticky",
    )
    return cluster_of(replace(group, leader="k-z2-1"), {"b": 3, "e": 3, "f": 7})


def test_a_java_leader_may_not_know_what_it_does_not_read() -> None:
    """Seen on a broker: its metadata had its own topic alone, so everybody lost the others."""
    snapshot = java_without("bef")
    change = Subscribe(("e",), member="k-z2-1")
    plan = plan_group(snapshot, snapshot.groups[0], [change], leader="java")
    came = {
        "k-z2-1": {"e": [0, 1, 2]},
        "c1-1": {"b": [1], "f": [1, 4]},
        "c3-1": {"b": [0, 2], "f": [2, 5]},
        "m-c4-1": {"f": [0, 3, 6]},
    }
    assert ownership(came) in ends(plan)
    assert plan.confidence == "outcomes"
    assert "does not read itself" in (plan.confidence_reason or "")


def test_a_leader_that_reads_everything_knows_everything() -> None:
    """Then that is not in doubt; nor is it with another library, which waits for an answer."""
    snapshot = java_without("bef")
    change = Subscribe(("e",), member="c1-1")
    for leader in (None, "librdkafka"):
        plan = plan_group(snapshot, snapshot.groups[0], [change], leader=leader)
        assert "does not read itself" not in (plan.confidence_reason or "")


@pytest.mark.parametrize(
    ("version", "joins", "expected"),
    [(1, "franz-go", "exact"), (2, "franz-go", "exact"), (2, "sarama", "counts")],
)
def test_a_franz_go_leader_may_not_see_what_sarama_members_have(
    version: int, joins: str, expected: str
) -> None:
    """It takes what is owned from subscriptions with a generation; those to come may have none."""
    own = member("a", {"t": [0, 2]}, user_data=V1, generation=3)
    generation = 3 if version > 1 else None
    other = member("b", {"t": [1, 3]}, version=version, user_data=NUMBER, generation=generation)
    group = group_of(own, other, assignor="cooperative-sticky", leader="a", wrote=(0, None))
    plan = plan_group(
        cluster_of(group, {"t": 4}),
        group,
        [AddMembers(client_id="c", library=joins, topics=("t",))],
    )
    assert plan.leader_clients == ("franz-go",)
    assert plan.confidence == expected, plan.confidence_reason
    hidden = "a franz-go leader does not see what members without generations have"
    assert (hidden in (plan.confidence_reason or "")) == (expected != "exact")


@pytest.mark.parametrize("named", [("f", "g"), ("g", "f")])
def test_a_newcomer_names_topics_as_the_others_do(named: tuple[str, ...]) -> None:
    """Seen on a broker: a kafka-python leader that did not know `b` yet took both for alike.

    Source: kafka-python, StickyAssignmentExecutor._are_subscriptions_identical.
    """
    held = {"f": [0, 1], "g": [0, 1, 2, 3, 4, 5, 6]}
    leader = member(
        "z-1",
        held,
        topics=named,
        instance_id="z",
        client_id="kafka-python-3.0.12",
        user_data=b"",
        version=0,
    )
    group = group_of(leader, assignor="sticky", wrote=(0, b""))
    join = AddMembers(
        client_id="a", instance_id="a", topics=("b", "f", "g"), library="kafka-python"
    )
    plan = plan_group(cluster_of(group, {"b": 3, "c": 1, "f": 2, "g": 7}), group, [join])
    assert plan.leader_clients == ("kafka-python",)
    assert plan.confidence == "outcomes"
    ends = [each.settled.shares["z-1"] for each in plan.outcomes.each]
    assert {"f": (0, 1), "g": (0, 1, 2, 3)} in ends
