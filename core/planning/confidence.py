"""How sure a plan is: one word, what it means, and why it is that word here."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import Final, Literal

from kgroups.core.planning.leaders.guess import LOGGED
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.outcome import Outcomes
from kgroups.core.planning.outcomes.visible_order import STICKY_FAMILY
from kgroups.core.planning.prospects import Prospect, Prospects
from kgroups.core.planning.reasons import choices, gaps, ground
from kgroups.core.planning.roster import Roster

MOST_DISTRIBUTIONS: Final = 20_000

# Which kinds of members read a topic, by their places in a list.
Readers = tuple[int, ...]


def sizes_are_certain(roster: Roster) -> bool:
    """Whether shares have the same sizes wherever a sticky strategy may stop.

    It stops where no partition can go from a member to one with at least two fewer that reads its
    topic. So members that read the same end within one of each other, and of members that read
    different topics every distribution can be told apart by how many partitions of which topics
    each kind of them has. If all that may be ends have the same sizes, these are certain.

    Source: AbstractStickyAssignor.performReassignments, and its like in the other libraries.
    """
    kinds = Counter(
        frozenset(topic for topic in seat.topics if topic in roster.topics) for seat in roster.seats
    )
    members = list(kinds.values())
    numbers: Counter[Readers] = Counter()
    for name in roster.subscribed():
        readers = tuple(place for place, topics in enumerate(kinds) if name in topics)
        numbers[readers] += len(roster.topics[name].partitions)
    ways = 1
    for readers, number in numbers.items():
        ways *= comb(number + len(readers) - 1, len(readers) - 1)
    if ways > MOST_DISTRIBUTIONS:
        return False
    splits: set[tuple[int, ...]] = set()
    for held in _distributions(numbers):
        totals = [sum(c.get(place, 0) for c in held.values()) for place in range(len(members))]
        if _may_rest(held, totals, members):
            splits.add(tuple(sorted(_sizes(totals, members))))
            if len(splits) > 1:
                return False
    return True


def _distributions(numbers: Mapping[Readers, int]) -> Iterator[dict[Readers, dict[int, int]]]:
    """How many partitions, by the kinds that read them, each of these kinds may have."""
    for chosen in product(*(_shared_out(number, len(r)) for r, number in numbers.items())):
        yield {r: dict(zip(r, s, strict=True)) for r, s in zip(numbers, chosen, strict=True)}


def _shared_out(number: int, among: int) -> Iterator[tuple[int, ...]]:
    """Every way to share out so many alike things among so many."""
    for bars in combinations(range(number + among - 1), among - 1):
        edges = (-1, *bars, number + among - 1)
        yield tuple(edges[place + 1] - edges[place] - 1 for place in range(among))


def _may_rest(
    held: Mapping[Readers, Mapping[int, int]], totals: Sequence[int], members: Sequence[int]
) -> bool:
    """Whether no kind must have a member that gives something to a member of another kind."""
    least = [total // many for total, many in zip(totals, members, strict=True)]
    return all(
        least[owner] <= least[other] + 1
        for readers, counts in held.items()
        for owner, number in counts.items()
        if number
        for other in readers
    )


def _sizes(totals: Sequence[int], members: Sequence[int]) -> Iterator[int]:
    """The sizes of all shares, within one of each other where members read the same."""
    for total, many in zip(totals, members, strict=True):
        base, more = divmod(total, many)
        yield from [base + 1] * more + [base] * (many - more)


Word = Literal["exact", "outcomes", "likely", "counts"]

DEFINITIONS: Final[Mapping[Word, str]] = {
    "exact": "the only possible outcome",
    "outcomes": "one of several possible outcomes; --outcomes shows all",
    "likely": "the likeliest outcome; others cannot be ruled out",
    "counts": "the sizes of the shares are certain, not which member gets which",
}


# Strategies that deal the same numbers to members that read the same, whoever leads.
EVEN: Final = frozenset({"roundrobin", "sticky", "cooperative-sticky", "uniform"})


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a plan is.

    Args:
        reason: why, without a full stop; for `exact` what it rests on.
    """

    word: Word
    reason: str


