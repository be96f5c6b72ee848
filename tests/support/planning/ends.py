"""Where a plan may end and where a group has ended: topic, partition and member, in any order."""

from collections.abc import Mapping

from kgroups.core.planning.moves import ownership
from kgroups.core.planning.plan import Plan
from kgroups.core.snapshot import Group

End = frozenset[tuple[str, int, str]]


def ends(plan: Plan, names: Mapping[str, str] | None = None) -> set[End]:
    """Every outcome that a plan names.

    Args:
        names: what members are to be called, by their ids in the plan; others keep theirs.
    """
    names = names or {}
    return {
        ownership({names.get(who, who): held for who, held in outcome.settled.shares.items()})
        for outcome in plan.outcomes.each
    }


def end_of(group: Group) -> End:
    """Who has what now."""
    return ownership({member.member_id: member.assignment or {} for member in group.members or ()})
