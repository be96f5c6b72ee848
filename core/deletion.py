"""Which of the named groups can be deleted, decided before anything is: pure.

Only a group without members can be deleted; the broker refuses the others one by one. Here all
of them are looked at first, so that a command can refuse as a whole.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kgroups.core.errors import ClusterError, ItemError
from kgroups.core.offsets.result import Result
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import Group

# States in which a group has no members; None where the broker is too old to tell.
DELETABLE_STATES: Final = frozenset({"Empty", "Dead", None})


@dataclass(frozen=True, slots=True)
class Deletion:
    """One group that is to be deleted, and what became of it.

    Args:
        state: of the group when it was looked at; None if it was not found.
        result: `planned` until it is done, refused, failed or, since others were, skipped.
    """

    group: str
    state: str | None
    result: Result = "planned"
    error: ItemError | None = None


def plan_deletion(
    groups: Iterable[Group],
    names: Sequence[str],
    *,
    listing_failures: Sequence[ItemError] = (),
    hidden: Sequence[ItemError] = (),
) -> list[Deletion]:
    """What would become of each named group, in the order of the names.

    Args:
        groups: every group that the brokers listed.
        names: the groups to delete.
        listing_failures: brokers that did not answer; a group that is not in the listing may
            live there, so it is not said to be unknown.
        hidden: why some of the named groups may not be looked at.
    Returns:
        One entry a name: planned; refused, as it has members; failed, as it is not there.
    """
    known = {group.group: group for group in groups}
    refused = {error.target: error for error in hidden}
    return [
        Deletion(name, None, "failed", refused[name])
        if name in refused
        else _plan_one(known.get(name), name, listing_failures)
        for name in names
    ]


def _plan_one(group: Group | None, name: str, failures: Sequence[ItemError]) -> Deletion:
    if group is None:
        return Deletion(name, None, "failed", _not_found(name, failures))
    if group.state in DELETABLE_STATES:
        return Deletion(name, group.state)
    text = f"the group has members (it is {group.state})"
    error = broker_error(name, "NON_EMPTY_GROUP", text)
    return Deletion(name, group.state, "refused", error)


def _not_found(name: str, failures: Sequence[ItemError]) -> ItemError:
    if failures:
        return ItemError(
            target=name,
            code=failures[0].code,
            message="not found, and not every broker answered",
            hint="try again when all brokers answer",
            exit_code=ClusterError.exit_code,
        )
    return broker_error(name, "GROUP_ID_NOT_FOUND")


def skip_planned(deletions: Iterable[Deletion]) -> list[Deletion]:
    """The same entries with every planned one skipped: nothing is to be deleted."""
    return [
        replace(deletion, result="skipped") if deletion.result == "planned" else deletion
        for deletion in deletions
    ]


def apply_results(
    deletions: Iterable[Deletion], results: Mapping[str, tuple[Result, ItemError | None]]
) -> list[Deletion]:
    """The entries with what the broker answered for each planned one.

    Args:
        results: group to (result, error); a planned group that is not in it failed unanswered.
    """
    unanswered: tuple[Result, None] = ("failed", None)
    applied: list[Deletion] = []
    for deletion in deletions:
        if deletion.result == "planned":
            result, error = results.get(deletion.group, unanswered)
            deletion = replace(deletion, result=result, error=error)
        applied.append(deletion)
    return applied
