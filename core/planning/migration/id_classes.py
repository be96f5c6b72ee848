"""Which ids new members may get, as far as a server-side assignor sees them.

Members that share a bucket of the assignor's hash table stand in it as the coordinator walked its
own table when it filled this one, which is ordered by other bits of their hashes. So they may stand
there in any order, and a class of ids says besides the ids which place each has in its bucket.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Final

from kgroups.assignors.order.java_order import grown_capacity, utf16_key
from kgroups.core.planning.outcomes.arrival_order import mixed
from kgroups.core.planning.outcomes.ids import bucket
from kgroups.core.planning.outcomes.newcomer_ids import (
    ANY_BUCKETS,
    Buckets,
    Ids,
    Newcomer,
    member_ids,
    named_ids,
    sampled_id,
)
from kgroups.core.planning.outcomes.visible_order import Visible

MAX_CLASSES: Final = 120
MOST_ENUMERATED: Final = 3  # tables are gone through bucket by bucket
MOST_COMBINATIONS: Final = 40_000
SAMPLES: Final = 24


NO_CHOICE: Final = ([Ids({}, 1.0)], True)


def id_classes(
    seed: str, present: Sequence[str], unknown: Mapping[str, str | None], visible: Visible
) -> tuple[Sequence[Ids], bool]:
    """The classes of ids of the members whose ids are not known, and whether these are all.

    Args:
        seed: the same ids are made for the same seed.
        present: ids of the other members, in the order of the coordinator.
        unknown: name of a member to what its id begins with; None for the plain uuid that
            members of consumer groups have.
        visible: what the assignor sees of ids.
    """
    newcomers = [Newcomer(name, member_ids(prefix), name) for name, prefix in unknown.items()]
    if not newcomers:
        return NO_CHOICE
    if len(newcomers) <= MOST_ENUMERATED:
        keys = sorted(map(utf16_key, present)) if visible.text else None
        tables = [ANY_BUCKETS] if visible.tables is None else _hash_orders(present, newcomers)
        classes = list(islice(named_ids(newcomers, seed, keys, tables), MAX_CLASSES + 1))
        if 0 < len(classes) <= MAX_CLASSES:
            return classes, True
    return [
        Ids(
            {newcomer.name: sampled_id(newcomer, seed, number) for newcomer in newcomers},
            1 / SAMPLES,
        )
        for number in range(SAMPLES)
    ], False


def _hash_orders(present: Sequence[str], newcomers: Sequence[Newcomer]) -> list[Buckets]:
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
    by_order: dict[tuple[str, ...], Buckets] = {}
    for drawn in product(range(capacity), repeat=len(names)):
        buckets = dict(zip(names, drawn, strict=True))
        orders = list(_orders(fixed, buckets))
        for order in orders:
            met = tuple(name for part in order for name in part)
            first = by_order.get(met)
            if first is None:
                places = {n: at for part in order for at, n in enumerate(part) if n in buckets}
                first = Buckets(buckets, 0.0, capacity, places)
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
