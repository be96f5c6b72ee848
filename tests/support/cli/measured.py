"""The program as a process that is measured: exit code, words, memory and processor time."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.support.cli.process import PROGRAM, TIMEOUT_S, environment
from tests.support.kafka.child import LEASH, run_program

# A small process of its own between us and the program: the most memory that a child ever had is
# told to its parent, and begins with what the parent itself had when it was forked.
_MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    file.write(f"{used.ru_maxrss * 1024} {used.ru_utime + used.ru_stime}")
sys.exit(code if code >= 0 else 128 - code)
"""


class Measured(NamedTuple):
    """What a run came to.

    Args:
        peak_bytes: the most resident memory.
        cpu_s: processor time, which does not depend on what else the machine does.
    """

    code: int
    stdout: str
    stderr: str
    peak_bytes: int
    cpu_s: float

    @property
    def errors(self) -> list[str]:
        """The `error:` lines of stderr."""
        return [line for line in self.stderr.splitlines() if line.startswith("error: ")]


def measure(place: Path, *args: str, stdin: int = subprocess.DEVNULL) -> Measured:
    """The program, run to its end.

    Args:
        place: a folder for the figures.
    """
    figures = place / "figures"
    run = run_program(
        [sys.executable, "-c", _MEASURE, figures, *LEASH, PROGRAM, *args],
        stdin=stdin,
        env=environment(),
        timeout_s=TIMEOUT_S,
    )
    peak_bytes, cpu_s = figures.read_text().split()
    return Measured(run.returncode, run.stdout, run.stderr, int(peak_bytes), float(cpu_s))
