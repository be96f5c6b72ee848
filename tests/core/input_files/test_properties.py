"""Properties files: Java's rules, and messages that say file, line and what was expected."""

from pathlib import Path

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.input_files.properties import parse_properties, read_properties

CASES = [
    ("equals sign", "a=b", {"a": "b"}),
    ("spaces around it", "  a = b c ", {"a": "b c"}),
    ("colon", "a: b", {"a": "b"}),
    ("space alone separates", "a b c", {"a": "b c"}),
    ("an escaped blank at the end stays", "a=b\\ ", {"a": "b "}),
    ("later signs belong to the value", "a=b=c:d", {"a": "b=c:d"}),
    ("no value after the sign", "a=", {"a": ""}),
    ("comments and empty lines", "# x\n\n  ! y\na=b\n", {"a": "b"}),
    ("a comment sign in a value is none", "a=b # c", {"a": "b # c"}),
    ("last of two wins", "a=1\na=2", {"a": "2"}),
    ("continued line", "a=b \\\n    c\\\n d\ne=f", {"a": "b cd", "e": "f"}),
    ("even backslashes do not continue", "a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
    ("a comment does not continue", "# x\\\na=b", {"a": "b"}),
    ("continued at the end of the file", "a=b\\", {"a": "b"}),
    ("escapes", r"a=\t\n\r\f\u00e9\q", {"a": "\t\n\r\fé" + "q"}),
    ("surrogate pair", r"a=\ud83d\ude00", {"a": "😀"}),
    ("windows line ends", "a=b\r\nc=d\r\n", {"a": "b", "c": "d"}),
    ("nothing at all", "", {}),
]


@pytest.mark.parametrize(("text", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_text_is_read_by_javas_rules(text: str, expected: dict[str, str]) -> None:
    """Names and values as `java.util.Properties` reads them."""
    assert {k: v.value for k, v in parse_properties(text, "f").items()} == expected


def test_line_numbers_count_joined_lines_by_their_first() -> None:
    """The place of a property is where it starts."""
    found = parse_properties("# x\na=b\\\nc\n\nd=e", "client.properties")
    assert [item.place for item in found.values()] == [
        "client.properties:2",
        "client.properties:5",
    ]


BROKEN = [
    ("a lone word", "a=b\nbootstrap.servers\n", "f:2: `bootstrap.servers` is not a property"),
    ("json", '{"a": 1}', 'f:1: `{"a"` is not the name of a property'),
    ("no key", "=b", "f:1: the key is missing"),
    ("broken escape", "a=b\nc=\\u12g4", "f:2: malformed `\\u` escape"),
    ("cut escape", "c=\\u12", "f:1: malformed `\\u` escape"),
]


@pytest.mark.parametrize(("text", "message"), [c[1:] for c in BROKEN], ids=[c[0] for c in BROKEN])
def test_broken_line_is_named(text: str, message: str) -> None:
    """A line that is no property is an error with its number and what was expected."""
    with pytest.raises(UsageError) as caught:
        parse_properties(text, "f")
    assert caught.value.message == message
    assert "expected" in (caught.value.hint or "")


def test_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    """The path and the reason are in the message."""
    with pytest.raises(UsageError, match=r"no\.properties` cannot be read: no such file"):
        read_properties(tmp_path / "no.properties")


def test_binary_file_is_a_usage_error(tmp_path: Path) -> None:
    """A key store given by mistake is said not to be text, with the line of the first bad byte."""
    path = tmp_path / "store.p12"
    path.write_bytes(b"a=b\n\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"store\.p12`, line 2: not UTF-8 text"):
        read_properties(path)


def test_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    """Editors on Windows put one in front."""
    path = tmp_path / "c.properties"
    path.write_bytes(b"\xef\xbb\xbfa=b")
    assert list(read_properties(path)) == ["a"]
