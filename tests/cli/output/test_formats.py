"""The formats that help, completion and messages list are those that a command accepts."""

import shlex
from typing import Final, get_args

import pytest

from kgroups.cli.params import MORE_FORMATS, OutputFormat, formats_of
from tests.support.cli.command_tree import command_paths
from tests.support.cli.runner import run

LINES: Final = {
    "list": "list --from shop.json",
    "describe": "describe --all-groups --from shop.json",
    "check": "check --all-groups --fail-on 'member_count > 99' --from shop.json",
    "plan": "plan billing --members --from shop.json",
    "snapshot show": "snapshot show shop.json",
    "simulate": "simulate deploy.yaml",
    "schema": "schema",
    "explain": "explain 74",
    "audit": "audit",
    "context list": "context list",
}
PATHS: Final = [path for path in map(" ".join, command_paths()) if path not in ("", "official")]


@pytest.mark.share(4)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("form", get_args(OutputFormat))
@pytest.mark.parametrize("path", LINES)
def test_a_command_accepts_what_is_listed(path: str, form: str) -> None:
    """And nothing else; what it refuses is told with the list."""
    outcome = run(*shlex.split(LINES[path]), "-o", form, env={"KGROUPS_CONFIG": "nowhere.yaml"})
    if form in formats_of(path):
        assert outcome.exit_code == 0, outcome
    else:
        assert (outcome.exit_code, outcome.stdout.count("{")) == (
            3 if form == "nagios" else 2,
            0,
        )
        assert form == "nagios" or f"hint: one of {', '.join(formats_of(path))}" in outcome.stderr


@pytest.mark.parametrize("path", PATHS)
def test_help_and_message_list_them(path: str) -> None:
    """Of every command and noun."""
    listed = ", ".join(formats_of(path))
    assert listed in " ".join(run(*path.split(), "--help").stdout.split())
    told = run(*path.split(), "-o", "xml").stderr
    assert told == f"error: `xml` is not an output format\n\nhint: one of {listed}\n"


def test_more_formats_are_of_commands_that_are_there() -> None:
    """A command that is renamed is renamed here."""
    assert MORE_FORMATS.keys() <= {"", *PATHS}
