"""stdout and stderr as outlets: writing to them never fails, whether or not they are read.

They take the place of `sys.stdout` and `sys.stderr`, so that everything that writes meets a closed
pipe here and nowhere else: the printer, Rich, csv, the help pages, other threads, and Python itself
when it ends. A command thus does its work and keeps its exit code; what became of its words is
asked of the outlet afterwards. Files appear whole or not at all.
"""

import errno
import io
import os
import select
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from kgroups.cli.output.escapes import visible
from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.files import lies_at, whole_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT, STDERR = 1, 2
BUFFER_BYTES: Final = 64 * 1024


class Outlet(io.RawIOBase):
    """One output stream of the process.

    Args:
        failure: why nothing can arrive from the start; None where it can.
    """

    def __init__(self, descriptor: int, failure: OSError | None = None) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._failure = failure
        self._is_cut = False
        self.loss: OSError | None = None
        """Why something that was written did not arrive; None while everything did."""
        self.is_told = False
        """Whether the user has been told of the loss."""

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Whether a person reads it."""
        return os.isatty(self._descriptor)

    def write(self, data: "ReadableBuffer", /) -> int:
        """How many bytes were taken: all of them, where nothing arrives any more."""
        if self._failure is None and not self._is_cut:
            try:
                return self._written(data)
            except OSError as error:
                self._failure = error
            except KeyboardInterrupt:
                # Python does not know how much was taken, and would write it again.
                self._is_cut = self._descriptor == STDOUT
                raise
        self.loss = self._failure
        return memoryview(data).nbytes

    def _written(self, data: "ReadableBuffer") -> int:
        while True:
            try:
                return os.write(self._descriptor, data)
            except BlockingIOError:  # another program has made the pipe that we share so
                _await(self._descriptor, takes_output=True)

    def wait(self, timeout_ms: float) -> None:
        """Let the time pass; come back at once if the reader goes meanwhile."""
        if self._failure is None:
            _await(self._descriptor, takes_output=False, timeout_ms=timeout_ms)

    @property
    def reader_is_gone(self) -> bool:
        """Whether something did not arrive because nobody reads any more: no failure of ours."""
        return self.loss is not None and self.loss.errno == errno.EPIPE

    @property
    def reason(self) -> str | None:
        """Why something could not be written; None if all was, or nobody wanted it any more."""
        if self.loss is None or self.reader_is_gone:
            return None
        return self.loss.strerror or str(self.loss)


def _await(descriptor: int, *, takes_output: bool, timeout_ms: float | None = None) -> None:
    """Wait until the descriptor's reader is gone or, if asked so, until it takes output."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT if takes_output else 0)
    poll.poll(timeout_ms)


def protect() -> None:
    """Put outlets in the place of `sys.stdout` and `sys.stderr`.

    Where the process got no stream, /dev/null takes its descriptor: else the next file or socket
    would, and whatever writes to a standard stream would write into it.
    """
    if sys.stdin is None:
        _plug(0, os.O_RDONLY)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (for good)
    sys.stdout = _outlet(sys.stdout, STDOUT)
    sys.stderr = _outlet(sys.stderr, STDERR)


def _outlet(stream: TextIO | None, descriptor: int) -> TextIO:
    failure = None
    if stream is None:
        _plug(descriptor, os.O_WRONLY)
        failure = OSError(errno.EBADF, "stdout is closed")
    outlet = Outlet(descriptor, failure)
    return io.TextIOWrapper(
        io.BufferedWriter(outlet, BUFFER_BYTES),
        encoding="utf-8",  # names are UTF-8 in Kafka, whatever the locale says
        errors="backslashreplace",
        newline="\n",
        line_buffering=descriptor == STDERR or outlet.isatty(),
    )


def _plug(descriptor: int, flags: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        nowhere = os.open(os.devnull, flags)
        os.set_inheritable(nowhere, True)
        if nowhere != descriptor:
            os.dup2(nowhere, descriptor)
            os.close(nowhere)


def outlet_of(stream: TextIO) -> Outlet | None:
    """The outlet below a text stream; None where the stream is another one (in tests)."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, Outlet) else None


def is_lost(stream: TextIO) -> bool:
    """Whether something that was written to a stream, and flushed, has not arrived."""
    outlet = outlet_of(stream)
    return outlet is not None and outlet.loss is not None


def write_text(text: str) -> None:
    """Write text that is itself the data (a completion script, a help page) to stdout."""
    if sys.stdout.isatty():
        text = visible(text)
    sys.stdout.write(text)
    sys.stdout.flush()


_HINT = "choose a file in a folder that you can write to"


def write_whole(path: Path, text: str, what: str) -> None:
    """Write a file whole or not at all, over what is there.

    Args:
        what: is written, for messages: `the page`.
    Raises:
        UsageError: it cannot be written there.
    """
    try:
        with whole_file(path) as file:
            file.write(text.encode(errors="backslashreplace"))
    except OSError as error:
        raise UsageError(
            f"{what} cannot be written to `{path}`: {error.strerror}", hint=_HINT
        ) from error


def check_place(path: Path) -> None:
    """See that a file could be written, before the work that fills it.

    Raises:
        UsageError: its folder does not exist, or it is itself a folder.
    """
    is_folder = lies_at(path) == "folder"
    if is_folder or lies_at(path.absolute().parent) != "folder":
        raise UsageError(
            f"`{shorten(str(path))}` cannot be written: "
            + ("it is a folder" if is_folder else "its folder does not exist"),
            hint=_HINT,
        )
