"""Which grammar a line is in."""

import shlex

import pytest

from kgroups.cli.nouns import NOUNS
from kgroups.cli.official.dispatch import official_arguments
from kgroups.cli.params import GLOBAL_OPTIONS


@pytest.mark.parametrize(
    ("line", "official"),
    [
        ("--bootstrap-server b:1 --list", True),
        ("-list -bootstrap-server=b:1", True),
        ("--list", True),
        ("-b b:1 --list", True),
        ("--verbose --describe --group list", True),
        ("--group list --describe", True),
        ("stray --list", True),
        ("--validate-regex a", True),
        ("--delete --bogus", True),
        ("--bogus --delete", True),
        ("official --help", True),
        ("official", True),
        ("", False),
        ("--help", False),
        ("--version", False),
        ("list", False),
        ("list --state Empty", False),
        ("-b b:1 list", False),
        ("--bootstrap-server --list list", False),
        ("describe g --members", False),
        ("--timeout 5s describe --all-groups", False),
        ("-- --list", False),
        ("--bogus list --list", False),
        ("delete --describe", False),
    ],
)
def test_grammar(line: str, official: bool) -> None:
    """Official if an action comes before any command, by the rules of the official parser."""
    found = official_arguments(shlex.split(line), NOUNS.keys())
    assert (found is not None) is official


@pytest.mark.parametrize("noun", NOUNS.keys() - {"official"})
@pytest.mark.parametrize("rest", ["", "--list", "--delete --group g"])
def test_a_command_behind_plain_options_is_our_own_grammar(noun: str, rest: str) -> None:
    """A command before any action."""
    flags = [
        f"{flag} x" if option.parse else flag for option in GLOBAL_OPTIONS for flag in option.flags
    ]
    for line in (*(f"{flag} {noun} {rest}" for flag in flags), f"{' '.join(flags)} {noun} {rest}"):
        assert official_arguments(shlex.split(line), NOUNS.keys()) is None


@pytest.mark.parametrize(
    ("line", "records"),
    [
        ("delete-records --offset-json-file f --bootstrap-server b:1", True),
        ("delete-records -offset-json-file=f", True),
        ("official --bootstrap-server b:1 --offset-json-file f", True),
        ("--bootstrap-server b:1 --offset-json-file f", True),
        ("--bootstrap-server b:1 delete-records --offset-json-file f", True),
        ("official --list", False),
        ("delete-records t:0 --before 5", False),
        ("describe --offset-json-file f", False),
    ],
)
def test_delete_records(line: str, records: bool) -> None:
    """kafka-delete-records.sh is known by its file option."""
    found = official_arguments(shlex.split(line), NOUNS.keys())
    assert (found is not None and found[0] == "delete-records") is records
