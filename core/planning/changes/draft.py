"""A group while the changes are applied to it."""

from collections import Counter
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.member_ids import whole_id
from kgroups.core.planning.changes.kinds import Pattern
from kgroups.core.planning.roster import Seat
from kgroups.core.snapshot import Group, Member, Topic

_T = TypeVar("_T")


@dataclass(slots=True)
class Draft:
    """A roster while the changes are applied.

    Args:
        followers: names of new members that will read what the others read, with the topics that
            they were told to read besides.
        new_topics: topics that are new or have grown.
        said_topics, said_pattern: what a change has the whole group read.
    """

    group: Group
    seats: list[Seat]
    topics: MutableMapping[str, Topic]
    left: list[Seat] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    followers: dict[str, set[str]] = field(default_factory=dict)
    new_topics: set[str] = field(default_factory=set)
    said_topics: tuple[str, ...] | None = None
    said_pattern: Pattern | None = None

    def named(self, name: str) -> Seat:
        """The one member that goes by this name.

        Raises:
            NotFoundError: nobody does.
            UsageError: several do.
        """
        member = member_called(name, [seat.member for seat in self.seats], self.group.group)
        return next(seat for seat in self.seats if seat.member is member)

    def whole_id(self, name: str) -> str | None:
        """The id of the only member whose id begins so; None if there is none.

        Raises:
            UsageError: several do.
        """
        return whole_id(name, (seat.member.member_id for seat in self.seats), self.group.group)


def member_called(
    name: str, members: Sequence[Member], group: str, names: Mapping[str, str] | None = None
) -> Member:
    """The one member that goes by this name: its id, instance id, client id, or how its id begins.

    Args:
        names: member id to another name that the member goes by.
    Raises:
        NotFoundError: nobody does.
        UsageError: several do.
    """
    names_shown = names or {}
    matches = [m for m in members if name in (m.member_id, names_shown.get(m.member_id))]
    matches = matches or [member for member in members if member.instance_id == name]
    matches = matches or [member for member in members if member.client_id == name]
    if not matches:
        whole = whole_id(name, (member.member_id for member in members), group)
        matches = [member for member in members if member.member_id == whole]
    if len(matches) > 1:
        raise UsageError(
            f"`{name}` is the client id of {len(matches)} members of `{group}`",
            hint=f"use a member id: {', '.join(member.member_id for member in matches[:3])}",
        )
    if not matches:
        raise unknown_member(name, group)
    return matches[0]


def unknown_member(name: str, group: str) -> NotFoundError:
    """The error for a name that nobody goes by."""
    return NotFoundError(
        f"`{group}` has no member `{name}`",
        hint="`kgroups describe GROUP --members` lists its members",
        code="UNKNOWN_MEMBER_ID",
    )


def unknown_host(host: str, group: str, members: Iterable[Member]) -> NotFoundError:
    """The error for a host that nobody is on."""
    hosts = sorted({member.host for member in members})
    return NotFoundError(
        f"no member of `{group}` is on host `{host}`",
        hint="hosts: " + ", ".join(hosts[:5]) if hosts else None,
        code="UNKNOWN_HOST",
    )


def goes_by(seat: Seat, name: str | None) -> bool:
    """Whether a member goes by this member id, instance id or client id; None is everybody's."""
    facts = seat.member
    return name is None or name in (facts.member_id, facts.instance_id, facts.client_id)


def most_common(values: Iterable[_T]) -> _T | None:
    """The commonest value, the first of equally common ones; None for none."""
    common = Counter(values).most_common(1)
    return common[0][0] if common else None
