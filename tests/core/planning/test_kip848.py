"""Plans of KIP-848 groups, of sticky groups, and of groups that subscribe by patterns."""

from dataclasses import replace

import pytest

from kgroups.assignors.wire import encode_sticky_data
from kgroups.core.errors import UsageError
from kgroups.core.planning.assignor_request import build_request, first_round
from kgroups.core.planning.changes.apply import next_roster
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Dialect,
    Pattern,
    RemoveMember,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.plan import Plan, plan_group
from kgroups.core.planning.topic_patterns import matching_topics, topic_matcher
from kgroups.core.snapshot import ClusterSnapshot, Group, Topic
from tests.support.planning.small_groups import cluster_of, group_of, member, topics_of

IDS = {"t": "AAAAAAAAAAEAAAAAAAAAAQ", "u": "JXk0pQqZTrGvYxZ3nP0aEA"}


def with_ids(group: Group, counts: dict[str, int]) -> ClusterSnapshot:
    """A cluster whose topics have ids, as those of a real one have."""
    topics = {
        name: Topic(name, topic.partitions, IDS[name]) for name, topic in topics_of(counts).items()
    }
    return ClusterSnapshot(0, (group,), topics)


def held(plan: Plan) -> dict[str, dict[str, list[int]]]:
    """Member to topic to partitions, in the plan's order."""
    return {m.member_id: {t: list(p) for t, p in m.assignment.items()} for m in plan.members}


def kip848(assignor: str | None, **owned: dict[str, list[int]]) -> Group:
    """A KIP-848 group of these members."""
    members = [member(name, each, protocol="consumer") for name, each in owned.items()]
    return group_of(*members, assignor=assignor, kind="consumer")


def test_uniform_keeps_what_members_have() -> None:
    """A member leaves: its partitions go to the others, nothing else moves."""
    group = kip848("uniform", a={"t": [0, 1]}, b={"t": [2, 3]}, c={"t": [4, 5]})
    plan = plan_group(with_ids(group, {"t": 6}), group, [RemoveMember("b")])
    assert (plan.rebalance_protocol, plan.leader_client) == ("consumer", None)
    assert plan.confidence == "exact"
    after = held(plan)
    assert set(after["a"]["t"]) > {0, 1}
    assert set(after["c"]["t"]) > {4, 5}
    assert plan.metrics.moved == plan.metrics.forced == 2
    assert {move.kind for move in plan.moves} == {"kept", "moved"}


def test_server_range_is_not_the_clients() -> None:
    """The coordinator's `range` deals anew; a partition is given up before it is handed on."""
    group = kip848("range", a={"t": [0, 1]}, b={"t": [2, 3]})
    plan = plan_group(with_ids(group, {"t": 4}), group, [SetPartitions("t", 6)])
    assert held(plan) == {"a": {"t": [0, 1, 2]}, "b": {"t": [3, 4, 5]}}
    moved = next(move for move in plan.moves if move.partition == 2)
    assert (moved.source, moved.target, moved.kind) == ("b", "a", "revoked_first")


def test_a_moving_group_goes_from_where_it_is() -> None:
    """The assignor starts from the target, moves are told from the present assignment."""
    a = member("a", {"t": [0, 1, 2, 3]}, protocol="consumer")
    b = member("b", {}, topics=("t",), protocol="consumer")
    moving = [
        a.__class__(a.member_id, a.client_id, a.host, member_protocol="consumer",
                    subscription=("t",), assignment={"t": (0, 1, 2, 3)},
                    target_assignment={"t": (0, 1)}),
        b.__class__(b.member_id, b.client_id, b.host, member_protocol="consumer",
                    subscription=("t",), assignment={}, target_assignment={"t": (2, 3)}),
    ]  # fmt: skip
    group = group_of(*moving, assignor="uniform", kind="consumer")
    plan = plan_group(with_ids(group, {"t": 4}), group)
    assert held(plan) == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}
    assert plan.metrics.moved == 2
    assert plan.steps[0].revoked == (("t", 2, "a"), ("t", 3, "a"))
    assert any("2 of 2 members have not reached" in note for note in plan.notes)


