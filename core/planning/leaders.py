"""Whose code decides a classic group's assignment: the client library of its leader.

No answer of a broker names the leader or its library. What members send when they join differs by
library, though: the version of the subscription, the shape of the assignor's own bytes, the rack
where none is configured. Each member so has a set of libraries that it can be; the leader is one
of the members, so what all of them can be is what the leader can be.

Source: subscriptions of the libraries' members as a 4.3 broker shows them; KIP-429, KIP-792,
KIP-881 (versions of the subscription).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kgroups.assignors.rejoin import COOPERATIVE, STICKY
from kgroups.assignors.wire import decode_sticky_data
from kgroups.core.snapshot import Group, Member

# In the order in which they are taken where nothing else decides.
LIBRARIES: Final = ("java", "librdkafka", "franz-go", "sarama", "kafka-python", "aiokafka")

# Client ids that libraries use where the application sets none.
DEFAULT_CLIENT_IDS: Final[Mapping[str, re.Pattern[str]]] = {
    "java": re.compile(r"consumer-.+-\d+"),
    "librdkafka": re.compile(r"rdkafka"),
    "franz-go": re.compile(r"kgo"),
    "sarama": re.compile(r"sarama"),
    "kafka-python": re.compile(r"kafka-python-.+"),
    "aiokafka": re.compile(r"aiokafka-.+"),
}

EAGER: Final = frozenset({"range", "roundrobin"})
NO_GENERATION: Final = -1

# Version of the subscription -> libraries that send it; Java sent each of them once.
BY_VERSION: Final[Mapping[int, frozenset[str]]] = {
    0: frozenset({"kafka-python", "aiokafka", "java"}),
    1: frozenset({"sarama", "kafka-python", "java"}),
    2: frozenset({"java"}),
    3: frozenset({"java", "librdkafka", "franz-go"}),
}


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
    hints = [_named_by_client_id(member) for member in members]
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


def libraries_of(member: Member, protocol: str | None) -> frozenset[str]:
    """What client libraries send such a subscription; never empty.

    Args:
        protocol: the strategy whose subscription it is.
    """
    version = member.subscription_version
    if version is None:
        return frozenset(LIBRARIES)
    found = BY_VERSION[min(version, 3)]
    if version >= 3:
        # librdkafka writes an empty rack where Java and franz-go write none.
        found &= {"librdkafka"} if member.rack == "" else {"java", "franz-go", "librdkafka"}
        if member.rack is None:
            found -= {"librdkafka"}
        if protocol in EAGER and (member.generation or NO_GENERATION) != NO_GENERATION:
            found -= {"librdkafka"}  # it sends none for these
    found &= _by_user_data(member.user_data, protocol)
    return found or BY_VERSION[min(version, 3)]


def _by_user_data(data: bytes | None, protocol: str | None) -> frozenset[str]:
    everybody = frozenset(LIBRARIES)
    if protocol == COOPERATIVE:
        if data is None:
            return everybody - {"java", "franz-go", "librdkafka"}
        if len(data) == 4:  # the generation alone
            return frozenset({"java"})
        return frozenset({"librdkafka", "franz-go"}) if data else frozenset({"kafka-python"})
    if protocol == STICKY:
        if data is None:
            return everybody - {"franz-go"}
        runs, _generation = decode_sticky_data(data)
        return everybody - {"franz-go"} if runs else everybody
    return everybody


def _named_by_client_id(member: Member) -> str | None:
    """The library whose default client id this is, or None."""
    return next(
        (name for name, form in DEFAULT_CLIENT_IDS.items() if form.fullmatch(member.client_id)),
        None,
    )
