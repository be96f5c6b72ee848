"""Moves to KIP-848 and back on paper: each step, the words for it, and what stands in the way."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kgroups.core.conditions.grammar import parse_condition
from kgroups.core.coordinator.config import CoordinatorConfig, MigrationPolicy
from kgroups.core.coordinator.releases import RELEASES, V4_3_0, V4_3_1, V4_4_0, Release
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import (
    Change,
    Deploy,
    MoveToProtocol,
    Pattern,
    RollingRestart,
)
from kgroups.core.planning.changes.spelling import parse_pattern, parse_to_protocol
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.metrics import PLAN_FIELDS, values_of
from kgroups.core.planning.migration.broker_rules import POLICY, BrokerRules, rules_from
from kgroups.core.planning.migration.rehearsal import Rehearsal, Terms
from kgroups.core.planning.plan import Plan
from kgroups.core.planning.plan_item import plan_item
from kgroups.core.snapshot import Group, Member, MemberProtocol
from tests.support.planning.small_groups import cluster_of, group_of, member, topics_of

DEFAULTS = BrokerRules()
TWO = group_of(
    member("a-0", {"t": [0, 1]}, client_id="a"), member("b-0", {"t": [2, 3]}, client_id="b")
)
STATIC = group_of(
    member("i1-0", {"t": [0, 1]}, instance_id="i1", client_id="a"),
    member("i2-0", {"t": [2, 3]}, instance_id="i2", client_id="b"),
)


def kip848(*members: Member, assignor: str = "uniform") -> Group:
    """The same members in a consumer group."""
    changed = [
        replace(one, member_protocol="consumer", target_assignment=one.assignment)
        for one in members
    ]
    return replace(group_of(*changed, assignor=assignor, kind="consumer"), target_epoch=5)


def moved(
    group: Group,
    protocol: MemberProtocol = "consumer",
    assignor: str | None = None,
    *,
    rules: BrokerRules | None = DEFAULTS,
    counts: dict[str, int] | None = None,
    changes: Sequence[Change | Deploy] = (),
    leader: str | None = "java",
) -> Plan:
    """The plan of a move, of a topic of four partitions unless said otherwise."""
    cluster = cluster_of(group, counts or {"t": 4})
    return plan_changes(
        cluster, group, [*changes, MoveToProtocol(protocol)], assignor, leader, rules=rules
    )


def told(plan: Plan) -> list[tuple[str, dict[str, list[int]]]]:
    """Event and who has what of the topic then."""
    return [
        (
            stage.event,
            {who: sorted(held.get("t", ())) for who, held in sorted(stage.assignment.items())},
        )
        for stage in plan.stages
    ]


def test_two_members_move() -> None:
    """The first one back converts the group; with nothing left to chance every step is exact."""
    plan = moved(TWO)
    assert told(plan) == [
        ("`a-0` leaves", {"b-0": [0, 1, 2, 3]}),
        (
            "`a-0` rejoins with the consumer protocol; the coordinator converts the group",
            {"a-0": [2, 3], "b-0": [0, 1]},
        ),
        ("`b-0` leaves", {"a-0": [0, 1, 2, 3]}),
        ("`b-0` rejoins with the consumer protocol", {"a-0": [0, 1], "b-0": [2, 3]}),
    ]
    assert (plan.confidence, plan.rebalance_protocol, plan.assignor) == (
        "exact",
        "consumer",
        "uniform",
    )
    assert plan.leader_client is None
    assert (plan.metrics.moved, plan.metrics.kept, plan.metrics.rounds) == (0, 4, 4)
    assert plan.notes == (
        "`uniform` will assign; the server-side counterpart of `range` is `range`:"
        " `--assignor range`",
        "8 partition moves in total",
    )


def test_the_only_member_moves() -> None:
    """The group is empty in between, and the member gets everything again."""
    alone = group_of(member("a-0", {"t": [0, 1, 2, 3]}, client_id="a"))
    for group, protocol in ((alone, "consumer"), (kip848(*alone.members or ()), "classic")):
        plan = moved(group, protocol, "range")  # type: ignore[arg-type] # a literal in a tuple
        assert [held for _, held in told(plan)] == [{}, {"a-0": [0, 1, 2, 3]}]
        assert plan.metrics.kept == 4


def test_what_only_one_member_reads() -> None:
    """It has no reader while that member is away, and gets it back."""
    group = group_of(
        member("a-0", {"t": [0, 1]}, client_id="a"), member("b-0", {"u": [0]}, client_id="b")
    )
    plan = moved(group, counts={"t": 2, "u": 1})
    shares = [{who: set(held) for who, held in stage.assignment.items()} for stage in plan.stages]
    assert shares == [{"b-0": {"u"}}, {"a-0": {"t"}, "b-0": {"u"}}, {"a-0": {"t"}}, shares[1]]


def test_static_members_are_replaced_and_nothing_moves() -> None:
    """There and back."""
    there = moved(STATIC)
    assert [stage.rebalances for stage in there.stages] == [False, False]
    assert (there.confidence, there.metrics.moved) == ("exact", 0)
    back = moved(kip848(*STATIC.members or ()), "classic", "range")
    assert [event for event, _ in told(back)] == [
        "`i1-0` restarts with the classic protocol",
        "`i2-0` restarts with the classic protocol",
    ]
    assert (back.confidence, back.rebalance_protocol, back.assignor) == ("exact", "eager", "range")
    assert back.metrics.moved == 0


def test_the_way_back_turns_the_group_back_with_its_last_member() -> None:
    """The last KIP-848 member leaves, the classic ones rebalance, and it joins as any other."""
    plan = moved(kip848(*TWO.members or ()), "classic", "range")
    assert [event for event, _ in told(plan)] == [
        "`a-0` leaves",
        "`a-0` rejoins with the classic protocol",
        "`b-0` leaves; the coordinator converts the group back, and it rebalances",
        "`b-0` rejoins with the classic protocol",
    ]
    assert [stage.leader_client for stage in plan.stages] == [None, None, "java", "java"]
    # `a-0` has an id by then that nobody knows yet, and `range` goes by ids.
    assert [stage.confidence for stage in plan.stages] == ["exact", "exact", "exact", "likely"]
    assert plan.confidence == "likely"
    assert (plan.rebalance_protocol, plan.assignor) == ("eager", "range")
    assert sum(map(len, plan.members[0].assignment.values())) == 2


def test_a_way_back_without_a_named_assignor_is_a_guess() -> None:
    """`partition.assignment.strategy` of clients that do not exist yet is not known."""
    plan = moved(kip848(*TWO.members or ()), "classic")
    assert plan.assignor == "range"
    assert plan.confidence == "likely"
    assert "choose one with `--assignor`" in (plan.confidence_reason or "")


def test_range_goes_by_ids_that_nobody_knows_yet() -> None:
    """Server side `range` orders members by id, so the newcomer may come first or last."""
    plan = moved(TWO, assignor="range")
    assert [stage.confidence for stage in plan.stages] == ["exact", "outcomes", "likely", "likely"]
    assert plan.stages[2].confidence_reason == "it follows a step with other possible outcomes"
    assert plan.confidence == "likely"


def test_members_ask_for_the_assignor() -> None:
    """The first newcomer's wish counts at once: classic members have none."""
    three = group_of(
        *(member(f"{x}-0", {"t": [n], "u": [n]}, client_id=x) for n, x in enumerate("abc")),
        assignor="range",
    )
    plan = moved(three, assignor="range", counts={"t": 3, "u": 3})
    assert plan.assignor == "range"
    for one in plan.members:  # co-partitioned, as only `range` has it
        assert one.assignment["t"] == one.assignment["u"]


