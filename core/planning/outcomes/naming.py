"""What came of assumed ids, told by the names that members have in the roster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgroups.core.errors import KgroupsError
from kgroups.core.planning.roster import Seat
from kgroups.core.planning.settle import Ends, Settled


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one draw, and comes of all that cannot be told from it.

    Args:
        ends: each with roster names; name of a member that joins to the one whose assumed id it has
            then; how likely it is beside the others.
        failures: ways in which it fails, with the same.
        complete: whether there are no others.
    """

    ends: tuple[tuple[Settled, Mapping[str, str], float], ...]
    failures: tuple[tuple[KgroupsError, float], ...]
    complete: bool


def played_draw(ends: Ends, ids: Mapping[str, str], unknown: Sequence[Seat]) -> Played:
    """The ends with roster names.

    Args:
        ids: name of a member that joins to its assumed id.
        unknown: the members whose ids are assumed.
    """
    shares = ends.shares()
    settled = zip(ends.each, shares, strict=False)
    failed = zip(ends.failures, shares[len(ends.each) :], strict=True)
    return Played(
        tuple((*_named(end, ids, unknown), share) for end, share in settled),
        tuple(failed),
        ends.complete,
    )


def _named(
    settled: Settled, ids: Mapping[str, str], unknown: Sequence[Seat]
) -> tuple[Settled, Mapping[str, str]]:
    """The end, and whose assumed id each member has: alike ones are named in order of shares."""
    whose = {name: name for name in ids}
    for alike in _alike(unknown):
        # Which of two equal newcomers gets which share means nothing: the first gets the first.
        ordered = sorted(alike, key=lambda name: _share_key(settled.shares[ids[name]]))
        whose.update(zip(alike, ordered, strict=True))
    names = {ids[other]: name for name, other in whose.items()}
    return settled.renamed(names), whose


def kind_of(seat: Seat) -> object:
    """Equal for members that differ in nothing but their ids."""
    facts = seat.member
    return (facts.client_id, facts.instance_id, facts.rack, seat.topics, seat.library)


def _alike(unknown: Sequence[Seat]) -> list[list[str]]:
    groups: dict[object, list[str]] = {}
    for seat in unknown:
        groups.setdefault(kind_of(seat), []).append(seat.member.member_id)
    return list(groups.values())


def _share_key(held: Mapping[str, Sequence[int]]) -> tuple[object, ...]:
    pairs = sorted((topic, number) for topic, numbers in held.items() for number in numbers)
    return (not pairs, pairs)
