"""Whose code decides a classic group's next rebalance: the client library of its leader.

No answer of a broker names the leader or its library. The assignment of now was written by the
leader of now, which shows its library, and so do members when they join; `__consumer_offsets`
names the leader. Where the leader leaves, the first of the others in the coordinator's order
follows it. What is left are the libraries that the next leader may use.

Source: ClassicGroup.remove and .add (who leads); `libraries` (what shows).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kgroups.assignors.other_clients.variants import RACK_BALANCING
from kgroups.core.planning.leaders.authors import could_have_assigned
from kgroups.core.planning.leaders.libraries import (
    FORGET_THEY_LEAD,
    FRESH,
    LIBRARIES,
    SPEAKERS,
    Trace,
    form_of,
    is_foreign,
    is_older,
    libraries_of,
    named_by_client_id,
    traces_of,
    writers_of,
)
from kgroups.core.snapshot import Group, Member


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of members besides what they show: in a deploy, from the step before.

    Args:
        libraries: member id to client library.
        leaders: ids of the members that may lead now, with what their library can be; None: it is
            told from the bytes.
        balances_racks: whether franz-go applications say `BalanceRacks`; None: that is not known.
    """

    libraries: Mapping[str, str] = field(default_factory=dict)
    leaders: Mapping[str, frozenset[str]] | None = None
    balances_racks: bool | None = None


NOTHING_KNOWN: Final = Known()
LOGGED: Final = "`__consumer_offsets` names the leader"


@dataclass(frozen=True, slots=True)
class LeaderGuess:
    """Who may lead a group.

    Args:
        libraries: what the leader can be, the likeliest first; never empty.
        said: whether the user named it.
        reason: why, half a sentence for a note.
        older: those of them that may be of a time before the strategy got its present form.
        leaders: members that may lead, with what their library can be; empty if one that joins may.
        foreign: whether one of them shows that its class of this name is no library's own.
    """

    libraries: tuple[str, ...]
    said: bool
    reason: str
    older: frozenset[str] = frozenset()
    leaders: Mapping[str, frozenset[str]] = field(default_factory=dict)
    foreign: bool = False

    @property
    def likeliest(self) -> str:
        """The library whose rules a plan follows."""
        return self.libraries[0]


def infer_leader(
    group: Group,
    said: str | None = None,
    *,
    gone: Collection[str] = (),
    newcomers: Sequence[str | None] = (),
    strategy: str | None = None,
    known: Known = NOTHING_KNOWN,
) -> LeaderGuess:
    """The libraries that a classic group's leader may use at the next rebalance.

    Args:
        group: with the members' subscriptions.
        said: what the user says it is; None: infer.
        gone: ids of members that leave before.
        newcomers: libraries of those that join, None where not said; one of them leads only if
            nobody else is left.
        strategy: by which the next rebalance is decided; None: the group's own.
        known: what is known of the members.
    """
    members = group.members or ()
    staying = [member for member in members if member.member_id not in gone]
    protocol = strategy or group.assignor
    if said is not None:
        leading = [member for member in staying if member.member_id == group.leader] or staying
        old = any(is_older(member, said, protocol) for member in leading)
        return LeaderGuess((said,), True, "as given", frozenset({said} if old else ()))
    if not staying and newcomers:
        return _of_newcomers(newcomers, protocol)
    if not staying:
        first = SPEAKERS.get(protocol or "", LIBRARIES)[0]
        return LeaderGuess((first,), False, "no member is left to lead the group")
    leaders = _next_leaders(group, staying, known)
    able = SPEAKERS.get(protocol or "", LIBRARIES)
    possible = {name for _, found in leaders for name in found if name in able}
    if not possible:
        told = f"no client of the group has `{protocol}`; Java's is shown"
        return LeaderGuess(("java",), False, told)
    votes: Counter[str] = Counter(name for _, found in leaders for name in found)
    votes.update(hint for m in staying if (hint := named_by_client_id(m)) in possible)
    ranked = sorted(possible, key=lambda name: (-votes[name], LIBRARIES.index(name)))
    older = frozenset(
        library
        for member, found in leaders
        for library in found
        if is_older(member, library, protocol)
    )
    ids = {member.member_id: found for member, found in leaders}
    # What members show is of the strategy that the group has now.
    foreign = protocol == group.assignor and any(
        member.member_id not in known.libraries and is_foreign(member, protocol)
        for member, _ in leaders
    )
    return LeaderGuess(tuple(ranked), False, _reason(group), older, ids, foreign)


def _next_leaders(
    group: Group, staying: Sequence[Member], known: Known
) -> list[tuple[Member, frozenset[str]]]:
    """Members that may lead next, each with what its library can be then; never none."""
    members = group.members or ()
    ids = {member.member_id for member in staying}
    if known.leaders is not None:
        by_id = {member.member_id: member for member in members}
        present: Iterable[tuple[Member, frozenset[str]]] = [
            (by_id[name], libraries) for name, libraries in known.leaders.items() if name in by_id
        ]
    else:
        present = _present_leaders(group, members, _writers(group), known)
    found: dict[str, tuple[Member, frozenset[str]]] = {}
    for member, libraries in present:
        if member.member_id in ids:
            leads, can_be = member, libraries
        else:
            leads = staying[0]
            can_be = possible_libraries(leads, group.assignor, known)
        _, before = found.get(leads.member_id, (leads, frozenset[str]()))
        found[leads.member_id] = (leads, before | can_be)
    return list(found.values())


