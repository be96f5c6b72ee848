"""Draws of ids that are not known yet, of members that join and topics that are created.

Strategies see two things of a member's id: its place in text order and its place in the order of
hash tables; of a topic's id, server side only, its place in hash order and in signed order. So
the ids fall into classes that no strategy can tell apart; one of each class is run, and the
different ends are the set of outcomes. Where there are too many classes, some of them are drawn.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Final

from kgroups.assignors.kip848.target import uuid_halves, uuid_hash
from kgroups.assignors.order.java_order import copied_set_capacity, spread, utf16_key
from kgroups.core.planning.assignor_request import Assumed
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.arrival_order import arrivals
from kgroups.core.planning.outcomes.coordinator_batches import Weighted, sequences
from kgroups.core.planning.outcomes.newcomer_ids import (
    ANY_BUCKETS,
    MIDDLE,
    Buckets,
    Drawn,
    Newcomer,
    bucket_classes,
    bucket_orders,
    id_maker,
    member_ids,
    named_ids,
    sampled_id,
    text_orders,
    topic_ids,
)
from kgroups.core.planning.outcomes.visible_order import HASH_ONLY, Visible, visible_orders
from kgroups.core.planning.roster import Roster, Seat

MAX_CLASSES: Final = 4_096
MOST_NEW_TOPICS: Final = 2
DRAWS: Final = 64  # where not every class can be named


def ids_matter(
    roster: Roster, strategies: Sequence[Strategy], assumed: Mapping[str, str | None]
) -> bool:
    """Whether one of these strategies can tell assumed ids from others that members may have.

    Args:
        assumed: id to what it is known to begin with; None for a KIP-848 member.
    """
    ids = [seat.member.member_id for seat in roster.seats if seat.id_known]
    if not any(name in assumed for name in ids):
        return False
    # Ids that will begin so; where among them an assumed one of the same beginning stands is tried.
    coming = {f"{seat.id_prefix}-" for seat in roster.seats if not seat.id_known and seat.id_prefix}
    for visible in (visible_orders(roster, strategy) for strategy in strategies):
        if visible.tables is not None or (visible.text and _is_undecided(ids, coming, assumed)):
            return True
    return False


def _is_undecided(
    ids: Sequence[str], coming: Iterable[str], assumed: Mapping[str, str | None]
) -> bool:
    """Whether an assumed id has more than one place in the order of texts."""
    for name in ids:
        if name in assumed:
            space = member_ids(assumed[name])
            others = sorted(utf16_key(other) for other in (*ids, *coming) if other != name)
            if sum(low < high for low, high in space.gaps(others)) > 1:
                return True
    return False


def broker_draws(
    roster: Roster, strategy: Strategy, unknown: Sequence[Seat]
) -> tuple[Sequence[Assumed], bool]:
    """As `member_draws`, with each sequence in which a coordinator may take in what happens."""
    name = strategy.assignor.name
    admitted, every_batch = sequences(roster, name)
    met = True
    if name in HASH_ONLY and any(seat.joins for seat in roster.seats):
        draws = None if len(roster.left) > 1 else _arrived(roster, unknown, admitted)
        if draws is not None:
            return draws, every_batch
        met = False
    draws, complete = member_draws(roster, strategy, unknown)
    return [
        replace(draw, batches=batches, weight=draw.weight * weight)
        for draw, (batches, weight) in product(draws, admitted)
    ], complete and every_batch and met


def _arrived(
    roster: Roster, unknown: Sequence[Seat], admitted: Weighted
) -> Sequence[Assumed] | None:
    """One draw of each class of ids and each order in which they are met; None if too many."""
    new_topics = roster.topics_without_id
    if len(new_topics) > MOST_NEW_TOPICS:
        return None
    topics = list(islice(_topic_draws(roster, new_topics), MAX_CLASSES + 1))
    newcomers = [_newcomer(seat, distinct=True) for seat in unknown]
    made, names = id_maker(newcomers, roster.group.group), [n.name for n in newcomers]
    draws: list[Assumed] = []
    for batches, weight in admitted:
        orders = arrivals(roster, names, batches)
        if orders is None or (len(draws) + len(orders)) * len(topics) > MAX_CLASSES:
            return None
        draws += [
            Assumed(
                ids={n: made(n, MIDDLE, at, arrival.capacity) for n, at in arrival.buckets.items()},
                topic_ids=topic.topic_ids,
                batches=batches,
                orders=arrival.orders,
                weight=arrival.weight * topic.weight * weight,
            )
            for arrival, topic in product(orders, topics)
        ]
    return draws


def member_draws(
    roster: Roster, strategy: Strategy, unknown: Sequence[Seat]
) -> tuple[Sequence[Assumed], bool]:
    """One draw of each class of ids, and whether these are all classes."""
    new_topics = roster.topics_without_id if strategy.runs_on_broker else []
    if not unknown and not new_topics:
        return [Assumed()], True
    newcomers = [_newcomer(seat, distinct=strategy.runs_on_broker) for seat in unknown]
    visible = visible_orders(roster, strategy)
    members = list(islice(_id_draws(roster, newcomers, visible), MAX_CLASSES + 1))
    topics = []
    if len(new_topics) <= MOST_NEW_TOPICS:
        topics = list(islice(_topic_draws(roster, new_topics), MAX_CLASSES + 1))
    if members and topics and len(members) * len(topics) <= MAX_CLASSES:
        return [
            replace(drawn, topic_ids=other.topic_ids, weight=drawn.weight * other.weight)
            for drawn, other in product(members, topics)
        ], True
    return [_random_draw(roster, newcomers, new_topics, number) for number in range(DRAWS)], False


def _newcomer(seat: Seat, *, distinct: bool) -> Newcomer:
    """The member of this seat; `distinct` where it matters which of two alike ones came first."""
    name = seat.member.member_id
    return Newcomer(name, member_ids(seat.id_prefix), name if distinct else seat.kind)


def _id_draws(roster: Roster, newcomers: Sequence[Newcomer], visible: Visible) -> Iterator[Assumed]:
    """Ids of newcomers, one set of each class; nothing if there are too many to be named."""
    present = [member.member_id for member in roster.group.members or ()]
    decided = [seat.member.member_id for seat in roster.seats if seat.id_known]
    tables: Sequence[Buckets] | None = [ANY_BUCKETS]
    if visible.tables and newcomers:
        tables = bucket_orders(newcomers, present, decided, visible.tables)
    if tables is None:
        return
    keys = sorted(map(utf16_key, decided)) if visible.text else None
    for ids, weight, _ in named_ids(newcomers, roster.group.group, keys, tables):
        yield Assumed(ids=ids, weight=weight)


def _topic_draws(roster: Roster, new_topics: Sequence[str]) -> Iterator[Assumed]:
    """Ids of new topics, one set of each class."""
    if not new_topics:
        yield Assumed()
        return
    space = topic_ids()
    names = sorted(
        uuid_halves(topic_id)
        for name in roster.subscribed()
        if (topic_id := roster.topics[name].topic_id) is not None
    )
    new = [Newcomer(name, space, name) for name in new_topics]
    capacity, tables = _topic_tables(roster, new_topics)
    for text in text_orders(new, names):
        for buckets, weight in tables:
            ids = {
                topic.name: space.made(text.heads[topic.name], bucket, capacity, topic.name)
                for topic, bucket in zip(new, buckets, strict=True)
            }
            yield Assumed(topic_ids=ids, weight=text.weight * weight)


def _topic_tables(
    roster: Roster, new_topics: Sequence[str]
) -> tuple[int, list[tuple[tuple[int, ...], float]]]:
    """Size of the set of topics, and buckets of the new ones for every order that it can have."""
    names = sorted(roster.subscribed())
    capacity = copied_set_capacity(len(names))
    fixed = {
        name: spread(uuid_hash(uuid_halves(topic_id)))
        for name in names
        if (topic_id := roster.topics[name].topic_id) is not None
    }

    def order(drawn: Drawn) -> tuple[str, ...]:
        codes = {**fixed, **dict(zip(new_topics, drawn, strict=True))}
        return tuple(sorted(names, key=lambda name: codes[name] & (capacity - 1)))

    return capacity, bucket_classes(capacity, len(new_topics), order)


def _random_draw(
    roster: Roster, newcomers: Sequence[Newcomer], new_topics: Sequence[str], number: int
) -> Assumed:
    """One of many draws, always the same for the same group."""
    seed = roster.group.group
    topics = [Newcomer(name, topic_ids(), name) for name in new_topics]
    return Assumed(
        ids={newcomer.name: sampled_id(newcomer, seed, number) for newcomer in newcomers},
        topic_ids={newcomer.name: sampled_id(newcomer, seed, number) for newcomer in topics},
    )
