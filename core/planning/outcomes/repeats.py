"""Cases that repeat what was played: the same comes of them, so they are not played again.

Strategies may look at the order of members in hash tables, so that ids fall into very many classes
(`draws`). As a rule that order decides nothing, or only between a few members, and an answer may
say so (`CompactAssignment.by_hash`). Ids that stand in the same order as texts, and of which those
members follow each other alike wherever that has decided something, come to the same.

So do libraries that members may have, in whose words they would have said the same to the leader.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.sticky_constrained import hash_ordered
from kgroups.assignors.other_clients.choices import PossibleAnswers
from kgroups.core.planning.assignor_request import listed_members
from kgroups.core.planning.roster import Roster

Result = TypeVar("Result")
Ids = Mapping[str, str]
Libraries = Mapping[str, str]


@dataclass(slots=True)
class Sightings:
    """Members and words that have decided the rounds of one run.

    Args:
        ids: with which it is played: name in the roster to id.
        told: whether every answer told it.
        libraries: of members that do not show theirs: the one that is assumed.
        alike: those of which the same comes, the one that is assumed among them.
        rounds: by what there was to be seen: the group, and the members of which the order in hash
            tables has decided something.
    """

    ids: Ids
    libraries: Libraries = field(default_factory=dict)
    alike: dict[str, frozenset[str]] = field(default_factory=dict)
    told: bool = True
    rounds: dict[object, tuple[Roster, frozenset[str]]] = field(default_factory=dict)

    def add(self, roster: Roster, given: PossibleAnswers) -> None:
        """One more round, of which this came."""
        answer = given.each[0] if given.certain and given.each else None
        by_hash = answer.by_hash if isinstance(answer, CompactAssignment) else None
        if by_hash is None:
            self.told = False
        elif by_hash:
            who = tuple((seat.member.member_id, seat.joins) for seat in roster.seats)
            self.rounds[who, by_hash] = (roster, by_hash)

    def hear(self, read: Callable[[str, str], Hashable]) -> None:
        """Take in what members said in that round.

        Args:
            read: what the leader makes of a member's words, by the member and its library.
        """
        for member, alike in self.alike.items():
            own = self.libraries[member]
            if len(alike) > 1:
                answer = read(member, own)
                self.alike[member] = frozenset(
                    other for other in alike if other == own or read(member, other) == answer
                )


@dataclass(slots=True)
class _Known(Generic[Result]):
    """The result of some ids.

    Args:
        orders: of each round that was decided so: the group, the members, by name, that were
            compared, and the order in which they were met.
        alike: libraries of which the same comes, by member.
    """

    orders: list[tuple[Roster, frozenset[str], tuple[str, ...]]]
    alike: Mapping[str, frozenset[str]]
    result: Result


@dataclass(slots=True)
class Remembered(Generic[Result]):
    """Results of the assumptions that were played, for others of which the same comes."""

    roster: Roster
    _found: dict[Hashable, list[_Known[Result]]] = field(default_factory=dict)

    def of(self, ids: Ids, libraries: Libraries, besides: Hashable) -> Result | None:
        """The result of these ids and libraries; None if that is not known yet.

        Args:
            besides: what else is assumed.
        """
        for entry in self._found.get((self._in_text(ids), besides), ()):
            if any(libraries[member] not in alike for member, alike in entry.alike.items()):
                continue
            if all(_met(roster, ids, who) == order for roster, who, order in entry.orders):
                return entry.result
        return None

    def add(self, seen: Sightings, besides: Hashable, result: Result) -> None:
        """Keep what came of a run, if it may come of others."""
        if not seen.told:
            return
        names = {drawn: name for name, drawn in seen.ids.items()}
        orders = []
        for roster, by_hash in seen.rounds.values():
            who = frozenset(names.get(member, member) for member in by_hash)
            orders.append((roster, who, _met(roster, seen.ids, who)))
        key = (self._in_text(seen.ids), besides)
        self._found.setdefault(key, []).append(_Known(orders, seen.alike, result))

    def _in_text(self, ids: Ids) -> tuple[str, ...]:
        """Members that are there, and those to come by name, in the order of their ids."""
        names = {member.member_id for member in self.roster.group.members or ()}
        names |= {seat.member.member_id for seat in self.roster.seats}
        return tuple(sorted(names, key=lambda name: ids.get(name, name)))


def _met(roster: Roster, ids: Ids, who: frozenset[str]) -> tuple[str, ...]:
    """In which order a leader meets these members, by name."""
    names = {drawn: name for name, drawn in ids.items()}
    met = (names.get(member, member) for member in hash_ordered(listed_members(roster, ids)))
    return tuple(name for name in met if name in who)
