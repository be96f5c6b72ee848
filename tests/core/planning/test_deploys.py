"""Restarts, rolling ones, absences and a change of the client library, step by step."""

from dataclasses import replace

import pytest

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    Change,
    Deploy,
    Expire,
    Restart,
    RollingRestart,
    SetPartitions,
    SwitchClient,
)
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.deploys.rolling import deploy_events
from kgroups.core.planning.deploys.walk import Walk
from kgroups.core.planning.plan import Plan
from kgroups.core.planning.plan_item import plan_item
from kgroups.core.snapshot import Broker, Group, Member
from tests.support.planning.member_bytes import COOPERATIVE, NUMBER
from tests.support.planning.small_groups import Held, cluster_of, group_of, member

STATIC = group_of(
    member("i1-0", {"t": [0, 1]}, instance_id="i1", client_id="a"),
    member("i2-0", {"t": [2, 3]}, instance_id="i2", client_id="b"),
)
DYNAMIC = group_of(
    member("a-0", {"t": [0, 1]}, client_id="a"), member("b-0", {"t": [2, 3]}, client_id="b")
)


def deployed(group: Group, *changes: Change | Deploy, leader: str | None = "java") -> Plan:
    """The plan of a deploy of one application on a topic of four partitions."""
    snapshot = cluster_of(group, {"t": 4})
    return plan_changes(snapshot, group, changes, leader=leader, alike=True)


def told(plan: Plan) -> list[tuple[str, bool, dict[str, list[int]]]]:
    """Event, whether it rebalances, and who has what of the topic then."""
    return [
        (
            stage.event,
            stage.rebalances,
            {who: list(held.get("t", ())) for who, held in stage.assignment.items()},
        )
        for stage in plan.stages
    ]


def test_a_static_member_that_restarts_moves_nothing() -> None:
    """It is back within its session and gets what it had."""
    plan = deployed(STATIC, Restart("i1"))
    assert told(plan) == [("`i1-0` restarts", False, {"i1-0": [0, 1], "i2-0": [2, 3]})]
    assert (plan.confidence, plan.metrics.moved, plan.metrics.rounds) == ("exact", 0, 0)


def test_a_static_member_that_stays_away_too_long() -> None:
    """Its partitions go to the other, and come back with it."""
    plan = deployed(STATIC, Expire("i1"))
    assert told(plan) == [
        ("the session of `i1-0` expires", True, {"i2-0": [0, 1, 2, 3]}),
        ("`i1-0` rejoins", True, {"i2-0": [2, 3], "i1-0": [0, 1]}),
    ]
    assert plan.confidence == "exact"
    assert plan.metrics.moved == 0
    assert [len(stage.moves) for stage in plan.stages] == [2, 2]
    assert {m.member_id: m.partitions_before for m in plan.members} == {"i1-0": 2, "i2-0": 2}


def test_a_rolling_restart_of_static_members() -> None:
    """Nobody notices."""
    plan = deployed(STATIC, RollingRestart())
    assert [stage.rebalances for stage in plan.stages] == [False, False]
    assert plan.metrics.kept == 4


@pytest.mark.parametrize(
    ("own_id", "comes_back"),
    [("iO_B0bh3heJ5SKghcFtziw==", False), ("Z4Rev5XlRWW43KQl+/jBIQ", True)],
    ids=["franz-go", "librdkafka"],
)
def test_static_members_of_franz_go_leave_kip848_groups(own_id: str, comes_back: bool) -> None:
    """Their last heartbeat names no instance id, so the coordinator takes them for gone."""
    group = group_of(
        member(own_id, {"t": [0, 1]}, instance_id="i1", protocol="consumer"),
        member("other", {"t": [2, 3]}, protocol="consumer"),
        kind="consumer",
        assignor="range",
    )
    plan = deployed(group, Restart("i1"), leader=None)
    assert [stage.rebalances for stage in plan.stages] == [not comes_back]


def test_a_rolling_restart_of_dynamic_members() -> None:
    """Each one leaves and comes back: two rebalances, told with the old names."""
    plan = deployed(DYNAMIC, RollingRestart())
    assert told(plan) == [
        ("`a-0` leaves", True, {"b-0": [0, 1, 2, 3]}),
        ("`a-0` rejoins", True, {"b-0": [2, 3], "a-0": [0, 1]}),
        ("`b-0` leaves", True, {"a-0": [0, 1, 2, 3]}),
        ("`b-0` rejoins", True, {"a-0": [0, 1], "b-0": [2, 3]}),
    ]
    # A step in between may go two ways, both of which end the same.
    assert (plan.confidence, len(plan.outcomes.each)) == ("exact", 1)
    assert sum(len(stage.moves) for stage in plan.stages) == 8
    assert plan.metrics.moved == 0


def test_only_some_restart() -> None:
    """Those of one client id."""
    plan = deployed(DYNAMIC, RollingRestart("b"))
    assert [stage.event for stage in plan.stages] == ["`b-0` leaves", "`b-0` rejoins"]
    with pytest.raises(NotFoundError, match="client id `c`"):
        deployed(DYNAMIC, RollingRestart("c"))


