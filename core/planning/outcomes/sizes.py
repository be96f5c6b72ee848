"""Whether the sizes of shares are certain, whatever a sticky leader chooses on the way.

Sticky strategies stop where no partition can go from a member to one with at least two fewer that
reads its topic. So members that read the same end within one of each other, and of members that
read different topics every distribution can be told apart by how many partitions of which topics
each kind of them has. If all that may be ends have the same sizes, these are certain.

Source: AbstractStickyAssignor.performReassignments, and its like in the other libraries.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from math import comb
from typing import Final

from kgroups.core.planning.roster import Roster

MOST_DISTRIBUTIONS: Final = 20_000

# Which kinds of members read a topic, by their places in a list.
Readers = tuple[int, ...]


def sizes_are_certain(roster: Roster) -> bool:
    """Whether shares have the same sizes wherever a sticky strategy may stop."""
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
    found: set[tuple[int, ...]] = set()
    for held in _distributions(numbers):
        totals = [sum(one.get(place, 0) for one in held.values()) for place in range(len(members))]
        if _may_rest(held, totals, members):
            found.add(tuple(sorted(_sizes(totals, members))))
            if len(found) > 1:
                return False
    return True


def _distributions(numbers: Mapping[Readers, int]) -> Iterator[dict[Readers, dict[int, int]]]:
    """How many partitions, by the kinds that read them, each of these kinds may have."""
    for chosen in product(*(_shared_out(number, len(r)) for r, number in numbers.items())):
        yield {r: dict(zip(r, each, strict=True)) for r, each in zip(numbers, chosen, strict=True)}


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
        for readers, each in held.items()
        for owner, number in each.items()
        if number
        for other in readers
    )


def _sizes(totals: Sequence[int], members: Sequence[int]) -> Iterator[int]:
    """The sizes of all shares, within one of each other where members read the same."""
    for total, many in zip(totals, members, strict=True):
        each, more = divmod(total, many)
        yield from [each + 1] * more + [each] * (many - more)