def test_a_group_half_way_goes_on() -> None:
    """Members that have moved already stay; the plan is of those that are left."""
    half = replace(
        kip848(*TWO.members or ()),
        members=tuple(
            replace(one, member_protocol="classic") if one.client_id == "b" else one
            for one in kip848(*TWO.members or ()).members or ()
        ),
    )
    plan = moved(half)
    assert [event for event, _ in told(plan)] == [
        "`b-0` leaves",
        "`b-0` rejoins with the consumer protocol",
    ]


def test_nobody_has_to_move() -> None:
    """A group that speaks it already, and one without members."""
    there = moved(kip848(*TWO.members or ()))
    assert there.stages == ()
    assert there.confidence is None
    assert there.notes == ("every member already uses the consumer protocol",)
    empty = moved(replace(TWO, members=(), state="Empty"))
    assert empty.notes[0].startswith("the group has no members: the first one that joins")


def test_the_policy_of_the_brokers() -> None:
    """Refused before anything moves, on the way back too."""
    disabled = BrokerRules(CoordinatorConfig(consumer_migration_policy=MigrationPolicy.DISABLED))
    plan = moved(TWO, rules=disabled)
    (blocker,) = plan.blockers
    assert (blocker.code, blocker.refused_by, blocker.member_id) == (
        "MIGRATION_POLICY",
        "broker",
        None,
    )
    assert (plan.stages, plan.confidence, plan.metrics.blockers) == ((), None, 1)
    condition = parse_condition("blockers > 0", PLAN_FIELDS, "--fail-on")
    assert condition.holds(values_of(plan.metrics, sizes_only=False)) is True
    assert {one.member_id: one.partitions for one in plan.members} == {"a-0": 2, "b-0": 2}
    back = moved(kip848(*TWO.members or ()), "classic", "range", rules=disabled)
    assert [one.refused_by for one in back.blockers] == ["broker"]
    upgrades = BrokerRules(CoordinatorConfig(consumer_migration_policy=MigrationPolicy.UPGRADE))
    back = moved(kip848(*TWO.members or ()), "classic", "range", rules=upgrades)
    assert [one.refused_by for one in back.blockers] == [None]
    assert back.rebalance_protocol == "consumer"  # of classic members
    assert len(back.stages) == 4


