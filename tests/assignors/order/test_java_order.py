"""Java's hash codes and the order of its hash tables."""

from random import Random

import pytest

from kgroups.assignors.kip848.target import uuid_halves, uuid_hash
from kgroups.assignors.order.java_order import (
    copied_map_capacity,
    copied_set_capacity,
    hash_order,
    java_sorted,
    spread,
    string_hash,
    string_hashes,
    topic_partition_hash,
)
from kgroups.assignors.order.java_table import HashTable
from kgroups.assignors.spec import AssignorError

HASHES = [
    ("", 0),
    ("app-7f6d1c2e-0a11-4b6e-9d55-1f2e3d4c5b6a", 3117525199),
    ("app-01b2c3d4-1111-4222-8333-444455556666", 2947584320),
    ("app-c0ffee00-dead-4bee-8f00-0123456789ab", 324353563),
    ("consumer1", 3873962747),
    ("Aa", 2112),
    ("BB", 2112),
]
SHARED_BUCKET = (
    *("topic.Y__ccY4", "topic.Yab-ba5", "topic.ZYY_a-0", "topic.ZcZZb_1", "topic._YXZc_3"),
    *("topic.a_ZZa_2", "topic.cc_YXX6"),
)
PUT = ("a_ZZa_2", "cc_YXX6", "ZYY_a-0", "ZcZZb_1", "Y__ccY4", "_YXZc_3", "Yab-ba5")
COMPUTED = ("cc_YXX6", "a_ZZa_2", "ZcZZb_1", "ZYY_a-0", "Y__ccY4", "_YXZc_3", "Yab-ba5")


@pytest.mark.parametrize(("text", "code"), HASHES)
def test_string_hash(text: str, code: int) -> None:
    """`String.hashCode`, unsigned."""
    assert string_hash(text) == code


def test_string_hash_goes_by_utf16_units() -> None:
    """A character beyond the basic plane counts as its two surrogates."""
    assert string_hash("😀") == 31 * 0xD83D + 0xDE00
    assert string_hash("é") == 0xE9


def test_many_hashes_at_once() -> None:
    """The vectorised form gives the same, for texts of any length and for zeros at the end."""
    random = Random(3)
    texts = ["".join(chr(random.randrange(33, 127)) for _ in range(n % 50)) for n in range(2_100)]
    assert string_hashes(texts) == [string_hash(text) for text in texts]
    assert string_hashes(["a\0", *texts]) == [string_hash(text) for text in ["a\0", *texts]]


def test_text_order_goes_by_utf16_units() -> None:
    """A surrogate pair sorts before U+FFEE, unlike its code point."""
    assert java_sorted(["\uffee", "😀", "a"]) == ["a", "😀", "\uffee"]
    assert java_sorted(["b", "a", "B"]) == ["B", "a", "b"]


def test_order_inside_a_bucket() -> None:
    """`put` appends to a chain, `computeIfAbsent` puts in front of it."""
    codes = [string_hash(name) for name in SHARED_BUCKET]
    assert hash_order(SHARED_BUCKET, codes) == [f"topic.{name}" for name in PUT]
    table: HashTable[str] = HashTable()
    for name, code in zip(SHARED_BUCKET, codes, strict=True):
        table.compute(name, spread(code))
        table.compute(name, spread(code))
    assert table.listed() == [f"topic.{name}" for name in COMPUTED]


def test_a_chain_of_nine_doubles_a_small_table_and_then_becomes_a_tree() -> None:
    """Nine equal hashes give 32 buckets, ten 64, eleven a tree with its root in front."""
    table: HashTable[int] = HashTable()
    sizes = []
    for key in range(11):
        table.put(key, 7)
        table.put(key, 7)
        sizes.append(table.capacity)
    assert sizes == [16] * 8 + [32, 64, 64]
    assert table.listed() == [3, 0, 1, 2, *range(4, 11)]
    big: HashTable[int] = HashTable(64)
    for key in range(9):
        big.put(key, 7)
    assert big.listed() == [3, 0, 1, 2, *range(4, 9)]
    assert len(big) == 9


def test_computed_chains_become_trees_one_entry_earlier() -> None:
    """`computeIfAbsent` counts the chain before it adds; keys leave a tree as in Java."""
    table: HashTable[int] = HashTable(64)
    for key in range(12):
        table.compute(key, 7)
    assert table.listed() == [4, 7, 8, 9, 10, 11, 6, 5, 3, 2, 1, 0]
    for key in (5, 0, 11):
        table.remove(key, 7)
    assert table.listed() == [4, 7, 8, 9, 10, 6, 3, 2, 1]
    small: HashTable[int] = HashTable(16)
    for key in range(9):
        small.compute(key, 5)
    assert small.capacity > 16


@pytest.mark.parametrize("seed", range(40))
def test_trees_lose_and_gain_keys(seed: int) -> None:
    """Whatever is put and removed, a table holds exactly the keys that are left."""
    random = Random(seed)
    table: HashTable[int] = HashTable(64)
    kept: set[int] = set()
    for _ in range(600):
        key = random.randrange(90)
        if key in kept and random.random() < 0.6:
            table.remove(key, key % 3)
            kept.discard(key)
        else:
            table.put(key, key % 3)
            kept.add(key)
        assert sorted(table.listed()) == sorted(kept)


def test_many_keys_in_order_at_once() -> None:
    """The vectorised order is that of the table, chains that are too long included."""
    random = Random(5)
    for codes in (
        [random.getrandbits(32) for _ in range(3_000)],
        [number % 40 for number in range(3_000)],
    ):
        table: HashTable[int] = HashTable()
        for key, code in enumerate(codes):
            table.put(key, spread(code))
        assert hash_order(range(len(codes)), codes) == table.listed()


def test_capacities_of_copies() -> None:
    """Java sizes a copy by its number of elements."""
    assert [copied_set_capacity(n) for n in (0, 11, 12, 13, 24)] == [16, 16, 32, 32, 64]
    assert [copied_map_capacity(n) for n in (1, 3, 12, 13)] == [2, 8, 32, 32]


def test_other_hash_codes() -> None:
    """`TopicPartition.hashCode` and `Uuid.hashCode`."""
    assert topic_partition_hash(string_hash("t"), 3) == 31 * (31 + 3) + 116
    assert uuid_hash(uuid_halves("AAAAAAAAAAEAAAAAAAAAAQ")) == 0
    assert uuid_hash(uuid_halves("JXk0pQqZTrGvYxZ3nP0aEA")) == 478049907
    assert uuid_hash(uuid_halves("9Vb2hTq4QmKc1o0sN8yLxQ")) == 1693757966


@pytest.mark.parametrize(
    "text", ["", "00000000-0000-0001-0000-000000000001", "AAAAAAAAAAEAAAAAAAAA", "a.b"]
)
def test_topic_ids_of_another_form_are_refused(text: str) -> None:
    """They would put topics into another order without a word."""
    with pytest.raises(AssignorError, match="is not a topic id"):
        uuid_halves(text)
