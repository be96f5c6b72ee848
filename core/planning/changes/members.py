"""Members that join and members that leave."""

import re
from dataclasses import replace

from kgroups.assignors.order.java_order import java_sorted
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.draft import Draft, most_common, unknown_host
from kgroups.core.planning.changes.kinds import AddMembers, DropHost, RemoveMember, RemoveMembers
from kgroups.core.planning.leaders.libraries import shows_rack
from kgroups.core.planning.roster import Seat
from kgroups.core.planning.topic_patterns import topic_matcher
from kgroups.core.snapshot import Member, MemberProtocol

UNKNOWN_HOST = ""
NUMBERED = re.compile(r"(?P<name>.*\D)(?P<number>0|[1-9][0-9]{0,8})", re.ASCII | re.DOTALL)


def add_members(draft: Draft, change: AddMembers) -> None:
    """Members join; they read what they are said to read, or later what the others read.

    Raises:
        UsageError: an instance id is taken, or several are to have one member id.
    """
    if change.count > 1 and change.member_id is not None:
        raise UsageError("only one member can join with a member id")
    if change.pattern is not None:
        topic_matcher(change.pattern.pattern, change.pattern.dialect)
    protocol = change.protocol or _joiner_protocol(draft)
    # Not every library tells a classic leader the rack that its application configures.
    shows = protocol == "consumer" or shows_rack(change.library, draft.group.assignor)
    there = {seat.member.client_id for seat in draft.seats}
    numbered = []
    for number in range(1, change.count + 1):
        client_id = change.client_id or _next_client_id(draft)
        if there and client_id not in there and change.client_id is None:
            numbered.append(f"`{client_id}`")
        instance_id = change.instance_id
        if instance_id is not None and change.count > 1:
            instance_id = f"{instance_id}-{number}"
        prefix = instance_id or client_id
        _check_free(draft, instance_id)
        place = len([seat for seat in draft.seats if seat.joins]) + 1
        name = change.member_id or f"{prefix}-new-{place}"
        facts = Member(
            member_id=name,
            client_id=client_id,
            host=UNKNOWN_HOST,
            instance_id=instance_id,
            member_protocol=protocol,
            assignment={},
            rack=change.rack if shows else None,
        )
        draft.seats.append(
            Seat(
                facts,
                change.topics or (),
                joins=True,
                id_prefix=prefix if protocol == "classic" else None,
                id_known=change.member_id is not None,
                pattern=change.pattern,
                library=change.library,
            )
        )
        if change.topics is None and change.pattern is None:
            draft.followers[name] = set()
    if numbered:
        draft.notes.append(
            f"client ids of new members are assumed: {', '.join(numbered)}; "
            "choose others with `--add-members N:CLIENT-ID`"
        )


def _next_client_id(draft: Draft) -> str:
    """That of most members; where each has a number of its own (`shop-3`), the next one."""
    ids = [seat.member.client_id for seat in draft.seats]
    numbered = [NUMBERED.fullmatch(client_id) for client_id in ids]
    names = {match["name"] for match in numbered if match}
    if len(ids) > 1 and len(set(ids)) == len(ids) and all(numbered) and len(names) == 1:
        return f"{names.pop()}{max(int(match['number']) for match in numbered if match) + 1}"
    return most_common(ids) or "consumer"


def _check_free(draft: Draft, instance_id: str | None) -> None:
    taken = [s for s in draft.seats if instance_id and s.member.instance_id == instance_id]
    if taken:
        raise UsageError(
            f"the instance id `{instance_id}` is taken by `{taken[0].member.member_id}`",
            hint="remove that member first",
        )


def _joiner_protocol(draft: Draft) -> MemberProtocol:
    """That of the members; where both are spoken, which ids new members get is a guess."""
    if draft.group.type != "consumer":
        return "classic"
    spoken = {seat.member.member_protocol for seat in draft.seats}
    if spoken == {"classic"}:
        return "classic"
    if "classic" in spoken:
        draft.guesses.append("members speak both protocols; new ones are assumed to speak KIP-848")
    return "consumer"


def settle_followers(draft: Draft) -> None:
    """Give new members that read what the others read their topics, when all changes are made.

    Raises:
        UsageError: there are no others.
    """
    for place, seat in enumerate(draft.seats):
        besides = draft.followers.get(seat.member.member_id)
        if besides is None:
            continue
        topics, pattern = draft.said_topics or (), draft.said_pattern
        if draft.said_topics is None and pattern is None:
            usual = _usual(draft, seat.member.client_id)
            topics, pattern = usual.topics, usual.pattern
        draft.seats[place] = replace(
            seat, topics=tuple(java_sorted({*topics, *besides})), pattern=pattern
        )


def _usual(draft: Draft, client_id: str) -> Seat:
    """A member that reads what most of this client id read, or else most of the group."""
    others = [seat for seat in draft.seats if not seat.joins]
    others = others or [s for s in draft.seats if s.member.member_id not in draft.followers]
    alike = [seat for seat in others if seat.member.client_id == client_id]
    whose, alike = (client_id, alike) if alike else (draft.group.group, others)
    common = most_common((seat.topics, seat.pattern) for seat in alike)
    if common is None:
        raise UsageError(
            f"`{draft.group.group}` has no members, so the subscription of a new one is not known",
            hint="use `--subscribe TOPIC[,TOPIC...]`, or `topics=` in `--add-members`",
        )
    topics, _ = common
    if len({(tuple(sorted(set(seat.topics))), seat.pattern) for seat in alike}) > 1:
        draft.guesses.append(
            f"members of `{whose}` subscribe to different topics; new ones are assumed to "
            f"subscribe to {', '.join(topics) or 'nothing'}, as most do"
        )
    return next(seat for seat in alike if (seat.topics, seat.pattern) == common)


def remove_member(draft: Draft, change: RemoveMember) -> None:
    """One member leaves."""
    leave(draft, {draft.named(change.member).member.member_id})


def remove_members(draft: Draft, change: RemoveMembers) -> None:
    """So many members leave: the last ones by member id, which is a guess."""
    count = change.count
    ids = java_sorted(seat.member.member_id for seat in draft.seats)
    if count > len(ids):
        raise UsageError(
            f"{count} members cannot leave: `{draft.group.group}` has {len(ids)}",
        )
    gone = ids[-count:]
    if count < len(ids):
        draft.guesses.append(
            f"assumed: the {count} of {len(ids)} members that leave are the last by member id"
        )
    leave(draft, set(gone))


def drop_host(draft: Draft, change: DropHost) -> None:
    """Every member on a host leaves."""
    host = change.host
    wanted = host.removeprefix("/")
    gone = {s.member.member_id for s in draft.seats if s.member.host.removeprefix("/") == wanted}
    if not gone:
        raise unknown_host(host, draft.group.group, [seat.member for seat in draft.seats])
    leave(draft, gone)


def leave(draft: Draft, gone: set[str]) -> None:
    """The members with these ids leave."""
    for seat in draft.seats:
        if seat.member.member_id in gone and not seat.joins:
            draft.left.append(seat)
    draft.seats = [seat for seat in draft.seats if seat.member.member_id not in gone]
