"""Subscriptions of members that join again: what they own, in the words of each client library."""

from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from kgroups.assignors.other_clients.rejoins import NO_GENERATION, rejoin_as
from kgroups.assignors.rejoin import COOPERATIVE
from kgroups.assignors.spec import MemberSubscription
from kgroups.core.planning.leaders.libraries import SPEAKERS

JAVA, FRANZ_GO = "java", "franz-go"

# How many partitions it has at most whose words are kept: of large groups few outcomes are tried.
SMALL: Final = 64


class Claim(NamedTuple):
    """A member that joins again: its subscription, and the partitions that it owns.

    Args:
        held: topics with their partitions, in list order.
        given: in which it was given what it has.
        undated: whether its subscription is of a version that has no generation.
    """

    member_id: str
    topics: tuple[str, ...]
    instance_id: str | None
    rack: str | None
    held: tuple[tuple[str, tuple[int, ...]], ...]
    generation: int
    given: int
    undated: bool = False


def said_of(claim: Claim, strategy_name: str, library: str, *, mute: bool) -> MemberSubscription:
    """How a library's member says it.

    Args:
        mute: it was told nothing that it could say.
    """
    small = sum(len(numbers) for _, numbers in claim.held) <= SMALL
    return (_said_once if small else _said)(claim, strategy_name, library, mute)


def _said(claim: Claim, strategy_name: str, library: str, mute: bool) -> MemberSubscription:
    said = _said_whole(claim, strategy_name, library, mute)
    return replace(said, generation=NO_GENERATION) if claim.undated else said


def _said_whole(claim: Claim, strategy_name: str, library: str, mute: bool) -> MemberSubscription:
    held, generation = claim.held, claim.generation
    joins = MemberSubscription(
        claim.member_id, claim.topics, instance_id=claim.instance_id, rack=claim.rack
    )
    if strategy_name not in SPEAKERS:
        return replace(joins, owned=list(held), generation=generation)
    if mute:
        return joins
    pairs = [(topic, number) for topic, numbers in held for number in numbers]
    if library != JAVA:
        said = generation if library == FRANZ_GO else claim.given
        return rejoin_as(library, joins, strategy_name, pairs, said)
    if strategy_name == COOPERATIVE:
        pairs = [(topic, number) for topic, number in pairs if topic in claim.topics]
    said_in_data = rejoin_as(JAVA, joins, strategy_name, pairs, claim.given)
    return replace(said_in_data, generation=generation)


# Where many outcomes are tried, members say the same again and again.
_said_once = lru_cache(maxsize=2048)(_said)
