"""The order of Kafka's TimelineHashMap: slots, collisions, growth and removal."""

from hypothesis import given
from hypothesis import strategies as st

from kgroups.assignors.order.timeline_hash_map import TimelineHashMap

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
