"""The program as a process whose memory is measured: exit code, words, the most that it held."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support.cli.process import PROGRAM, TIMEOUT_S, environment
from tests.support.kafka.child import run_program

# A small process of its own between us and the program: the most memory that a child ever had is
# told to its parent, and begins with what the parent itself had when it was forked.
_MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(code if code >= 0 else 128 - code)
"""


class Measured(NamedTuple):
    """What a run came to; `peak_bytes` is the most resident memory."""

    code: int
    stdout: str
    stderr: str
    peak_bytes: int

    @property
    def errors(self) -> list[str]:
        """The `error:` lines of stderr."""
        return [line for line in self.stderr.splitlines() if line.startswith("error: ")]


def measure(place: Path, *args: str, stdin: int = subprocess.DEVNULL) -> Measured:
    """The program, run to its end.

    Args:
        place: a folder for the figure.
    """
    figure = place / "peak_bytes"
    run = run_program(
        [sys.executable, "-c", _MEASURE, figure, PROGRAM, *args],
        stdin=stdin,
        env=environment(),
        timeout_s=TIMEOUT_S,
    )
    return Measured(run.returncode, run.stdout, run.stderr, int(figure.read_text()))
