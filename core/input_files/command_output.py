"""The output of a command: `exec:COMMAND ARGS` where a program gives a value."""

import os
import shlex
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.files import MIB

MAX_BYTES: Final = MIB // 16

End = Callable[[], None]
"""Ends what was started."""


def command_output(
    command: str, timeout_s: float, started: Callable[[End], None] | None = None
) -> str:
    """The output of a command without its last newline.

    It runs without a shell and without input, in a process group of its own, which ends with it.

    Args:
        command: program and arguments, quoted as for a shell.
        started: told how to end it from another thread.
    Raises:
        UsageError: it cannot be run, fails, does not end in time or prints nothing.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"`exec:` cannot be read: {str(error).lower()}") from error
    program = f"`{shorten(words[0])}`"
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            child = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise UsageError(f"{program} cannot be run: {why.lower()}") from error

        def end() -> None:
            if child.poll() is None:
                with suppress(OSError):
                    os.killpg(child.pid, signal.SIGKILL)

        try:
            if started is not None:
                started(end)
            code = child.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            raise UsageError(
                f"{program} did not end within {timeout_s:g} s",
                hint="run it by hand: it may be asking for something; or raise `--timeout`",
            ) from error
        finally:
            end()
            child.wait()
        if code:
            said = _text_of(err).strip().splitlines()
            why = f": {shorten(said[-1])}" if said else ""
            raise UsageError(f"{program} failed with exit code {code}{why}")
        text = _text_of(out).rstrip("\r\n")
    if not text:
        raise UsageError(f"{program} printed nothing")
    return text


def check_owner(file: Path) -> None:
    """See that nobody else decides which command runs.

    Raises:
        UsageError: other users can change the file.
    """
    about = file.stat()
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or about.st_uid not in (os.geteuid(), 0):
        raise UsageError(
            "`exec:` is not run from a file that other users can change",
            hint=f"run `chmod go-w` on `{file}`, and own it",
        )


def _text_of(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_BYTES).decode(errors="replace")
