"""What is said while a signal is handled: Python's streams may be in use just then."""

import sys

from tests.support.kafka.child import run_program

INTERRUPTED = """
import os, signal, sys
from kgroups.cli.interruption import Interruption
from kgroups.cli.output import outlet

outlet.protect()
write = outlet.Outlet.write

def interrupted(self, data):
    outlet.Outlet.write = write
    os.kill(os.getpid(), signal.SIGINT)
    return write(self, data)

with Interruption(None, "this batch") as interruption:
    outlet.Outlet.write = interrupted
    sys.stderr.write("deleting\\n")
    assert interruption.asked
"""

FAILED_LOOK = """
import os, signal
from kgroups.cli.interruption import Interruption
from kgroups.core.errors import ClusterError

def read():
    raise ClusterError("nobody answers")

with Interruption(None) as interruption:
    try:
        interruption.look(read, None)
    except ClusterError:
        os.kill(os.getpid(), signal.SIGINT)
    print("what is written is told", interruption.asked)
"""


def test_ctrl_c_after_a_look_that_failed() -> None:
    """It is noted, as before the look: the report is still to come."""
    done = run_program([sys.executable, "-c", FAILED_LOOK])
    assert (done.returncode, done.stdout) == (0, "what is written is told True\n"), done.stderr


def test_ctrl_c_while_stderr_is_written() -> None:
    """The handler says its line, and the line that it interrupted is said too."""
    done = run_program([sys.executable, "-c", INTERRUPTED])
    assert done.returncode == 0, done.stderr
    stopping = "stopping after this batch; Ctrl-C again stops at once"
    assert sorted(done.stderr.splitlines()) == ["deleting", stopping]
