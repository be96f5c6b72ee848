"""Programs that the tests start: each wait for one has a deadline, and none outlives the tests.

    with Child([PROGRAM, "watch"]) as child:
        child.line_that("GROUP")
        status = child.stop()

On Linux the kernel itself kills a child when the process that started it is gone, however it went
(`PR_SET_PDEATHSIG`, set by util-linux's `setpriv` before it becomes the program). It does so when
the *thread* that started it is gone, so one thread starts them all and stays.
"""

import errno
import os
import select
import selectors
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import IO, Any, Literal

from tests.support.kafka.waiting import Deadline, DeadlinePassed

# What a program does in seconds may take it minutes on a machine that does ten other things.
WAIT_S = 400.0
SHOWN = 3_000
STACKS: Mapping[str, str] = {"PYTHONFAULTHANDLER": "1"}
"""Has Python say where all its threads are when it is aborted."""
STACKS_S = 10.0
Command = Sequence[str | bytes | Path]
Output = Literal["stdout", "stderr"]
Stream = int | IO[str] | IO[bytes] | None


def _leash(signal_name: str) -> tuple[str, ...]:
    """Words before a command: it gets this signal when whoever started it is gone."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", signal_name, "--") if setpriv else ()


LEASH = _leash("KILL")
"""Ends a program with whoever started it."""
WAKE = _leash("CONT")
"""Lets one go on that stands still, so that it sees the end of its input."""
_STARTER = ThreadPoolExecutor(1, thread_name_prefix="children")


class Child(subprocess.Popen[str]):
    """A running program; at the end of its `with` it has ended, or is killed.

    Reading by lines and `communicate` share what was read, so both can be used in turn; do not
    read `stdout` itself. Text is what was written, in UTF-8, returns and all.

    Args:
        command: the program and its arguments.
        stdin, stdout, stderr: as of `subprocess.Popen`, but without input and with pipes.
        start_new_session: Ctrl-C at the terminal does not reach it.
        ends_itself: it ends by itself when its standard input does, and tidies up before; the
            kernel would leave it no time for that.
    """

    def __init__(
        self,
        command: Command,
        *,
        stdin: Stream = subprocess.DEVNULL,
        stdout: Stream = subprocess.PIPE,
        stderr: Stream = subprocess.PIPE,
        env: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        pass_fds: Sequence[int] = (),
        start_new_session: bool = False,
        ends_itself: bool = False,
        errors: str = "strict",
    ) -> None:
        words = [os.fsdecode(word) for word in command]
        self._name, self._is_java = shlex.join(words), Path(words[0]).name == "java"
        self._read: dict[Output, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self._ended: set[Output] = set()
        self._reading, self._errors = Lock(), errors
        starting = _STARTER.submit(
            super().__init__,
            [*(WAKE if ends_itself else LEASH), *command],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**(os.environ if env is None else env), **STACKS},
            cwd=cwd,
            pass_fds=tuple(pass_fds),
            start_new_session=start_new_session,
            encoding="utf-8",
            errors=errors,
        )
        starting.result(WAIT_S)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        try:
            self.wait(WAIT_S)
        except DeadlinePassed:
            self.kill()
            self.wait(WAIT_S)
            raise

    def line(self, timeout_s: float | Deadline = WAIT_S, *, stream: Output = "stdout") -> str:
        """The next line of a stream, with its end; empty when there are no more.

        Args:
            timeout_s: a `Deadline` is that of several lines together.
        Raises:
            DeadlinePassed: none came in time.
        """
        deadline = timeout_s if isinstance(timeout_s, Deadline) else Deadline(timeout_s)
        return self._next(stream, b"\n", deadline, "a line")

    def line_that(
        self,
        fits: str | Callable[[str], object],
        *,
        timeout_s: float = WAIT_S,
        stream: Output = "stdout",
    ) -> str:
        """The next line of a stream that starts so, or that this holds for; others are dropped.

        Raises:
            DeadlinePassed: none came in time, however many others did.
            AssertionError: the stream ended before.
        """
        what = f"a line that starts with {fits!r}" if isinstance(fits, str) else "a certain line"
        deadline, dropped = Deadline(timeout_s), ""
        while True:
            try:
                line = self._next(stream, b"\n", deadline, what)
            except DeadlinePassed as passed:
                raise DeadlinePassed(f"{passed}\nlines before: {dropped[-SHOWN:]}") from None
            assert line, f"not {what} of {self._said()}\nonly: {dropped[-SHOWN:]}"
            if line.startswith(fits) if isinstance(fits, str) else fits(line):
                return line
            dropped += line

    def text_until(self, end: str, *, timeout_s: float = WAIT_S, stream: Output = "stdout") -> str:
        """What it writes up to this text, which need not end a line.

        Raises:
            DeadlinePassed: it did not come in time.
            AssertionError: the stream ended before.
        """
        text = self._next(stream, end.encode(), Deadline(timeout_s), f"the text {end!r}")
        assert text.endswith(end), f"not the text {end!r} of {self._said()}\nonly: {text[-SHOWN:]}"
        return text

    def say(self, line: str, *, timeout_s: float = WAIT_S) -> None:
        """Write a line to it.

        Raises:
            DeadlinePassed: it does not read.
            BrokenPipeError: it has ended.
        """
        assert self.stdin is not None, f"{self._name} has no input"
        data, deadline = (line + "\n").encode(), Deadline(timeout_s)
        with selectors.PollSelector() as selector:
            selector.register(self.stdin, selectors.EVENT_WRITE)
            while data:
                if not selector.select(deadline.left()):
                    raise self._late("somebody who reads its input", deadline)
                # a pipe that can be written takes so much at once
                data = data[os.write(self.stdin.fileno(), data[: select.PIPE_BUF]) :]

    def communicate(
        self, input: str | None = None, timeout: float | None = None
    ) -> tuple[str, str]:
        """The rest of stdout and stderr, and the end; it is killed when that comes too late.

        Raises:
            DeadlinePassed: with what it wrote, and where its threads are if it runs Python.
        """
        deadline = Deadline(WAIT_S if timeout is None else timeout)
        unsent = bytearray((input or "").encode())
        try:
            while unsent or self._open():
                if not unsent and self.stdin is not None:
                    self.stdin.close()
                if not self._exchange(deadline.left(), unsent):
                    raise self._late("the end of its output", deadline)
            self._await_end(deadline)
        except DeadlinePassed as passed:
            stacks = self._stacks()
            self.kill()
            raise DeadlinePassed(f"{passed}\n{stacks}") from None
        return self._taken("stdout"), self._taken("stderr")

    def wait(self, timeout: float | None = None) -> int:
        """Its exit status.

        Raises:
            DeadlinePassed: it has not ended, after a minute unless `timeout` says how long.
        """
        return self._await_end(Deadline(WAIT_S if timeout is None else timeout))

    def stop(self, number: signal.Signals = signal.SIGINT, *, timeout_s: float = WAIT_S) -> int:
        """Send it a signal and wait for its end; the exit status."""
        self.send_signal(number)
        return self.wait(timeout_s)

    def end(self, number: signal.Signals = signal.SIGTERM, *, timeout_s: float = 60.0) -> None:
        """Have it end: by a signal, or by force when that does not do it in time."""
        self.send_signal(number)
        with suppress(DeadlinePassed):
            self.wait(timeout_s)
        self.kill()
        self.wait(WAIT_S)

    def _await_end(self, deadline: Deadline) -> int:
        try:
            return super().wait(deadline.left())
        except subprocess.TimeoutExpired:
            raise self._late("its end", deadline) from None

    def _stacks(self) -> str:
        """Where the threads of a program that runs Python are, which ends it."""
        if self.poll() is not None or "stderr" not in self._open() or self._is_java:
            return ""
        self.send_signal(signal.SIGABRT)
        deadline = Deadline(STACKS_S)
        while "stderr" in self._open() and self._exchange(deadline.left()):
            pass
        return self._decoded(self._read["stderr"][-SHOWN:])

    def _next(self, stream: Output, end: bytes, deadline: Deadline, what: str) -> str:
        """What comes up to an end, or all that is left when the stream ends before."""
        read = self._read[stream]
        while True:
            with self._reading:
                at = read.find(end)
                size = at + len(end) if at >= 0 else len(read) * (stream not in self._open())
                if size or stream not in self._open():
                    taken = self._decoded(read[:size])
                    del read[:size]
                    return taken
            if not self._exchange(deadline.left()):
                raise self._late(what, deadline)

    def _open(self) -> dict[Output, IO[str]]:
        """The streams that more can come from."""
        pipes: dict[Output, IO[str] | None] = {"stdout": self.stdout, "stderr": self.stderr}
        return {
            name: pipe
            for name, pipe in pipes.items()
            if pipe is not None and not pipe.closed and name not in self._ended
        }

    def _exchange(self, timeout_s: float, unsent: bytearray | None = None) -> bool:
        """Wait until something comes, on either stream, or can be sent, or one of them ends."""
        with self._reading, selectors.PollSelector() as selector:
            for name, pipe in self._open().items():
                selector.register(pipe, selectors.EVENT_READ, name)
            if unsent and self.stdin is not None:
                selector.register(self.stdin, selectors.EVENT_WRITE)
            ready = selector.select(timeout_s)
            for key, event in ready:
                if event == selectors.EVENT_WRITE:
                    self._send(unsent or bytearray())
                elif part := os.read(key.fd, 1 << 16):
                    self._read[key.data] += part
                else:
                    self._ended.add(key.data)
        return bool(ready)

    def _send(self, unsent: bytearray) -> None:
        """Write what a pipe that can be written takes at once; nobody is left to read it: none."""
        assert self.stdin is not None
        try:
            del unsent[: os.write(self.stdin.fileno(), unsent[: select.PIPE_BUF])]
        except BrokenPipeError:
            unsent.clear()

    def _taken(self, stream: Output) -> str:
        text = self._decoded(self._read[stream])
        self._read[stream].clear()
        return text

    def _decoded(self, read: bytes | bytearray) -> str:
        return read.decode("utf-8", self._errors)

    def _late(self, what: str, deadline: Deadline) -> DeadlinePassed:
        return DeadlinePassed(f"after {deadline.seconds:g} s still not: {what} of {self._said()}")

    def _said(self) -> str:
        """Who it is, how it does and what it wrote that nobody has read yet, for a failure."""
        for _ in range(100):  # it may go on and on
            if not self._open() or self._reading.locked() or not self._exchange(0):
                break
        state = "running" if self.poll() is None else f"ended with {self.returncode}"
        shown = (
            f"{name}: {bytes(read[-SHOWN:]).decode(errors='replace')}"
            for name, read in self._read.items()
            if read
        )
        return "\n".join([f"`{self._name}` ({state})", *shown])


def run_program(
    command: Command,
    *,
    input: str | None = None,
    timeout_s: float = WAIT_S,
    check: bool = False,
    **how: Any,
) -> subprocess.CompletedProcess[str]:
    """What a program writes, and its exit status.

    Args:
        how: as of `Child`.
    Raises:
        DeadlinePassed: it did not end in time, and was killed.
        AssertionError: it failed, and `check` holds.
    """
    stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
    with Child(command, **{"stdin": stdin, **how}) as child:
        stdout, stderr = child.communicate(input, timeout_s)
    done = subprocess.CompletedProcess(command, child.returncode, stdout, stderr)
    assert done.returncode == 0 or not check, done
    return done


def read_some(file: int, deadline: Deadline, what: str) -> bytes:
    """What comes next from a pipe or a terminal, at least a byte; none when its other side is gone.

    Raises:
        DeadlinePassed: nothing came.
    """
    if not select.select([file], [], [], deadline.left())[0]:
        raise DeadlinePassed(f"after {deadline.seconds:g} s still not: {what}")
    try:
        return os.read(file, 1 << 16)
    except OSError as failure:
        if failure.errno != errno.EIO:  # how a terminal says that its other side is closed
            raise
        return b""


def read_until(
    file: int, fits: Callable[[bytes], object] | None, what: str, *, timeout_s: float = WAIT_S
) -> bytes:
    """All that comes from a pipe or a terminal until this holds for it, or its other side is gone.

    Args:
        fits: None: until its other side is gone.
    Raises:
        DeadlinePassed: it did not come to that in time; with what came.
    """
    deadline, read = Deadline(timeout_s), b""
    while fits is None or not fits(read):
        try:
            part = read_some(file, deadline, what)
        except DeadlinePassed as passed:
            raise DeadlinePassed(f"{passed}\nonly: {read[-SHOWN:]!r}") from None
        if not part:
            break
        read += part
    return read
