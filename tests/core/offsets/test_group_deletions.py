"""Which groups can be deleted, before any is."""

import pytest

from kgroups.core.errors import ItemError
from kgroups.core.offsets.deletions import plan_deletion
from kgroups.core.offsets.result import apply_answers, skip_planned
from kgroups.core.snapshot import Group

GROUPS = (
    Group("empty", "classic", "Empty"),
    Group("dead", "consumer", "Dead"),
    Group("old-broker", "classic", None),
    Group("live", "consumer", "Stable"),
    Group("moving", "classic", "PreparingRebalance"),
)

CASES = {
    "empty": ("planned", None, None),
    "dead": ("planned", None, None),
    "old-broker": ("planned", None, None),
    "live": ("refused", "NON_EMPTY_GROUP", 4),
    "moving": ("refused", "NON_EMPTY_GROUP", 4),
    "nobody": ("failed", "GROUP_ID_NOT_FOUND", 5),
}


@pytest.mark.parametrize("name", CASES)
def test_plan(name: str) -> None:
    """State decides; where it is not known the broker will."""
    (deletion,) = plan_deletion(GROUPS, [name])
    error = deletion.error
    assert CASES[name] == (
        deletion.result,
        error and error.code,
        error and error.exit_code,
    )


def test_a_group_is_not_unknown_while_a_broker_is_silent() -> None:
    """It may live there, so the answer is that the cluster could not be asked."""
    silent = ItemError("broker 2 (b:1)", "BROKER_NOT_AVAILABLE", "the broker is not available")
    (deletion,) = plan_deletion(GROUPS, ["nobody"], listing_failures=[silent])
    assert deletion.error is not None
    assert (deletion.error.code, deletion.error.exit_code) == ("BROKER_NOT_AVAILABLE", 3)


def test_skip_leaves_nothing_planned() -> None:
    """What could be deleted is skipped, what could not keeps its reason."""
    skipped = skip_planned(plan_deletion(GROUPS, ["empty", "live"]))
    assert [deletion.result for deletion in skipped] == ["skipped", "refused"]


def test_results_go_to_planned_groups_only() -> None:
    """A refused group stays refused; a planned one without an answer has failed."""
    late = ItemError("empty", "NON_EMPTY_GROUP", "the group has members", exit_code=4)
    planned = plan_deletion(GROUPS, ["empty", "live", "dead"])
    applied = apply_answers(planned, {"empty": late, "live": None})
    silence = ItemError("dead", "FAILED", "the broker did not respond")
    assert applied == [planned[0].failed(late), planned[1], planned[2].failed(silence)]
    assert [deletion.result for deletion in applied] == ["refused", "refused", "failed"]
