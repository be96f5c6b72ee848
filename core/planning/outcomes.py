"""What can happen when members join whose ids nobody knows yet.

Strategies see two things of an id: its place in text order and its place in Java's hash order. So
ids are drawn, sorted into classes that no strategy can tell apart, and one of each class is run:
the different ends are the set of outcomes, and the draws that lead to each tell how likely it is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kgroups.assignors.javahash import utf16_key
from kgroups.core.planning.joiners import broker_order, classic_id, consumer_id, drawn_uuid
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.planning.settle import Settled, Shares

DRAWS: Final = 2048
MAX_RUNS: Final = 256
RUN_BUDGET: Final = 400_000  # members + partitions, all runs together

# Strategies whose members' shares follow from one of the two orders alone.
TEXT_ORDER_ONLY: Final = frozenset({"range", "roundrobin", "lag"})
HASH_ORDER_ONLY: Final = frozenset({"uniform"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way in which the rebalance can end.

    Args:
        settled: the end; members that join go by their names in the roster.
        share: share of the drawn ids that lead there, 0 to 1.
    """

    settled: Settled
    share: float


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The ways in which the rebalance can end, the likeliest first.

    Args:
        complete: whether every class of drawn ids was run.
    """

    each: tuple[Outcome, ...]
    complete: bool = True


def find_outcomes(
    roster: Roster, strategy_name: str, run: Callable[[Mapping[str, str]], Settled], size: int
) -> Outcomes:
    """Every way in which a rebalance with this roster can end.

    Args:
        strategy_name: decides which of the two orders matter.
        run: from assumed ids (roster name to id) to the end, keyed by the assumed ids.
        size: members + partitions of the group; bounds how many classes are run.
    """
    unknown = [seat for seat in roster.seats if seat.joins and not seat.id_known]
    if not unknown:
        return Outcomes((Outcome(run({}), 1.0),))
    classes = _classes(roster, unknown, strategy_name)
    allowed = max(4, min(MAX_RUNS, RUN_BUDGET // max(size, 1)))
    ranked = sorted(classes.values(), key=lambda found: -found[1])
    found: dict[object, tuple[Settled, int]] = {}
    for ids, weight in ranked[:allowed]:
        settled = _renamed(run(ids), ids, unknown)
        key = _canonical(settled.shares)
        first, total = found.get(key, (settled, 0))
        found[key] = (first, total + weight)
    drawn = sum(weight for _, weight in found.values())
    each = [Outcome(settled, weight / drawn) for settled, weight in found.values()]
    each.sort(key=lambda outcome: -outcome.share)
    return Outcomes(tuple(each), complete=len(classes) <= allowed)


def _classes(
    roster: Roster, unknown: Sequence[Seat], strategy_name: str
) -> dict[object, tuple[dict[str, str], int]]:
    """Class of ids -> (one draw of it, how many draws fell into it)."""
    present = [member.member_id for member in roster.group.members or ()]
    known = [s.member.member_id for s in roster.seats if s.id_known]
    staying = [s.member.member_id for s in roster.seats if not s.joins]
    certain = [name for name in known if name not in set(staying)]
    draws = max(DRAWS // (1 + len(known) // 64), 64)
    classes: dict[object, tuple[dict[str, str], int]] = {}
    for draw in range(draws):
        ids = _draw(roster.group.group, unknown, draw)
        new = list(ids.values())
        text = _ranks(sorted([*known, *new], key=utf16_key), new)
        hashed = _ranks(broker_order(present, staying, [*certain, *new]), new)
        if strategy_name in TEXT_ORDER_ONLY:
            key: object = text
        elif strategy_name in HASH_ORDER_ONLY:
            key = hashed
        else:
            key = (text, hashed)
        first, weight = classes.get(key, (ids, 0))
        classes[key] = (first, weight + 1)
    return classes


def _draw(group: str, unknown: Sequence[Seat], draw: int) -> dict[str, str]:
    ids: dict[str, str] = {}
    for index, seat in enumerate(unknown):
        drawn = drawn_uuid(group, draw, index)
        prefix = seat.id_prefix
        ids[seat.member.member_id] = (
            consumer_id(drawn) if prefix is None else classic_id(prefix, drawn)
        )
    return ids


def _ranks(order: Sequence[str], new: Sequence[str]) -> tuple[int, ...]:
    place = {name: index for index, name in enumerate(order)}
    return tuple(place[name] for name in new)


def _renamed(settled: Settled, ids: Mapping[str, str], unknown: Sequence[Seat]) -> Settled:
    """The same end with roster names; joiners that are alike are named in order of their share."""
    assumed_id = dict(ids)
    for alike in _alike(unknown):
        # Which of two equal newcomers gets which share means nothing: the first gets the first.
        ordered = sorted((ids[name] for name in alike), key=lambda i: _share_key(settled.shares[i]))
        assumed_id.update(zip(alike, ordered, strict=True))
    names = {assumed: name for name, assumed in assumed_id.items()}
    return Settled(
        {names.get(member, member): held for member, held in settled.shares.items()},
        tuple(step.renamed(names) for step in settled.steps),
        settled.faults,
        settled.settled,
    )


def _alike(unknown: Sequence[Seat]) -> list[list[str]]:
    groups: dict[object, list[str]] = {}
    for seat in unknown:
        facts = seat.member
        key = (facts.client_id, facts.instance_id, facts.rack, seat.topics)
        groups.setdefault(key, []).append(facts.member_id)
    return list(groups.values())


def _share_key(held: Mapping[str, Sequence[int]]) -> tuple[object, ...]:
    pairs = sorted((topic, number) for topic, numbers in held.items() for number in numbers)
    return (not pairs, pairs)


def _canonical(shares: Shares) -> object:
    return frozenset(
        (member, topic, number)
        for member, held in shares.items()
        for topic, numbers in held.items()
        for number in numbers
    )
