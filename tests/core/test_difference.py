"""What changed between two looks: facts that differ, things that came and went."""

from dataclasses import replace

from kgroups.core.difference import Difference, differences
from kgroups.core.group_item import describe_item
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset
from tests.support.cli.clusters import shop


def items(snapshot: ClusterSnapshot) -> list[dict[str, object]]:
    """Every group with members and offsets."""
    return [
        describe_item(snapshot, group, offset_rows(snapshot, group), ("members", "offsets"))
        for group in snapshot.groups
    ]


def test_nothing_changed() -> None:
    """The same cluster twice."""
    assert differences(items(shop()), items(shop())) == []


def test_what_changed() -> None:
    """A state, a commit with its lag, a member that left, a group that went."""
    before = shop()
    empty, billing, _ = before.groups
    assert billing.members is not None
    assert billing.offsets is not None
    orders = {**billing.offsets["orders"], 0: CommittedOffset(95, 3, "checkpoint 7")}
    after = replace(
        before,
        groups=(
            empty,
            replace(
                billing,
                state="PreparingRebalance",
                members=billing.members[:1],
                offsets={"orders": orders},
            ),
        ),
    )
    found = differences(items(before), items(after))
    by_group = [change for change in found if change.group == "billing"]
    assert by_group[0] == Difference(
        "billing", None, None, None, "state", "Stable", "PreparingRebalance"
    )
    assert Difference("billing", None, None, "bill-2-0000", "member", "/10.0.0.6", None) in by_group
    assert Difference("billing", "orders", 0, None, "committed_offset", 90, 95) in by_group
    assert Difference("billing", "orders", 0, None, "lag", 10, 5) in by_group
    assert Difference("billing", "orders", 2, None, "member_id", "bill-2-0000", None) in by_group
    assert Difference("shipping", None, None, None, "group", "Reconciling", None) in found
    came = differences(items(after), items(before))
    assert Difference("shipping", None, None, None, "group", None, "Reconciling") in came
