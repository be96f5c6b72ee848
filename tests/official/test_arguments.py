"""jopt-simple's rules, one case a row."""

import pytest

from kgroups.cli.official.arguments import LateError, ParseError, parse
from kgroups.cli.official.tools import CONSUMER_TOOL

UNAVAILABLE = "are unavailable given other options on the command line"


@pytest.mark.parametrize(
    ("words", "found", "rest"),
    [
        (["--list"], {"list": (None,)}, ()),
        (["-list"], {"list": (None,)}, ()),
        (["--list", "--list"], {"list": (None, None)}, ()),
        (["--list=x"], {"list": (None,)}, ()),
        (["--group", "g"], {"group": ("g",)}, ()),
        (["-group=g"], {"group": ("g",)}, ()),
        (["--group="], {"group": ("",)}, ()),
        (["--group=a=b"], {"group": ("a=b",)}, ()),
        (["--group", "--list"], {"group": ("--list",)}, ()),
        (["--group", "--"], {"group": ("--",)}, ()),
        (["--group", "a", "--group", "b"], {"group": ("a", "b")}, ()),
        (["--shift-by", "-50"], {"shift-by": ("-50",)}, ()),
        (["--list", "--state"], {"list": (None,), "state": (None,)}, ()),
        (["--list", "--state", "Empty"], {"list": (None,), "state": ("Empty",)}, ()),
        (["--state", "--list"], {"list": (None,), "state": (None,)}, ()),
        (["--list", "--state", "-"], {"list": (None,), "state": ("-",)}, ()),
        (["--list", "--state="], {"list": (None,), "state": ("",)}, ()),
        (["--list", "foo", "-"], {"list": (None,)}, ("foo", "-")),
        (["--list", "--", "--describe", "x"], {"list": (None,)}, ("--describe", "x")),
        ([], {}, ()),
        (["--help", "--verbose"], {"help": (None,), "verbose": (None,)}, ()),
    ],
)
def test_parsed(
    words: list[str], found: dict[str, tuple[str | None, ...]], rest: tuple[str, ...]
) -> None:
    """Values swallowed, one dash or two, `=`, `--`, stray words."""
    arguments = parse(words, CONSUMER_TOOL)
    assert dict(arguments.found) == found
    assert arguments.words == rest


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--bogus"], "bogus is not a recognized option"),
        (["--bogus=1"], "bogus is not a recognized option"),
        (["-bogus"], "b is not a recognized option"),
        (["--desc"], "desc is not a recognized option"),
        (["--help", "--bogus"], "bogus is not a recognized option"),
        (["--group"], "Option group requires an argument"),
        (["--list", "-timeout"], "Option timeout requires an argument"),
        (
            ["--verbose"],
            "Option(s) [verbose] are unavailable given other options on the command line",
        ),
        (
            ["--offsets", "--list", "--members"],
            "Option(s) [offsets, members] are unavailable given other options on the command line",
        ),
        (
            ["--describe", "--type"],
            "Option(s) [type] are unavailable given other options on the command line",
        ),
    ],
)
def test_refused(words: list[str], message: str) -> None:
    """The parser's own words, and exit code 1."""
    with pytest.raises(ParseError) as refused:
        parse(words, CONSUMER_TOOL)
    assert (refused.value.message, refused.value.exit_code) == (message, 1)


@pytest.mark.parametrize(
    ("text", "number"),
    [("5", 5), ("-5", -5), ("+5", 5), ("9223372036854775807", 2**63 - 1)],
)
def test_number(text: str, number: int) -> None:
    """Signs are fine."""
    assert parse(["--timeout", text], CONSUMER_TOOL).number("timeout") == number


@pytest.mark.parametrize("text", ["", "abc", "1.5", "--5", "9223372036854775808", " 5"])
def test_number_that_is_none(text: str) -> None:
    """Found only when it is read."""
    arguments = parse(["--timeout", text], CONSUMER_TOOL)
    with pytest.raises(LateError, match="Cannot parse argument"):
        arguments.number("timeout")


def test_single_value_given_twice() -> None:
    """It parses; reading it fails."""
    arguments = parse(["--list", "--state", "a", "--state", "b"], CONSUMER_TOOL)
    with pytest.raises(LateError, match="Found multiple arguments for option state"):
        arguments.value("state")
