"""Leaders that do not notice that topics grow: then nothing happens."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kgroups.core.planning.changes.kinds import AddMembers, Change, Restart, SetPartitions
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import leader_matters
from kgroups.core.planning.plan import Plan
from kgroups.core.snapshot import Group
from tests.support.planning.small_groups import cluster_of, group_of, member

BACK = "that has come back since the last rebalance does not notice new partitions of `t`"
GROWS = SetPartitions("t", 5)
AS_IT_IS = {"a-1": {"t": (0, 1)}, "b-1": {"t": (2,)}}
DEALT = {"a-1": {"t": (0, 1, 2)}, "b-1": {"t": (3, 4)}}


def static_group(*, version: int = 0, leader: str | None = "a-1", back: bool = False) -> Group:
    """`a`, static, and `b`, which is not."""
    a, b = (
        member(f"{name}-1", held, instance_id=instance, version=version)
        for name, held, instance in (("a", {"t": [0, 1]}, "a"), ("b", {"t": [2]}, None))
    )
    return replace(group_of(a, b, leader=leader, wrote=(version, None)), leader_is_back=back)


def grown(group: Group, library: str, changes: Sequence[Change] = (GROWS,)) -> Plan:
    """The plan when `t` grows from three partitions to five."""
    return plan_changes(cluster_of(group, {"t": 3}), group, changes, leader=library)


def ends(plan: Plan) -> list[object]:
    """The outcomes, as member to topic to partitions."""
    return [outcome.settled.shares for outcome in plan.outcomes.each]


@pytest.mark.parametrize("library", ["sarama", "kafka-python", "aiokafka"])
def test_a_leader_that_came_back_does_not_know_that_it_leads(library: str) -> None:
    """Seen with real members: `tests/fidelity`."""
    plan = grown(static_group(back=True), library)
    assert ends(plan) == [AS_IT_IS]
    assert plan.confidence == "exact"
    assert "does not notice that topics grow" in (plan.confidence_reason or "")
    assert plan.metrics.unassigned == 2
    assert (plan.steps, plan.metrics.rounds) == ((), 0)
    assert sum(BACK in note for note in plan.notes) == 1


@pytest.mark.parametrize("library", ["sarama", "kafka-python", "aiokafka"])
def test_it_is_not_known_whether_it_came_back(library: str) -> None:
    """Both are outcomes; the assignment that the growth is to bring is shown."""
    plan = grown(static_group(), library)
    assert ends(plan) == [DEALT, AS_IT_IS]
    assert plan.confidence == "outcomes"
    assert "may not notice that topics grow" in (plan.confidence_reason or "")
    assert sum(BACK in note for note in plan.notes) == 1


@pytest.mark.parametrize("library", ["java", "franz-go", "librdkafka"])
def test_others_know(library: str) -> None:
    """They speak JoinGroup 9, or all of their members look."""
    plan = grown(static_group(back=True, version=3), library)
    assert ends(plan) == [DEALT]
    assert not any("does not notice" in note for note in plan.notes)


@pytest.mark.parametrize(("version", "outcomes"), [(1, 2), (2, 1)])
def test_an_old_java_leader_may_forget(version: int, outcomes: int) -> None:
    """Java clients before 3.2 do not speak JoinGroup 9; those that are newer may look like them."""
    assert len(ends(grown(static_group(version=version, back=True), "java"))) == outcomes


@pytest.mark.parametrize(
    "group",
    [
        static_group(leader="b-1"),
        replace(static_group(), led=(static_group(),)),
    ],
    ids=["is not static", "has led since"],
)
def test_leaders_that_look(group: Group) -> None:
    """A leader that has assigned under the id that it has knows that it leads."""
    assert ends(grown(group, "kafka-python")) == [DEALT]


def test_something_else_makes_the_group_rebalance() -> None:
    """A member that joins does, whatever the leader knows."""
    plan = grown(static_group(back=True), "kafka-python", (GROWS, AddMembers(1)))
    assert plan.metrics.unassigned == 0
    assert not any(BACK in note for note in plan.notes)


def test_a_deploy_after_it() -> None:
    """The new partitions get an owner when a member that is not static restarts."""
    group = static_group(back=True)
    plan = plan_changes(
        cluster_of(group, {"t": 3}), group, [GROWS, Restart("b-1")], leader="kafka-python"
    )
    first, *later = plan.stages
    assert (first.rebalances, first.moves) == (False, ())
    assert all(stage.rebalances for stage in later)
    assert plan.metrics.unassigned == 0


@pytest.mark.parametrize(
    ("instance", "grows", "looked_at"),
    [("k-a", True, True), ("k-a", False, False), (None, True, False)],
    ids=["may have come back", "nothing grows", "not static"],
)
def test_where_the_log_is_looked_at(instance: str | None, grows: bool, looked_at: bool) -> None:
    """It tells whether the leader came back. Both members can only be kafka-python's."""
    members = [
        member(name, held, topics="ut", instance_id=instance, version=1, user_data=b"")
        for name, held in (("a-1", {"t": [0]}), ("b-1", {"t": [1]}))
    ]
    group = group_of(*members, assignor="cooperative-sticky", wrote=(1, b""))
    assert leader_matters(Evidence(group), grows=grows) is looked_at
