"""The program as a process of its own, as a shell starts it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

# A start of Spark on a machine that does ten other things.
TIMEOUT_S = 180
PROGRAM = Path(sys.executable).parent / "kgroups"


def environment(**more: str) -> dict[str, str]:
    """Our environment without what would change the program's answers."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("KGROUPS_") and name not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")
    }
    return {**clean, **more}


def start(*args: str, **how: Any) -> subprocess.Popen[str]:
    """The program, running; its streams are pipes unless `how` says otherwise."""
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": -1, "stderr": -1}
    return subprocess.Popen(
        [PROGRAM, *args], text=True, encoding="utf-8", **{"env": environment(), **pipes, **how}
    )


def line_that(stream: IO[str] | None, start: str) -> str:
    """The next line of a running program's stream that starts so.

    Raises:
        AssertionError: there is none; what was read instead.
    """
    assert stream is not None
    read: list[str] = []
    while not read or not read[-1].startswith(start):
        line = stream.readline()
        assert line, f"no line `{start}…` in {read}"
        read.append(line)
    return read[-1]


def finish(*args: str, **how: Any) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the program."""
    with start(*args, **how) as process:
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, stdout, stderr