def test_a_new_topic_has_no_id_yet() -> None:
    """`uniform` orders topics by id: the outcomes of both orders are named, and no more.

    In both, one member may come before the other with its new subscription.
    """
    group = kip848("uniform", a={"t": [0, 1, 2]}, b={"t": [3, 4]})
    changes: list[Change] = [AddTopic("u", 3), AddTopic("v", 2), Subscribe(("u", "v"), added=True)]
    plan = plan_group(with_ids(group, {"t": 5}), group, changes)
    assert plan.depends_on_member_ids
    assert len(plan.outcomes.each) == len(plan.outcome_metrics) == 4
    assert plan.outcomes.complete


def test_a_classic_group_as_if_upgraded() -> None:
    """`uniform` of a classic group is what the coordinator would do after an upgrade."""
    group = group_of(member("a", {"t": [0, 1]}), member("b", {"t": [2, 3]}))
    plan = plan_group(with_ids(group, {"t": 4}), group, assignor_name="uniform")
    assert plan.rebalance_protocol == "consumer"
    assert plan.metrics.moved == 0
    assert any("upgraded" in note for note in plan.notes)


def test_a_strategy_of_clients_only_is_refused_for_coordinators() -> None:
    """KIP-848 knows no `roundrobin`."""
    group = kip848("uniform", a={"t": [0]})
    with pytest.raises(UsageError, match="brokers have no assignor"):
        plan_group(with_ids(group, {"t": 1}), group, assignor_name="roundrobin")


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_sticky_members_own_their_current_assignment(assignor: str) -> None:
    """The bytes of the last join are one round old; what counts is what members have now."""
    stale = encode_sticky_data((("t", (0,)),), 1) if assignor == "sticky" else b"\x00\x00\x00\x01"
    group = group_of(
        member("a", {"t": [4, 5]}, user_data=stale), member("b", {"t": [0, 1]}, user_data=stale),
        member("c", {"t": [2, 3]}, user_data=stale), assignor=assignor,
    )  # fmt: skip
    plan = plan_group(cluster_of(group, {"t": 6}), group, [RemoveMember("b")], leader="java")
    after = held(plan)
    assert after["a"]["t"][:2] == [4, 5]
    assert after["c"]["t"][:2] == [2, 3]
    assert plan.metrics.moved == 2


def test_cooperative_rounds() -> None:
    """The newcomer waits for the second round; until then its partitions are with nobody."""
    group = group_of(
        member("a", {"t": [0, 1, 2]}), member("b", {"t": [3, 4, 5]}), assignor="cooperative-sticky"
    )
    plan = plan_group(
        cluster_of(group, {"t": 6}), group, [AddMembers(client_id="c")], leader="java"
    )
    first, second = plan.steps
    assert first.revoked == (("t", 2, "a"), ("t", 5, "b"))
    assert first.assigned == ()
    assert second.assigned == (("t", 2, "c-new-1"), ("t", 5, "c-new-1"))
    assert {move.kind for move in plan.moves} == {"kept", "revoked_first"}


def test_a_classic_pattern_has_to_be_said() -> None:
    """Without `--pattern` the plan says that it cannot know; with it new topics are read."""
    group = group_of(member("a", {"t1": [0]}), member("b", {"t1": [1]}))
    cluster = cluster_of(group, {"t1": 2, "x": 2})
    silent = plan_group(cluster, group, [AddTopic("t2", 2)])
    assert silent.partition_counts == {"t1": 2}
    assert any("--pattern" in note for note in silent.notes)
    said = plan_group(cluster, group, [Pattern("t.*", "java"), AddTopic("t2", 2)])
    assert said.partition_counts == {"t1": 2, "t2": 2}
    joined = plan_group(cluster, group, [Pattern("t.*", "java"), AddMembers(client_id="z")])
    assert joined.members[-1].topics == ("t1",)


def test_a_kip848_pattern_is_shown() -> None:
    """KIP-848 members show their RE2 pattern; it is resolved again with the topics on paper."""
    a = member("a", {"t": [0, 1]}, protocol="consumer")
    regex = a.__class__("a", "app", "/h", member_protocol="consumer", subscription=(),
                        subscription_regex="[tu].*", assignment={"t": (0, 1)},
                        target_assignment={"t": (0, 1)})  # fmt: skip
    group = group_of(regex, assignor="range", kind="consumer")
    plan = plan_group(with_ids(group, {"t": 2}), group, [AddTopic("u", 1), AddMembers()])
    assert plan.partition_counts == {"t": 2, "u": 1}
    assert plan.members[1].topics == ("t", "u")


