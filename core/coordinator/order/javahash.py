"""Java's hash of a string, and the iteration order of `java.util.HashMap`, exact.

Leaders, votes and the order of members in answers and records follow the order in which a Java
coordinator walks its maps, so that order is part of the protocol's behaviour.
A table of power-of-two size is doubled when more than three quarters full, and never shrunk;
a bucket is walked in insertion order. With the ninth key a bucket doubles a table of less than 64
buckets, and becomes a red-black tree in a larger one, which has an order of its own.

Source: `java.util.HashMap` (OpenJDK 17); the table itself is `kgroups.assignors.order.java_table`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from uuid import UUID

    from kgroups.assignors.order.java_table import HashTable

INITIAL_CAPACITY = 16
CHAIN_LIMIT = 8  # a longer chain doubles the table or becomes a tree
MASK = 0xFFFFFFFF

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


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """The keys as a HashMap gives them back that got them in this order and grew with them."""
    from kgroups.assignors.order.java_order import hash_order, utf16_key  # not to hash one name

    ordered = list(keys)
    return hash_order(ordered, [java_hash(key) & MASK for key in ordered], order=utf16_key)


def int_map_order(keys: Iterable[int], capacity: int = INITIAL_CAPACITY) -> list[int]:
    """Small non-negative numbers as a HashMap of this table size, or grown, gives them back.

    Numbers that are 16 apart share a bucket of the first table: nine of them double it.
    """
    from kgroups.assignors.order.java_order import hash_order  # not to hash one name

    ordered = list(keys)
    return hash_order(ordered, ordered, capacity=capacity)


def uuid_map_order(keys: "Iterable[UUID]") -> "list[UUID]":
    """Ids as a HashMap gives them back that got them in this order and grew with them."""
    from kgroups.assignors.order.java_order import hash_order  # not to hash one name

    ordered = list(keys)
    return hash_order(ordered, [_uuid_hash(key) for key in ordered], order=_signed_halves)


def _uuid_hash(key: "UUID") -> int:
    mixed = (key.int >> 64) ^ (key.int & 0xFFFFFFFFFFFFFFFF)
    return (mixed >> 32) ^ (mixed & MASK)


def _signed_halves(key: "UUID") -> tuple[int, int]:
    """As `Uuid.compareTo` compares."""
    high, low = (half ^ (1 << 63) for half in divmod(key.int, 1 << 64))
    return high, low


class JavaHashMap(dict[str, V]):
    """A dict that remembers what a HashMap with its history looks like.

    Iterating the dict itself gives insertion order; `ordered_keys` gives Java's.
    Hashes are kept, as Java keeps them in the string. The table itself is built when a bucket
    becomes too long for a chain, which happens to keys that are made for it alone.
    """

    def __init__(self, items: Mapping[str, V] | None = None) -> None:
        super().__init__()
        self._capacity = INITIAL_CAPACITY
        self._hashes: dict[str, int] = {}
        self._order: list[str] | None = None
        self._chains: Counter[int] = Counter()
        self._table: HashTable[str] | None = None
        for key, value in (items or {}).items():
            self[key] = value

    def __setitem__(self, key: str, value: V) -> None:
        if key not in self:
            self._add(key, spread_hash(key))
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        code = self._hashes.pop(key)
        self._order = None
        if self._table is not None:
            self._table.remove(key, code)
        else:
            self._chains[code & self._capacity - 1] -= 1

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
        if self._order is None and self._table is not None:
            self._order = self._table.listed()
        elif self._order is None:
            hashes, mask = self._hashes, self._capacity - 1
            self._order = sorted(self, key=lambda key: hashes[key] & mask)
        return self._order

    def ordered_values(self) -> list[V]:
        """Values in the order of Java's iterator."""
        return [self[key] for key in self.ordered_keys()]

    def _add(self, key: str, code: int) -> None:
        """Note a new key: in the table if there is one, else what is needed to build one."""
        place = code & self._capacity - 1
        if self._table is None and self._chains[place] == CHAIN_LIMIT:
            self._table = self._built()
        self._order = None
        self._hashes[key] = code
        if self._table is not None:
            self._table.put(key, code)
            return
        self._chains[place] += 1
        if (len(self) + 1) * 4 > self._capacity * 3:
            self._capacity *= 2
            mask = self._capacity - 1
            self._chains = Counter(each & mask for each in self._hashes.values())

    def _built(self) -> "HashTable[str]":
        """The table as it is, with its chains."""
        from kgroups.assignors.order.java_order import utf16_key
        from kgroups.assignors.order.java_table import HashTable

        table: HashTable[str] = HashTable(self._capacity, utf16_key)
        for each in self.ordered_keys():
            table.put(each, self._hashes[each])
        return table
