"""Notes of a plan: they count what the document lists."""

import re

import pytest

from kgroups.core.planning.changes.kinds import AddMembers, Change, Deploy, Restart
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.plan_item import plan_item
from kgroups.core.snapshot import Group
from tests.support.planning.small_groups import cluster_of, group_of, member

HELD = {"a": [0, 1], "b": [2, 3], "c": [4, 5]}
# Members that do not show whether they are Java's, kafka-python's or aiokafka's.
HIDDEN = group_of(
    *(
        member(f"{name}-0", {"t": own}, client_id=name, version=0, user_data=b"")
        for name, own in HELD.items()
    ),
    assignor="sticky",
)
SHOWN = group_of(*(member(f"{name}-0", {"t": own}, client_id=name) for name, own in HELD.items()))


@pytest.mark.parametrize(
    ("group", "change"),
    [(HIDDEN, AddMembers()), (HIDDEN, Restart("a")), (SHOWN, AddMembers()), (SHOWN, Restart("a"))],
    ids=["several leaders", "their deploy", "one leader", "its deploy"],
)
def test_outcomes_are_counted_once(group: Group, change: Change | Deploy) -> None:
    """The note says how many outcomes the document has, and of which leader some are."""
    item = plan_item(plan_changes(cluster_of(group, {"t": 7}), group, [change]))
    found = [re.match(r"([0-9]+) outcomes are possible", note) for note in item["notes"]]
    counts = [int(match[1]) for match in found if match]
    assert counts == [item["outcomes_count"]] * (item["outcomes_count"] > 1)


def test_nothing_listed_is_not_complete() -> None:
    """A group without members has no outcome: that is not all that can happen."""
    item = plan_item(plan_changes(cluster_of(group_of(), {}), group_of()))
    assert (item["outcomes_count"], item["outcomes_complete"]) == (0, False)
