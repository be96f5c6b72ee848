"""User data of many members read at once, or not at all where one is odd.

What is read of others is what Java reads: `sticky with arrays` in `tests/assignors/java`.
"""

import pytest

from kgroups.assignors.compact import TopicTable
from kgroups.assignors.java.claims import BULK_BYTES, is_much
from kgroups.assignors.kernels.bulk_claims import read_bulk
from kgroups.assignors.wire import encode_sticky_data

TABLE = TopicTable(["a", "long-topic-name-0", "long-topic-name-1", "x" * 40], [5, 9, 3, 4])


GOOD = encode_sticky_data([("a", [1]), ("gone", [0])], 3)


@pytest.mark.parametrize(
    "damaged",
    [
        GOOD[:3],
        GOOD[:5],
        GOOD[:8],
        GOOD[:12],
        b"\xff\xff\xff\xff",
        b"\0\0\0\1\xff\xff" + b"x" * 70_000,
        b"\0\0\0\1\0\1a\xff\xff\xff\xff",
        encode_sticky_data([("a", [5])], 1),
        encode_sticky_data([("a", [-1])], 1),
        encode_sticky_data([], 1),
    ],
)
def test_anything_odd_is_left_to_the_plain_reader(damaged: bytes) -> None:
    """Bytes that run out, impossible counts and partitions that do not exist."""
    others = [] if damaged == encode_sticky_data([], 1) else [GOOD]
    assert read_bulk(TABLE, [damaged, *others]) is None


def test_small_groups_are_left_to_the_plain_reader() -> None:
    """It is worth it only for many bytes of many members, and for topics that exist."""
    assert not is_much([GOOD] * 100)
    assert not is_much([GOOD * BULK_BYTES])
    assert is_much([GOOD * BULK_BYTES] * 64)
    assert read_bulk(TopicTable([], []), [GOOD]) is None
    assert read_bulk(TABLE, [None]) is None
