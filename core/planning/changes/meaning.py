"""What changes mean in one group: texts are read once, and a group decides what they leave open."""

from collections.abc import Sequence
from dataclasses import replace

from kgroups.core.planning.changes.kinds import (
    AddMembers,
    Change,
    Deploy,
    Dialect,
    Pattern,
    RemoveMember,
    RemoveMembers,
)
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.snapshot import Group


def meant_in(
    group: Group, changes: Sequence[Change | Deploy], leader: str | None = None
) -> list[Change | Deploy]:
    """The changes with a member where a number is its id, and the group's dialect of patterns.

    Args:
        leader: client library of the group's leader; None: inferred.
    """
    return [_meant_in(group, change, leader) for change in changes]


def _meant_in(group: Group, change: Change | Deploy, leader: str | None) -> Change | Deploy:
    match change:
        case RemoveMembers(name=name) if any(
            name in (member.member_id, member.instance_id) for member in group.members or ()
        ):
            return RemoveMember(name)
        case Pattern(said=False):
            return replace(change, dialect=_dialect(group, leader), said=True)
        case AddMembers(pattern=Pattern(said=False) as pattern):
            said = replace(pattern, dialect=_dialect(group, leader), said=True)
            return replace(change, pattern=said)
    return change


def _dialect(group: Group, leader: str | None) -> Dialect:
    """Whose patterns the members of a group use."""
    if group.type == "consumer":
        return "re2"
    library = infer_leader(Evidence(group), leader).likeliest
    return "librdkafka" if library == "librdkafka" else "java"
