"""Records with keys: how often each key comes, and what that makes of a topic's partitions."""

from dataclasses import dataclass
from functools import cache

from kgroups.core.simulation.load.murmur2 import partition_of


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
        """What share of the records goes to each of so many partitions."""
        return _shares(self, partitions)


@cache
def _shares(keys: KeyLoad, partitions: int) -> tuple[float, ...]:
    found = [0.0] * partitions
    numbers = range(1, keys.count + 1)
    weighed = keys.named or ((f"{keys.prefix}{n}", n**-keys.exponent) for n in numbers)
    for key, weight in weighed:
        found[partition_of(key.encode(), partitions)] += weight
    total = sum(found)
    return tuple(one / total for one in found)
