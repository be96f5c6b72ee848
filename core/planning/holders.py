"""Who holds what before and after a plan, where one thing may have several holders. Pure."""

import base64
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple, cast

from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.apply import meant_in, next_roster
from kgroups.core.planning.changes.kinds import AddMembers, Change, Deploy
from kgroups.core.planning.plan import EMPTY_NOTE
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.snapshot import ClusterSnapshot, Group

DRAWS: Final = 16
"""How often ids of new members are drawn, as they decide ties."""

Thing = tuple[Any, ...]
"""A topic and a partition, or the parts of a task."""
Holders = Mapping[Thing, Set[str]]
Kind = Literal["kept", "moved", "started", "ended"]
Assign = Callable[[Mapping[str, Seat], random.Random], Iterable[tuple[Thing, str]]]
"""From members by their ids, drawn ones too, to things and who is given each; draws other ids."""


class HoldersPlan(NamedTuple):
    """The partitions, or tasks, that the members of a group will hold.

    Args:
        before, after: member ids by thing; new members have ids that say so.
        confidence: `exact`; `ids`: other ids of new members would give them other things; `likely`:
            something is assumed, which a note names.
        notes: what is to be known of it, one sentence each.
    """

    group: str
    member_count: int
    before: Holders
    after: Holders
    confidence: Literal["exact", "ids", "likely"]
    notes: Sequence[str] = ()

    def moves(self) -> Iterator[tuple[Thing, str | None, str | None, Kind]]:
        """Each thing with who has it and who will, a row for each holder."""
        for thing in {**self.before, **self.after}:
            old, new = self.before.get(thing, set()), self.after.get(thing, set())
            gone, come = sorted(old - new), sorted(new - old)
            yield from ((thing, name, name, "kept") for name in sorted(old & new))
            yield from ((thing, a, b, "moved") for a, b in zip(gone, come, strict=False))
            yield from ((thing, name, None, "ended") for name in gone[len(come) :])
            yield from ((thing, None, name, "started") for name in come[len(gone) :])


def changed_roster(
    snapshot: ClusterSnapshot,
    group: Group,
    changes: Sequence[Change | Deploy],
    kinds: tuple[type, ...],
    refused: UsageError,
) -> Roster:
    """Who is in the group after the changes; members join as those of KIP-848 groups do.

    Args:
        kinds: of changes that such groups can have; their members have no patterns or instance ids.
        refused: is raised of others.
    Raises:
        UsageError: a change that cannot be made.
        NotFoundError: a member, host or topic that is not there.
    """
    like = replace(group, type="consumer", protocol_type=None)
    meant = meant_in(like, changes)
    for change in meant:
        named = isinstance(change, AddMembers) and (change.pattern or change.instance_id)
        if not isinstance(change, kinds) or named:
            raise refused
    return next_roster(snapshot, like, cast("list[Change]", meant), may_match=False)


def plan_of(roster: Roster, before: Iterable[tuple[Thing, str]], assign: Assign) -> HoldersPlan:
    """The plan of these members; ids are drawn again, to see whether others give the same."""
    plans: list[Holders] = []
    for draw in map(random.Random, range(DRAWS)):
        seats = {s.member.member_id if s.id_known else drawn_id(draw): s for s in roster.seats}
        given = assign(seats, draw)
        plans.append(_holders((thing, seats[name].member.member_id) for thing, name in given))
    certain = all(plan == plans[0] for plan in plans)
    return HoldersPlan(
        roster.group.group,
        len(roster.seats),
        _holders(before),
        plans[0],
        "likely" if roster.guesses else "exact" if certain else "ids",
        (*roster.notes, *roster.guesses, *([] if roster.seats else [EMPTY_NOTE])),
    )


def _holders(pairs: Iterable[tuple[Thing, str]]) -> Holders:
    holders: dict[Thing, set[str]] = {}
    for thing, name in pairs:
        holders.setdefault(thing, set()).add(name)
    return holders


def drawn_id(draw: random.Random) -> str:
    """An id as coordinators, topics and clients' processes have them."""
    return base64.urlsafe_b64encode(draw.randbytes(16)).decode().rstrip("=")
