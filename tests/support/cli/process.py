"""The program as a process of its own, as a shell starts it."""

import os
import pty
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.kafka.child import Child

# The first start of Spark, which keeps its classes for the next ones, on a machine that does ten
# other things.
TIMEOUT_S = 400
PROGRAM = Path(sys.executable).parent / "kgroups"


def environment(**more: str) -> dict[str, str]:
    """Our environment without what would change the program's answers."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("KGROUPS_") and name not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")
    }
    return {**clean, **more}


def start(*args: str, **how: Any) -> Child:
    """The program, running, without input; its other streams are pipes unless `how` differs."""
    return Child([PROGRAM, *args], **{"env": environment(), **how})


@contextmanager
def typed(answer: str = "") -> Iterator[int]:
    """A terminal as stdin, on which this is typed in from the start."""
    leader, follower = pty.openpty()
    try:
        os.write(leader, answer.encode())
        yield follower
    finally:
        os.close(leader)
        os.close(follower)


def finish(*args: str, **how: Any) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the program."""
    with start(*args, **how) as process:
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, stdout, stderr