def test_an_unknown_policy_makes_it_likely() -> None:
    """Of a file, or where the brokers do not show their settings."""
    plan = moved(TWO, rules=None)
    assert plan.confidence == "likely"
    assert (plan.confidence_reason or "").startswith("a file does not have the brokers' settings")
    denied = rules_from({}, "CLUSTER_AUTHORIZATION_FAILED")
    assert "CLUSTER_AUTHORIZATION_FAILED" in (moved(TWO, rules=denied).confidence_reason or "")
    odd = rules_from({POLICY: "sideways"}, None)
    assert "not valid" in (odd.unknown or "")
    old = rules_from({}, None, kip848="missing")
    assert [one.code for one in moved(TWO, rules=old).blockers] == ["UNSUPPORTED_VERSION"]


def test_more_members_than_brokers_allow() -> None:
    """On the way back `group.max.size` counts the members that are classic already, too."""
    small = BrokerRules(CoordinatorConfig(consumer_max_size=1))
    assert [one.code for one in moved(TWO, rules=small).blockers] == ["GROUP_MAX_SIZE"]
    first, second = TWO.members or ()
    mixed = kip848(first, second)
    mixed = replace(mixed, members=(first, *(mixed.members or ())[1:]))
    for most, codes_ in ((1, ["GROUP_MAX_SIZE"]), (2, [])):
        rules = BrokerRules(CoordinatorConfig(classic_max_size=most))
        assert [one.code for one in moved(mixed, "classic", rules=rules).blockers] == codes_


def codes(plan: Plan) -> set[tuple[str | None, str, str | None]]:
    """Whose, which, and who refuses it."""
    return {(one.member_id, one.code, one.refused_by) for one in plan.blockers}


def test_user_data_that_brokers_refuse() -> None:
    """Bytes of the leader's own in an assignment."""
    first, *rest = TWO.members or ()
    group = replace(TWO, members=(replace(first, assignment_user_data=b"mine"), *rest))
    plan = moved(group)
    assert codes(plan) == {("a-0", "ASSIGNMENT_USER_DATA", "broker")}
    assert plan.stages == ()


def test_a_strategy_of_the_users_own() -> None:
    """No server-side assignor does the like, and what its members send is lost; it may move."""
    first, *rest = TWO.members or ()
    group = replace(TWO, assignor="mine", members=(replace(first, user_data=b"load"), *rest))
    plan = moved(group)
    assert codes(plan) == {
        ("a-0", "ASSIGNOR", None),
        ("b-0", "ASSIGNOR", None),
        ("a-0", "SUBSCRIPTION_USER_DATA", None),
    }
    assert plan.stages == ()
    assert plan.notes[0].startswith("it is unknown what `mine` does when the first member leaves")
    assert {one.member_id: one.partitions for one in plan.members} == {"a-0": 2, "b-0": 2}


def test_clients_that_cannot() -> None:
    """A library without KIP-848, and a Java client that is too old."""
    kafkajs = group_of(
        member("a-0", {"t": [0, 1, 2, 3]}, version=0, user_data=b""), assignor="RoundRobinAssigner"
    )
    assert codes(moved(kafkajs, leader=None)) == {("a-0", "CLIENT_LIBRARY", "client")}
    old = group_of(member("a-0", {"t": [0, 1, 2, 3]}, version=2), assignor="range")
    assert codes(moved(old)) == {("a-0", "CLIENT_TOO_OLD", "client")}
    assert moved(old).stages  # it is a matter of the roll itself


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("librdkafka:^t", ("REGULAR_EXPRESSION", None)),  # RE2 matches whole names: not `tu`
        ("librdkafka:^t(.*)", None),
        ("java:t(?=u).*", ("REGULAR_EXPRESSION", None)),  # RE2 has no look-ahead
        ("java:t.*", None),
    ],
)
def test_patterns_that_brokers_read_otherwise(
    text: str, expected: tuple[str, str | None] | None
) -> None:
    """The pattern has to be said: classic members show the names alone."""
    pattern = parse_pattern(text, "java")
    assert isinstance(pattern, Pattern)
    group = group_of(member("a-0", {"t": [0, 1], "tu": [0]}, client_id="a"))
    plan = moved(group, counts={"t": 2, "tu": 1}, changes=[pattern])
    found = {(one.code, one.refused_by) for one in plan.blockers}
    assert found == (set() if expected is None else {expected})