LOOKING = [
    (r"(?!__|dead-)[a-z-]+", ("orders", "orders-eu")),
    (r"orders(?=-eu).*", ("orders-eu",)),
    (r"(?<!-)\w+", ("orders", "Orders", "a1", "__consumer_offsets")),
    (r"(o)rders-eu|(.)\d", ("orders-eu", "a1")),
    (r"[^-]++.eu", ("orders-eu",)),
]


@pytest.mark.parametrize(("pattern", "expected"), LOOKING)
def test_java_patterns_that_re2_does_not_have(pattern: str, expected: tuple[str, ...]) -> None:
    """Look-around, back references and possessive repetition mean what they mean in Java."""
    matches = topic_matcher(pattern, "java")
    assert {name for name in NAMES if matches(name)} == set(expected)


EXPLOSIVE = [
    ("java", r"(a+)+$b"),
    ("java", r"(a|a)*b"),
    ("java", r"(.*)*(.*)*(.*)*x"),
    ("librdkafka", r"^(a+)+$b"),
    ("librdkafka", r"^(a|aa)+$x"),
    ("re2", r"(a+)+$b"),
]


@pytest.mark.parametrize(("dialect", "pattern"), EXPLOSIVE)
def test_patterns_that_explode_elsewhere_do_not_here(dialect: Dialect, pattern: str) -> None:
    """A backtracking matcher takes minutes on the longest name of a topic."""
    names = ("a" * 249, "a" * 100 + "!")
    assert matching_topics(names, pattern, dialect) == ()


@pytest.mark.parametrize("pattern", [r"(?!x)(a|aa)+[bc]", r"(a*)(a*)(a*)(a*)(a*)(a*)\1\2\3[bc]"])
def test_a_pattern_that_explodes_for_want_of_re2_is_refused(pattern: str) -> None:
    """After a time that does not depend on how many topics there are."""
    names = tuple("a" * 200 + str(number) for number in range(1_000))
    with pytest.raises(UsageError, match="the java pattern"):
        matching_topics(names, pattern, "java")


def test_a_pattern_that_is_too_long_or_too_deep_is_refused() -> None:
    """Nobody subscribes so; compiling it would take the memory or the stack."""
    for pattern in ("a" * 100_001, "(?!x)" + "(" * 20_000 + ")" * 20_000):
        with pytest.raises(UsageError, match="the java pattern") as refused:
            matching_topics(["a"], pattern, "java")
        assert len(refused.value.message) < 500


NAMES = ("orders", "orders-eu", "orders.eu", "Orders", "a1", "__consumer_offsets")
PATTERNS: list[tuple[Dialect, str, tuple[str, ...]]] = [
    ("java", "orders", ("orders",)),
    ("java", r"\Qorders.\E.*", ("orders.eu",)),
    ("java", r"(?i)ORDERS", ("Orders", "orders")),
    ("java", r"\p{Lower}\p{Digit}", ("a1",)),
    ("java", r"(?<first>[\p{Alpha}])\d", ("a1",)),
    ("java", ".*offsets", ()),
    ("librdkafka", "^orders", ("orders", "orders-eu", "orders.eu")),
    ("librdkafka", "^[[:alpha:]][[:digit:]]$", ("a1",)),
    ("librdkafka", "orders$", ("orders",)),
    ("librdkafka", r"^orders\.", ("orders.eu",)),
    ("re2", "orders", ("orders",)),
    ("re2", "orders[-.]eu", ("orders-eu", "orders.eu")),
]


@pytest.mark.parametrize(("dialect", "pattern", "expected"), PATTERNS)
def test_dialects(dialect: Dialect, pattern: str, expected: tuple[str, ...]) -> None:
    """Whole names in Java and RE2, beginnings in librdkafka; Java leaves Kafka's topics out."""
    assert matching_topics(NAMES, pattern, dialect) == expected


