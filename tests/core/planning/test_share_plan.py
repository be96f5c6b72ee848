"""Plans of share groups without a broker: changes that they take, and those that they do not."""

import pytest

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Deploy,
    Pattern,
    RemoveMember,
    RemoveMembers,
    RollingRestart,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.holders import plan_shared
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, PartitionLog, Topic

ORDERS, AUDIT = "AAAAAAAAAAIAAAAAAAAAAQ", "AAAAAAAAAAMAAAAAAAAAAg"


def member(name: str, *partitions: int) -> Member:
    """A member that reads `orders`."""
    return Member(
        name, name, "/10.0.0.1", subscription=("orders",), assignment={"orders": partitions}
    )


def cluster(*members: Member) -> ClusterSnapshot:
    """One share group that reads a topic of four partitions, and a topic that nobody reads."""
    group = Group("app", "share", "Stable", assignor="simple", members=members)
    topics = {
        name: Topic(name, {number: PartitionLog() for number in range(4)}, topic_id)
        for name, topic_id in (("orders", ORDERS), ("audit", AUDIT))
    }
    return ClusterSnapshot(0, (group,), topics)


TWO = cluster(member("a", 0, 1), member("b", 2, 3))


def holders(snapshot: ClusterSnapshot, *changes: Change | Deploy) -> dict[tuple[str, int], int]:
    """How many members share each partition after the changes."""
    plan = plan_shared(snapshot, snapshot.groups[0], changes)
    return {partition: len(names) for partition, names in plan.after.items()}


def test_nothing_changes() -> None:
    """An even group stays as it is, for certain."""
    plan = plan_shared(TWO, TWO.groups[0], [])
    assert (plan.after, plan.confidence, plan.member_count) == (plan.before, "exact", 2)
    assert {kind for *_, kind in plan.moves()} == {"kept"}


def test_more_members_than_partitions() -> None:
    """Each partition gets as many members as it takes for everybody to have one."""
    assert holders(TWO, AddMembers(7)) == dict.fromkeys((("orders", n) for n in range(4)), 3)


def test_a_newcomer_has_an_id_that_says_so() -> None:
    """Which partitions it gets depends on ids that are not known."""
    plan = plan_shared(TWO, TWO.groups[0], [AddMembers(1, topics=("audit", "orders"))])
    names = {name for held in plan.after.values() for name in held}
    assert (len(names), plan.confidence) == (3, "ids")
    assert any("-new-" in name for name in names)
    assert {partition for partition, names in plan.after.items() if names} == {
        (topic, number) for topic in ("audit", "orders") for number in range(4)
    }


def test_a_topic_that_grows_and_one_that_is_new() -> None:
    """The new one's id is not known."""
    grown = holders(TWO, SetPartitions("orders", 6))
    assert grown == dict.fromkeys((("orders", n) for n in range(6)), 1)
    new = holders(TWO, AddTopic("new", 2), Subscribe(("new",)))
    assert new == {("new", 0): 1, ("new", 1): 1}


def test_who_leaves_is_assumed() -> None:
    """Of so many members that leave, and a note says who."""
    plan = plan_shared(TWO, TWO.groups[0], [RemoveMembers(1)])
    assert {name for names in plan.after.values() for name in names} == {"a"}
    assert plan.confidence == "likely"
    assert plan.notes == ("assumed: the 1 of 2 members that leave are the last by member id",)


def test_nobody_reads_by_a_pattern() -> None:
    """So a topic that is added is read by nobody, for certain."""
    plan = plan_shared(TWO, TWO.groups[0], [AddTopic("new", 2)])
    assert (plan.after, plan.confidence) == (plan.before, "exact")
    assert not any("pattern" in note for note in plan.notes)


def test_everybody_leaves() -> None:
    """Nothing is assigned; a note says why."""
    plan = plan_shared(TWO, TWO.groups[0], [RemoveMembers(2)])
    assert (plan.after, plan.member_count) == ({}, 0)
    assert "no members" in plan.notes[-1]
    assert {kind for *_, kind in plan.moves()} == {"ended"}


@pytest.mark.parametrize(
    "change",
    [RollingRestart(), Pattern(".*", "re2"), AddMembers(1, instance_id="i")],
    ids=lambda change: type(change).__name__,
)
def test_what_they_cannot_have(change: Change | Deploy) -> None:
    """The hint lists what they can."""
    with pytest.raises(UsageError, match="no patterns and no instance ids"):
        plan_shared(TWO, TWO.groups[0], [change])


def test_nobody_of_this_name() -> None:
    """As for consumer groups."""
    with pytest.raises(NotFoundError):
        plan_shared(TWO, TWO.groups[0], [RemoveMember("c")])