def test_a_pattern_has_no_classic_counterpart() -> None:
    """On the way back: the broker matched it, now the client has to."""
    group = kip848(
        replace((TWO.members or ())[0], subscription_regex="t.*", assignment={"t": (0, 1, 2, 3)})
    )
    assert {one.code for one in moved(group, "classic", "range").blockers} == {"REGULAR_EXPRESSION"}


def test_topics_without_ids_make_it_a_guess() -> None:
    """Scenario files rarely have ids, by which `uniform` goes through topics."""
    group = group_of(member("a-0", {"t": [0], "u": [0]}), member("b-0", {"t": [1], "u": [1]}))
    plan = moved(group, counts={"t": 2, "u": 2})
    assert plan.confidence == "likely"
    assert "the ids of t, u are unknown" in (plan.confidence_reason or "")


def test_with_another_deploy_before() -> None:
    """Steps follow each other."""
    assert len(moved(STATIC, changes=[RollingRestart()]).stages) == 4


def test_wrong_names() -> None:
    """A protocol or an assignor that does not exist."""
    with pytest.raises(UsageError, match="is not valid"):
        parse_to_protocol("kip848")
    with pytest.raises(UsageError, match="brokers have no assignor `sticky`"):
        moved(TWO, assignor="sticky")
    with pytest.raises(UsageError, match="clients have no assignor `uniform`"):
        moved(kip848(*TWO.members or ()), "classic", "uniform")


def test_the_item_has_it_all() -> None:
    """Blockers are in JSON, and every other plan has an empty list."""
    disabled = BrokerRules(CoordinatorConfig(consumer_migration_policy=MigrationPolicy.DOWNGRADE))
    (blocker,) = plan_item(moved(TWO, rules=disabled))["blockers"]
    assert set(blocker) == {"member_id", "code", "message", "hint", "refused_by"}
    assert plan_item(moved(TWO))["blockers"] == []


def test_members_stand_in_the_order_of_the_broker() -> None:
    """Those that share a slot of the coordinator's table, too, whichever came first."""
    ids = [f"m{number}" for number in range(40)]
    group = kip848(*(member(name, {"t": [number]}) for number, name in enumerate(ids)))
    topics = topics_of({"t": 40})
    terms = Terms("range", dict.fromkeys(ids))
    once = Rehearsal(topics, group, terms, CoordinatorConfig()).settle().group
    again = Rehearsal(topics, once, terms, CoordinatorConfig()).settle().group
    order = [one.member_id for one in once.members or ()]
    assert [one.member_id for one in again.members or ()] == order
    assert order != ids


@pytest.mark.parametrize(
    ("releases", "shown", "assumed"),
    [
        ((V4_4_0,), {"i1-0": [0, 1, 2], "i2-0": [3, 4]}, ""),
        ((V4_3_0, V4_3_1), {"i1-0": [0, 2, 4], "i2-0": [1, 3]}, ""),
        (RELEASES, {"i1-0": [0, 1, 2], "i2-0": [3, 4]}, "4.3.0 and 4.3.1 would assign differently"),
    ],
)
def test_releases_that_assign_differently(
    releases: tuple[Release, ...], shown: dict[str, list[int]], assumed: str
) -> None:
    """From 4.4 on a static member that comes back with another assignor has it used at once."""
    static = group_of(
        member("i1-0", {"t": [0, 2, 4]}, instance_id="i1", client_id="a"),
        member("i2-0", {"t": [1, 3]}, instance_id="i2", client_id="b"),
    )
    rules = BrokerRules(CoordinatorConfig(release=releases[-1]), releases=releases)
    plan = moved(static, assignor="range", rules=rules, counts={"t": 5})
    assert told(plan)[-1][1] == shown
    assert plan.confidence == ("likely" if assumed else "exact")
    assert assumed in (plan.confidence_reason or "")


def test_who_refuses_a_classic_member() -> None:
    """4.3.1 and newer: named where the brokers' release is not known, or cannot be told apart."""
    disabled = CoordinatorConfig(consumer_migration_policy=MigrationPolicy.DISABLED)
    group = kip848(*TWO.members or ())
    for releases, who in (((V4_4_0,), "the brokers"), (RELEASES[:2], "brokers of Kafka 4.3.1")):
        rules = BrokerRules(replace(disabled, release=releases[-1]), releases=releases)
        (blocker,) = moved(group, "classic", "range", rules=rules).blockers
        assert blocker.message.startswith(f"{who} ")
