"""A dict that knows the order in which a `java.util.HashMap` of the same history is walked.

Leaders, votes and the order of members in answers and records follow the order in which a Java
coordinator walks its maps. A table of power-of-two size is doubled when more than three quarters
full, and never shrunk; a bucket is walked in insertion order. With the ninth key a bucket doubles a
table of less than 64 buckets, and becomes a red-black tree in a larger one.

Source: `java.util.HashMap` (OpenJDK 17).
"""

from collections import Counter
from collections.abc import Mapping
from typing import TypeVar

from kgroups.assignors.order.java_order import (
    CHAIN_LIMIT,
    INITIAL_CAPACITY,
    spread,
    string_hash,
    utf16_key,
)
from kgroups.assignors.order.java_table import HashTable

V = TypeVar("V")


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
            self._add(key, spread(string_hash(key)))
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
            self._chains = Counter(code & mask for code in self._hashes.values())

    def _built(self) -> HashTable[str]:
        """The table as it is, with its chains."""
        table: HashTable[str] = HashTable(self._capacity, utf16_key)
        for key in self.ordered_keys():
            table.put(key, self._hashes[key])
        return table
