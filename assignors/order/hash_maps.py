"""Dicts that know the order in which Kafka's maps of the same history are walked.

Leaders, votes and the order of members in answers and records follow the order in which a Java
coordinator walks its maps. Iterating the dict itself gives insertion order; `ordered_keys` gives
Java's.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

from kgroups.assignors.order.java_order import java_hash, spread, string_hash, utf16_key
from kgroups.assignors.order.java_table import HashTable

V = TypeVar("V")

FIBONACCI = -7046029254386353131
INITIAL_BITS = 1


class WalkedMap(dict[str, V]):
    """A dict whose subclass knows the order of Kafka's iterator."""

    def __init__(self, items: Mapping[str, V] | None = None) -> None:
        super().__init__()
        self._order: list[str] | None = None
        for key, value in (items or {}).items():
            self[key] = value

    def take(self, key: str) -> V:
        """The value of this key, which is not in the map any more.

        Raises:
            KeyError: it was not in it.
        """
        value = self[key]
        del self[key]
        return value

    def remove(self, key: str) -> V | None:
        """The value that was there, which is not any more; None if there was none."""
        return self.take(key) if key in self else None

    def ordered_keys(self) -> list[str]:
        """Keys in the order of Kafka's iterator; do not change the list."""
        if self._order is None:
            self._order = self._walked()
        return self._order

    def ordered_values(self) -> list[V]:
        """Values in the order of Kafka's iterator."""
        return [self[key] for key in self.ordered_keys()]

    def _walked(self) -> list[str]:
        raise NotImplementedError


class JavaHashMap(WalkedMap[V]):
    """A `java.util.HashMap`: see `HashTable`."""

    _table: HashTable[str] | None = None  # most groups have no members

    def __setitem__(self, key: str, value: V) -> None:
        if key not in self:
            if self._table is None:
                self._table = HashTable(order=utf16_key)
            self._table.put(key, spread(string_hash(key)))
            self._order = None
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        assert self._table is not None, "the key was put"
        self._table.remove(key, spread(string_hash(key)))
        self._order = None

    def _walked(self) -> list[str]:
        return [] if self._table is None else self._table.listed()


class TimelineHashMap(WalkedMap[V]):
    """An `org.apache.kafka.timeline.TimelineHashMap`.

    Kafka keeps the members, patterns and votes of a consumer group in such maps. A table of slots
    taken from the high bits of a multiplied hash, each slot walked from its newest key to its
    oldest; doubled before a put once 3/4 of one key more than there are exceed it, never shrunk.

    Source: `BaseHashTable`, `SnapshottableHashTable.CurrentIterator`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._bits = INITIAL_BITS
        self._slots: dict[int, list[str]] = {}

    def __setitem__(self, key: str, value: V) -> None:
        if (len(self) + 1) * 3 > (4 << self._bits):
            self._grow()
        if key not in self:
            self._slots.setdefault(_slot(key, self._bits), []).append(key)
            self._order = None
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self._slots[_slot(key, self._bits)].remove(key)
        self._order = None

    def _walked(self) -> list[str]:
        return [key for slot in sorted(self._slots) for key in reversed(self._slots[slot])]

    def _grow(self) -> None:
        self._bits += 1
        before, self._slots, self._order = self._slots, {}, None
        for slot in sorted(before):
            for key in before[slot]:
                self._slots.setdefault(_slot(key, self._bits), []).append(key)


def grown_orders(listed: Sequence[str], size: int) -> list[list[str]]:
    """The orders in which keys may be walked once their map has held `size` keys; as listed first.

    Growing parts keys that shared a slot. A listing does not tell whether the table has to grow
    for that, because it never shrinks.

    Args:
        listed: all keys of the map, in the order of its iterator.
    """
    orders = [list(listed)]
    bits, most = _bits_for(len(listed)), _bits_for(size)
    if any(_slot(before, bits) > _slot(after, bits) for before, after in pairwise(listed)):
        return orders  # this is no order of a map
    for grown in range(bits + 1, most + 1):
        order = sorted(listed, key=partial(_slot, bits=grown))
        if order not in orders:
            orders.append(order)
    return orders


def _bits_for(size: int) -> int:
    """The least that a table has in which each of so many keys was put twice."""
    bits = INITIAL_BITS
    while (size + 1) * 3 > (4 << bits):
        bits += 1
    return bits


def _slot(key: str, bits: int) -> int:
    return (java_hash(key) * FIBONACCI & (1 << 64) - 1) >> (64 - bits)
