"""Ids that newcomers may get, one set of each class that strategies can tell apart.

An id's first 48 random bits decide its place in text order among ids that exist; between two of
those there nearly always is room. The bits behind them decide its bucket in a Java hash table. So
an id can be made for every place and every bucket, how likely each is follows from the sizes, and
all pairs of them can be named: the orders in text, times what buckets make of the tables' orders.

Source: GroupMetadataManager.generateMemberId (`<client or instance id>-<uuid>`); Uuid.randomUuid
(KIP-848 members and topics), which since Kafka 4.4 draws no id that holds a `-`.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import (
    combinations_with_replacement,
    count,
    groupby,
    islice,
    pairwise,
    permutations,
    product,
)
from math import factorial
from typing import Any, Final, NamedTuple
from uuid import UUID

from kgroups.assignors.kip848.target import uuid_halves, uuid_hash
from kgroups.assignors.order.java_order import grown_capacity, spread, string_hash, utf16_key
from kgroups.core.planning.outcomes.ids import drawn_uuid, table_capacity_of
from kgroups.core.planning.outcomes.visible_order import Tables
from kgroups.core.uuids import uuid_text

HEAD_BITS: Final = 48
HEADS: Final = 1 << HEAD_BITS
MIDDLE: Final = HEADS // 2
_TAIL_BITS: Final = 80
_CHARS: Final = 8  # of base64 that hold the head

_VALUES: Final = (
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"  # base 64 for URLs
)
_DRAWN: Final = [value for value, char in enumerate(_VALUES) if char != "-"]
_IN_TEXT: Final = sorted(_DRAWN, key=_VALUES.__getitem__)
_SIGNED: Final = sorted(_DRAWN, key=lambda value: value ^ 32)


@dataclass(frozen=True, slots=True)
class IdSpace:
    """All ids of one kind, in order.

    Args:
        spell: a head, counted in the order of the ids, and other random bits -> the id.
        order_key: by what ids are ordered.
        code: an id -> the hash code that hash tables spread.
        name: equal for spaces of the same ids.
        hyphens: whether ids may hold them.
    """

    spell: Callable[[int, int], str]
    order_key: Callable[[str], Any]
    code: Callable[[str], int]
    name: str
    hyphens: bool = False

    def gaps(self, keys: Sequence[object]) -> list[tuple[int, int]]:
        """From which head to which, not with it, ids stand before the first key, and so on.

        Args:
            keys: order keys of ids that exist, ascending.
        Returns:
            One pair more than there are keys; the two are equal where there is no room.
        """
        edges = [0]
        for key in keys:
            edges.append(
                bisect_left(
                    range(HEADS), True, edges[-1], key=lambda head: self._is_after(head, key)
                )
            )
        edges.append(HEADS)
        return list(pairwise(edges))

    def _is_after(self, head: int, key: object) -> bool:
        return bool(self.order_key(self.spell(head, 0)) > key)

    def made(self, head: int, bucket: int | None, capacity: int, seed: str) -> str:
        """An id with this head, in this bucket of a hash table (None: any); always the same."""
        for number in count():
            digest = hashlib.sha256(f"{seed}/{self.name}/{head}/{number}".encode()).digest()
            member_id = self.spell(head, int.from_bytes(digest[:10], "big"))
            if "-" in member_id and not self.hyphens:
                continue
            if bucket is None or spread(self.code(member_id)) & (capacity - 1) == bucket:
                return member_id
        raise AssertionError("a count has no end")


def _uuid(head: int, rest: int) -> UUID:
    return UUID(int=head << _TAIL_BITS | rest, version=4)


def member_ids(prefix: str | None) -> IdSpace:
    """Ids that members may get.

    Args:
        prefix: client or instance id of a classic member, to which the coordinator gives its id;
            None for a KIP-848 member, which makes its own.
    """
    if prefix is None:
        return IdSpace(
            lambda head, rest: _drawn_text(head, rest, _IN_TEXT, _IN_TEXT),
            utf16_key,
            string_hash,
            "consumer",
        )
    return IdSpace(
        lambda head, rest: f"{prefix}-{_uuid(head, rest)}",
        utf16_key,
        string_hash,
        f"classic {prefix}",
        hyphens=True,
    )


def topic_ids() -> IdSpace:
    """Ids of topics, which server-side strategies order as signed numbers."""
    return IdSpace(
        lambda head, rest: _drawn_text(head, rest, _SIGNED, _DRAWN),
        uuid_halves,
        lambda text: uuid_hash(uuid_halves(text)),
        "topics",
    )


def _drawn_text(head: int, rest: int, first: Sequence[int], others: Sequence[int]) -> str:
    """The id whose first characters hold the head.

    Args:
        first: values of the first character, in the order of ids; `others`: of the others.
    """
    number, value = head * 63**_CHARS >> HEAD_BITS, 0
    for place in range(_CHARS - 1, -1, -1):
        digit = number // 63**place % 63
        value = value << 6 | (first if place == _CHARS - 1 else others)[digit]
    return uuid_text(_uuid(value, rest))


# Combinations of buckets that are looked at.
MAX_COMBINATIONS: Final = 4_096

Drawn = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A member whose id is not known yet.

    Args:
        name: stands for its id.
        kind: equal for newcomers that differ in nothing but their ids.
    """

    name: str
    space: IdSpace
    kind: object


