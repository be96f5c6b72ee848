"""Which ids new members may get, as far as a server-side assignor sees them.

Members that share a bucket of the assignor's hash table stand in it as the coordinator walked its
own table when it filled this one, which is ordered by other bits of their hashes. So they may stand
there in any order, and a class of ids says besides the ids which place each has in its bucket.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Final

from kgroups.assignors.order.java_order import grown_capacity, utf16_key
from kgroups.core.planning.outcomes.arrival_order import mixed
from kgroups.core.planning.outcomes.ids import bucket, drawn_uuid
from kgroups.core.planning.outcomes.newcomer_ids import (
    HEADS,
    Heads,
    Newcomer,
    classic_ids,
    kip848_ids,
    text_orders,
)
from kgroups.core.planning.outcomes.visible_order import Visible

MAX_CLASSES: Final = 120
MOST_ENUMERATED: Final = 3  # tables are gone through bucket by bucket
MOST_COMBINATIONS: Final = 40_000
SAMPLES: Final = 24


@dataclass(frozen=True, slots=True)
class IdClass:
    """Ids that an assignor cannot tell from others.

    Args:
        ids: name that stands for a member to an id that it may have.
        weight: how likely such ids are.
        places: id to its place in its bucket, from 0 on; empty: as it comes.
    """

    ids: Mapping[str, str]
    weight: float
    places: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IdClasses:
    """The classes of ids, never none.

    Args:
        complete: whether there are no others.
    """

    each: tuple[IdClass, ...]
    complete: bool = True


NO_CHOICE: Final = IdClasses((IdClass({}, 1.0),))


def id_classes(
    seed: str, present: Sequence[str], unknown: Mapping[str, str | None], visible: Visible
) -> IdClasses:
    """The classes of ids of the members whose ids are not known.

    Args:
        seed: the same ids are made for the same seed.
        present: ids of the other members, in the order of the coordinator.
        unknown: name of a member to what its id begins with; None for the plain uuid that
            members of consumer groups have.
        visible: what the assignor sees of ids.
    """
    newcomers = [
        Newcomer(name, kip848_ids() if prefix is None else classic_ids(prefix), name)
        for name, prefix in unknown.items()
    ]
    if not newcomers:
        return NO_CHOICE
    if len(newcomers) <= MOST_ENUMERATED:
        classes = tuple(islice(_enumerated(seed, present, newcomers, visible), MAX_CLASSES + 1))
        if 0 < len(classes) <= MAX_CLASSES:
            return IdClasses(classes)
    samples = tuple(_sample(seed, newcomers, number) for number in range(SAMPLES))
    return IdClasses(samples, complete=False)


def _enumerated(
    seed: str, present: Sequence[str], newcomers: Sequence[Newcomer], visible: Visible
) -> Iterator[IdClass]:
    texts = [Heads({newcomer.name: HEADS // 2 for newcomer in newcomers}, 1.0)]
    if visible.text:
        keys = sorted(map(utf16_key, present))
        texts = list(islice(text_orders(newcomers, keys), MAX_CLASSES + 1))
    tables = [_Buckets({}, 1.0)]
    if visible.tables is not None:
        tables = _hash_orders(present, newcomers)
    capacity = grown_capacity(len(present) + len(newcomers))
    for text in texts:
        for number, table in enumerate(tables):
            ids = {
                newcomer.name: newcomer.space.made(
                    text.heads[newcomer.name],
                    table.buckets.get(newcomer.name),
                    capacity,
                    f"{seed}/{number}/{newcomer.name}",
                )
                for newcomer in newcomers
            }
            places = {ids[name]: place for name, place in table.places.items()}
            yield IdClass(ids, text.weight * table.weight, places)


@dataclass(frozen=True, slots=True)
class _Buckets:
    """A bucket for each member whose id is not known, its place in it, and how likely that is."""

    buckets: Mapping[str, int]
    weight: float
    places: Mapping[str, int] = field(default_factory=dict)


def _hash_orders(present: Sequence[str], newcomers: Sequence[Newcomer]) -> list[_Buckets]:
    """Everything that buckets can make of the order of members in a hash table; none if too much.

    Those whose ids are known keep their order where they share a bucket.
    """
    capacity = grown_capacity(len(present) + len(newcomers))
    if capacity ** len(newcomers) > MOST_COMBINATIONS:
        return []
    fixed: dict[int, list[str]] = {}
    for member_id in present:
        fixed.setdefault(bucket(member_id, capacity), []).append(member_id)
    names = [newcomer.name for newcomer in newcomers]
    total = capacity ** len(names)
    by_order: dict[tuple[str, ...], _Buckets] = {}
    for drawn in product(range(capacity), repeat=len(names)):
        buckets = dict(zip(names, drawn, strict=True))
        orders = list(_orders(fixed, buckets))
        for order in orders:
            met = tuple(name for part in order for name in part)
            first = by_order.get(met)
            if first is None:
                places = {n: at for part in order for at, n in enumerate(part) if n in buckets}
                first = _Buckets(buckets, 0.0, places)
            weight = first.weight + 1 / len(orders) / total
            by_order[met] = replace(first, weight=weight)
    return list(by_order.values())


def _orders(
    fixed: Mapping[int, Sequence[str]], drawn: Mapping[str, int]
) -> Iterator[tuple[tuple[str, ...], ...]]:
    """Every order of these members, bucket by bucket."""
    choices = [
        mixed(fixed.get(place, ()), [name for name, own in drawn.items() if own == place])
        for place in sorted({*fixed, *drawn.values()})
    ]
    yield from product(*choices)


def _sample(seed: str, newcomers: Sequence[Newcomer], number: int) -> IdClass:
    return IdClass(
        {
            newcomer.name: newcomer.space.made(
                drawn_uuid(f"{seed}/{newcomer.name}", number).int % HEADS,
                None,
                16,
                f"{seed}/{number}/{newcomer.name}",
            )
            for newcomer in newcomers
        },
        1.0 / SAMPLES,
    )
