"""`--quiet` and `--no-input`: what is not said, and what is not asked."""

import pytest

from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions
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
    printer.note("nothing to change")
    assert capsys.readouterr().err == ""
    printer.note("undo file: u.json", of_a_write=True)
    assert capsys.readouterr().err == "note: undo file: u.json\n"


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
    """A write that would have to ask is refused before the cluster is reached for."""
    outcome = run(*line.split(), "-b", "127.0.0.1:1", "--no-input")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "cannot ask for confirmation with --no-input" in outcome.stderr
    assert run(*line.split(), "-b", "127.0.0.1:1", "--no-input", "--yes").exit_code == 3


def test_nothing_is_asked_on_a_terminal() -> None:
    """Where somebody could be asked."""
    line = ("delete", "g", "-b", "127.0.0.1:1")
    assert run_on_terminal(*line)[0] == 3
    code, written = run_on_terminal(*line, "--no-input")
    assert (code, "with --no-input" in written) == (2, True)
