"""User data of many members read at once: the same as read one by one, or not at all."""

from random import Random

import pytest

from kgroups.assignors.compact import TopicTable
from kgroups.assignors.java.claims import BULK_BYTES, is_much
from kgroups.assignors.kernels.bulk_claims import read_bulk
from kgroups.assignors.wire import TopicRuns, decode_sticky_data, encode_sticky_data

TABLE = TopicTable(["a", "long-topic-name-0", "long-topic-name-1", "x" * 40], [5, 9, 3, 4])


def plain(data: bytes | None) -> tuple[list[int], int | None]:
    """Claims of one member, read by the plain reader."""
    runs, generation = decode_sticky_data(data)
    return [
        TABLE.bases[TABLE.index[topic]] + partition
        for topic, partitions in runs
        if topic in TABLE.index
        for partition in partitions
    ], generation


def some_runs(random: Random) -> TopicRuns:
    """A member's claims, unknown topics among them."""
    names = [*TABLE.names, "gone", "y" * 41]
    picked = random.sample(names, random.randrange(len(names)))
    return [(name, [random.randrange(3) for _ in range(random.randrange(3))]) for name in picked]


@pytest.mark.parametrize("seed", range(20))
def test_the_same_as_one_by_one(seed: int) -> None:
    """Numbers, sizes and generations agree; old layouts and missing data are understood."""
    random = Random(seed)
    data: list[bytes | None] = [None, b""]
    data += [encode_sticky_data(some_runs(random), n if n % 7 else None) for n in range(30)]
    found = read_bulk(TABLE, data)
    assert found is not None
    numbers, start = found.numbers.tolist(), 0
    for part, size, generation in zip(data, found.sizes.tolist(), found.generations, strict=True):
        assert (numbers[start : start + size], generation) == plain(part)
        start += size


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
