"""Whether a franz-go leader balances racks, as far as what it has dealt tells, and plans of it."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from kgroups.assignors.other_clients.variants import RACK_BALANCING
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions
from kgroups.core.planning.changes.apply import next_roster
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    Change,
    RemoveMember,
    Restart,
    SetPartitions,
)
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import leader_matters
from kgroups.core.planning.leaders.rack_settings import rack_settings
from kgroups.core.planning.plan import Plan, plan_group
from kgroups.core.planning.reasons import HIDDEN_RACKS
from kgroups.core.snapshot import Broker, ClusterSnapshot, PartitionLog, Topic
from tests.support.planning.ends import ends
from tests.support.planning.small_groups import cluster_of, group_of, member

BROKERS = (Broker(1, "h", 1, "a"), Broker(2, "h", 2, "b"))
STRATEGIES = ("range", "sticky", "cooperative-sticky")
LED = {"t": "abba", "u": "bab"}
FRESH = b"\0\0\0\0"


def dealt(
    strategy: str,
    balances_racks: bool,
    *,
    led: Mapping[str, str] = LED,
    racks: str = "bab",
    topics: tuple[str, ...] = ("t", "u"),
) -> ClusterSnapshot:
    """A group of franz-go's members, the first of which leads, as it deals to them when they join.

    Args:
        led: for each topic the racks in which its partitions are led, a letter each.
        racks: of the members.
    """
    ids = [f"{name}-1" for name, _ in zip("cdefgh", racks, strict=False)]
    joined = [
        MemberSubscription(name, topics, rack=rack, user_data=FRESH)
        for name, rack in zip(ids, racks, strict=True)
    ]
    request = AssignmentRequest(
        joined,
        {name: TopicPartitions(len(each), leader_racks=list(each)) for name, each in led.items()},
        leader=ids[0],
    )
    decide = RACK_BALANCING[strategy] if balances_racks else assignor(strategy, "franz-go")
    shares = dict(decide.assign(request).items())
    data = None if strategy == "range" else FRESH
    members = [
        member(
            one.member_id,
            shares[one.member_id],
            topics=topics,
            rack=one.rack,
            user_data=data,
            generation=-1,
        )
        for one in joined
    ]
    group = group_of(*members, assignor=strategy, leader=ids[0], wrote=(0, None))
    snapshot = cluster_of(group, {name: len(each) for name, each in led.items()})
    return replace(
        snapshot,
        brokers=BROKERS,
        topics={
            name: Topic(
                name,
                {
                    number: PartitionLog(0, 1, None, 1 + "ab".index(rack), (rack,))
                    for number, rack in enumerate(each)
                },
            )
            for name, each in led.items()
        },
    )


def settings(snapshot: ClusterSnapshot, *changes: Change) -> frozenset[bool]:
    """Which settings the next leader may have."""
    return rack_settings(next_roster(snapshot, snapshot.groups[0], changes))


def plan_of(snapshot: ClusterSnapshot, *changes: Change) -> Plan:
    """The plan of the group."""
    return plan_group(snapshot, snapshot.groups[0], changes)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("balances_racks", [False, True])
def test_what_a_leader_has_dealt_tells_its_setting(strategy: str, balances_racks: bool) -> None:
    """The other setting would have given something else."""
    snapshot = dealt(strategy, balances_racks)
    assert settings(snapshot) == {balances_racks}
    assert settings(snapshot, RemoveMember("d-1")) == {balances_racks}


@pytest.mark.parametrize("balances_racks", [False, True])
def test_the_setting_makes_a_plan_exact(balances_racks: bool) -> None:
    """And it is followed: with racks everybody gets what is near it as far as that goes."""
    plan = plan_of(dealt("range", balances_racks), RemoveMember("d-1"))
    assert (plan.confidence, plan.leader_clients) == ("exact", ("franz-go",))
    held = {name: dict(share) for name, share in plan.outcomes.each[0].settled.shares.items()}
    near = {"c-1": {"t": (1, 2), "u": (0, 2)}, "e-1": {"t": (0, 3), "u": (1,)}}
    plain = {"c-1": {"t": (0, 1), "u": (0, 1)}, "e-1": {"t": (2, 3), "u": (2,)}}
    assert held == (near if balances_racks else plain)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_leader_that_follows_may_have_another_setting(strategy: str) -> None:
    """Both are played then, and where they differ the plan says so."""
    snapshot = dealt(strategy, False)
    leaves = RemoveMember("c-1")
    assert settings(snapshot, leaves) == {False, True}
    plan = plan_of(snapshot, leaves)
    assert plan.confidence == "outcomes"
    assert HIDDEN_RACKS in (plan.confidence_reason or "")
    assert "franz-go" in plan.leader_clients
    assert len(ends(plan)) > 1


def test_what_comes_to_the_same_is_certain() -> None:
    """With all partitions in the racks of those who get them anyhow, the setting makes none."""
    led = {"t": "ab", "u": "ab"}
    snapshot = dealt("range", False, led=led, racks="ab")
    assert settings(snapshot) == {False, True}
    plan = plan_of(snapshot, AddMembers(client_id="z", library="franz-go", topics=("u",)))
    assert plan.confidence == "exact"


def test_leaders_may_have_moved_among_replicas() -> None:
    """Each partition may have been led from any rack in which it has a replica."""
    snapshot = dealt("range", True, led={"t": "ab"}, racks="ba", topics=("t",))
    moved = {
        number: log._replace(racks=("a", "b"))
        for number, log in snapshot.topics["t"].partitions.items()
    }
    assert settings(snapshot) == {True}
    assert settings(replace(snapshot, topics={"t": Topic("t", moved)})) == {True}
    plain = dealt("range", False, led={"t": "ab"}, racks="ba", topics=("t",))
    assert settings(plain) == {False}
    assert settings(replace(plain, topics={"t": Topic("t", moved)})) == {False, True}


def test_earlier_rounds_tell_more() -> None:
    """What the leader dealt before under its id counts too."""
    snapshot = dealt("range", False, led={"t": "ab"}, racks="ab", topics=("t",))
    group = snapshot.groups[0]
    before = dealt("range", False, led={"t": "ab"}, racks="ba", topics=("t",)).groups[0]
    assert settings(snapshot) == {False, True}
    told = replace(snapshot, groups=(replace(group, led=(before, group)),))
    assert settings(told) == {False}


def test_a_round_that_withholds_partitions_tells_too() -> None:
    """A member that joins waits for what others give up; the rest looks like all that there is."""
    led = {"t": "abba"}
    after = dealt("cooperative-sticky", False, led=led, racks="b", topics=("t",))
    (alone,) = after.groups[0].members or ()
    first = replace(alone, generation=1, owned={"t": (0, 1, 2, 3)}, assignment={"t": (0, 1)})
    second = member("d-1", {}, topics=("t",), rack="a", user_data=FRESH, generation=-1)
    second = replace(second, assignment_version=0)
    group = replace(after.groups[0], members=(first, second))
    assert settings(replace(after, groups=(group,))) == {False}
    near = replace(group, members=(replace(first, assignment={"t": (1, 2)}), second))
    assert settings(replace(after, groups=(near,))) == {True}


def test_a_static_leader_may_have_come_back_with_another_setting() -> None:
    """It has then assigned nothing, unless the log says so."""
    snapshot = dealt("sticky", False)
    group = snapshot.groups[0]
    static = [replace(m, instance_id=m.member_id[:1]) for m in group.members or ()]
    back = replace(snapshot, groups=(replace(group, members=tuple(static)),))
    assert settings(back) == {False, True}
    logged = replace(back, groups=(replace(back.groups[0], led=(group,)),))
    assert settings(logged) == {False}


def test_the_racks_of_new_leaders_decide() -> None:
    """Where new partitions will be led is not known."""
    plan = plan_of(dealt("range", True), SetPartitions("u", 5))
    assert plan.confidence == "outcomes"
    assert (plan.confidence_reason or "").startswith("the racks in which brokers place new")
    plan = plan_of(dealt("range", False), SetPartitions("u", 5))
    assert plan.confidence == "exact"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_cluster_without_known_brokers_tells_no_racks(strategy: str) -> None:
    """Where partitions are led is not known then, so that racks may come to anything."""
    snapshot = replace(dealt(strategy, False), brokers=())
    assert settings(snapshot) == {False, True}
    assert plan_of(snapshot, RemoveMember("c-1")).confidence in ("likely", "counts")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("balances_racks", [False, True])
def test_the_setting_is_always_possible(strategy: str, balances_racks: bool) -> None:
    """Also where partitions have replicas in both racks, and others read other topics."""
    dice = random.Random(f"{strategy} {balances_racks}")
    told = 0
    for _ in range(40):
        led = {name: "".join(dice.choices("ab", k=dice.randint(1, 4))) for name in "tu"}
        racks = "".join(dice.choices("ab", k=dice.randint(1, 5)))
        found = settings(dealt(strategy, balances_racks, led=led, racks=racks))
        assert balances_racks in found
        told += len(found) == 1
    assert told > 10


def test_the_log_is_read_for_it() -> None:
    """Who leads and what it dealt before make a difference where members are in racks."""
    group = dealt("sticky", False).groups[0]
    assert leader_matters(Evidence(group))
    bare = tuple(replace(each, rack=None) for each in group.members or ())
    assert not leader_matters(Evidence(replace(group, members=bare)))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("balances_racks", [False, True])
def test_the_user_may_say_it(strategy: str, balances_racks: bool) -> None:
    """Then the other setting is not played, in a deploy neither."""
    snapshot = dealt(strategy, False)
    for change in (RemoveMember("c-1"), Restart("c-1")):
        plan = plan_changes(
            *(snapshot, snapshot.groups[0], [change]),
            leader="franz-go",
            alike=True,
            balances_racks=balances_racks,
        )
        assert [each.balances_racks for each in plan.strategies] == [balances_racks]
        assert HIDDEN_RACKS not in (plan.confidence_reason or "")
