"""The partition of `__consumer_offsets` that a group's name hashes to."""

from functools import lru_cache

from kgroups.assignors.order.java_order import java_hash
from kgroups.core.errors import UsageError

OFFSETS_TOPIC = "__consumer_offsets"


@lru_cache(maxsize=4096)
def offsets_partition(group: str, partitions: int) -> int:
    """Partition of `__consumer_offsets` that holds `group`; its leader is the coordinator.

    Args:
        group: the group's name.
        partitions: how many partitions `__consumer_offsets` has; at least 1 (Kafka's default: 50).
    Raises:
        UsageError: `partitions` is not positive.
    Source: `GroupMetadataManager.partitionFor` and `Utils.abs`, which maps the smallest integer,
        whose absolute value is no integer, to 0.
    """
    if partitions < 1:
        raise UsageError(f"`{partitions}` is not a number of partitions")
    value = java_hash(group)
    return 0 if value == -(1 << 31) else abs(value) % partitions
