"""The removal of one member from a group, and what became of it: pure."""

from typing import NamedTuple

from kgroups.core.errors import ItemError
from kgroups.core.offsets.result import Result, result_of, seen
from kgroups.core.snapshot import ClusterSnapshot, Member


class Removal(NamedTuple):
    """One member that is to be removed, and what became of it."""

    group: str
    member: Member
    note: str | None = None
    result: Result = "planned"
    error: ItemError | None = None

    @property
    def key(self) -> str:
        """The member's id."""
        return self.member.member_id

    @property
    def target(self) -> str:
        """Its name in messages."""
        return self.member.member_id

    def failed(self, error: ItemError) -> "Removal":
        """The same removal that came to nothing, or of which it is not known."""
        return self._replace(result=result_of(error), error=error)


def verify_removal(removal: Removal, looked: ClusterSnapshot) -> Removal:
    """The removal after a look at the group: a member that is gone was removed."""
    if removal.result not in ("done", "unknown"):
        return removal
    is_gone = any(error.code == "GROUP_ID_NOT_FOUND" for error in looked.errors)
    group = looked.group(removal.group)
    if not is_gone and (group is None or group.members is None):
        return removal
    left = {member.member_id for member in (group.members if group else None) or ()}
    text = "removed, but still in the group"
    return seen(removal, is_done=removal.member.member_id not in left, text=text)
