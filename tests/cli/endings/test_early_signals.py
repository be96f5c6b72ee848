"""Signals while the program starts: it ends at once and silently, with the signal's exit code."""

import signal
import sys
from ast import literal_eval
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

import pytest

from tests.support.cli.process import PROGRAM, TIMEOUT_S, environment
from tests.support.cli.signal_moments import counted, environment_with
from tests.support.kafka.child import Child, run_program
from tests.support.kafka.waiting import DeadlinePassed, wait_until

WAYS = {"kgroups": [str(PROGRAM)], "python -m kgroups.cli": [sys.executable, "-m", "kgroups.cli"]}
LINE = ("describe", "--all-groups", "-b", "127.0.0.1:1")
HALF_MADE = (
    "kgroups.core.kafka.runner.__init__",
    "kgroups.core.kafka.runner.run",
    "kgroups.core.kafka.runner._awakened",
    "kgroups.core.kafka.runner._keep",
    "kgroups.core.kafka.runner.close",
    "asyncio.base_events.__init__",
    "asyncio.selector_events.__init__",
    "asyncio.selector_events._make_self_pipe",
    "asyncio.base_events.set_debug",
    "asyncio.runners.run",
    "asyncio.base_events.run_until_complete",
    "asyncio.base_events.run_forever",
    "asyncio.base_events.shutdown_asyncgens",
    "kgroups.core.kafka.transport.tcp._connected",
)
"""Functions that leave a loop, a task or a coroutine behind about which Python complains."""

STARTS_OF_A_SANDBOX = (
    "kgroups.core.sandbox.sandbox.start",
    "threading.wait",
    "concurrent.futures._base.result",
)
"""Functions in which the thread of an embedded cluster is not yet, just about, or long begun."""

NUMBERS = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


def ended(way: str, moment: str, line: tuple[str, ...] = LINE) -> tuple[int, str, str]:
    """The program's end when the signal comes at this moment."""
    done = run_program([*WAYS[way], *line], env=environment_with(moment), timeout_s=TIMEOUT_S)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.share(16)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_signal_during_the_imports(way: str, name: str, tmp_path: Path) -> None:
    """From the first module on that the program imports."""
    many = counted([*WAYS[way], *LINE], tmp_path)["import"]
    assert many > 100
    for at in (1, 2, many // 3, many // 2):
        assert ended(way, f"{name}:import:{at}") == (NUMBERS[name], "", ""), at


def test_little_is_imported_before_signals_are_handled() -> None:
    """Python answers with a traceback until then: it takes the program's own few modules."""
    code = "seen = {*sys.modules}; import kgroups.cli.__main__; print({*sys.modules} - seen)"
    loaded = literal_eval(
        run_program([sys.executable, "-c", f"import sys; {code}"], env=environment()).stdout
    )
    assert loaded >= {"kgroups", "kgroups.cli", "kgroups.cli.__main__"}
    assert not loaded & {"typing", "enum", "dataclasses", "typer", "kgroups.core"}


@pytest.mark.slow("thirty starts of the program")
def test_no_traceback_at_any_moment() -> None:
    """Ctrl-C in the first 300 ms of the program's own code."""
    chance = Random(4)
    for _ in range(30):
        with Child([PROGRAM, *LINE], env=environment()) as process:
            wait_until(partial(handles_sigterm, process.pid), "the program's own code runs")
            with suppress(DeadlinePassed):
                process.wait(chance.uniform(0, 0.3))
            process.send_signal(signal.SIGINT)
            _, stderr = process.communicate(timeout=TIMEOUT_S)
            assert "Traceback" not in stderr
            assert process.returncode in (3, 130)  # it had ended, or was interrupted


def handles_sigterm(pid: int) -> bool:
    """Whether a process has a handler for SIGTERM, or has ended; Python itself sets none."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except FileNotFoundError:
        return True
    caught = dict(line.split(":", 1) for line in lines).get("SigCgt", "0")
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.share(48)
@pytest.mark.parametrize("function", HALF_MADE)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_signal_while_asyncio_begins_or_ends(name: str, function: str) -> None:
    """Nothing is said of what is half made then."""
    assert ended("kgroups", f"{name}:{function}:1") == (NUMBERS[name], "", "")


@pytest.mark.share(3)
@pytest.mark.parametrize("function", STARTS_OF_A_SANDBOX)
def test_a_signal_while_an_embedded_cluster_starts(function: str) -> None:
    """Its thread ends, too: the program does not wait for ever for one that serves."""
    done = run_program(
        [PROGRAM, "demo", "--quiet"],
        env=environment_with(f"SIGTERM:{function}:1"),
        timeout_s=TIMEOUT_S,
    )
    assert (done.returncode, done.stdout, done.stderr) == (143, "", ""), done


def test_a_signal_that_is_ignored_stays_so() -> None:
    """`nohup` and jobs in the background: the command goes on."""
    for name in NUMBERS:
        number = signal.Signals[name]
        done = run_program(
            ["sh", "-c", f"trap '' {name.removeprefix('SIG')}; exec \"$@\"", "sh", PROGRAM, *LINE],
            env=environment_with(f"{name}:import:1"),
            timeout_s=TIMEOUT_S,
        )
        assert done.returncode == 3, (number, done.stderr)
