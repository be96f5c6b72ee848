"""Members that leave."""

from kgroups.assignors.order.java_order import java_sorted
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.changes.draft import Draft
from kgroups.core.planning.changes.kinds import DropHost, RemoveMember, RemoveMembers


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
        hosts = sorted({seat.member.host for seat in draft.seats})
        raise NotFoundError(
            f"no member of `{draft.group.group}` is on host `{host}`",
            hint="hosts: " + ", ".join(hosts[:5]) if hosts else None,
            code="UNKNOWN_HOST",
        )
    leave(draft, gone)


def leave(draft: Draft, gone: set[str]) -> None:
    """The members with these ids leave."""
    for seat in draft.seats:
        if seat.member.member_id in gone and not seat.joins:
            draft.left.append(seat)
    draft.seats = [seat for seat in draft.seats if seat.member.member_id not in gone]
