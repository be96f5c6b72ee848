"""The same changes made to every group: where they make sense, and where they do not."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    DropHost,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.fleet import Fleet, next_fleet
from kgroups.core.snapshot import ClusterSnapshot, Group
from tests.support.planning.small_groups import group_of, member, topics_of

ONE = group_of(member("a-1", {"t": [0, 1]}, host="/h1"), name="one")
TWO = group_of(
    member("b-1", {"t": [0]}, host="/h1"), member("b-2", {"u": [0]}, host="/h2"), name="two"
)
EMPTY = group_of(state="Empty", name="empty")
SHARE = Group("share", "share", "Stable", members=(member("s", {}),))
BUSY = group_of(
    replace(member("c", {}), subscription=None), state="PreparingRebalance", name="busy"
)
REGEX = group_of(
    replace(member("m", {}, protocol="consumer"), subscription=(), subscription_regex="[tx]"),
    kind="consumer",
    assignor="uniform",
    name="regex",
)
GROUPS = (ONE, TWO, EMPTY, SHARE, BUSY, REGEX)


def after(*changes: Change, groups: Sequence[Group] = GROUPS) -> Fleet:
    """The fleet after these changes."""
    cluster = ClusterSnapshot(0, tuple(groups), topics_of({"t": 2, "u": 1}))
    return next_fleet(cluster, lambda _: changes)


def ids(fleet: Fleet) -> dict[str, list[str]]:
    """Member ids of each group."""
    return {g.group: [m.member_id for m in g.members or ()] for g in fleet.snapshot.groups}


def test_a_member_joins_every_group() -> None:
    """With an id drawn for it, the same every time; groups that cannot are named."""
    fleet = after(AddMembers())
    assert len(ids(fleet)["one"]) == 2
    assert len(ids(fleet)["two"]) == 3
    assert ids(fleet)["empty"] == []
    assert fleet.untouched == ("empty",)
    assert {error.target: error.code for error in fleet.errors} == {
        "share": "UNSUPPORTED_GROUP_TYPE",
        "busy": "REBALANCE_IN_PROGRESS",
    }
    assert fleet.assumed_ids == after(AddMembers()).assumed_ids
    assert {group for group, _ in fleet.assumed_ids} == {"one", "two", "regex"}
    assert fleet.assumed_ids["one", "app-new-1"].startswith("app-")
    assert len(fleet.assumed_ids["regex", "app-new-1"]) == 22  # a KIP-848 id


def test_a_member_leaves_where_it_is() -> None:
    """Groups that do not have it stay as they are, without an error."""
    fleet = after(RemoveMember("b-1"), groups=(ONE, TWO))
    assert ids(fleet) == {"one": ["a-1"], "two": ["b-2"]}
    assert fleet.errors == ()


def test_a_host_is_lost_in_all_groups() -> None:
    """Whoever is on it leaves, in whatever group."""
    fleet = after(DropHost("h1"), groups=(ONE, TWO))
    assert ids(fleet) == {"one": [], "two": ["b-2"]}


@pytest.mark.parametrize(
    ("change", "code"),
    [(RemoveMember("x"), "UNKNOWN_MEMBER_ID"), (DropHost("h9"), "UNKNOWN_HOST"),
     (SetPartitions("x", 9), "UNKNOWN_TOPIC_OR_PARTITION")],
)  # fmt: skip
def test_what_no_group_has_is_not_found(change: Change, code: str) -> None:
    """A name that is nobody's is a mistake, whichever group it is said of."""
    with pytest.raises(NotFoundError) as refused:
        after(change)
    assert refused.value.code == code


def test_a_topic_cannot_shrink() -> None:
    """What is wrong for the cluster is wrong before any group is looked at."""
    with pytest.raises(UsageError, match="cannot remove partitions"):
        after(SetPartitions("t", 1))


def test_topics_change_for_all() -> None:
    """A topic grows once; a new one is there, and a pattern finds it."""
    fleet = after(SetPartitions("t", 5), AddTopic("x", 3))
    assert len(fleet.snapshot.topics["t"].partitions) == 5
    reads = {g.group: (g.members or ())[0].subscription for g in fleet.snapshot.groups if g.members}
    assert reads["regex"] == ("t", "x")
    assert reads["one"] == ("t",)


def test_too_few_members_are_that_groups_error() -> None:
    """Two cannot leave a group of one; the other group goes on."""
    fleet = after(RemoveMembers(2), groups=(ONE, TWO))
    assert [error.target for error in fleet.errors] == ["one"]
    assert ids(fleet) == {"one": ["a-1"], "two": []}


def test_changes_come_in_order() -> None:
    """New members read what was said before they join."""
    fleet = after(Subscribe(("u",), added=True), AddMembers(2), groups=(ONE,))
    members = fleet.snapshot.groups[0].members or ()
    assert {member.subscription for member in members} == {("t", "u")}
