"""The normaliser sorts, and does nothing else."""

import pytest

from tests.support.official.normal import normal, words

TABLE = "\nGROUP  TOPIC·\nb  1  \na  22\n\nGROUP  X\nz\ny\n\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\n", "\n"),
        ("b\na\n", "a\nb\n"),
        ("b\n\na\n", "b\n\na\n"),
        (TABLE, "\nGROUP  TOPIC·\na  22\nb  1  \n\nGROUP  X\ny\nz\n\n"),
        ("TOPIC  P \nb 1\na 1\n", "TOPIC  P \na 1\nb 1\n"),
        ("of ('b', 'a') done.\n", "of ('a', 'b') done.\n"),
        ("  b\n a \n", "  b\n a \n"),
    ],
)
def test_only_the_order_changes(text: str, expected: str) -> None:
    """Rows below their header, names in a list; empty lines where they were."""
    assert normal(text) == expected


@pytest.mark.parametrize("text", [TABLE, "a\n\n\n\nb\n\n", "\n\n", "x", " \n\t\n\n"])
def test_no_character_is_lost(text: str) -> None:
    """The same characters, the same number of lines, the same empty lines."""
    assert sorted(normal(text)) == sorted(text)
    assert [line == "" for line in normal(text).split("\n")] == [
        line == "" for line in text.split("\n")
    ]


@pytest.mark.parametrize(
    ("left", "right"),
    [("a  b\n", "a b\n"), ("a \n", "a\n"), ("a\n\n", "a\n"), ("GROUP A B\n", "GROUP B A\n")],
)
def test_a_difference_in_blanks_or_columns_stays_one(left: str, right: str) -> None:
    """Width, trailing blank, empty line, order of columns."""
    assert normal(left) != normal(right)


def test_words() -> None:
    """Their order and the commas between them do not count."""
    assert words("takes: [a], [b]") == words("takes: [b], [a]") != words("takes: [a], [c]")