@dataclass(frozen=True, slots=True)
class Heads:
    """An order in text: a head for each newcomer, and how likely the order is."""

    heads: Mapping[str, int]
    weight: float


@dataclass(frozen=True, slots=True)
class Buckets:
    """A bucket for each newcomer in the hash tables that strategies see, and how likely that is.

    Args:
        places: of newcomers in their buckets; empty: as it comes.
    """

    buckets: Mapping[str, int]
    weight: float
    capacity: int
    places: Mapping[str, int] = field(default_factory=dict)


ANY_BUCKETS: Final = Buckets({}, 1.0, 16)


class Ids(NamedTuple):
    """Ids that strategies cannot tell from others.

    Args:
        ids: name that stands for a member to an id that it may have.
        weight: how likely such ids are.
        places: id to its place in its bucket, from 0 on; empty: as it comes.
    """

    ids: Mapping[str, str]
    weight: float
    places: Mapping[str, int] = {}


def id_maker(
    newcomers: Iterable[Newcomer], seed: str
) -> Callable[[str, int, int | None, int], str]:
    """Makes the id of a newcomer of this name with this head, in this bucket of such a table."""
    spaces = {newcomer.name: newcomer.space for newcomer in newcomers}

    @cache
    def made(name: str, head: int, bucket: int | None, capacity: int) -> str:
        return spaces[name].made(head, bucket, capacity, f"{seed}/{name}")

    return made


def named_ids(
    newcomers: Sequence[Newcomer],
    seed: str,
    keys: Sequence[object] | None,
    tables: Sequence[Buckets],
) -> Iterator[Ids]:
    """Ids of newcomers, one set of each class.

    Args:
        seed: the same ids are made for the same seed.
        keys: as of `text_orders`; None where nobody looks at the order in text.
        tables: everything that buckets can make of the order.
    """
    texts: Iterable[Heads] = [Heads({n.name: MIDDLE for n in newcomers}, 1.0)]
    if keys is not None and newcomers:
        texts = text_orders(newcomers, keys)
    made = id_maker(newcomers, seed)
    for text in texts:
        for table in tables:
            ids = {
                name: made(name, head, table.buckets.get(name), table.capacity)
                for name, head in text.heads.items()
            }
            places = {ids[name]: place for name, place in table.places.items()}
            yield Ids(ids, text.weight * table.weight, places)


def sampled_id(newcomer: Newcomer, seed: str, number: int) -> str:
    """One of many ids that it may get, always the same for the same arguments."""
    head = drawn_uuid(f"{seed}/{newcomer.name}", number).int % HEADS
    return newcomer.space.made(head, None, 16, f"{seed}/{number}/{newcomer.name}")


def text_orders(newcomers: Sequence[Newcomer], keys: Sequence[object]) -> Iterator[Heads]:
    """Every order in text of newcomers among ids that exist.

    Args:
        keys: order keys of those, ascending.
    """
    gaps = {newcomer.space.name: newcomer.space.gaps(keys) for newcomer in newcomers}
    kinds = [list(alike) for _, alike in groupby(newcomers, key=lambda newcomer: newcomer.kind)]
    choices = [
        [
            (tuple(zip(alike, places, strict=True)), _multinomial(places))
            for places in combinations_with_replacement(
                [at for at, (low, high) in enumerate(gaps[alike[0].space.name]) if low < high],
                len(alike),
            )
        ]
        for alike in kinds
    ]
    for chosen in product(*choices):
        placed = [pair for pairs, _ in chosen for pair in pairs]
        weight = 1.0
        for pairs, ways in chosen:
            weight *= ways
            for newcomer, place in pairs:
                low, high = gaps[newcomer.space.name][place]
                weight *= (high - low) / HEADS
        orders = list(_within_gaps(placed))
        for order in orders:
            yield Heads(_heads(order, gaps), weight / len(orders))


