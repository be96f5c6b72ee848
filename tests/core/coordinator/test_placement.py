"""Where groups live: vectors computed by a JVM."""

import pytest

from kgroups.assignors.order.java_order import java_hash
from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.errors import UsageError

VECTORS = [
    ("", 0, 0),
    ("g", 103, 3),
    ("test", 3556498, 48),
    ("my-group", -1906497762, 12),
    ("orders-consumer", -1204742690, 40),
    ("console-consumer-12345", 158455506, 6),
    ("connect-sink-1", -329743942, 42),
    ("café", 3045921, 21),
    ("日本語", 25921943, 43),
    ("😀group", -1231696132, 32),
    ("polygenelubricants", -2147483648, 0),
]


@pytest.mark.parametrize(("group", "hashed", "partition"), VECTORS, ids=[v[0] for v in VECTORS])
def test_group_has_javas_hash_and_partition(group: str, hashed: int, partition: int) -> None:
    """Hash and partition of 50 equal Java's, surrogate pairs and the smallest integer included."""
    assert java_hash(group) == hashed
    assert offsets_partition(group, 50) == partition


def test_lone_surrogate_is_hashed_as_java_does() -> None:
    """A lone surrogate is one code unit, not an error."""
    assert java_hash("\ud83d") == 0xD83D


@pytest.mark.parametrize("partitions", [0, -1])
def test_number_of_partitions_must_be_positive(partitions: int) -> None:
    """A topic without partitions has no place for a group."""
    with pytest.raises(UsageError, match=str(partitions)):
        offsets_partition("g", partitions)
