"""The number of a series: 64 bits, the same computed by Spark and outside of it.

A series (cluster, group, topic, partition) is grouped, sorted and joined by one number. Readers of
captures compute it before Spark sees a row, so Spark's `xxhash64` (XXH64 with seed 42, several
columns by taking one's hash as the next one's seed) is here in Python, for names, each of which
is hashed once. Of a million series two share a number once in ten million fleets.
"""

from collections.abc import Iterable
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, cast

from pyspark.sql import Column
from pyspark.sql import functions as F

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    Integers = npt.NDArray[np.int64]

SEED = 42
WORD = 0xFFFF_FFFF_FFFF_FFFF
PRIME_1, PRIME_2 = 0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F
PRIME_3, PRIME_4 = 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63
PRIME_5 = 0x27D4_EB2F_1656_67C5


def series_id() -> Column:
    """The number of a row's series."""
    group = F.xxhash64("cluster", "group")
    return group.bitwiseXOR(F.xxhash64("topic")).bitwiseXOR(F.xxhash64("partition"))


def series_ids(
    cluster: str,
    groups: "pa.DictionaryArray",
    topics: "pa.DictionaryArray",
    partitions: "npt.NDArray[np.int32]",
) -> "Integers":
    """The same of the rows of one cluster."""
    import numpy as np

    seed = hash_of(cluster, SEED)
    most = int(partitions.max(initial=0))
    numbers = _signed(map(hash_of_number, range(most + 1)), most + 1).take(partitions)
    named = np.bitwise_xor(_of_rows(groups, seed), _of_rows(topics, SEED))
    return cast("Integers", named ^ numbers)


def _of_rows(names: "pa.DictionaryArray", seed: int) -> "Integers":
    """The hash of each row's name."""
    different = names.dictionary.to_pylist()
    hashes = _signed(map(hash_of, different, repeat(seed)), len(different))
    return cast("Integers", hashes.take(names.indices.to_numpy()))


def _signed(hashes: Iterable[int], count: int) -> "Integers":
    """Hashes as the signed numbers that Java has."""
    import numpy as np

    return np.fromiter(hashes, np.uint64, count).view(np.int64)


@cache
def hash_of(name: str, seed: int) -> int:
    """XXH64 of a name in UTF-8."""
    return xxh64(name.encode(), seed)


@cache
def hash_of_number(number: int) -> int:
    """XXH64 of a 32-bit number."""
    return xxh64(number.to_bytes(4, "little"), SEED)


def xxh64(data: bytes, seed: int) -> int:
    """XXH64, unsigned (xxHash, `doc/xxhash_spec.md`)."""
    place, length = 0, len(data)
    if length >= 32:
        lanes = [seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1]
        while place + 32 <= length:
            for lane in range(4):
                lanes[lane] = _round(lanes[lane], _word(data, place, 8))
                place += 8
        digest = sum(_rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            digest = (digest ^ _round(0, lane)) * PRIME_1 + PRIME_4
    else:
        digest = seed + PRIME_5
    digest += length
    while place + 8 <= length:
        digest = _rotate(digest ^ _round(0, _word(data, place, 8)), 27) * PRIME_1 + PRIME_4
        place += 8
    if place + 4 <= length:
        digest = _rotate(digest ^ _word(data, place, 4) * PRIME_1, 23) * PRIME_2 + PRIME_3
        place += 4
    for byte in data[place:]:
        digest = _rotate(digest ^ byte * PRIME_5, 11) * PRIME_1
    digest &= WORD
    digest = (digest ^ digest >> 33) * PRIME_2 & WORD
    digest = (digest ^ digest >> 29) * PRIME_3 & WORD
    return digest ^ digest >> 32


def _word(data: bytes, place: int, size: int) -> int:
    return int.from_bytes(data[place : place + size], "little")


def _round(lane: int, word: int) -> int:
    return _rotate(lane + word * PRIME_2, 31) * PRIME_1 & WORD


def _rotate(value: int, bits: int) -> int:
    value &= WORD
    return (value << bits | value >> (64 - bits)) & WORD