def _multinomial(places: Sequence[int]) -> int:
    """In how many ways alike newcomers can be told to take these places."""
    ways = factorial(len(places))
    for place in set(places):
        ways //= factorial(places.count(place))
    return ways


Placed = Sequence[tuple[Newcomer, int]]


def _within_gaps(placed: Placed) -> Iterator[Placed]:
    """The orders of newcomers that share a gap and the beginning of their ids."""
    shared: dict[tuple[int, str], list[Newcomer]] = {}
    for newcomer, place in placed:
        shared.setdefault((place, newcomer.space.name), []).append(newcomer)
    choices = [_distinct_orders(together) for together in shared.values()]
    for orders in product(*choices):
        yield [
            (newcomer, place)
            for (place, _), order in zip(shared, orders, strict=True)
            for newcomer in order
        ]


def _distinct_orders(together: Sequence[Newcomer]) -> list[tuple[Newcomer, ...]]:
    """Permutations that differ in the kinds at their places."""
    if len({newcomer.kind for newcomer in together}) == 1:
        return [tuple(together)]
    orders: dict[tuple[object, ...], tuple[Newcomer, ...]] = {}
    for order in permutations(together):
        orders.setdefault(tuple(newcomer.kind for newcomer in order), order)
    return list(orders.values())


def _heads(order: Placed, gaps: Mapping[str, Sequence[tuple[int, int]]]) -> dict[str, int]:
    """Heads that put newcomers into their gaps, evenly and in this order."""
    counts: dict[tuple[int, str], int] = {}
    for newcomer, place in order:
        key = (place, newcomer.space.name)
        counts[key] = counts.get(key, 0) + 1
    taken: dict[tuple[int, str], int] = {}
    heads: dict[str, int] = {}
    for newcomer, place in order:
        key = (place, newcomer.space.name)
        taken[key] = taken.get(key, 0) + 1
        low, high = gaps[newcomer.space.name][place]
        heads[newcomer.name] = low + (high - low) * taken[key] // (counts[key] + 1)
    return heads


def bucket_orders(
    newcomers: Sequence[Newcomer], present: Sequence[str], decided: Sequence[str], seen: Tables
) -> list[Buckets] | None:
    """Everything that buckets of newcomers can make of the order of members; None if too much.

    Args:
        present: ids of the group as it is, in the coordinator's order.
        decided: ids that are known after the changes, in that order, those that join last.
    """
    total = len(decided) + len(newcomers)
    broker = table_capacity_of(present) if seen.listing else None
    tables = [] if broker is None else [grown_capacity(total, broker)]
    leader = grown_capacity(total)
    tables += [leader] * seen.leader + [2 * leader] * seen.copies
    if not tables:  # members stay as they are listed, newcomers behind them
        return [Buckets({}, 1.0, leader)]
    capacity = max(tables)
    if capacity ** len(newcomers) > MAX_COMBINATIONS:
        return None
    codes = [spread(string_hash(member_id)) for member_id in decided]

    def ranks(drawn: Drawn) -> tuple[tuple[int, ...], ...]:
        order: Sequence[int] = range(total)
        ranked = []
        for table in tables:
            places = [code & (table - 1) for code in (*codes, *drawn)]
            order = sorted(order, key=places.__getitem__)
            ranked.append(tuple(order.index(len(codes) + n) for n in range(len(newcomers))))
        return tuple(ranked)

    names = [newcomer.name for newcomer in newcomers]
    return [
        Buckets(dict(zip(names, drawn, strict=True)), weight, capacity)
        for drawn, weight in bucket_classes(capacity, len(names), ranks)
    ]


def bucket_classes(
    capacity: int, count: int, see: Callable[[Drawn], Hashable]
) -> list[tuple[Drawn, float]]:
    """Of all buckets that so many ids may be in, one set of each class, and how likely that is.

    Args:
        see: equal for buckets that cannot be told apart.
    """
    classes: dict[Hashable, tuple[Drawn, int]] = {}
    for drawn in islice(product(range(capacity), repeat=count), MAX_COMBINATIONS):
        key = see(drawn)
        first, number = classes.get(key, (drawn, 0))
        classes[key] = (first, number + 1)
    return [(drawn, number / capacity**count) for drawn, number in classes.values()]
