"""Which groups are copied to which: patterns, pairs, files, and what is refused."""

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.offsets.copy import (
    Pair,
    check_pairs,
    pairs_of_pattern,
    parse_pair,
    parse_pairs,
)

NAMES = ("a-1", "a-2", "b-1", "a*")


def test_patterns() -> None:
    """The star of the target stands for what that of the source does."""
    assert pairs_of_pattern("a-*", "x-*-y", NAMES) == [Pair("a-1", "x-1-y"), Pair("a-2", "x-2-y")]
    assert pairs_of_pattern("*-1", "*-9", NAMES) == [Pair("a-1", "a-9"), Pair("b-1", "b-9")]
    assert pairs_of_pattern("[ab]-?", None, NAMES) == [
        Pair(name, name) for name in ("a-1", "a-2", "b-1")
    ]
    assert pairs_of_pattern("z*", "y*", NAMES) == []


@pytest.mark.parametrize(
    ("pattern", "target"), [("a-*", "b"), ("a-?", "b-*"), ("*-*", "*"), ("a-*", "*-*")]
)
def test_no_star_for_a_star(pattern: str, target: str) -> None:
    """Else it would not be known what goes where."""
    with pytest.raises(UsageError, match="one `\\*` each"):
        pairs_of_pattern(pattern, target, NAMES)


def test_pairs() -> None:
    """In arguments and in files."""
    assert parse_pair("a b=c") == Pair("a b", "c")
    assert parse_pairs('a,b\n\n"c,d",e=f\n', "f") == [Pair("a", "b"), Pair("c,d", "e=f")]


@pytest.mark.parametrize("text", ["a", "=b", "a=", "a=b=c", ""])
def test_no_pair(text: str) -> None:
    """One sentence."""
    with pytest.raises(UsageError):
        parse_pair(text)


@pytest.mark.parametrize("text", ["", "\n", "a\n", "a,b,c\n", "a,\n", '"a,b\n'])
def test_no_pairs(text: str) -> None:
    """The line is named."""
    with pytest.raises(UsageError, match=r"^f"):
        parse_pairs(text, "f")


def test_one_group_for_each_target() -> None:
    """The same pair twice is one; a group is not copied to itself, but to another cluster."""
    check_pairs([Pair("a", "b"), Pair("a", "b"), Pair("a", "c")], elsewhere=False)
    check_pairs([Pair("a", "a")], elsewhere=True)
    with pytest.raises(UsageError, match="itself"):
        check_pairs([Pair("a", "a")], elsewhere=False)
    with pytest.raises(UsageError, match="both go to `c`"):
        check_pairs([Pair("a", "c"), Pair("b", "c")], elsewhere=True)
