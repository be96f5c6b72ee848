"""A test that hangs is named with the line where it hangs, and the run goes on and ends."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[2]
CONFTEST = """\
import ctypes, threading
from pathlib import Path
import pytest
from tests.support.limits import Limits

def pytest_configure(config):
    config.pluginmanager.register(Limits(grace_s=2, tidy_s=2, exit_s=2))

def hang_in_c():  # a wait that no signal ends and that never comes back to Python
    mutex = (ctypes.c_byte * 64)()
    libc = ctypes.CDLL(None)
    libc.pthread_mutex_lock(mutex)
    libc.pthread_mutex_lock(mutex)

def hang_in_python():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()  # hangs here
"""
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs pytest over a file with this text, each test limited to two seconds."""
    (tmp_path / "conftest.py").write_text(CONFTEST)

    def run(text: str, *more: str) -> "subprocess.CompletedProcess[str]":
        (tmp_path / "test_it.py").write_text("from conftest import *\n" + text)
        command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider"]
        command += ["--import-mode=prepend", "--rootdir", str(tmp_path), "--timeout", "2", *more]
        return run_program([*command, str(tmp_path)], cwd=ROOT, timeout_s=240)

    return run


@pytest.mark.share(4)
@pytest.mark.parametrize(
    "wait",
    [
        "threading.Lock().acquire() and hang_in_python()",
        "subprocess.Popen(['sleep', '60']).wait()",
        "socket.create_server(('127.0.0.1', 0)).accept()",
        "queue.Queue().get()",
        "threading.Thread(target=time.sleep, args=(60,), daemon=True).start() or hang_in_python()",
        "asyncio.run(asyncio.sleep(60))",
    ],
)
def test_a_wait_of_python(run: Run, wait: str) -> None:
    """It ends with the test, which fails; the next one runs in the same process."""
    done = run(
        "import asyncio, queue, socket, subprocess, threading, time, warnings\n"
        f"def test_hangs():\n    warnings.simplefilter('ignore')\n    {wait}\n"
        "def test_after():\n    pass\n",
    )
    assert "1 failed, 1 passed" in done.stdout, done
    assert "Timeout (>2.0s)" in done.stdout
    assert f"    {wait}" in done.stdout


def test_a_wait_in_c(run: Run) -> None:
    """The process ends; the stacks say where it was, and another process runs the next test."""
    text = "def test_hangs():\n    hang_in_c()\ndef test_after():\n    pass\n"
    done = run(text, "-n1")
    assert "1 failed, 1 passed" in done.stdout, done
    assert "crashed while running 'test_it.py::test_hangs'" in done.stdout
    assert 'test_it.py", line 3 in test_hangs' in done.stderr
    alone = run(text)
    assert (alone.returncode, "line 3 in test_hangs" in alone.stderr) == (1, True), alone


def test_fixtures_count(run: Run) -> None:
    """Also those of the session, and what tidies up, which has a time of its own."""
    done = run(
        "@pytest.fixture(scope='session')\n"
        "def broker():\n"
        "    hang_in_python()\n"
        "@pytest.fixture\n"
        "def tidy():\n"
        "    yield\n"
        "    hang_in_python()\n"
        "def test_start(broker):\n    pass\n"
        "def test_end(tidy):\n    assert False\n"
        "def test_after():\n    pass\n"
    )
    assert "1 failed, 1 passed, 2 errors" in done.stdout, done
    assert done.stdout.count("Timeout (>2") >= 2


def test_a_thread_that_stays(run: Run) -> None:
    """It keeps no run from ending."""
    done = run(
        "def test_leaves_a_thread():\n"
        "    threading.Thread(target=hang_in_python, name='stays').start()\n"
    )
    assert "1 passed" in done.stdout, done
    assert "in hang_in_python" in done.stderr