@pytest.mark.parametrize(
    ("dialect", "pattern"),
    [("java", "[a-z&&[^b]]"), ("java", r"\p{Greek}"), ("java", "("), ("librdkafka", "^a*?"),
     ("librdkafka", "^[[:word:]]"), ("librdkafka", r"^[\w]"), ("librdkafka", r"^\<orders"),
     ("librdkafka", r"^[\]a]"), ("librdkafka", "^("), ("re2", "(?=a)"), ("re2", "(")],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(dialect: Dialect, pattern: str) -> None:
    """A pattern that would mean something else here is never guessed."""
    with pytest.raises(UsageError, match=f"the {dialect} pattern"):
        matching_topics(NAMES, pattern, dialect)


def by_patterns(*patterns: str) -> Group:
    """Two members that subscribe by these patterns, as a broker had them."""
    held_by: list[dict[str, list[int]]] = [
        {"g": [1, 2, 3, 4], "a": [0, 2]},
        {"g": [0], "d": [0, 1], "h": [0], "a": [1, 3]},
    ]
    names = ("Cs9SPJQXRDCSUpT-opBwOg", "Yaq-yWDQujVC2DoWl4DN7Q==")
    members = [
        replace(member(name, each, protocol="consumer", topics=()), subscription_regex=pattern)
        for name, each, pattern in zip(names, held_by, patterns, strict=True)
    ]
    return group_of(*members, assignor="uniform", kind="consumer")


@pytest.mark.parametrize(
    ("patterns", "takes"), [(("^.$", ".*(?:(?:^.$)).*"), 0), (("^.$", "^.$"), 1)]
)
def test_patterns_are_compared_as_texts(patterns: tuple[str, str], takes: int) -> None:
    """What two patterns stand for may be the same, and yet the coordinator takes them for unlike.

    Unlike ones were seen on a broker 4.3.0 with a librdkafka and a franz-go member.
    """
    group = by_patterns(*patterns)
    ids = {
        "a": "4fo8wW97RpmFbnEdFt84KQ",
        "d": "rQaAM3lFTvulyzcs-5Yvcw",
        "g": "bBoCMuIKRpysqdmme8s-rg",
        "h": "hfrEd8QZQUesSu-2LxUi4A",
    }
    topics = {
        name: Topic(name, topic.partitions, ids[name])
        for name, topic in topics_of({"a": 4, "d": 2, "g": 5, "h": 1}).items()
    }
    plan = plan_group(ClusterSnapshot(0, (group,), topics), group, [SetPartitions("a", 5)])
    assert plan.confidence == "exact"
    assert 4 in plan.members[takes].assignment["a"]


@pytest.mark.parametrize("waits", [True, False])
def test_a_pattern_that_is_not_looked_up_yet_is_a_guess(waits: bool) -> None:
    """A member without partitions where another has several: the coordinator may not know yet."""
    idle = replace(member("a", {}, protocol="consumer", topics=()), subscription_regex="^t$")
    shares = [{"t": [0, 1]}, {"t": [2]}] if waits else [{"t": [0]}, {"t": [1]}]
    others = [
        member(name, held, protocol="consumer") for name, held in zip("bc", shares, strict=True)
    ]
    group = group_of(idle, *others, assignor="uniform", kind="consumer")
    count = sum(len(held["t"]) for held in shares)
    plan = plan_group(with_ids(group, {"t": count}), group, [RemoveMember("c")])
    assert plan.confidence == ("likely" if waits else "exact")
    assert (
        "`a` has nothing of what its pattern stands for" in str(plan.confidence_reason)
    ) == waits


def test_libraries_write_patterns_their_own_way() -> None:
    """A new member of franz-go or librdkafka makes two patterns of one; a java member does not."""
    group = by_patterns("^.$", "^.$")
    snapshot = ClusterSnapshot(0, (group,), topics_of({"a": 4, "d": 2, "g": 5, "h": 1}))
    texts = []
    for library in ("franz-go", "librdkafka", "java"):
        joins = AddMembers(library=library, pattern=Pattern("^.$", "re2"), member_id="n")
        roster = next_roster(snapshot, group, [joins])
        request = build_request(roster, first_round(roster, "consumer"), "uniform")
        texts.append((roster.seats[-1].sent_pattern, request.options))
    assert texts == [
        (".*(?:(?:^.$)).*", {"homogeneous": False}),
        ("(^.$)", {"homogeneous": False}),
        ("^.$", {"homogeneous": True}),
    ]
