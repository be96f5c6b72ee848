"""Where a Java producer sends a record with a key: murmur2 of its bytes, modulo the partitions.

Source: `org.apache.kafka.common.utils.Utils.murmur2`, `BuiltInPartitioner.partitionForKey`.
"""

from typing import Final

SEED: Final = 0x9747B28C
FACTOR: Final = 0x5BD1E995
MASK: Final = 0xFFFFFFFF


def murmur2(key: bytes) -> int:
    """The hash, 0 to 2^32 - 1; Java shows the same bits as a signed number."""
    left = len(key)
    found = SEED ^ left
    whole = left & ~3
    for place in range(0, whole, 4):
        part = int.from_bytes(key[place : place + 4], "little") * FACTOR & MASK
        part = (part ^ part >> 24) * FACTOR & MASK
        found = found * FACTOR & MASK ^ part
    if left != whole:
        found = (found ^ int.from_bytes(key[whole:], "little")) * FACTOR & MASK
    found = (found ^ found >> 13) * FACTOR & MASK
    return found ^ found >> 15


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of so many that records with this key go to."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
