"""Java's hash of a string, and the iteration order of `java.util.HashMap`, exact.

Leaders, votes and the order of members in answers and records follow the order in which a Java
coordinator walks its maps, so that order is part of the protocol's behaviour.
Source: `java.util.HashMap` (table of power-of-two size, buckets in
insertion order, doubled when more than three quarters full, never shrunk). `assignors` has the same
for its own needs, by the thousand: this package imports nobody, and a test holds the two equal.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from uuid import UUID

INITIAL_CAPACITY = 16

V = TypeVar("V")


def java_hash(text: str) -> int:
    """Java's `String.hashCode()`: a signed 32-bit number over the UTF-16 code units of `text`.

    A character outside the basic plane counts as its two surrogates.
    """
    value = 0
    if text.isascii():  # one unit a character: twice as fast
        for unit in text.encode("ascii"):
            value = (31 * value + unit) & 0xFFFFFFFF
        return value - (1 << 32) if value & 0x80000000 else value
    data = text.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(data), 2):
        value = (31 * value + (data[index] << 8) + data[index + 1]) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


def spread_hash(text: str) -> int:
    """The unsigned hash that HashMap takes a key's bucket from: high bits mixed into low ones."""
    value = java_hash(text) & 0xFFFFFFFF
    return value ^ (value >> 16)


def grown_capacity(size: int, capacity: int = INITIAL_CAPACITY) -> int:
    """Table size of a HashMap of table size `capacity` once it has held `size` keys."""
    while size * 4 > capacity * 3:
        capacity *= 2
    return capacity


def copied_capacity(size: int) -> int:
    """Table size of `new HashMap<>(other)` for a map of `size` keys."""
    wanted, capacity = int(size / 0.75 + 1), 1
    while capacity < wanted:
        capacity *= 2
    return capacity


def hash_map_order(keys: Iterable[str], capacity: int | None = None) -> list[str]:
    """The keys as a HashMap gives them back that got them in this order.

    Args:
        keys: distinct, in insertion order.
        capacity: table size if the map was fuller before; None for a map that only grew to this.
    """
    ordered = list(keys)
    mask = (grown_capacity(len(ordered)) if capacity is None else capacity) - 1
    ordered.sort(key=lambda key: spread_hash(key) & mask)
    return ordered


def int_map_order(keys: Iterable[int], capacity: int = INITIAL_CAPACITY) -> list[int]:
    """Small non-negative numbers as a HashMap of this table size, or grown, gives them back."""
    ordered = list(keys)
    mask = grown_capacity(len(ordered), capacity) - 1
    ordered.sort(key=lambda key: key & mask)
    return ordered


def uuid_map_order(keys: "Iterable[UUID]") -> "list[UUID]":
    """Ids as a HashMap gives them back that got them in this order and grew with them."""
    ordered = list(keys)
    mask = grown_capacity(len(ordered)) - 1
    ordered.sort(key=lambda key: _spread_uuid(key) & mask)
    return ordered


def _spread_uuid(key: "UUID") -> int:
    mixed = (key.int >> 64) ^ (key.int & 0xFFFFFFFFFFFFFFFF)
    value = (mixed >> 32) ^ (mixed & 0xFFFFFFFF)
    return value ^ (value >> 16)


class JavaHashMap(dict[str, V]):
    """A dict that remembers how far a HashMap with its history would have grown.

    Iterating the dict itself gives insertion order; `ordered_keys` gives Java's.
    Hashes are kept, as Java keeps them in the string.
    """

    def __init__(self, items: Mapping[str, V] | None = None) -> None:
        super().__init__()
        self._capacity = INITIAL_CAPACITY
        self._hashes: dict[str, int] = {}
        self._order: list[str] | None = None
        for key, value in (items or {}).items():
            self[key] = value

    def __setitem__(self, key: str, value: V) -> None:
        if key not in self:
            self._order = None
            self._hashes[key] = spread_hash(key)
            if (len(self) + 1) * 4 > self._capacity * 3:
                self._capacity *= 2
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        del self._hashes[key]
        self._order = None

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
        value = self.get(key)
        if key in self:
            del self[key]
        return value

    def ordered_keys(self) -> list[str]:
        """Keys in the order of Java's iterator; do not change the list."""
        if self._order is None:
            hashes, mask = self._hashes, self._capacity - 1
            self._order = sorted(self, key=lambda key: hashes[key] & mask)
        return self._order

    def ordered_values(self) -> list[V]:
        """Values in the order of Java's iterator."""
        return [self[key] for key in self.ordered_keys()]
