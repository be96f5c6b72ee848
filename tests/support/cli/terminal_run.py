"""The program on a pseudo-terminal, as a person sees it."""

import os
import pty
import re
import termios

from tests.support.cli.process import PROGRAM, TIMEOUT_S, environment
from tests.support.kafka.child import Child, read_until

_OWN = re.compile(r"\x1b\[[0-9;]*m|\r\x1b\[K|\x1b\[H\x1b\[2J(\x1b\[3J)?")
"""Colours, the progress line, the wiping of `--watch`: all that the program itself may send."""


def run_on_terminal(*args: str, answer: str = "", **env: str) -> tuple[int, str]:
    """Exit code, and everything that the terminal got, in the order it came.

    Args:
        answer: typed in from the start.
    Raises:
        DeadlinePassed: it did not end in time; with what it had written.
    """
    leader, follower = pty.openpty()
    mode = termios.tcgetattr(follower)
    mode[1] &= ~termios.OPOST  # lines end as they were written
    mode[3] &= ~termios.ECHO
    termios.tcsetattr(follower, termios.TCSANOW, mode)
    with Child(
        [PROGRAM, *args],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment(**{"TERM": "xterm-256color", "COLUMNS": "160", **env}),
        start_new_session=True,
    ) as process:
        os.close(follower)
        os.write(leader, answer.encode())
        written = read_until(leader, None, f"the end of {args}", timeout_s=TIMEOUT_S)
        os.close(leader)
        code = process.wait(TIMEOUT_S)
    return code, written.decode("utf-8", "backslashreplace")


def foreign_controls(written: str) -> set[str]:
    """Characters that a terminal obeys and that are not the program's own doing."""
    rest = _OWN.sub("", written).replace("\n", "").replace("\t", "")
    return {char for char in rest if not char.isprintable()}
