"""Draws of ids that are not known yet, of members that join and topics that are created.

Strategies see two things of a member's id: its place in text order and its place in the order of
hash tables; of a topic's id, server side only, its place in hash order and in signed order. So
the ids fall into classes that no strategy can tell apart; one of each class is run, and the
different ends are the set of outcomes. Where there are too many classes, some of them are drawn.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice, product
from typing import Final

from kgroups.assignors.kip848.target import uuid_halves, uuid_hash
from kgroups.assignors.order.java_order import copied_set_capacity, spread, utf16_key
from kgroups.core.planning.assignor_request import PartitionRacks
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.outcomes.arrival_order import Order, arrivals
from kgroups.core.planning.outcomes.coordinator_batches import Batch, Sequences, sequences
from kgroups.core.planning.outcomes.ids import drawn_uuid
from kgroups.core.planning.outcomes.newcomer_ids import (
    HEADS,
    Buckets,
    Drawn,
    Heads,
    IdSpace,
    Newcomer,
    bucket_classes,
    bucket_orders,
    classic_ids,
    kip848_ids,
    text_orders,
    topic_ids,
)
from kgroups.core.planning.outcomes.visible_order import HASH_ONLY, Visible, visible_orders
from kgroups.core.planning.roster import Roster, Seat

MAX_CLASSES: Final = 4_096
MOST_NEW_TOPICS: Final = 2
DRAWS: Final = 64  # where not every class can be named


@dataclass(frozen=True, slots=True)
class Draw:
    """Assumed ids.

    Args:
        ids: name of a joining member in the roster to its id.
        topic_ids: name of a new topic to its id.
        weight: how likely ids are that strategies cannot tell from these.
        batches: in which batches a coordinator takes in what happens to a KIP-848 group.
        orders: in which it meets the members at each target; empty: those that join last.
        unlike, racks, libraries: what leaders see and nobody else does, as of `Unseen`.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    weight: float = 1.0
    batches: tuple[Batch, ...] = ()
    orders: tuple[Order, ...] = ()
    unlike: bool = False
    racks: PartitionRacks = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)

    def until(self, number: int) -> Hashable:
        """All that decides the target of this number, and those before, of a KIP-848 group.

        Where it is not said in which order members are met, their ids tell.
        """
        orders = self.orders[: number + 1] or tuple(self.ids.items())
        return self.batches[: number + 1], orders, tuple(self.topic_ids.items())


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
            prefix = assumed[name]
            space = kip848_ids() if prefix is None else classic_ids(prefix)
            others = sorted(utf16_key(other) for other in (*ids, *coming) if other != name)
            if sum(low < high for low, high in space.gaps(others)) > 1:
                return True
    return False


def broker_draws(
    roster: Roster, strategy: Strategy, unknown: Sequence[Seat]
) -> tuple[Sequence[Draw], bool]:
    """As `member_draws`, with each sequence in which a coordinator may take in what happens."""
    name = strategy.assignor.name
    admitted, met = sequences(roster, name), True
    if name in HASH_ONLY and any(seat.joins for seat in roster.seats):
        draws = None if len(roster.left) > 1 else _arrived(roster, unknown, admitted)
        if draws is not None:
            return draws, admitted.complete
        met = False
    draws, complete = member_draws(roster, strategy, unknown)
    return [
        replace(draw, batches=batches, weight=draw.weight * weight)
        for draw, (batches, weight) in product(draws, admitted.each)
    ], complete and admitted.complete and met


def _arrived(roster: Roster, unknown: Sequence[Seat], admitted: Sequences) -> Sequence[Draw] | None:
    """One draw of each class of ids and each order in which they are met; None if too many."""
    new_topics = roster.topics_without_id
    if len(new_topics) > MOST_NEW_TOPICS:
        return None
    topics = list(islice(_topic_draws(roster, new_topics), MAX_CLASSES + 1))
    seed, spaces = roster.group.group, {s.member.member_id: _space(s) for s in unknown}
    made = cache(
        lambda name, bucket, capacity: spaces[name].made(
            HEADS // 2, bucket, capacity, f"{seed}/{name}"
        )
    )
    draws: list[Draw] = []
    for batches, weight in admitted.each:
        orders = arrivals(roster, list(spaces), batches)
        if orders is None or (len(draws) + len(orders)) * len(topics) > MAX_CLASSES:
            return None
        draws += [
            Draw(
                {name: made(name, at, arrival.capacity) for name, at in arrival.buckets.items()},
                topic.topic_ids,
                arrival.weight * topic.weight * weight,
                batches,
                arrival.orders,
            )
            for arrival, topic in product(orders, topics)
        ]
    return draws


