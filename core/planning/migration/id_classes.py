"""Which ids new members may get, as far as a server-side assignor sees them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Final

from kgroups.assignors.order.java_order import utf16_key
from kgroups.core.coordinator.order.javahash import grown_capacity
from kgroups.core.planning.outcomes.ids import bucket, drawn_uuid
from kgroups.core.planning.outcomes.places import Heads, Newcomer, text_orders
from kgroups.core.planning.outcomes.spaces import HEADS, classic_ids, kip848_ids
from kgroups.core.planning.outcomes.visible import Visible

MAX_CLASSES: Final = 120
MOST_ENUMERATED: Final = 3  # tables are gone through bucket by bucket
MOST_COMBINATIONS: Final = 40_000
TIES: Final = 3
SAMPLES: Final = 24


@dataclass(frozen=True, slots=True)
class IdClass:
    """Ids that an assignor cannot tell from others.

    Args:
        ids: name that stands for a member to an id that it may have.
        weight: how likely such ids are.
    """

    ids: Mapping[str, str]
    weight: float


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
    seed: str, known: Sequence[str], unknown: Mapping[str, str | None], visible: Visible
) -> IdClasses:
    """The classes of ids of the members whose ids are not known.

    Args:
        seed: the same ids are made for the same seed.
        known: ids of the other members.
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
        found = tuple(islice(_enumerated(seed, known, newcomers, visible), MAX_CLASSES + 1))
        if 0 < len(found) <= MAX_CLASSES:
            return IdClasses(found)
    samples = tuple(_sample(seed, newcomers, number) for number in range(SAMPLES))
    return IdClasses(samples, complete=False)


def _enumerated(
    seed: str, known: Sequence[str], newcomers: Sequence[Newcomer], visible: Visible
) -> Iterator[IdClass]:
    texts = [Heads({each.name: HEADS // 2 for each in newcomers}, 1.0)]
    if visible.text:
        keys = sorted(map(utf16_key, known))
        texts = list(islice(text_orders(newcomers, keys), MAX_CLASSES + 1))
    tables = [_Buckets({}, 1.0)]
    if visible.tables is not None:
        tables = _hash_orders(known, newcomers)
    capacity = grown_capacity(len(known) + len(newcomers))
    for text in texts:
        for number, table in enumerate(tables):
            ids = {
                each.name: each.space.made(
                    text.heads[each.name],
                    table.buckets.get(each.name),
                    capacity,
                    f"{seed}/{number}/{each.name}",
                )
                for each in newcomers
            }
            yield IdClass(ids, text.weight * table.weight)


@dataclass(frozen=True, slots=True)
class _Buckets:
    """A bucket for each member whose id is not known, and how likely that is."""

    buckets: Mapping[str, int]
    weight: float


def _hash_orders(known: Sequence[str], newcomers: Sequence[Newcomer]) -> list[_Buckets]:
    """Everything that buckets can make of the order of members in a hash table; none if too much.

    Members that share a bucket stand in it as the rest of their hashes says, so an order that only
    shared buckets give is tried with several ids.
    """
    capacity = grown_capacity(len(known) + len(newcomers))
    if capacity ** len(newcomers) > MOST_COMBINATIONS:
        return []
    fixed = [bucket(member_id, capacity) for member_id in known]
    found: dict[tuple[int, ...], tuple[tuple[int, ...], bool, int]] = {}
    for drawn in product(range(capacity), repeat=len(newcomers)):
        places = [*fixed, *drawn]
        order = tuple(sorted(range(len(places)), key=places.__getitem__))
        shared = len(set(drawn) - set(fixed)) < len(drawn)
        first, was_shared, count = found.get(order, (drawn, shared, 0))
        if was_shared and not shared:
            first, was_shared = drawn, False
        found[order] = (first, was_shared, count + 1)
    names = [each.name for each in newcomers]
    total = capacity ** len(newcomers)
    classes = []
    for drawn, shared, count in found.values():
        times = TIES if shared else 1
        buckets = dict(zip(names, drawn, strict=True))
        classes += [_Buckets(buckets, count / total / times)] * times
    return classes


def _sample(seed: str, newcomers: Sequence[Newcomer], number: int) -> IdClass:
    return IdClass(
        {
            each.name: each.space.made(
                drawn_uuid(f"{seed}/{each.name}", number).int % HEADS,
                None,
                16,
                f"{seed}/{number}/{each.name}",
            )
            for each in newcomers
        },
        1.0 / SAMPLES,
    )
