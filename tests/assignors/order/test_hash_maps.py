"""HashMap order, against a JVM and a plain model; TimelineHashMap: slots, growth and removal."""

import random

import hypothesis.strategies as st
import pytest
from hypothesis import given

from kgroups.assignors.order.hash_maps import JavaHashMap, TimelineHashMap
from kgroups.assignors.order.java_order import (
    grown_capacity,
    hash_map_order,
    int_map_order,
    spread,
    string_hash,
)
from tests.support.assignors.oracle import ask_java

NAMES = st.lists(st.text(max_size=6), unique=True, max_size=60)


# Printed by Java 17: keys put into a new HashMap in this order -> its keySet.
FROM_A_JVM = [
    (
        ("range", "roundrobin", "sticky", "cooperative-sticky"),
        "sticky range roundrobin cooperative-sticky",
    ),
    (("uniform", "range"), "uniform range"),
    (("BB", "Aa", "x"), "BB Aa x"),
    (("é", "😀", "日本", "Aa", "BB", "C#"), "Aa BB C# 😀 é 日本"),
    (
        tuple(f"consumer-{n}" for n in range(30)),
        "consumer-11 consumer-10 consumer-6 consumer-17 consumer-5 consumer-16 consumer-4"
        " consumer-19 consumer-3 consumer-18 consumer-2 consumer-13 consumer-1 consumer-12"
        " consumer-0 consumer-15 consumer-14 consumer-20 consumer-22 consumer-21 consumer-28"
        " consumer-27 consumer-29 consumer-24 consumer-23 consumer-26 consumer-25 consumer-9"
        " consumer-8 consumer-7",
    ),
]


@pytest.mark.parametrize(("names", "order"), FROM_A_JVM, ids=lambda value: str(value)[:20])
def test_names_come_in_the_order_of_a_jvm(names: tuple[str, ...], order: str) -> None:
    """Collisions, a table that has grown, and characters beyond the basic plane."""
    assert hash_map_order(names) == order.split()


@pytest.mark.parametrize(("size", "capacity"), [(0, 16), (12, 16), (13, 32), (24, 32), (25, 64)])
def test_a_table_grows_beyond_three_quarters(size: int, capacity: int) -> None:
    """Twelve keys fit into sixteen buckets, the thirteenth doubles them."""
    assert grown_capacity(size) == capacity


@given(NAMES)
def test_a_map_is_ordered_as_the_function_says(names: list[str]) -> None:
    """Insertion one by one ends in the same order."""
    table = JavaHashMap({name: name for name in names})
    assert table.ordered_keys() == hash_map_order(names)
    assert table.ordered_values() == hash_map_order(names)


@given(NAMES, st.data())
def test_a_map_that_shrank_keeps_its_table(names: list[str], data: st.DataObject) -> None:
    """Removing keys leaves the capacity; a key put again goes to the end of its bucket."""
    table = JavaHashMap({name: len(name) for name in names})
    gone = data.draw(st.lists(st.sampled_from(names), unique=True) if names else st.just([]))
    for turn, name in enumerate(gone):
        removed = table.remove(name) if turn % 2 else table.take(name)
        assert removed == len(name)
    assert table.remove("no such key") is None
    again = gone[: len(gone) // 2]
    for name in again:
        table[name] = 0
    kept = [name for name in names if name not in gone] + again
    mask = grown_capacity(len(names)) - 1
    model: dict[int, list[str]] = {}
    for name in kept:
        model.setdefault(spread(string_hash(name)) & mask, []).append(name)
    assert table.ordered_keys() == [name for _, chain in sorted(model.items()) for name in chain]


# Names that share two buckets of a table of 64, but no hash code.
CROWDED = [f"m{n}" for n in range(3_000) if spread(string_hash(f"m{n}")) & 63 in (3, 4)]


def colliding_names(dice: random.Random, count: int) -> list[str]:
    """Names of which many share a hash code, and more a bucket: `Aa` and `BB` are alike in Java."""
    pairs = dice.randint(1, 4)
    names = {
        "".join(dice.choice(("Aa", "BB")) for _ in range(pairs)) + dice.choice(("", "", "é", "x"))
        for _ in range(count)
    }
    names |= {f"app-{dice.getrandbits(16):x}" for _ in range(dice.randint(0, count // 2))}
    names |= set(dice.sample(CROWDED, dice.randint(0, min(count, len(CROWDED)))))
    return dice.sample(sorted(names), min(count, len(names)))


def random_puts(dice: random.Random) -> list[str] | list[int]:
    """Keys to put, and to take out again when they come a second time."""
    if dice.random() < 0.2:
        step = dice.choice((1, 3, 16, 64))
        return [step * number for number in dice.sample(range(60), dice.randint(0, 40))]
    names = colliding_names(dice, dice.randint(0, 90))
    gone = [name for name in names if dice.random() < dice.choice((0.0, 0.3, 0.8))]
    again = [name for name in gone if dice.random() < 0.5]
    return [*names, *dice.sample(gone, len(gone)), *again]


@pytest.mark.kafka
def test_long_buckets_are_walked_as_a_jvm_walks_them() -> None:
    """1,000 random histories, most with buckets of more than eight keys: trees, and back."""
    dice = random.Random(16)
    asked = [random_puts(dice) for _ in range(1_000)]
    answers = ask_java(({"put": puts} for puts in asked), "JavaOrders")
    for puts, order in ((each["put"], each["java"]) for each in answers):
        if puts and isinstance(puts[0], int):
            assert int_map_order(puts) == order
            continue
        table: JavaHashMap[int] = JavaHashMap()
        for name in puts:
            if name in table:
                del table[name]
            else:
                table[name] = 0
        assert table.ordered_keys() == order
        if len(set(puts)) == len(puts):
            assert hash_map_order(puts) == order


KEYS = st.text(alphabet="abcdef0123456789-", min_size=1, max_size=6)


def filled(*keys: str) -> TimelineHashMap[int]:
    """A map with these keys, put in this order."""
    made: TimelineHashMap[int] = TimelineHashMap()
    for number, key in enumerate(keys):
        made[key] = number
    return made


def test_two_keys_of_one_slot_are_walked_newest_first() -> None:
    """`Aa` and `BB` have the same hash in Java."""
    assert filled("Aa", "BB").ordered_keys() == ["BB", "Aa"]
    assert filled("BB", "Aa").ordered_keys() == ["Aa", "BB"]


def test_putting_a_known_key_keeps_its_place() -> None:
    """A changed value does not move its key within the slot."""
    made = filled("Aa", "BB")
    made["Aa"] = 7
    assert made.ordered_values() == [1, 7]


def test_names_of_assignors_in_a_table_of_two() -> None:
    """As Kafka 4.3 shows them when a vote is tied: the first one wins."""
    assert filled("range", "uniform").ordered_keys() == filled("uniform", "range").ordered_keys()


@given(st.lists(KEYS, unique=True, max_size=40), st.data())
def test_every_key_is_walked_once_whatever_was_removed(
    keys: list[str], data: st.DataObject
) -> None:
    """The order holds exactly the keys, and depends on the keys' slots only but for collisions."""
    made = filled(*keys)
    gone = data.draw(st.sets(st.sampled_from(keys))) if keys else set()
    for key in gone:
        assert made.remove(key) is not None
    assert made.remove("not there") is None
    left = [key for key in keys if key not in gone]
    assert sorted(made.ordered_keys()) == sorted(left)
    assert made.ordered_values() == [made[key] for key in made.ordered_keys()]
