"""Records with keys: how often each key comes, and what that makes of a topic's partitions.

A Java producer sends a record with a key to murmur2 of its bytes, modulo the partitions.
Source: `org.apache.kafka.common.utils.Utils.murmur2`, `BuiltInPartitioner.partitionForKey`.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final


@dataclass(frozen=True, slots=True)
class KeyLoad:
    """The keys of a topic's records.

    Args:
        count: of keys, called `PREFIX1`, `PREFIX2`, ...; the n-th is 1/n^exponent as frequent as
            the first (Zipf).
        exponent: 0: all are as frequent.
        prefix: of their names, whose UTF-8 bytes are hashed.
        named: keys with their weights, in the place of those.
    """

    count: int = 0
    exponent: float = 1.0
    prefix: str = "key-"
    named: tuple[tuple[str, float], ...] = ()

    def shares(self, partitions: int) -> tuple[float, ...]:
        """The share of the records that goes to each of so many partitions."""
        return _shares(self, partitions)


@cache
def _shares(keys: KeyLoad, partitions: int) -> tuple[float, ...]:
    sums = [0.0] * partitions
    numbers = range(1, keys.count + 1)
    weighed = keys.named or ((f"{keys.prefix}{n}", n**-keys.exponent) for n in numbers)
    for key, weight in weighed:
        sums[partition_of(key.encode(), partitions)] += weight
    total = sum(sums)
    return tuple(weight / total for weight in sums)


SEED: Final = 0x9747B28C
FACTOR: Final = 0x5BD1E995
MASK: Final = 0xFFFFFFFF


def murmur2(key: bytes) -> int:
    """The hash, 0 to 2^32 - 1; Java shows the same bits as a signed number."""
    left = len(key)
    digest = SEED ^ left
    whole = left & ~3
    for place in range(0, whole, 4):
        part = int.from_bytes(key[place : place + 4], "little") * FACTOR & MASK
        part = (part ^ part >> 24) * FACTOR & MASK
        digest = digest * FACTOR & MASK ^ part
    if left != whole:
        digest = (digest ^ int.from_bytes(key[whole:], "little")) * FACTOR & MASK
    digest = (digest ^ digest >> 13) * FACTOR & MASK
    return digest ^ digest >> 15


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of so many that records with this key go to."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
