"""Where a group lives: Java's string hash and the partition of `__consumer_offsets` it leads to."""

OFFSETS_TOPIC = "__consumer_offsets"


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


def offsets_partition(group: str, partitions: int) -> int:
    """Partition of `__consumer_offsets` that holds `group`; its leader is the coordinator.

    Args:
        group: the group's name.
        partitions: how many partitions `__consumer_offsets` has; at least 1 (Kafka's default: 50).
    Raises:
        ValueError: `partitions` is not positive.
    Source: `GroupMetadataManager.partitionFor` and `Utils.abs`, which maps the smallest integer,
        whose absolute value is no integer, to 0.
    """
    if partitions < 1:
        raise ValueError(f"`{partitions}` is not a number of partitions")
    value = java_hash(group)
    return 0 if value == -(1 << 31) else abs(value) % partitions
