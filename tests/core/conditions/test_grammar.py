"""The language of conditions: what it takes, what it refuses, and its three results."""

import itertools

import pytest

from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.fields import AtLeast, Field, Fields, Value
from kgroups.core.conditions.grammar import DEEPEST, parse_condition
from kgroups.core.errors import UsageError

FIELDS = Fields(
    "a test",
    (
        Field("a", "number", None, "a number"),
        Field("b", "number", "partitions", "a part", whole="all"),
        Field("all", "number", "partitions", "the whole"),
        Field("wait_seconds", "number", "seconds", "a time"),
        Field("state", "text", None, "a text"),
    ),
)
VALUES: dict[str, Value] = {"a": 5, "b": 2, "all": 8, "wait_seconds": 90.0, "state": "Stable"}


def parse(text: str) -> Condition:
    """The condition on the fields above."""
    return parse_condition(text, FIELDS, "--fail-on")


HOLDING = [
    ("a = 5", True),
    ("a == 5", True),
    ("a != 5", False),
    ("a<6", True),
    ("a <= 5 and a >= 5", True),
    ("a > 4.5", True),
    ("a > -1", True),
    ("A >= 5", True),
    ("a < 10k", True),
    ("a < 0.001M", True),
    ("a > 1G", False),
    ("b = 25%", True),
    ("b > 25%", False),
    ("wait_seconds > 1m", True),
    ("wait-seconds = 1m30s", True),
    ("wait_seconds = 90", True),
    ("wait_seconds < 500ms", False),
    ("state = 'Stable'", True),
    ('state != "Stable"', False),
    ("state = 'it''s'", False),
    ("state ~ 'Sta.*'", True),
    ("state ~ 'Sta'", False),
    ("not state ~ 'Empty|Dead'", True),
    ("a = 1 or a = 5 and b = 2", True),
    ("(a = 1 or a = 5) and b = 3", False),
    ("not (a = 1 or b = 1)", True),
    ("not a = 5 or a = 5", True),
    ("NOT a = 1 AND a = 5", True),
    ("not not a = 5", True),
]


@pytest.mark.parametrize(("text", "expected"), HOLDING)
def test_what_holds(text: str, expected: bool) -> None:
    """Signs, units, quotation marks, precedence."""
    assert parse(text).holds(VALUES) is expected


@pytest.mark.parametrize("word", ["and", "or"])
def test_three_results(word: str) -> None:
    """Kleene's tables: what one side decides is decided, the rest is unknown."""
    ranks = {False: 0, None: 1, True: 2}
    best = min if word == "and" else max
    for left, right in itertools.product(ranks, repeat=2):
        values: dict[str, Value] = {
            name: None if answer is None else int(answer)
            for name, answer in (("a", left), ("b", right))
        }
        found = parse(f"a = 1 {word} b = 1").holds(values)
        assert found is best((left, right), key=lambda answer: ranks[answer])
        opposite = parse("not a = 1").holds(values)
        assert opposite is (None if left is None else not left)


PARTLY_KNOWN = [
    ("a > 4", True),
    ("a >= 5", True),
    ("a > 5", None),
    ("a < 5", False),
    ("a <= 4", False),
    ("a <= 5", None),
    ("a = 4", False),
    ("a = 5", None),
    ("a != 4", True),
    ("a != 6", None),
]


@pytest.mark.parametrize(("text", "expected"), PARTLY_KNOWN)
def test_a_sum_of_which_a_part_is_known(text: str, expected: bool | None) -> None:
    """What a lower bound decides is decided."""
    assert parse(text).holds({"a": AtLeast(5)}) is expected


def test_percentages_of_what_is_not_known() -> None:
    """Without its whole a share is unknown; of nothing it is none."""
    assert parse("b > 1%").holds({"b": 2, "all": None}) is None
    assert parse("b > 1%").holds({"b": 0, "all": 0}) is False
    assert parse("b >= 25%").holds({"b": AtLeast(2), "all": 8}) is True


def test_what_it_looks_at() -> None:
    """The fields, each once, with wholes; their values as people read them."""
    condition = parse("b > 10% and (state = 'x' or not b = 3) or wait_seconds > 1")
    assert condition.fields == ("b", "all", "state", "wait_seconds")
    told = list(condition.told({**VALUES, "wait_seconds": None, "b": AtLeast(2)}))
    assert told == ["b is at least 2 of 8", "state is Stable", "wait_seconds is unknown"]


BROKEN = [
    ("", "expected a field at the end"),
    ("a", "expected one of = == != < <= > >= ~ at the end"),
    ("a >", "expected a number at the end"),
    ("state =", "expected a string at the end"),
    ("a > many", "`many` is not a number"),
    ("a > 'x'", "`'x'` is not a number"),
    ("a ~ 'x'", "is a number, which `~` cannot match"),
    ("a > 1 b > 1", "expected `and` or `or`, found `b`"),
    ("a > 1 or", "expected a field at the end"),
    ("(a > 1", "missing `)`"),
    ("a > 1)", "`)` has no matching `(`"),
    ("()", "unknown field `)`"),
    ("1 > a", "unknown field `1`"),
    ("a b 3", ", found `b`"),
    ("a > 10%", "has no percentage"),
    ("a > 5m", "`5m` is a duration, but `a` is a number"),
    ("b > 5m", "`b` is a number of partitions"),
    ("wait_seconds > 99999w", "`99999w` is longer than a hundred years"),
    ("state = Stable", "`Stable` is not a quoted string"),
    ("state > 'a'", "is a string, which `>` cannot compare"),
    ("state = 'a", "missing closing quotation mark"),
    ("state ~ '('", "is not a valid pattern"),
    ("a > 1 & b > 1", "`& b > 1` is not valid"),
    ("stat = 'x'", "unknown field `stat` of a test; did you mean `state`?"),
    ("zzz = 1", "unknown field `zzz` of a test"),
    ("not " * (DEEPEST + 2) + "a = 1", "nested more than"),
    ("(" * 100_000, "nested more than"),
]


@pytest.mark.parametrize(("text", "says"), BROKEN, ids=[text[:30] for text, _ in BROKEN])
def test_what_is_refused(text: str, says: str) -> None:
    """The place is named, in one sentence; never a traceback."""
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert says in refused.value.message


def test_hints_say_how_to_write_it() -> None:
    """All fields for one that is not there, quotation marks for a bare word."""
    with pytest.raises(UsageError) as unknown:
        parse("zzz = 1")
    assert unknown.value.hint == "fields: a, b, all, wait_seconds, state"
    with pytest.raises(UsageError) as bare:
        parse("state != Stable")
    assert bare.value.hint == "write it like `state != 'Stable'`"
