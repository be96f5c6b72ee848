"""Java's hash codes, and the iteration order of HashMap and HashSet by keys and insertion order.

Kafka's assignors and coordinator walk hash maps, so who keeps a surplus partition or leads a group
depends on `String.hashCode`, which Java specifies, and on `java.util.HashMap`, which has not
changed its order since Java 8.

Source: java.lang.String, java.util.HashMap (OpenJDK 17).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import mul
from typing import TypeVar
from uuid import UUID

from kgroups.assignors.order.java_table import HashTable, table_capacity

K = TypeVar("K")

MASK = 0xFFFFFFFF
INITIAL_CAPACITY = 16
VECTOR_FROM = 2_000  # texts; below, importing numpy costs more than it saves
CHAIN_LIMIT = 8  # a longer chain resizes the table or becomes a tree

_powers = [1]


def utf16_key(text: str) -> bytes:
    """Sort key that orders text as `String.compareTo` does: by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def java_sorted(texts: Iterable[str]) -> list[str]:
    """The texts in `String.compareTo` order."""
    listed = list(texts)
    if all(map(str.isascii, listed)):
        return sorted(listed)
    return sorted(listed, key=utf16_key)


def string_hash(text: str) -> int:
    """`String.hashCode` as an unsigned 32-bit number."""
    if text.isascii():
        units: Sequence[int] = text.encode("ascii")[::-1]
    else:
        encoded = utf16_key(text)
        units = [high << 8 | low for high, low in zip(encoded[-2::-2], encoded[::-2], strict=True)]
    while len(_powers) < len(units):
        _powers.append(31 * _powers[-1] & MASK)
    value: int = sum(map(mul, units, _powers)) & MASK
    return value


def java_hash(text: str) -> int:
    """`String.hashCode` as Java shows it: a signed 32-bit number."""
    value = string_hash(text)
    return value - (1 << 32) if value >> 31 else value


def string_hashes(texts: Sequence[str]) -> list[int]:
    """`string_hash` of each text; vectorised when there are many of one length."""
    if len(texts) < VECTOR_FROM or not all(map(str.isascii, texts)):
        return [string_hash(text) for text in texts]
    return _vector_hashes(texts)


def _vector_hashes(texts: Sequence[str]) -> list[int]:
    """Hashes of many ASCII texts: one column of characters at a time."""
    import numpy as np

    encoded = np.array(texts, dtype=np.bytes_)
    width = encoded.dtype.itemsize
    columns = encoded.view(np.uint8).reshape(len(texts), width)
    lengths = np.char.str_len(encoded)
    if "\0" in "".join(texts):  # numpy drops trailing zeros
        return [string_hash(text) for text in texts]
    value = np.zeros(len(texts), dtype=np.uint32)
    for column in range(width):
        longer = value * np.uint32(31) + columns[:, column]
        value = np.where(lengths > column, longer, value).astype(np.uint32)
    result: list[int] = value.tolist()
    return result


def topic_partition_hash(topic_hash: int, partition: int) -> int:
    """`TopicPartition.hashCode` as an unsigned 32-bit number."""
    return (31 * (31 + partition) + topic_hash) & MASK


def spread(hash_code: int) -> int:
    """The hash that HashMap spreads a hash code to before it takes the low bits."""
    return hash_code ^ (hash_code >> 16)


def copied_set_capacity(size: int) -> int:
    """Table size of `new HashSet<>(collection)` with this many elements."""
    return table_capacity(max(int(size / 0.75) + 1, 16))


def grown_capacity(size: int, capacity: int = INITIAL_CAPACITY) -> int:
    """Table size of a HashMap of this table size once it has held so many keys, none crowded."""
    while size * 4 > capacity * 3:
        capacity *= 2
    return capacity


def copied_map_capacity(size: int) -> int:
    """Table size of `new HashMap<>(map)` with this many entries."""
    return table_capacity(int(size / 0.75 + 1.0))


def hash_order(
    keys: Sequence[K],
    hashes: Sequence[int],
    *,
    capacity: int = INITIAL_CAPACITY,
    order: Callable[[K], object] | None = None,
) -> list[K]:
    """The keys in iteration order of a HashMap into which they were put one after the other.

    Args:
        keys: distinct, in order of insertion.
        hashes: `hashCode` of each key, unsigned.
        capacity: initial size of the table, a power of two.
        order: sort key that stands for the keys' `compareTo`; the key itself if None.
    """
    if len(keys) >= VECTOR_FROM:
        places = _vector_order(hashes, capacity)
        if places is not None:
            return [keys[index] for index in places]
    spreads = [code ^ (code >> 16) for code in hashes]
    grown = uncrowded_capacity(spreads, capacity)
    if grown is None:
        table: HashTable[K] = HashTable(capacity, order)
        for key, code in zip(keys, spreads, strict=True):
            table.put(key, code)
        return table.listed()
    mask = grown - 1
    ranks = [code & mask for code in spreads]
    return [keys[index] for index in sorted(range(len(keys)), key=ranks.__getitem__)]


def _vector_order(hashes: Sequence[int], capacity: int) -> list[int] | None:
    """Order of many keys; None if some chain may have become too long on the way."""
    import numpy as np

    codes = np.array(hashes, dtype=np.uint32)
    codes ^= codes >> np.uint32(16)
    room = capacity * 3 // 4
    while True:
        places = codes & np.uint32(capacity - 1)
        if np.bincount(places[: room + 1]).max() > CHAIN_LIMIT:
            return None
        if len(codes) <= room:
            order: list[int] = np.argsort(places, kind="stable").tolist()
            return order
        capacity *= 2
        room = capacity * 3 // 4


def uncrowded_capacity(spreads: Sequence[int], capacity: int) -> int | None:
    """Table size after all keys were put; None if some chain may have become too long on the way.

    A long chain doubles the table early or becomes a tree, so order must be found by building it.
    """
    size, room = len(spreads), capacity * 3 // 4
    while True:
        if size > CHAIN_LIMIT:
            mask = capacity - 1
            held = Counter([code & mask for code in spreads[: room + 1]])
            if max(held.values()) > CHAIN_LIMIT:
                return None
        if size <= room:
            return capacity
        capacity *= 2
        room = capacity * 3 // 4


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """The texts as a HashMap gives them back that got them in this order and grew with them."""
    texts = list(keys)
    return hash_order(texts, string_hashes(texts), order=utf16_key)


def int_map_order(keys: Iterable[int], capacity: int = INITIAL_CAPACITY) -> list[int]:
    """Small non-negative numbers as a HashMap of this table size, or grown, gives them back.

    Numbers that are 16 apart share a bucket of the first table: nine of them double it.
    """
    numbers = list(keys)
    return hash_order(numbers, numbers, capacity=capacity)


def uuid_map_order(keys: Iterable[UUID]) -> list[UUID]:
    """Ids as a HashMap gives them back that got them in this order and grew with them."""
    ids = list(keys)
    return hash_order(ids, list(map(_uuid_hash, ids)), order=_signed_halves)


def _uuid_hash(key: UUID) -> int:
    mixed = (key.int >> 64) ^ (key.int & 0xFFFFFFFFFFFFFFFF)
    return (mixed >> 32) ^ (mixed & MASK)


def _signed_halves(key: UUID) -> tuple[int, int]:
    """As `Uuid.compareTo` compares."""
    high, low = (half ^ (1 << 63) for half in divmod(key.int, 1 << 64))
    return high, low
