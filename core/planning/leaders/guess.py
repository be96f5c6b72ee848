"""Whose code decides a classic group's assignment: the client library of its leader.

No answer of a broker names the leader or its library. Each member shows a set of libraries that
it can be; the leader is one of the members, so what all of them can be is what the leader can be.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kgroups.core.planning.leaders.libraries import (
    EAGER,
    LIBRARIES,
    NO_GENERATION,
    libraries_of,
    named_by_client_id,
)
from kgroups.core.snapshot import Group, Member


@dataclass(frozen=True, slots=True)
class LeaderGuess:
    """Who may lead a group.

    Args:
        libraries: what the leader can be, the likeliest first; never empty.
        said: whether the user named it.
        reason: why, half a sentence for a note.
    """

    libraries: tuple[str, ...]
    said: bool
    reason: str

    @property
    def likeliest(self) -> str:
        """The library whose rules a plan follows."""
        return self.libraries[0]


def infer_leader(group: Group, said: str | None = None) -> LeaderGuess:
    """The libraries that a classic group's leader may use.

    Args:
        group: with the members' subscriptions.
        said: what the user says it is; None: infer.
    """
    if said is not None:
        return LeaderGuess((said,), True, "as you say")
    members = group.members or ()
    if not members or all(member.subscription_version is None for member in members):
        return LeaderGuess(("java",), False, "nothing of the members shows their client library")
    possible = [libraries_of(member, group.assignor) for member in members]
    hints = [named_by_client_id(member) for member in members]
    votes: Counter[str] = Counter(library for each in possible for library in each)
    votes.update(hint for hint, each in zip(hints, possible, strict=True) if hint in each)
    if group.assignor in EAGER and len(members) > 1 and _without_generation(members):
        # Members of the others that were there before the last one joined would send theirs.
        votes.update("librdkafka" for each in possible if "librdkafka" in each)
    ranked = sorted(votes, key=lambda library: (-votes[library], LIBRARIES.index(library)))
    versions = sorted({str(m.subscription_version) for m in members if m.subscription_version})
    reason = f"subscription version {'/'.join(versions) or '0'}, its bytes and client ids"
    return LeaderGuess(tuple(ranked), False, reason)


def _without_generation(members: Sequence[Member]) -> bool:
    return all(member.generation == NO_GENERATION for member in members)
