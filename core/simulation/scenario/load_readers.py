"""How much comes to a topic, and where, as a file has it: backlog, skew, hours of the day."""

from typing import Final

from kgroups.core.input_files.document import Cursor, Readers
from kgroups.core.simulation.scenario.key_load import KeyLoad

HOURS: Final = 24
MAX_WEIGHT: Final = 1e9
MAX_EXPONENT: Final = 50.0
# Each is hashed.
MAX_KEYS: Final = 100_000


def read_backlog(cursor: Cursor, partitions: int) -> tuple[int, ...]:
    """Records over all partitions, or a list with those of each."""
    if not isinstance(cursor.value, list):
        return (cursor.integer(0),)
    found = tuple(each.integer(0) for each in cursor.items())
    _check_length(cursor, len(found), partitions)
    return found


def read_weights(cursor: Cursor, partitions: int) -> tuple[float, ...]:
    """Weights of the partitions, or the exponent of a Zipf distribution over them.

    With the exponent s the n-th partition gets 1/n^s of what the first one gets.
    """
    if not isinstance(cursor.value, list):
        exponent = min(_weight(cursor), MAX_EXPONENT)
        return tuple((n + 1) ** -exponent for n in range(partitions))
    found = tuple(_weight(each) for each in cursor.items())
    _check_length(cursor, len(found), partitions)
    if not sum(found):
        cursor.fail("expected a weight above 0")
    return found


def read_keys(cursor: Cursor) -> KeyLoad:
    """How many keys there are, or a mapping that says more."""
    if not isinstance(cursor.value, dict):
        return KeyLoad(cursor.integer(1, MAX_KEYS))
    fields = cursor.fields((), ("count", "skew", "prefix", "named"))
    if ("count" in fields.values) == ("named" in fields.values):
        cursor.fail("expected either `count` or `named`")
    if "named" in fields.values:
        if len(fields.values) > 1:
            cursor.fail("`skew` and `prefix` are about a `count` of keys")
        named = tuple((key, _weight(value)) for key, value in fields["named"].entries())
        if not sum(weight for _, weight in named):
            fields["named"].fail("expected a key with a weight above 0")
        return KeyLoad(named=named)
    readers: Readers = {
        "skew": ("exponent", lambda value: min(_weight(value), MAX_EXPONENT)),
        "prefix": ("prefix", Cursor.text),
    }
    return KeyLoad(fields["count"].integer(1, MAX_KEYS), **fields.given(readers))


def read_hours(cursor: Cursor) -> tuple[float, ...]:
    """Factors of the rate, one for each hour of the day."""
    found = tuple(_weight(each) for each in cursor.items())
    if len(found) != HOURS:
        cursor.fail(f"{len(found)} entries for {HOURS} hours")
    return found


def _check_length(cursor: Cursor, found: int, partitions: int) -> None:
    if found != partitions:
        cursor.fail(f"{found} entries for {partitions} partitions")


def _weight(cursor: Cursor) -> float:
    value = cursor.value
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else -1
    if not 0 <= number <= MAX_WEIGHT:
        cursor.fail(f"expected a number of at least 0, found `{value}`")
    return float(number)
