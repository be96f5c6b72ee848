"""What one run of a command costs: time, processor time and peak memory of the whole process."""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.kafka.child import run_program

CHILD = Path(__file__).parent / "child.py"
TIMEOUT_S = 900


class RunFailed(RuntimeError):
    """A command of a benchmark ended with another status than 0, or answered wrongly."""


@dataclass(frozen=True)
class Run:
    """One finished run: seconds, bytes, and what it printed."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    stdout: str


def run_measured(
    command: Sequence[str], *, timeout_s: float = TIMEOUT_S, unread: bool = False
) -> Run:
    """Run a command to its end and measure it.

    Args:
        unread: what it prints goes nowhere.
    Raises:
        RunFailed: it ended with another status than 0.
    """
    with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch:
        figures, out, err = (Path(scratch) / name for name in ("figures", "out", "err"))
        if unread:
            out = Path(os.devnull)
        launcher = [sys.executable, "-I", "-S", str(CHILD), str(figures), str(out), str(err)]
        run_program([*launcher, *command], check=True, timeout_s=timeout_s)
        found = json.loads(figures.read_text())
        if found["status"] != 0:
            said = err.read_text(errors="replace")[-2_000:]
            raise RunFailed(f"{' '.join(command)} ended with {found['status']}: {said}")
        stdout = out.read_text(encoding="utf-8")
    return Run(found["wall_s"], found["cpu_s"], found["peak_bytes"], stdout)
