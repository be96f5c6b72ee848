"""What can happen when members join, or topics are created, whose ids nobody knows yet.

Strategies see two things of a member's id: its place in text order and its place in Java's hash
order; of a topic's id, server side only, its place in hash order and in signed order. So ids are
drawn, sorted into classes that no strategy can tell apart, and one of each class is run: the
different ends are the set of outcomes, and the draws that lead to each tell how likely it is.
"""

from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kgroups.assignors.kip848.target import uuid_halves, uuid_hash
from kgroups.assignors.order.java_order import copied_set_capacity, hash_order, utf16_key
from kgroups.core.planning.outcomes.ids import classic_id, drawn_uuid, leader_order
from kgroups.core.planning.outcomes.outcome import Outcome, Outcomes, same_ends
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.planning.settle import Settled
from kgroups.core.uuids import uuid_text

DRAWS: Final = 2048
MAX_RUNS: Final = 256
RUN_BUDGET: Final = 400_000  # members + partitions, all runs together

# Strategies whose members' shares follow from one of the two orders alone.
TEXT_ORDER_ONLY: Final = frozenset({"range", "roundrobin", "lag"})
HASH_ORDER_ONLY: Final = frozenset({"uniform"})
STICKY_FAMILY: Final = frozenset({"sticky", "cooperative-sticky"})


@dataclass(frozen=True, slots=True)
class Draw:
    """Assumed ids.

    Args:
        ids: name of a joining member in the roster to its id.
        topic_ids: name of a new topic to its id.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)


def find_outcomes(
    roster: Roster,
    strategy_name: str,
    run: Callable[[Draw], Settled],
    size: int,
    *,
    server_side: bool = False,
) -> Outcomes:
    """Every way in which a rebalance with this roster can end.

    Args:
        strategy_name: decides which of the two orders matter.
        run: from assumed ids to the end, keyed by the assumed ids.
        size: members + partitions of the group; bounds how many classes are run.
        server_side: whether the strategy sees ids of topics.
    """
    unknown = [seat for seat in roster.seats if seat.joins and not seat.id_known]
    new_topics = _topics_without_id(roster) if server_side else []
    if not unknown and not new_topics:
        return Outcomes((Outcome(run(Draw()), 1.0),))
    classes = _classes(roster, unknown, new_topics, strategy_name)
    allowed = max(4, min(MAX_RUNS, RUN_BUDGET // max(size, 1)))
    ranked = sorted(classes.values(), key=lambda found: -found[1])
    each = [
        Outcome(_renamed(run(draw), draw.ids, unknown), float(weight))
        for draw, weight in ranked[:allowed]
    ]
    rare = any(weight == 1 for _, weight in classes.values())
    return Outcomes(same_ends(each), complete=len(classes) <= allowed and not rare)


def _topics_without_id(roster: Roster) -> list[str]:
    subscribed = {topic for seat in roster.seats for topic in seat.topics}
    return [
        name
        for name, topic in roster.topics.items()
        if topic.topic_id is None and name in subscribed
    ]


def _classes(
    roster: Roster, unknown: Sequence[Seat], new_topics: Sequence[str], strategy_name: str
) -> dict[object, tuple[Draw, int]]:
    """Class of ids -> (one draw of it, how many draws fell into it)."""
    present = [member.member_id for member in roster.group.members or ()]
    known = [s.member.member_id for s in roster.seats if s.id_known]
    staying = [s.member.member_id for s in roster.seats if not s.joins]
    certain = [name for name in known if name not in set(staying)]
    draws = max(DRAWS // (1 + len(known) // 64), 64)
    by_text, by_hash = _orders_that_matter(roster, strategy_name)
    keys = sorted(utf16_key(name) for name in known)
    classes: dict[object, tuple[Draw, int]] = {}
    for number in range(draws):
        draw = _draw(roster.group.group, unknown, new_topics, number)
        new = list(draw.ids.values())
        key = (
            _places(keys, new) if by_text else (),
            _ranks(leader_order(present, staying, [*certain, *new]), new) if by_hash else (),
            _topic_orders(roster, draw) if new_topics else (),
        )
        first, weight = classes.get(key, (draw, 0))
        classes[key] = (first, weight + 1)
    return classes


def _orders_that_matter(roster: Roster, strategy_name: str) -> tuple[bool, bool]:
    """Whether a strategy can see a newcomer's place in text order, and in hash order.

    The sticky strategies look at hash order to decide who keeps a surplus. In a group of equal
    subscriptions with a partition for everybody, a newcomer, which has nothing, has no part in it.
    """
    if strategy_name in TEXT_ORDER_ONLY:
        return True, False
    if strategy_name in HASH_ORDER_ONLY:
        return False, True
    if strategy_name in STICKY_FAMILY:
        subscriptions = {frozenset(seat.topics) for seat in roster.seats}
        topics = next(iter(subscriptions))
        partitions = sum(
            len(roster.topics[name].partitions) for name in topics if name in roster.topics
        )
        if len(subscriptions) == 1 and partitions >= len(roster.seats):
            return True, False
    return True, True


def _places(keys: Sequence[bytes], new: Sequence[str]) -> tuple[int, ...]:
    """The place of each newcomer in text order, among the known and the other newcomers."""
    own = [utf16_key(name) for name in new]
    return tuple(bisect(keys, key) + sum(other < key for other in own) for key in own)


def _topic_orders(roster: Roster, draw: Draw) -> tuple[tuple[str, ...], ...]:
    """The subscribed topics in the orders that a server-side strategy can see."""
    subscribed = sorted({topic for seat in roster.seats for topic in seat.topics})
    ids = {
        name: roster.topics[name].topic_id or draw.topic_ids.get(name, "")
        for name in subscribed
        if name in roster.topics
    }
    names = [name for name, topic_id in ids.items() if topic_id]
    halves = {name: uuid_halves(ids[name]) for name in names}
    codes = [uuid_hash(halves[name]) for name in names]
    capacity = copied_set_capacity(len(names))
    hashed = hash_order(names, codes, capacity=capacity, order=halves.__getitem__)
    return tuple(hashed), tuple(sorted(names, key=halves.__getitem__))


def _draw(group: str, unknown: Sequence[Seat], new_topics: Sequence[str], number: int) -> Draw:
    ids: dict[str, str] = {}
    for index, seat in enumerate(unknown):
        drawn = drawn_uuid(group, number, index)
        prefix = seat.id_prefix
        ids[seat.member.member_id] = (
            uuid_text(drawn) if prefix is None else classic_id(prefix, drawn)
        )
    topic_ids = {name: uuid_text(drawn_uuid(f"{group}/{name}", number)) for name in new_topics}
    return Draw(ids, topic_ids)


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