def member_draws(
    roster: Roster, strategy: Strategy, unknown: Sequence[Seat]
) -> tuple[Sequence[Draw], bool]:
    """One draw of each class of ids, and whether these are all classes."""
    new_topics = roster.topics_without_id if strategy.runs_on_broker else []
    if not unknown and not new_topics:
        return [Draw()], True
    newcomers = [_newcomer(seat, distinct=strategy.runs_on_broker) for seat in unknown]
    visible = visible_orders(roster, strategy)
    members = list(islice(_id_draws(roster, newcomers, visible), MAX_CLASSES + 1))
    topics = []
    if len(new_topics) <= MOST_NEW_TOPICS:
        topics = list(islice(_topic_draws(roster, new_topics), MAX_CLASSES + 1))
    if members and topics and len(members) * len(topics) <= MAX_CLASSES:
        return [
            Draw(drawn.ids, other.topic_ids, drawn.weight * other.weight)
            for drawn, other in product(members, topics)
        ], True
    return [_random_draw(roster, newcomers, new_topics, number) for number in range(DRAWS)], False


def _newcomer(seat: Seat, *, distinct: bool) -> Newcomer:
    """The member of this seat; `distinct` where it matters which of two alike ones came first."""
    name = seat.member.member_id
    return Newcomer(name, _space(seat), name if distinct else seat.kind)


def _space(seat: Seat) -> IdSpace:
    """Ids that the member of this seat may draw."""
    prefix = seat.id_prefix
    return kip848_ids() if prefix is None else classic_ids(prefix)


def _id_draws(roster: Roster, newcomers: Sequence[Newcomer], visible: Visible) -> Iterator[Draw]:
    """Ids of newcomers, one set of each class; nothing if there are too many to be named."""
    present = [member.member_id for member in roster.group.members or ()]
    decided = [seat.member.member_id for seat in roster.seats if seat.id_known]
    tables: Sequence[Buckets] | None = [Buckets({}, 1.0, 16)]
    if visible.tables and newcomers:
        tables = bucket_orders(newcomers, present, decided, visible.tables)
    if tables is None:
        return
    texts: Iterator[Heads] = iter([Heads({n.name: HEADS // 2 for n in newcomers}, 1.0)])
    if visible.text and newcomers:
        texts = text_orders(newcomers, sorted(map(utf16_key, decided)))
    spaces = {newcomer.name: newcomer.space for newcomer in newcomers}
    made = cache(
        lambda name, head, bucket, capacity: spaces[name].made(
            head, bucket, capacity, f"{roster.group.group}/{name}"
        )
    )
    for text in texts:
        for table in tables:
            ids = {
                name: made(name, text.heads[name], table.buckets.get(name), table.capacity)
                for name in spaces
            }
            yield Draw(ids, {}, text.weight * table.weight)


def _topic_draws(roster: Roster, new_topics: Sequence[str]) -> Iterator[Draw]:
    """Ids of new topics, one set of each class."""
    if not new_topics:
        yield Draw()
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
            yield Draw({}, ids, text.weight * weight)


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
) -> Draw:
    """One of many draws, always the same for the same group."""
    group = roster.group.group

    def made(newcomer: Newcomer) -> str:
        head = drawn_uuid(f"{group}/{newcomer.name}", number).int % HEADS
        return newcomer.space.made(head, None, 16, f"{group}/{number}/{newcomer.name}")

    topics = [Newcomer(name, topic_ids(), name) for name in new_topics]
    return Draw(
        {n.name: made(n) for n in newcomers}, {newcomer.name: made(newcomer) for newcomer in topics}
    )
