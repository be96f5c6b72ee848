"""A static franz-go leader that comes back: it computes an assignment, and may make a rebalance."""

from dataclasses import replace

import pytest

from kgroups.core.planning.changes.kinds import Restart, SwitchClient
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import leader_matters
from kgroups.core.planning.plan import Plan
from kgroups.core.snapshot import Group
from tests.support.planning.member_bytes import COOPERATIVE, V1, ZERO
from tests.support.planning.small_groups import Held, cluster_of, group_of, member

RECKONS = "a franz-go leader that comes back may make the group rebalance"
AS_RANGE: dict[str, Held] = {"a": {"t": [0, 1], "u": [0, 1]}, "b": {"t": [2], "u": [2]}}
OTHERWISE: dict[str, Held] = {"a": {"t": [0, 1], "u": [0]}, "b": {"t": [2], "u": [1, 2]}}


def franz_go(assignor: str, held: dict[str, Held], data: bytes | None) -> Group:
    """Two static members, the first of which leads."""
    members = [
        member(f"{name}-1", share, instance_id=name, user_data=data, generation=3)
        for name, share in held.items()
    ]
    return group_of(*members, assignor=assignor, leader="a-1", wrote=(0, None))


def restarted(group: Group, name: str) -> Plan:
    """The plan of a restart within the session."""
    return plan_changes(cluster_of(group, {"t": 3, "u": 3}), group, [Restart(name)])


@pytest.mark.parametrize(
    ("group", "confidences"),
    [
        (franz_go("sticky", AS_RANGE, ZERO), {"outcomes", "likely", "counts"}),
        (franz_go("range", OTHERWISE, None), {"outcomes"}),
        (franz_go("range", AS_RANGE, None), {"exact"}),
        (franz_go(COOPERATIVE, OTHERWISE, V1), {"exact"}),
    ],
    ids=["deals anew", "not what it would assign", "what it would assign", "remembers"],
)
def test_it_rebalances_where_it_would_assign_otherwise(group: Group, confidences: set[str]) -> None:
    """Seen on a broker: members without a memory had other partitions after a restart."""
    plan = restarted(group, "a")
    assert plan.confidence in confidences
    if plan.confidence == "exact":
        return
    assert len(plan.outcomes.each) > 1
    assert plan.stages[0].confidence_reason == RECKONS
    assert plan.metrics.moved == 0  # the first way is the one without a rebalance
    assert restarted(group, "b").confidence == "exact"


def test_members_that_move_to_franz_go() -> None:
    """The one that leads comes back as franz-go's; Java's leaves what there is alone."""
    group = franz_go("range", OTHERWISE, None)
    java = tuple(replace(each, assignment_version=3) for each in group.members or ())
    group = replace(group, members=java)
    cluster = cluster_of(group, {"t": 3, "u": 3})
    assert plan_changes(cluster, group, [Restart("a")]).confidence == "exact"
    moved = plan_changes(cluster, group, [SwitchClient("franz-go")])
    assert moved.confidence == "outcomes"
    assert len(moved.outcomes.each) == 2


def test_the_leader_is_looked_for() -> None:
    """Of franz-go's static members only the leader does so."""
    group = franz_go("sticky", AS_RANGE, ZERO)
    assert leader_matters(Evidence(replace(group, leader=None)))
    dynamic = tuple(replace(each, instance_id=None) for each in group.members or ())
    assert not leader_matters(Evidence(replace(group, leader=None, members=dynamic)))
