"""The plan of deleting groups: pure.

Only a group without members can be deleted; the broker refuses the others one by one. Here all
of them are looked at first, so that a command can refuse as a whole.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kgroups.core.errors import ClusterError, ItemError
from kgroups.core.offsets.change import IDLE_STATES
from kgroups.core.offsets.result import Result, result_of
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import Group


class Deletion(NamedTuple):
    """One group that is to be deleted, and what became of it.

    Args:
        state: of the group when it was looked at; None if it was not found.
        result: `planned` until it is done, refused, failed or, since others were, skipped.
    """

    group: str
    state: str | None = None
    note: str | None = None
    result: Result = "planned"
    error: ItemError | None = None

    @property
    def key(self) -> str:
        """The group."""
        return self.group

    @property
    def target(self) -> str:
        """Its name in messages."""
        return self.group

    def failed(self, error: ItemError) -> "Deletion":
        """The same deletion that came to nothing, or of which it is not known."""
        return self._replace(result=result_of(error), error=error)


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
    failures = {error.target: error for error in hidden}
    deletions = []
    for name in names:
        group = known.get(name)
        deletion = Deletion(name)
        if name in failures:
            deletion = deletion.failed(failures[name])
        elif group is None:
            deletion = deletion.failed(_not_found(name, listing_failures))
        else:
            deletion = deletion._replace(state=group.state)
            if group.state not in IDLE_STATES:
                text = f"the group has members (it is {group.state})"
                deletion = deletion.failed(broker_error(name, "NON_EMPTY_GROUP", text))
        deletions.append(deletion)
    return deletions


def _not_found(name: str, failures: Sequence[ItemError]) -> ItemError:
    if not failures:
        return broker_error(name, "GROUP_ID_NOT_FOUND")
    return ItemError(
        target=name,
        code=failures[0].code,
        message="not found, and not every broker answered",
        hint="try again when all brokers answer",
        exit_code=ClusterError.exit_code,
    )
