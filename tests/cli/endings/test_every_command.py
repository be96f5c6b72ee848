"""Every command is in every crossing: a new one cannot be forgotten."""

from collections.abc import Iterable, Mapping
from typing import Final

import pytest

from kgroups.cli.nouns import NOUNS
from kgroups.cli.official.options import ACTIONS
from tests.cli.endings import (
    test_clusters,
    test_interrupted_writes,
    test_names,
    test_signals,
    test_streams,
)
from tests.support.cli.command_tree import command_paths
from tests.support.endings.lines import LINES

WITHOUT_CLUSTER: Final = {
    "": "the program itself",
    "completion": "knows the command tree alone",
    "audit": "reads a file",
    "context add": "writes a file",
    "context current": "reads a file",
    "context import": "writes a file",
    "context list": "reads a file",
    "context remove": "writes a file",
    "context show": "reads a file",
    "context use": "writes a file",
    "demo": "brings its own",
    "explain": "knows the words alone",
    "lag compact": "reads files",
    "sandbox up": "is one",
    "schema": "ships with the program",
    "simulate": "reads a file",
    "snapshot show": "reads a file",
    "--validate-regex": "asks nobody",
}
"""Commands that ask no cluster, with the reason."""

WITHOUT_NAME: Final = {
    "context list": "takes none",
    "ping": "takes none",
    "audit": "takes none",
    "demo": "takes none",
    "lag report": "starts Spark: its names are in tests/cli/commands/test_lag.py",
    "lag history": "starts Spark, likewise",
    "official": "takes those of the actions",
    "--list": "takes none",
    "--delete-offsets": "takes a group, as --delete does",
}
"""Commands to which the crossing of names gives none, with the reason."""


def commands() -> set[str]:
    """Of both grammars; a noun stands for what is below it."""
    paths = {" ".join(path) for path in command_paths()}
    nouns = {path.rsplit(" ", 1)[0] for path in paths if " " in path}
    return (paths - nouns) | {f"--{action}" for action in ACTIONS}


def test_every_command_has_a_line() -> None:
    """And no line is for a command that is not there."""
    assert {line.of for line in LINES.values()} == commands()
    assert {line.words.split()[0] for line in LINES.values()} >= set(NOUNS)


def commands_in(cases: Iterable[tuple[str, str]]) -> set[str]:
    """The commands of a crossing's cases."""
    return {LINES[line].of for line, _ in cases}


@pytest.mark.parametrize(
    ("crossing", "left_out"),
    [
        (test_streams.CASES, {}),
        (test_signals.CALLED, {}),
        (test_signals.TIMED, {}),
        (test_signals.ASKED, WITHOUT_CLUSTER),
        (test_clusters.CASES, WITHOUT_CLUSTER),
    ],
    ids=["streams", "signals at a call", "signals at a moment", "at a request", "clusters"],
)
def test_every_command_is_crossed(
    crossing: Iterable[tuple[str, str]], left_out: Mapping[str, str]
) -> None:
    """In the share that `make test` runs too; the others are named, with the reason."""
    assert commands_in(crossing) - {""} == commands() - {"", *left_out}


def test_every_command_is_given_odd_names() -> None:
    """Those that take a name, or the path of a file."""
    words = [line.split() for line in test_names.TAKERS.values()]
    firsts = {" ".join(line[:count]) for line in words for count in (1, 2)}
    assert commands() - {"", *firsts} == WITHOUT_NAME.keys()


def test_every_write_is_interrupted() -> None:
    """In the middle of the request that writes; of what is written by one request, one line."""
    assert commands_in((name, "") for name in test_interrupted_writes.WRITES) == {
        line.of for line in LINES.values() if line.writes
    }