def confidence_of(roster: Roster, prospects: Prospects) -> Confidence:
    """How sure it is that what a plan shows will happen, and by what the leader is known."""
    confidence = _confidence_of(roster, prospects)
    if confidence.word != "exact" and not roster.guesses and _leaves_no_choice(roster, prospects):
        return Confidence("exact", "one member is left, and it gets everything that it reads")
    if not _leader_is_logged(roster) or LOGGED in confidence.reason:
        return confidence
    return Confidence(confidence.word, f"{confidence.reason}; {LOGGED}")


def _leader_is_logged(roster: Roster) -> bool:
    """Whether the group's own record says which of the members leads until the changes."""
    group, unlogged = roster.group, roster.evidence.known.leaders is None
    return unlogged and any(member.member_id == group.leader for member in group.members or ())


def _confidence_of(roster: Roster, prospects: Prospects) -> Confidence:
    outcomes = prospects.outcomes
    deciding = [p for p in prospects.each if p.unnoticed is not True]
    doubts = list(dict.fromkeys(d for p in deciding if (d := p.strategy.doubt)))
    doubts += roster.guesses
    if not outcomes.complete:
        doubts += gaps(roster, prospects)
    if doubts:
        # Another algorithm than ours may stop at other sizes where members read different topics.
        ours = outcomes.complete and not any(p.strategy.doubt for p in prospects.each)
        sure = ours or _deals_evenly(roster, prospects) or _ends_alike(roster, prospects)
        by_size = not roster.guesses and sure and same_sizes(outcomes)
        return Confidence("counts" if by_size else "likely", "; ".join(doubts))
    if len(outcomes.each) == 1 and not outcomes.failures:
        return Confidence("exact", ground(prospects))
    return Confidence("outcomes", "; ".join(choices(roster, prospects)))


def _leaves_no_choice(roster: Roster, prospects: Prospects) -> bool:
    """Whether one member gets all partitions, as every release of every library gives them to it.

    Not everything may have been tried then, such as who leaves first; it comes to the same. A
    strategy that is not the libraries' own may do anything.
    """
    ends = prospects.outcomes.each
    if len(roster.seats) != 1 or len(ends) != 1 or prospects.outcomes.failures:
        return False
    seat, end = roster.seats[0], ends[0].settled
    held = end.shares.get(seat.member.member_id, {})
    return (
        all(prospect.strategy.leader_client for prospect in prospects.each)
        and end.settled
        and all(
            set(held.get(name, ())) == set(roster.topics[name].partitions)
            for name in roster.subscribed()
        )
    )


def _deals_evenly(roster: Roster, prospects: Prospects) -> bool:
    """Whether the sizes of shares are known whatever comes: all members read the same."""
    return len({frozenset(seat.topics) for seat in roster.seats}) == 1 and all(
        prospect.strategy.assignor.name in EVEN
        and (prospect.strategy.runs_on_broker or prospect.strategy.leader_client is not None)
        and _comes_to_rest(prospect)
        for prospect in prospects.each
    )


def _ends_alike(roster: Roster, prospects: Prospects) -> bool:
    """Whether the sizes of shares are known whatever our own strategies choose on the way."""
    return all(map(_comes_to_rest, prospects.each)) and stops_alike(
        roster, [prospect.strategy for prospect in prospects.each]
    )


def stops_alike(roster: Roster, strategies: Sequence[Strategy]) -> bool:
    """Whether shares are of the same sizes wherever these strategies, as we know them, stop."""
    return all(
        strategy.assignor.name in STICKY_FAMILY
        and strategy.leader_client is not None
        and strategy.doubt is None
        for strategy in strategies
    ) and sizes_are_certain(roster)


def _comes_to_rest(prospect: Prospect) -> bool:
    return all(outcome.settled.settled for outcome in prospect.outcomes.each)


def same_sizes(outcomes: Outcomes) -> bool:
    """Whether shares are of the same sizes, whatever happens."""
    if outcomes.failures:
        return False
    sizes = {
        frozenset(
            Counter(sum(map(len, held.values())) for held in o.settled.shares.values()).items()
        )
        for o in outcomes.each
    }
    return len(sizes) == 1
