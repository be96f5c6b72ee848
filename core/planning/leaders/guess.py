"""Whose code decides a classic group's next rebalance: the client library of its leader.

Where the leader of now leaves, the first of the others in the coordinator's order follows it. What
is left are the libraries that the next leader may use.

Source: ClassicGroup.remove and .add (who leads); `evidence` (what tells).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kgroups.assignors.other_clients.variants import RACK_BALANCING
from kgroups.core.planning.leaders.evidence import Evidence, Libraries, authors_of
from kgroups.core.planning.leaders.libraries import (
    FORGET_THEY_LEAD,
    LIBRARIES,
    SPEAKERS,
    is_foreign,
    is_older,
    named_by_client_id,
)
from kgroups.core.snapshot import Group, Member

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
    older: Libraries = frozenset()
    leaders: Mapping[str, Libraries] = field(default_factory=dict)
    foreign: bool = False

    @property
    def likeliest(self) -> str:
        """The library whose rules a plan follows."""
        return self.libraries[0]


def infer_leader(
    evidence: Evidence,
    said: str | None = None,
    *,
    gone: Collection[str] = (),
    newcomers: Sequence[str | None] = (),
    strategy: str | None = None,
) -> LeaderGuess:
    """The libraries that a classic group's leader may use at the next rebalance.

    Args:
        evidence: of the group as it is.
        said: what the user says it is; None: infer.
        gone: ids of members that leave before.
        newcomers: libraries of those that join, None where not said; one of them leads only if
            nobody else is left.
        strategy: by which the next rebalance is decided; None: the group's own.
    """
    group = evidence.group
    staying = [member for member in group.members or () if member.member_id not in gone]
    protocol = strategy or group.assignor
    if said is not None:
        leading = [member for member in staying if member.member_id == group.leader] or staying
        release = evidence.known.release
        old = release is None and any(is_older(member, said, protocol) for member in leading)
        reason = f"{release}, as given" if release else "as given"
        return LeaderGuess((said,), True, reason, frozenset({said} if old else ()))
    if not staying and newcomers:
        return _of_newcomers(newcomers, protocol)
    able = SPEAKERS.get(protocol or "", LIBRARIES)
    if not staying:
        return LeaderGuess((able[0],), False, "no member is left to lead the group")
    leaders = _next_leaders(evidence, staying)
    possible = {name for libraries in leaders.values() for name in libraries if name in able}
    if not possible:
        reason = f"no client of the group has `{protocol}`; Java's is shown"
        return LeaderGuess(("java",), False, reason)
    votes: Counter[str] = Counter(name for libraries in leaders.values() for name in libraries)
    votes.update(hint for m in staying if (hint := named_by_client_id(m)) in possible)
    ranked = sorted(possible, key=lambda name: (-votes[name], LIBRARIES.index(name)))
    older = frozenset(
        library
        for member in staying
        for library in leaders.get(member.member_id, ())
        if is_older(member, library, protocol)
    )
    # What members show is of the strategy that the group has now.
    foreign = protocol == group.assignor and any(
        member.member_id not in evidence.known.libraries and is_foreign(member, protocol)
        for member in staying
        if member.member_id in leaders
    )
    return LeaderGuess(tuple(ranked), False, _reason(group), older, leaders, foreign)


def _next_leaders(evidence: Evidence, staying: Sequence[Member]) -> dict[str, Libraries]:
    """Members that may lead next, each with what its library can be then; never none."""
    ids = {member.member_id for member in staying}
    successor = staying[0].member_id
    leaders: dict[str, Libraries] = {}
    for name, libraries in evidence.leaders.items():
        leads = name if name in ids else successor
        can_be = libraries if name in ids else evidence.libraries[successor]
        leaders[leads] = leaders.get(leads, frozenset()) | can_be
    return leaders


def leader_matters(evidence: Evidence, *, grows: bool = False) -> bool:
    """Whether it makes a difference which member leads: their libraries may differ.

    The assignment may tell more of its writer than members that follow it show. And a static
    member of franz-go that comes back does more where it leads, and each may balance racks or not;
    one of a library that forgets that it leads does not notice topics that grow.

    Args:
        grows: whether the changes create topics or let them grow.
    """
    group = evidence.group
    members = group.members or ()
    possible = set(evidence.libraries.values())
    static = any(member.instance_id is not None for member in members)
    racked = group.assignor in RACK_BALANCING and any(member.rack for member in members)
    if len(possible) > 1 or ((static or racked) and any("franz-go" in libs for libs in possible)):
        return True
    back = [member for member in members if evidence.may_have_come_back(member)]
    if grows and any(FORGET_THEY_LEAD & evidence.libraries[member.member_id] for member in back):
        return True
    if back:
        return any(len(libraries) > 1 for libraries in possible)
    written = frozenset(trace.library for trace in evidence.writers)
    if any(member.instance_id is None for member in members):
        written = authors_of(group, written)
    return bool(written) and any(libraries - written for libraries in possible)


def _of_newcomers(newcomers: Sequence[str | None], protocol: str | None) -> LeaderGuess:
    """Everybody who was there leaves, or nobody was: one of the newcomers leads."""
    speakers = SPEAKERS.get(protocol or "", ("java",))
    named = {library for library in newcomers if library is not None}
    libraries = named if None not in newcomers else {*named, *speakers}
    ranked = sorted(libraries, key=LIBRARIES.index)
    return LeaderGuess(tuple(ranked), False, "one of the new members leads")


def _reason(group: Group) -> str:
    members = group.members or ()
    versions = sorted({str(m.subscription_version) for m in members if m.subscription_version})
    if not any(member.subscription_version is not None for member in members):
        return "the members do not show their client library"
    reason = f"subscription version {'/'.join(versions) or '0'}, its bytes and client ids"
    if any(member.assignment_version is not None for member in members):
        reason += ", and the bytes of the assignment"
    return f"{LOGGED}; {reason}" if group.leader else reason
