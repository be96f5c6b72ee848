"""How the process ends: closed pipes, Ctrl-C, bugs, terminals and odd locales."""

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.process import PROGRAM, environment, finish, start
from tests.support.cli.terminal_run import run_on_terminal
from tests.support.kafka.child import WAIT_S, run_program

CRASH = """
import sys
from kgroups.cli import app
from kgroups.cli.output.printer import Printer
def crash(*_):
    raise ZeroDivisionError("the printer is broken")
Printer.show = crash
sys.argv = ["kgroups", "list", "--from", {file!r}, *{more!r}]
app.main()
"""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A snapshot file whose description is longer than any pipe's buffer."""
    path = tmp_path_factory.mktemp("fleet") / "fleet.json"
    write_snapshot(clusters.fleet(400, 24), path)
    return str(path)


@pytest.mark.share(6)
@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "yaml"])
def test_closed_pipe(form: str, fleet: str) -> None:
    """`| head` ends the program quietly, in every form."""
    with start("describe", "--all-groups", "--from", fleet, "-o", form) as process:
        assert process.stdout is not None
        assert process.line()
        process.stdout.close()
        assert process.communicate(timeout=WAIT_S)[1] == ""
        assert process.returncode == 0


def test_output_that_is_closed_from_the_start(fleet: str) -> None:
    """A short answer into a pipe that nobody reads ends quietly too."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        code, _, stderr = finish("list", "group-00001", "--from", fleet, stdout=writer)
    finally:
        os.close(writer)
    assert (code, stderr) == (0, "")


def test_ctrl_c_while_waiting_for_a_cluster() -> None:
    """Ctrl-C ends with 130 and without a word."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(60)
        port = silent.getsockname()[1]
        with start("list", "-b", f"127.0.0.1:{port}", "--timeout", "50s") as process:
            connection, _ = silent.accept()
            with connection:
                connection.settimeout(60)
                assert connection.recv(1)  # the request is under way
                process.send_signal(signal.SIGINT)
                stdout, stderr = process.communicate(timeout=WAIT_S)
    assert (process.returncode, stdout, stderr) == (130, "", "")


def test_a_bug_is_70_without_a_traceback(fleet: str) -> None:
    """What is not a failure of ours says how to report it."""
    code, stderr = _crash(fleet)
    assert code == 70
    assert stderr.startswith("error: a bug in kgroups: ZeroDivisionError: the printer is broken\n")
    assert "hint: please report it" in stderr
    assert "Traceback" not in stderr


def test_a_bug_with_verbose_shows_the_traceback(fleet: str) -> None:
    """`--verbose` adds what a report needs."""
    code, stderr = _crash(fleet, "--verbose")
    assert code == 70
    assert "Traceback" in stderr


def _crash(file: str, *more: str) -> tuple[int, str]:
    done = run_program(
        [sys.executable, "-c", CRASH.format(file=file, more=more)], env=environment()
    )
    return done.returncode, done.stderr


def test_a_short_table_is_coloured_on_a_terminal(fleet: str) -> None:
    """Rich lays out short tables, with colours."""
    _, written = run_on_terminal("list", "group-0000", "--from", fleet)
    assert "\x1b[" in written
    assert "group-00009" in written


@pytest.mark.share(2)
@pytest.mark.parametrize("how", ["NO_COLOR", "--no-color"])
def test_no_colour_if_not_wanted(how: str, fleet: str) -> None:
    """NO_COLOR and --no-color leave no colour in a table."""
    args = ["list", "group-0000", "--from", fleet]
    options, env = ((how,), {}) if how.startswith("-") else ((), {how: "1"})
    _, written = run_on_terminal(*args, *options, **env)
    assert "\x1b[3" not in written
    assert "group-00009" in written


def test_a_long_table_is_plain_on_a_terminal(fleet: str) -> None:
    """Rich would take seconds for 9,600 rows, so the plain writer prints them."""
    _, written = run_on_terminal("describe", "--all-groups", "--from", fleet)
    assert "\x1b[3" not in written
    assert written.count("group-00399") == 24


def test_names_are_utf_8_in_any_locale(tmp_path: Path) -> None:
    """A locale that knows ASCII only changes nothing in the data."""
    write_snapshot(clusters.shop(), tmp_path / "shop.json")
    done = run_program(
        [PROGRAM, "list", "--from", tmp_path / "shop.json"],
        env=environment(LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0"),
    )
    assert done.returncode == 0
    assert "audit réports, nightly" in done.stdout
