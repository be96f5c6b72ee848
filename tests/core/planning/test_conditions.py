"""Conditions on a plan's figures, and why a partition goes where it goes."""

import pytest

from kgroups.core.conditions.grammar import parse_condition
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.changes.kinds import RemoveMember, Subscribe
from kgroups.core.planning.explanation.explain import explain, parse_partition
from kgroups.core.planning.metrics import PLAN_FIELDS, values_of
from kgroups.core.planning.plan import plan_group
from tests.support.planning.small_groups import cluster_of, group_of, member

GROUP = group_of(
    member("a", {"t": [0, 1, 2, 3]}), member("b", {"t": [4, 5, 6]}), member("c", {"t": [7, 8, 9]})
)
PLAN = plan_group(cluster_of(GROUP, {"t": 10}), GROUP, [RemoveMember("c")])


def holds(text: str, *, sizes_only: bool = False) -> bool | None:
    """Whether a condition holds for the plan."""
    condition = parse_condition(text, PLAN_FIELDS, "--fail-on")
    return condition.holds(values_of(PLAN.metrics, sizes_only=sizes_only))


def test_what_follows_from_sizes() -> None:
    """Where only sizes are sure, conditions on moves are open and those on shares are not."""
    assert holds("partitions_max > 4", sizes_only=True) is True
    assert holds("moved > 1", sizes_only=True) is None
    assert holds("moved > 3") is True  # 4 of 10: 3 that c had, and t-4 from b to a
    assert holds("member_lag_max > 5") is None
    assert holds("moved > 10%", sizes_only=True) is None


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
