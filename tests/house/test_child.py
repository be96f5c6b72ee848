"""Waits for a program: their deadlines, what their failures say, and that none is left behind."""

import signal
import subprocess
import sys

import pytest

from tests.support.kafka.child import Child, run_program
from tests.support.kafka.line_process import LineProcess
from tests.support.kafka.waiting import DeadlinePassed, wait_until

CHATTER = "import time\nwhile True: print('again', flush=True); time.sleep(0.05)"
SILENT = (
    "import sys, time\nprint('alive', flush=True)\nprint('cause', file=sys.stderr, flush=True)\n"
)
SILENT += "time.sleep(600)"


def python(text: str) -> list[str]:
    """The command that runs this program."""
    return [sys.executable, "-c", text]


def test_lines_do_not_renew_the_deadline() -> None:
    """However many come that are not the one; the failure has them."""
    with Child(python(CHATTER)) as child:
        with pytest.raises(DeadlinePassed, match=r"(?s)after 1 s.*'wanted'.*running.*again\nagain"):
            child.line_that("wanted", timeout_s=1)
        child.kill()


def test_late_ends_show_what_it_said() -> None:
    """The end, a line, the end of the output: each says what was awaited, and of whom."""
    with Child(python(SILENT)) as child:
        assert child.line() == "alive\n"
        for wait, what in (
            (lambda: child.wait(0.2), "its end"),
            (lambda: child.line(0.2), "a line"),
            (lambda: child.communicate(timeout=0.2), "the end of its output"),
        ):
            with pytest.raises(
                DeadlinePassed, match=rf"(?s){what} of .*python.*stderr: cause"
            ) as late:
                wait()
    assert 'File "<string>", line 4 in <module>' in str(late.value)
    assert child.returncode == -signal.SIGABRT


def test_a_failing_test_ends_its_program() -> None:
    """Nobody waits for a program whose test has failed."""
    with pytest.raises(ValueError, match="ours"), Child(python(SILENT)) as child:
        raise ValueError("ours")
    assert child.returncode == -signal.SIGKILL


def test_lines_then_all_the_rest() -> None:
    """Nothing is lost between the two ways of reading, nor inside a character."""
    text = "import sys\nprint('first'); print('zwölf ' * 50_000); print('no', file=sys.stderr)"
    with Child(python(text)) as child:
        assert child.line() == "first\n"
        stdout, stderr = child.communicate(timeout=60)
    assert (stdout, stderr) == ("zwölf " * 50_000 + "\n", "no\n")
    assert (child.line(), child.returncode) == ("", 0)


def test_input() -> None:
    """It reads all of it; one that does not read is waited for no longer than said."""
    text = "x" * 200_000
    done = run_program(python("print(input()[::-1], end='')"), input=text + "\n")
    assert done.stdout == text
    echo = "import sys\nfor line in sys.stdin: print(line.strip() * 20, flush=True)"
    done = run_program(python(echo), input="twenty\n" * 50_000)
    assert done.stdout == ("twenty" * 20 + "\n") * 50_000
    assert run_program(python(""), input="unread\n" * 50_000).returncode == 0
    with (
        pytest.raises(DeadlinePassed, match="somebody who reads"),
        Child(python(SILENT), stdin=subprocess.PIPE) as child,
    ):
        child.say(text, timeout_s=1)


def test_run_checks() -> None:
    """A failure has what the program wrote."""
    with pytest.raises(AssertionError, match="no such thing"):
        run_program(python("raise SystemExit('no such thing')"), check=True)
    assert run_program(python("raise SystemExit(7)")).returncode == 7


def test_a_silent_line_process() -> None:
    """It is killed when it does not end with its input."""
    process = LineProcess(python(SILENT))
    with pytest.raises(DeadlinePassed, match="its end"):
        process.close(timeout_s=1)
    with pytest.raises(DeadlinePassed, match="a line"), LineProcess(python("input()")) as patient:
        patient.hear(timeout_s=0.2)


def test_closed_pipes_end_it() -> None:
    """Closing our end is what it would be in a shell."""
    with Child(python(CHATTER)) as child:
        assert child.stdout is not None
        assert child.line() == "again\n"
        child.stdout.close()
        wait_until(lambda: child.poll() is not None, "a program whose reader is gone has ended")
        assert "BrokenPipeError" in child.communicate(timeout=60)[1]