def test_what_each_step_leaves_open_is_followed() -> None:
    """Both have one client id: where they stand when they are back, nobody knows."""
    alike = group_of(member("app-0", {"t": [0, 1]}), member("app-f", {"t": [2, 3]}))
    plan = deployed(alike, RollingRestart())
    assert plan.confidence == "outcomes"
    assert "it depends on the ids that new members get" in (plan.confidence_reason or "")
    assert plan.outcomes.complete
    ends = [each.settled.shares for each in plan.outcomes.each]
    assert len(ends) == len(plan.outcome_metrics) == 2
    assert {"app-0": {"t": (2, 3)}, "app-f": {"t": (0, 1)}} in ends
    assert {"app-0": {"t": (0, 1)}, "app-f": {"t": (2, 3)}} in ends
    assert sum(each.weight for each in plan.outcomes.each) == pytest.approx(1)


def test_the_leaders_library_is_not_that_of_the_others() -> None:
    """Seen on a broker: a mixed group was planned as if all were like the leader, `exact`."""
    held = {"a": [0, 1], "b": [2, 3], "c": [4, 5]}
    group = group_of(
        *(
            member(f"{name}-0", {"t": own}, client_id=name, version=0, user_data=b"")
            for name, own in held.items()
        ),
        assignor="sticky",
    )
    snapshot, group = cluster_of(group, {"t": 6}), replace(group, leader="a-0")
    plans = [
        plan_changes(snapshot, group, [Restart("a")], leader="kafka-python", alike=alike)
        for alike in (True, False)
    ]
    led = [{strategy.leader_client for strategy in plan.strategies} for plan in plans]
    assert led == [{"kafka-python"}, {"java", "kafka-python", "aiokafka"}]
    assert plans[1].confidence in ("counts", "likely")
    # What is said of a leader that stays is all that matters.
    plan = plan_changes(snapshot, group, [Restart("c")], leader="kafka-python")
    assert {stage.leader_client for stage in plan.stages} == {"kafka-python"}


@pytest.mark.parametrize("change", [Restart("a"), RollingRestart(), SwitchClient("java")])
def test_another_assignor_takes_two_restarts(change: Deploy) -> None:
    """The first member that is back with it alone is refused: the others have only the old one."""
    snapshot = cluster_of(DYNAMIC, {"t": 4})
    with pytest.raises(UsageError, match="cannot move from `range` to `roundrobin`") as caught:
        plan_changes(snapshot, DYNAMIC, [change], "roundrobin")
    assert caught.value.code == "INCONSISTENT_GROUP_PROTOCOL"
    assert plan_changes(snapshot, DYNAMIC, [change], "range").stages
    assert plan_changes(snapshot, DYNAMIC, [], "roundrobin").assignor == "roundrobin"


def test_too_many_ways_are_not_all_followed() -> None:
    """Seven members of one client id: more orders than are tried."""
    seven = [member(f"app-{n}", {"t": [n]}) for n in range(7)]
    plan = plan_changes(
        cluster_of(group_of(*seven), {"t": 7}),
        group_of(*seven),
        [RollingRestart()],
        leader="java",
        alike=True,
    )
    assert plan.confidence == "likely"
    assert "more ways" in (plan.confidence_reason or "")
    assert not plan.outcomes.complete


def test_changes_come_first() -> None:
    """Partitions are added, then the deploy begins."""
    plan = deployed(STATIC, SetPartitions("t", 6), Restart("i2"))
    assert [stage.event for stage in plan.stages] == ["the changes are applied", "`i2-0` restarts"]
    assert plan.metrics.newly_assigned == 2


def test_the_leader_changes_with_the_library() -> None:
    """franz-go's members take over from Java's: who leads is followed through the deploy."""
    group = group_of(
        member("a-0", {"t": [0, 1]}, client_id="a", user_data=NUMBER),
        member("b-0", {"t": [2, 3]}, client_id="b", user_data=NUMBER),
        assignor=COOPERATIVE,
        leader="a-0",
        wrote=(3, None),
    )
    plan = deployed(group, SwitchClient("franz-go"), leader=None)
    assert [stage.leader_client for stage in plan.stages] == [
        "java",  # a-0 led, b-0 follows
        "java",
        "franz-go",  # b-0 leaves
        "franz-go",
    ]
    with pytest.raises(UsageError, match="kafkajs clients have no `cooperative-sticky`"):
        deployed(group, SwitchClient("kafkajs"))


def test_the_item_has_the_steps() -> None:
    """JSON tells each step with its own confidence."""
    item = plan_item(deployed(DYNAMIC, Restart("a")))
    assert [stage["event"] for stage in item["stages"]] == ["`a-0` leaves", "`a-0` rejoins"]
    assert {stage["confidence"] for stage in item["stages"]} == {"exact"}
    assert item["stages"][0]["moved"] == 2


