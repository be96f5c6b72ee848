"""Evidence of the client libraries of a classic group's members, worked out once for a group.

No answer of a broker names the leader or its library. The assignment of now was written by the
leader of now, which shows its library, and so do members when they join; `__consumer_offsets`
names the leader. What the user says, or the step before of a deploy, comes first.

Source: `libraries` (what shows); `authors` (who can have computed an assignment).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from kgroups.core.planning.leaders.authors import could_have_assigned
from kgroups.core.planning.leaders.libraries import (
    FRESH,
    LIBRARIES,
    SPEAKERS,
    Trace,
    form_of,
    traces_of,
    writers_of,
)
from kgroups.core.snapshot import Group, Member

Libraries = frozenset[str]


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about members that they do not show: said by the user, or from the step before.

    Args:
        libraries: member id to client library.
        leaders: ids of the members that may lead now, with what their library can be; None: it is
            told from the bytes.
        balances_racks: whether franz-go applications say `BalanceRacks`; None: that is not known.
        release: of a Java leader; None: today's.
    """

    libraries: Mapping[str, str] = field(default_factory=dict)
    leaders: Mapping[str, Libraries] | None = None
    balances_racks: bool | None = None
    release: str | None = None


NOTHING_KNOWN: Final = Known()


@dataclass(frozen=True)
class Evidence:
    """Evidence of a group's client libraries: its members' bytes, and what is known besides.

    Each answer is computed when it is first asked for, and kept.
    """

    group: Group
    known: Known = NOTHING_KNOWN

    @cached_property
    def traces(self) -> Mapping[str, frozenset[Trace]]:
        """Member id to the rows that its subscription fits; none if its library does not show."""
        assignor = self.group.assignor
        return {m.member_id: traces_of(m, assignor) for m in self.group.members or ()}

    @cached_property
    def libraries(self) -> Mapping[str, Libraries]:
        """Member id to what its library can be; every one with the assignor if nothing tells."""
        speakers = frozenset(SPEAKERS.get(self.group.assignor or "", LIBRARIES))
        named = self.known.libraries
        return {
            name: frozenset({named[name]}) if name in named else _libraries(traces) or speakers
            for name, traces in self.traces.items()
        }

    @cached_property
    def writers(self) -> frozenset[Trace]:
        """The rows whose leader writes assignments such as the group's."""
        return _writers(self.group)

    @cached_property
    def leaders(self) -> Mapping[str, Libraries]:
        """Members that may lead now, with what their library then is; empty without members."""
        members = self.group.members or ()
        if self.known.leaders is not None:
            present = {member.member_id for member in members}
            return {name: libs for name, libs in self.known.leaders.items() if name in present}
        named = [member for member in members if member.member_id == self.group.leader] or members
        fitting = self._authors(
            {
                member.member_id: (member, libraries)
                for member in named
                if member.member_id not in self.known.libraries
                and (libraries := self._as_leader(member))
            }
        )
        if fitting:
            return {name: self._led_as(member, libs) for name, (member, libs) in fitting.items()}
        # Nothing shows who wrote the assignment, or it is of a library that is not known.
        return {member.member_id: self.libraries[member.member_id] for member in named}

    def may_have_come_back(self, member: Member) -> bool:
        """Whether a member may lead without having assigned anything.

        A static member comes back without a rebalance, with another id, maybe of another library.
        One that says a generation, or what it had, has joined before the assignment of now as it
        is.
        """
        leads = bool(self.group.led) and member.member_id == self.group.leader
        if member.instance_id is None or leads:
            return False
        dated = member.generation is not None and member.generation >= 0
        return not dated and form_of(member.user_data) in FRESH

    @cached_property
    def someone_may_have_come_back(self) -> bool:
        """Whether any member `may_have_come_back`."""
        return any(map(self.may_have_come_back, self.group.members or ()))

    def _as_leader(self, member: Member) -> Libraries:
        """The library of a member if it leads; none if it cannot be the leader."""
        traces = self.traces[member.member_id] if self.writers else frozenset[Trace]()
        return _libraries(traces if self.may_have_come_back(member) else traces & self.writers)

    def _authors(
        self, fitting: Mapping[str, tuple[Member, Libraries]]
    ) -> Mapping[str, tuple[Member, Libraries]]:
        """Of members that may lead those whose library can have computed the assignment."""
        authors = authors_of(
            self.group, frozenset[str]().union(*(libraries for _, libraries in fitting.values()))
        )
        if not authors:
            return fitting
        return {
            name: (member, left)
            for name, (member, libraries) in fitting.items()
            if (left := libraries if self.may_have_come_back(member) else libraries & authors)
        }

    def _led_as(self, member: Member, libraries: Libraries) -> Libraries:
        """Those of the libraries that can have assigned every round that the member has led."""
        for led in self.group.led if member.member_id == self.group.leader else ():
            then = next(m for m in led.members or () if m.member_id == member.member_id)
            shown = _libraries(traces_of(then, led.assignor) & _writers(led))
            libraries = authors_of(led, libraries & shown or libraries) or libraries
        return libraries


def authors_of(group: Group, libraries: Libraries) -> Libraries:
    """Those of the libraries whose code gives the assignment; a single one needs no look."""
    if len(libraries) < 2:
        return libraries
    return frozenset(library for library in libraries if could_have_assigned(group, library))


def _libraries(traces: frozenset[Trace]) -> Libraries:
    return frozenset(trace.library for trace in traces)


def _writers(group: Group) -> frozenset[Trace]:
    shown = [m for m in group.members or () if m.assignment_version is not None]
    written = [writers_of(member, group.assignor) for member in shown]
    return frozenset.intersection(*written) if written else frozenset()
