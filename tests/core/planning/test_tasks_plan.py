"""Plans of streams groups without a broker: changes that they take, and those that they do not."""

import pytest

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Deploy,
    DropHost,
    RemoveMember,
    RemoveMembers,
    RollingRestart,
    SetPartitions,
)
from kgroups.core.planning.holders import HoldersPlan, plan_tasks
from kgroups.core.snapshot import (
    ClusterSnapshot,
    Group,
    Member,
    PartitionLog,
    StreamsMember,
    Subtopology,
    Tasks,
    Topic,
)


def member(number: int, *partitions: int) -> Member:
    """A thread of an instance of its own, with these tasks."""
    held = Tasks(active={"0": partitions}, standby={}, warmup={})
    streams = StreamsMember(f"p-{number}", 0, assigned_tasks=held)
    return Member(f"m-{number}", f"app-{number}", f"/10.0.0.{number}", streams=streams)


def plan(*changes: Change | Deploy, standby: int = 0) -> HoldersPlan:
    """Two members with two of four tasks each, after these changes."""
    group = Group(
        "app",
        "streams",
        "Stable",
        members=(member(1, 0, 1), member(2, 2, 3)),
        topology=(Subtopology("0", ("in",), (), (), ("app-s-changelog",)),),
        settings={"streams.num.standby.replicas": str(standby)},
    )
    topics = {"in": Topic("in", {number: PartitionLog() for number in range(4)})}
    return plan_tasks(ClusterSnapshot(0, (group,), topics), group, changes)


def test_nothing_changes() -> None:
    """An even group stays as it is, for certain; standby tasks go to the other one."""
    planned = plan()
    assert (planned.after, planned.confidence, planned.notes) == (planned.before, "exact", ())
    kinds = [(*task, kind) for task, *_, kind in plan(standby=1).moves()]
    assert sorted(kinds) == [
        ("0", number, role, kind)
        for number in range(4)
        for role, kind in (("active", "kept"), ("standby", "started"))
    ]


def test_newcomers_have_ids_that_say_so() -> None:
    """They are instances of their own, so that two of them have a task each."""
    planned = plan(AddMembers(2))
    names = [name for held in planned.after.values() for name in held]
    assert sorted(names) == ["app-3-new-1", "app-4-new-2", "m-1", "m-2"]


def test_members_that_leave() -> None:
    """By name, by host, or so many, which is a guess."""
    for change in (RemoveMember("app-2"), RemoveMember("m-2"), DropHost("10.0.0.2")):
        planned = plan(change)
        assert (set().union(*planned.after.values()), planned.confidence) == ({"m-1"}, "exact")
    planned = plan(RemoveMembers(1, "1"))
    assert (set().union(*planned.after.values()), planned.confidence) == ({"m-1"}, "likely")
    with pytest.raises(UsageError, match="has no members"):
        plan(RemoveMembers(2, "2"))


def test_a_topic_that_grows() -> None:
    """There is a task for each partition; none can go."""
    assert len(plan(SetPartitions("in", 7)).after) == 7
    with pytest.raises(UsageError, match="Kafka cannot remove partitions"):
        plan(SetPartitions("in", 2))


def test_what_is_not_there() -> None:
    """Each is named with its group."""
    with pytest.raises(NotFoundError, match="`app` has no member `nobody`"):
        plan(RemoveMember("nobody"))
    with pytest.raises(NotFoundError, match="no member of `app` is on host") as absent:
        plan(DropHost("10.0.0.9"))
    assert absent.value.hint == "hosts: /10.0.0.1, /10.0.0.2"
    with pytest.raises(NotFoundError, match="there is no topic `out`"):
        plan(SetPartitions("out", 2))


@pytest.mark.parametrize(
    "change",
    [RollingRestart(), AddTopic("new", 1), AddMembers(1, instance_id="i")],
    ids=lambda change: type(change).__name__,
)
def test_what_they_cannot_have(change: Change | Deploy) -> None:
    """The hint lists what they can."""
    with pytest.raises(UsageError, match="members and partitions that come or go"):
        plan(change)
