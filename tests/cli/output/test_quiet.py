"""`--quiet` and `--no-input`: what is not said, and what is not asked."""

from collections import Counter
from typing import Any

import pytest
from typer.main import get_command

from kgroups.cli.app import program
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GLOBAL_OPTIONS, GlobalOptions
from tests.support.cli.command_tree import command_paths
from tests.support.cli.process import TIMEOUT_S, start
from tests.support.cli.runner import run
from tests.support.cli.terminal_run import run_on_terminal


@pytest.mark.usefixtures("files")
def test_notes_are_left_out() -> None:
    """Data and exit code are the same; errors are told."""
    line = ("describe", "audit réports, nightly", "nobody", "--from", "shop.json")
    loud, quiet = run(*line), run(*line, "--quiet")
    assert (loud.exit_code, loud.stdout) == (quiet.exit_code, quiet.stdout)
    assert "note: " in loud.stderr
    assert "note: " not in quiet.stderr
    assert "error: " in quiet.stderr


def test_progress_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """What became of a write is told."""
    printer = Printer(GlobalOptions(quiet=True))
    printer.waiting("starting Spark")
    printer.progress("reading")
    printer.note("NOTHING_TO_DO", "nothing to change")
    assert capsys.readouterr().err == ""
    printer.note("UNDO_FILE", "undo file: u.json", of_a_write=True)
    assert capsys.readouterr().err == "note: undo file: u.json\n"


def test_no_command_hides_a_global_option() -> None:
    """Its own option of that name would take the value, or lose it."""
    own = {flag for option in GLOBAL_OPTIONS for flag in option.flags}
    tree: Any = get_command(program())
    for path in command_paths():
        command = tree
        for word in path:
            command = command.commands[word]
        flags = Counter(flag for param in command.params for flag in param.opts)
        assert {flag for flag in own if flags[flag] > 1} == set(), path


def test_a_quiet_sandbox() -> None:
    """Its events are notes."""
    assert run("sandbox", "up", "--query", "a").exit_code == 2
    with start("sandbox", "up", "-q", "--topic", "t=1") as process:
        address = process.line().strip()
        assert run("list", "-b", address).exit_code == 0
        process.terminate()
        _, stderr = process.communicate(timeout=TIMEOUT_S)
    assert stderr == ""


WRITES = [
    "delete g",
    "delete-offsets g --topic t",
    "delete-records t --before 5",
    "remove-members g --all",
    "reset-offsets g --to earliest --topic t",
    "copy-offsets --from g --to h",
]


@pytest.mark.parametrize("line", WRITES)
def test_nothing_is_asked(line: str) -> None:
    """A write first looks whether it can be done; that the cluster is there, to begin with."""
    for more in ((), ("--yes",)):
        assert run(*line.split(), "-b", "127.0.0.1:1", "--no-input", *more).exit_code == 3


def test_nothing_is_asked_on_a_terminal() -> None:
    """Where somebody could be asked."""
    line = ("delete", "g", "-b", "127.0.0.1:1")
    for more in ((), ("--no-input",)):
        assert run_on_terminal(*line, *more)[0] == 3