@pytest.mark.parametrize(
    ("shown", "library", "sent"),
    [
        (".*(?:(?:^t.*)).*", "java", "^t.*"),
        ("^t.*", "franz-go", ".*(?:(?:^t.*)).*"),
        ("^t.*", "librdkafka", "(^t.*)"),
        ("(^t.*)", "java", "^t.*"),
    ],
)
def test_patterns_move_with_the_application(shown: str, library: str, sent: str) -> None:
    """What franz-go makes of a pattern is not what the application gives the next library."""
    one = replace(member("a-0", {"t": [0]}, protocol="consumer"), subscription_regex=shown)
    group = group_of(one, assignor="uniform", kind="consumer")
    walk = Walk(cluster_of(group, {"t": 1}), group)
    for event in deploy_events(SwitchClient(library), walk):
        walk.step(event)
    assert [m.subscription_regex for m in walk.group.members or ()] == [sent]


def test_a_member_comes_back_by_the_protocol_that_it_speaks() -> None:
    """A KIP-848 member draws another id of any kind; of a classic one the beginning is known."""
    group = group_of(
        member("m-0a000000-0000-4000-8000-000000000000", {"t": [0, 1]}, client_id="m"),
        member("zz", {"t": [2, 3]}, client_id="n", protocol="consumer"),
        assignor="range",
        kind="consumer",
    )
    plan = plan_changes(cluster_of(group, {"t": 4}), group, [Restart("n")])
    assert plan.confidence == "outcomes"
    assert plan_changes(cluster_of(group, {"t": 4}), group, [Restart("m")]).confidence == "exact"


def test_a_rack_is_lost_with_a_library_that_does_not_tell_it() -> None:
    """Members of kafka-python tell a Java leader no rack, whatever is configured."""
    group = group_of(
        member("a-1", {"t": [0, 1]}, client_id="a", rack="r1"),
        member("b-1", {"t": [2, 3]}, client_id="b", rack="r2"),
    )
    plan = plan_changes(cluster_of(group, {"t": 4}), group, [SwitchClient("kafka-python")])
    assert plan.roster is not None
    assert {seat.member.rack for seat in plan.roster.seats} == {None}
    joined = AddMembers(client_id="c", rack="r3", library="java")
    plan = plan_changes(cluster_of(group, {"t": 4}), group, [joined])
    assert [m.rack for m in plan.members] == ["r1", "r2", "r3"]


def test_members_may_have_racks_that_their_library_does_not_tell() -> None:
    """Seen on a broker: a deploy from kafka-python to Java, whose `range` looks at racks."""
    held = {"a-1": {"t": [0, 1]}, "b-1": {"t": [2, 3]}}
    members = [
        member(name, each, version=0, user_data=b"", client_id=name[0])
        for name, each in held.items()
    ]
    group = group_of(*members)
    bare = cluster_of(group, {"t": 4})
    for racks, confidence in ((("a", "b"), "likely"), ((None, None), "exact")):
        brokers = tuple(Broker(number, "h", 1, rack) for number, rack in enumerate(racks, 1))
        snapshot = replace(bare, brokers=brokers)
        plan = plan_changes(
            snapshot, group, [SwitchClient("java")], leader="kafka-python", alike=True
        )
        assert plan.confidence == confidence
    plan = plan_changes(snapshot, group, [RollingRestart()], leader="kafka-python", alike=True)
    assert plan.confidence == "exact"


def sarama_group(topics_of_a: str, topics_of_b: str) -> Group:
    """A cooperative group of sarama, one member static; topics are single letters."""

    def one(name: str, topics: str, held: Held, instance_id: str | None = None) -> Member:
        return member(
            f"{name}-1",
            held,
            topics=topics,
            instance_id=instance_id,
            client_id=name,
            version=2,
            user_data=NUMBER,
        )

    return group_of(
        one("a", topics_of_a, {"t": range(5)}),
        one("b", topics_of_b, {"u": range(6)}, "m-b"),
        assignor=COOPERATIVE,
    )


def test_a_deploy_of_which_chance_decides_every_step_says_how_many_partitions_each_gets() -> None:
    """Seen on a broker: a sarama leader deals in any order, and what was listed did not come.

    Racks that the new library may tell change which partitions members get, not how many.
    """
    group = sarama_group("tu", "tu")
    bare = cluster_of(group, {"t": 5, "u": 6})
    for racks in (("a", "b"), (None, None)):
        brokers = tuple(Broker(number, "h", 1, rack) for number, rack in enumerate(racks, 1))
        snapshot = replace(bare, brokers=brokers)
        plan = plan_changes(
            snapshot, group, [SwitchClient("franz-go")], leader="sarama", alike=True
        )
        assert plan.confidence == "counts"


@pytest.mark.parametrize(
    ("assignor", "restarts", "said"),
    [
        ("sticky", "a", True),
        ("range", "a", False),  # begins anew in each rebalance
        ("sticky", "i1", False),  # does not make the group rebalance
    ],
)
def test_a_restart_is_planned_for_a_group_that_settles_in_between(
    assignor: str, restarts: str, said: bool
) -> None:
    """A member that is back sooner joins the rebalance that its leaving began."""
    group = replace(STATIC if restarts == "i1" else DYNAMIC, assignor=assignor)
    plan = deployed(group, Restart(restarts))
    assert plan.confidence == "exact"
    assert ("if the group settles after each" in (plan.confidence_reason or "")) == said
