"""Runs the program with odd streams, and tells how it ended and how long it has waited."""

import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal

from tests.support.cli.process import PROGRAM, TIMEOUT_S, environment
from tests.support.kafka.child import Child
from tests.support.kafka.waiting import wait_until
from tests.support.own_waiting import busy_s

Sink = Literal["kept", "closed", "full", "gone", "one line", "stdout"]
"""What a stream leads to: a file that is kept, nothing, a full disk, a pipe without a reader, a
reader that goes after a line, or the other stream's place."""

LIMIT_S: Final = 3 * TIMEOUT_S
"""Whatever does not end by then hangs."""

Program = Child
STOPPED = "the program does not end"


@dataclass(frozen=True)
class Ending:
    """How the program ended.

    Args:
        code: exit code; negative if a signal killed it.
        stdout, stderr: what was kept of it.
        waited_s: how long its main thread neither ran nor was ready to run: a busy machine makes
            it shorter, never longer. None where the system does not tell.
    """

    code: int
    stdout: bytes
    stderr: bytes
    waited_s: float | None

    @property
    def said(self) -> str:
        """What it said, for people."""
        return self.stderr.decode(errors="replace")

    @property
    def all_said(self) -> str:
        """What it wrote to both streams."""
        return self.stdout.decode(errors="replace") + self.said


def run_program(
    words: Sequence[str | bytes],
    folder: Path,
    *,
    stdin: Sink = "kept",
    stdout: Sink = "kept",
    stderr: Sink = "kept",
    env: Mapping[str, str] | None = None,
    before: str = "",
    meanwhile: Callable[[Program], None] | None = None,
) -> Ending:
    """How the program ends.

    Args:
        words: its arguments.
        folder: for what it writes.
        stdin: `closed`, or nothing to be read.
        env: instead of the usual environment.
        before: what the shell does before, which starts it: `ulimit -f 16`.
        meanwhile: done while it runs.
    Raises:
        AssertionError: it does not end.
    """
    closed = "".join(
        f" {number}>&-" for number, sink in enumerate((stdin, stdout, stderr)) if sink == "closed"
    )
    with ExitStack() as stack:
        out, read_out = _open(stdout, folder / "stdout", stack)
        err, read_err = _open(stderr, folder / "stderr", stack)
        began = time.monotonic()
        process = Child(
            ["sh", "-c", f'{before}\nexec "$@"{closed}', "sh", PROGRAM, *words],
            env=environment() if env is None else env,
            stdout=out,
            stderr=subprocess.STDOUT if stderr == "stdout" else err,
        )
        stack.callback(_kill, process)
        for stream in (out, err):
            if stream not in (None, subprocess.DEVNULL):
                os.close(stream)
        for reader in (read_out, read_err):
            if reader is not None:
                _read_line(reader, process)
        if meanwhile is not None:
            meanwhile(process)
        waited_s = await_end(process, began)
        code = process.wait(timeout=TIMEOUT_S)
    return Ending(code, _kept(folder / "stdout"), _kept(folder / "stderr"), waited_s)


def _open(sink: Sink, file: Path, stack: ExitStack) -> tuple[int, IO[bytes] | None]:
    """The descriptor that the program gets, and the reader of its first line."""
    file.unlink(missing_ok=True)
    if sink == "kept":
        return os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), None
    if sink == "full":
        return os.open("/dev/full", os.O_WRONLY), None
    if sink in ("gone", "one line"):
        reading, writing = os.pipe()
        if sink == "gone":
            os.close(reading)
            return writing, None
        return writing, stack.enter_context(os.fdopen(reading, "rb", buffering=0))
    return subprocess.DEVNULL, None


def _kept(file: Path) -> bytes:
    return file.read_bytes() if file.exists() else b""


def _read_line(reader: IO[bytes], process: Program) -> None:
    """Read one line, or to the end, and close."""
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    while True:
        assert poll.poll(LIMIT_S * 1_000), f"{process.args!r} says nothing"
        piece = reader.read(1)
        if piece in (b"", b"\n"):
            break
    reader.close()


def await_end(process: Program, began: float) -> float | None:
    """Wait until the program has ended, but do not bury it; how long it waited itself.

    Raises:
        AssertionError: it does not end.
    """
    handle = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        assert poll.poll(LIMIT_S * 1_000), f"{STOPPED}: {process.args!r}"
        took_s = time.monotonic() - began
    finally:
        os.close(handle)
    busy = busy_s(str(process.pid))
    return None if busy is None else took_s - busy


def await_handlers(process: Program) -> None:
    """Wait until the program handles signals itself: before that they are the interpreter's.

    Raises:
        AssertionError: it does not.
    """
    bit = 1 << (signal.SIGHUP - 1)

    def handles() -> bool:
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = next((line for line in status.splitlines() if line.startswith("SigCgt")), "0 0")
        return bool(int(caught.split()[1], 16) & bit) or is_over(process)

    wait_until(handles, "the program handles signals", timeout_s=TIMEOUT_S, pause_s=0.002)


def goes_on_for(process: Program, seconds: float) -> bool:
    """Whether the program is still there so many seconds later."""
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:  # another thread has buried it
        return False
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return not poll.poll(seconds * 1_000)
    finally:
        os.close(handle)


def is_over(process: Program) -> bool:
    """Whether the program has ended; it is not buried, so that the end can still be looked at."""
    try:
        return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:  # another thread has buried it
        return True


def _kill(process: Program) -> None:
    if process.poll() is None:
        process.kill()
        process.wait(timeout=TIMEOUT_S)
