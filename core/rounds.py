"""Rebalances of a group told apart, and how many were seen. Pure."""

from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Final

from kgroups.core.snapshot import Group

REBALANCING: Final = frozenset(
    {"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"}
)


def rounds_of(group: Group) -> Hashable:
    """Member ids, what they own, and their generations and epochs: a rebalance changes some of it.

    A round of a classic group that gives the same members the same partitions, and whose members
    tell no generation (subscriptions before version 2), leaves no trace here.
    """
    members = {
        (
            member.member_id,
            member.generation,
            member.member_epoch,
            frozenset((topic, *numbers) for topic, numbers in (member.assignment or {}).items()),
        )
        for member in group.members or ()
    }
    return group.group_epoch, group.target_epoch, frozenset(members)


def settled_rounds(groups: Iterable[Group]) -> dict[str, Hashable]:
    """The rounds of groups that are not rebalancing, by name: what a rebalance ends with."""
    return {group.group: rounds_of(group) for group in groups if group.state not in REBALANCING}


def rebalances_seen(first: Group | None, between: Iterable[Hashable], last: Group) -> int | None:
    """How often looks found a group otherwise than the look before; None if not known.

    Args:
        first, last: the looks at both ends; None or without members where nothing is known.
    """
    if first is None or first.members is None or last.members is None:
        return None
    looks = [rounds_of(first), *between, rounds_of(last)]
    return sum(before != after for before, after in pairwise(looks))
