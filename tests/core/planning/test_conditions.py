"""Conditions on a plan's figures, and why a partition goes where it goes."""

import pytest

from kgroups.core.conditions.grammar import parse_condition
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.changes.kinds import AddMembers, RemoveMember, Subscribe
from kgroups.core.planning.explanation.explain import explain, parse_partition
from kgroups.core.planning.metrics import PLAN_FIELDS, values_of
from kgroups.core.planning.plan import plan_group
from tests.support.planning.small_groups import cluster_of, group_of, member

GROUP = group_of(
    member("a", {"t": [0, 1, 2, 3]}), member("b", {"t": [4, 5, 6]}), member("c", {"t": [7, 8, 9]})
)
PLAN = plan_group(cluster_of(GROUP, {"t": 10}), GROUP, [RemoveMember("c")])

HOLDING = [
    ("moved > 3", True),  # 4 of 10 move: 3 that c had, and t-4 from b to a
    ("moved >= 40%", True),
    ("moved > 40%", False),
    ("moved>3and kept<7", True),
    ("moved > 99 or idle_members == 0", True),
    ("moved > 99 or idle_members > 0 and kept > 0", False),
    ("IDLE-MEMBERS != 0", False),
    ("stddev <= 0.5", True),
    ("idle_members >= 50%", False),
    ("member_lag_max > 5", None),
    ("member_lag_max > 5 and moved > 99", False),
    ("member_lag_max > 5 or moved > 3", True),
    ("member_lag_max > 5 or moved > 99", None),
]


def holds(text: str, *, sizes_only: bool = False) -> bool | None:
    """Whether a condition holds for the plan."""
    condition = parse_condition(text, PLAN_FIELDS, "--fail-on")
    return condition.holds(values_of(PLAN.metrics, sizes_only=sizes_only))


@pytest.mark.parametrize(("text", "expected"), HOLDING)
def test_whether_it_holds(text: str, expected: bool | None) -> None:
    """`and` binds stronger than `or`; a figure that is not known leaves it open."""
    assert holds(text) is expected


def test_what_follows_from_sizes() -> None:
    """Where only sizes are sure, conditions on moves are open and those on shares are not."""
    assert holds("partitions_max > 4", sizes_only=True) is True
    assert holds("moved > 1", sizes_only=True) is None
    assert holds("moved > 10%", sizes_only=True) is None


def test_a_misspelt_figure_has_neighbours() -> None:
    """The nearest are named, and all of them in the hint."""
    with pytest.raises(UsageError, match=r"unknown field `mooved` of a plan; did you mean `moved`"):
        holds("mooved > 1")


def test_explanations() -> None:
    """The rule with this group's numbers, and what became of the owner before."""
    found = explain(PLAN, "t", 4)
    assert (found.before, found.after) == ("b", "a")
    text = " ".join(found.reasons)
    assert "10 partitions" in text
    assert "2 subscribers" in text
    assert "is 0 to 4" in text
    assert "`b`, which owns it now, goes from 3 to 5" in text
    assert "`c`, which owns it now, leaves" in explain(PLAN, "t", 9).reasons
    assert "`a` owns it now and keeps it" in explain(PLAN, "t", 0).reasons


@pytest.mark.parametrize("assignor", ["roundrobin", "sticky", "cooperative-sticky", "random"])
def test_every_strategy_explains_itself(assignor: str) -> None:
    """At least the rule and the history; one without a rule says that it has none."""
    plan = plan_group(cluster_of(GROUP, {"t": 10}), GROUP, [AddMembers(client_id="z")], assignor)
    found = explain(plan, "t", 5)
    assert len(found.reasons) >= 2
    assert found.after is not None


def test_nobody_gets_it() -> None:
    """A partition whose last reader leaves has no owner, and that is explained too."""
    plan = plan_group(cluster_of(GROUP, {"t": 10, "u": 1}), GROUP, [Subscribe(("u",))])
    assert explain(plan, "t", 0).after is None
    assert "no remaining member subscribes" in explain(plan, "t", 0).reasons[0]
    assert explain(plan, "u", 0).reasons[-1] == "it has no owner now"


def test_which_partition() -> None:
    """TOPIC:N, or TOPIC-N as logs write it; one that the plan does not know is not found."""
    assert parse_partition("a-b:3") == parse_partition("a-b-3") == ("a-b", 3)
    for text in ("t", "t:", ":1", "t:x", "t:-1"):
        with pytest.raises(UsageError, match="is not a partition"):
            parse_partition(text)
    with pytest.raises(NotFoundError, match="no partition t-10"):
        explain(PLAN, "t", 10)