def _present_leaders(
    group: Group, members: Sequence[Member], writers: frozenset[Trace], known: Known
) -> Iterable[tuple[Member, frozenset[str]]]:
    """Members that may have written the assignment of now, with what their library then is."""
    named = [member for member in members if member.member_id == group.leader] or list(members)
    fitting = [
        (member, found)
        for member in named
        if writers
        and member.member_id not in known.libraries
        and (found := _as_leader(group, member, writers))
    ]
    authors = _authors(group, frozenset[str]().union(*(found for _, found in fitting)))
    if authors:
        fitting = [
            (member, found if may_have_come_back(group, member) else found & authors)
            for member, found in fitting
            if may_have_come_back(group, member) or found & authors
        ]
    if fitting:
        return [(member, _led_as(group, member, found)) for member, found in fitting]
    # Nothing shows who wrote the assignment, or it is of a library that is not known.
    return [(member, possible_libraries(member, group.assignor, known)) for member in named]


def _as_leader(group: Group, member: Member, writers: frozenset[Trace]) -> frozenset[str]:
    """What a member's library is if it leads; none if it cannot be the leader."""
    traces = traces_of(member, group.assignor)
    if not may_have_come_back(group, member):
        traces &= writers
    return frozenset(trace.library for trace in traces)


def _led_as(group: Group, member: Member, libraries: frozenset[str]) -> frozenset[str]:
    """Those of the libraries that can have assigned every round that the member has led."""
    for led in group.led if member.member_id == group.leader else ():
        then = next(each for each in led.members or () if each.member_id == member.member_id)
        shown = frozenset(t.library for t in traces_of(then, led.assignor) & _writers(led))
        libraries = _authors(led, libraries & shown or libraries) or libraries
    return libraries


def may_have_come_back(group: Group, member: Member) -> bool:
    """Whether a member may lead without having assigned anything.

    A static member comes back without a rebalance, with another id, maybe of another library. One
    that says a generation, or what it had, has joined before the assignment of now as it is.
    """
    if member.instance_id is None or (group.led and member.member_id == group.leader):
        return False
    dated = member.generation is not None and member.generation >= 0
    return not dated and form_of(member.user_data) in FRESH


def _authors(group: Group, libraries: frozenset[str]) -> frozenset[str]:
    """Those of the libraries whose code gives the assignment; a single one needs no look."""
    if len(libraries) < 2:
        return libraries
    return frozenset(library for library in libraries if could_have_assigned(group, library))


def leader_matters(group: Group, *, grows: bool = False) -> bool:
    """Whether it makes a difference which member leads: their libraries may differ.

    The assignment may tell more of its writer than members that follow it show. And a static
    member of franz-go that comes back does more where it leads, and each may balance racks or not;
    one of a library that forgets that it leads does not notice topics that grow.

    Args:
        grows: whether the changes create topics or let them grow.
    """
    members = group.members or ()
    possible = {possible_libraries(member, group.assignor) for member in members}
    static = any(member.instance_id is not None for member in members)
    racked = group.assignor in RACK_BALANCING and any(member.rack for member in members)
    if len(possible) > 1 or ((static or racked) and any("franz-go" in each for each in possible)):
        return True
    back = [member for member in members if may_have_come_back(group, member)]
    forgets = any(FORGET_THEY_LEAD & possible_libraries(one, group.assignor) for one in back)
    if grows and forgets:
        return True
    if back:
        return any(len(libraries) > 1 for libraries in possible)
    written = frozenset(trace.library for trace in _writers(group))
    if any(member.instance_id is None for member in members):
        written = _authors(group, written)
    return bool(written) and any(libraries - written for libraries in possible)


def _writers(group: Group) -> frozenset[Trace]:
    """What writes assignments such as the group's."""
    shown = [m for m in group.members or () if m.assignment_version is not None]
    each = [writers_of(member, group.assignor) for member in shown]
    return frozenset.intersection(*each) if each else frozenset()


def possible_libraries(
    member: Member, strategy: str | None, known: Known = NOTHING_KNOWN
) -> frozenset[str]:
    """What a member's library can be; every one that knows the strategy if nothing tells."""
    named = known.libraries.get(member.member_id)
    if named is not None:
        return frozenset({named})
    return libraries_of(member, strategy) or frozenset(SPEAKERS.get(strategy or "", LIBRARIES))


def _of_newcomers(newcomers: Sequence[str | None], protocol: str | None) -> LeaderGuess:
    """Everybody who was there leaves, or nobody was: one of the newcomers leads."""
    known = SPEAKERS.get(protocol or "", ("java",))
    named = {library for library in newcomers if library is not None}
    libraries = named if None not in newcomers else {*named, *known}
    ranked = sorted(libraries, key=LIBRARIES.index)
    return LeaderGuess(tuple(ranked), False, "one of the new members leads")


def _reason(group: Group) -> str:
    members = group.members or ()
    versions = sorted({str(m.subscription_version) for m in members if m.subscription_version})
    if not any(member.subscription_version is not None for member in members):
        return "the members do not show their client library"
    told = f"subscription version {'/'.join(versions) or '0'}, its bytes and client ids"
    if any(member.assignment_version is not None for member in members):
        told += ", and the bytes of the assignment"
    return f"{LOGGED}; {told}" if group.leader else told
