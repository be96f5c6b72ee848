"""Which events a deploy is made of: restarts, members that come back too late, another library."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.changes.draft import member_called
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    Deploy,
    Expire,
    Pattern,
    RemoveMember,
    Restart,
    RollingRestart,
    SwitchClient,
)
from kgroups.core.planning.deploys.walk import Event, Walk
from kgroups.core.planning.leaders.libraries import SPEAKERS
from kgroups.core.snapshot import Group, Member

# What franz-go and librdkafka make of one pattern, for coordinators that match whole names.
WRITTEN_PATTERN: Final = re.compile(r"\.\*\(\?:\(\?:(?P<go>.*)\)\)\.\*|\((?P<rd>\^[^()]*)\)")


def deploy_events(deploy: Deploy, walk: Walk) -> Iterator[Event]:
    """The events of a deploy, from the group as it is when it begins.

    Raises:
        NotFoundError: no member goes by the name.
        UsageError: the deploy cannot be made by this group.
    """
    group = walk.group
    match deploy:
        case Restart(member=name):
            yield from _restart(walk, _named(walk, name))
        case Expire(member=name):
            yield from _away(walk, _named(walk, name))
        case RollingRestart(who=who):
            for member in members_in_order(group, who):
                yield from _restart(walk, member)
        case SwitchClient(library=library):
            _check_library(group, library)
            for member in members_in_order(group, None):
                yield from _restart(walk, member, library)


def _shown(walk: Walk, member: Member) -> str:
    return walk.names.get(member.member_id, member.member_id)


def _named(walk: Walk, name: str) -> Member:
    return member_called(name, walk.group.members or (), walk.group.group, walk.names)


def members_in_order(group: Group, who: str | None) -> list[Member]:
    """Members in the order in which a deploy goes through them: by instance or client id.

    Args:
        who: client id of those that are meant; None: all.
    Raises:
        NotFoundError: there are none.
    """
    members = [m for m in group.members or () if who is None or m.client_id == who]
    if not members:
        raise NotFoundError(
            f"`{group.group}` has no member with the client id `{who}`"
            if who is not None
            else f"`{group.group}` has no members",
            code="UNKNOWN_MEMBER_ID",
        )
    return sorted(members, key=lambda m: (m.instance_id or m.client_id, m.member_id))


def _restart(walk: Walk, member: Member, library: str | None = None) -> Iterator[Event]:
    """A member goes and comes back; a static one before its session ends."""
    name, said = _shown(walk, member), f" as a {library} client" if library else ""
    leaves = RemoveMember(walk.id_of(name))
    if member.instance_id is not None and not _leaves_for_good(walk, member):
        yield Event(f"`{name}` restarts{said}", restarted=name, library=library)
        return
    back = _back(walk, member, name, library)  # from what is known before it leaves
    if member.instance_id is not None:  # nobody waits until the group is at rest without it
        yield replace(back, text=f"`{name}` restarts{said}", changes=(leaves, *back.changes))
        return
    yield Event(f"`{name}` leaves", (leaves,))
    yield back


def _leaves_for_good(walk: Walk, member: Member) -> bool:
    """Whether a static member that closes is taken for one that does not come back.

    franz-go's heartbeat that says so names no instance id, and then a coordinator lets go of the
    member: as of 1.22.2. Its ids are told by their padding, which no other library writes.

    Source: franz-go `leave848`; GroupMetadataManager.consumerGroupLeave.
    """
    if member.member_protocol == "classic" or walk.group.type != "consumer":
        return False
    named = walk.known.libraries.get(member.member_id)
    return named == "franz-go" if named else member.member_id.endswith("==")


def _away(walk: Walk, member: Member) -> Iterator[Event]:
    """A member's session ends before it comes back."""
    name = _shown(walk, member)
    back = _back(walk, member, name, None)
    yield Event(f"the session of `{name}` expires", (RemoveMember(walk.id_of(name)),))
    yield back


def _back(walk: Walk, member: Member, name: str, library: str | None) -> Event:
    possible = walk.evidence.libraries[member.member_id]
    own = next(iter(possible)) if len(possible) == 1 else None
    regex = _given(member.subscription_regex, library or own)
    joins = AddMembers(
        client_id=member.client_id,
        rack=member.rack or None,
        instance_id=member.instance_id,
        topics=member.subscription or (),
        library=library or own,
        pattern=Pattern(regex, "re2") if regex else None,
        protocol=member.member_protocol if walk.group.type == "consumer" else None,
    )
    said = f" as a {library} client" if library else ""
    return Event(f"`{name}` rejoins{said}", (joins,), back=name, library=library)


def _given(regex: str | None, library: str | None) -> str | None:
    """The pattern that an application gives a library, which may write it another way."""
    match = WRITTEN_PATTERN.fullmatch(regex or "")
    return match["go"] or match["rd"] if match and library is not None else regex


def _check_library(group: Group, library: str) -> None:
    """Refuse a library that does not know the group's strategy."""
    speakers: Sequence[str] = SPEAKERS.get(group.assignor or "", (library,))
    if group.type == "classic" and library not in speakers:
        raise UsageError(
            f"{library} clients have no `{group.assignor}`, so they cannot join `{group.group}`",
            hint=f"libraries that do: {', '.join(speakers)}",
        )
