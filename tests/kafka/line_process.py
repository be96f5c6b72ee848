"""A program that is spoken to in lines, and answers in lines: its process, pipes and end."""

import subprocess
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Self


class LineProcess:
    """The program, running; it ends when its input does.

    Args:
        command: what is run.
        heard: called with each line that it writes, in a thread of its own, and with `""` when
            there are no more; None: `hear` reads them.
        stderr: where its errors go; None: to ours.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        heard: Callable[[str], None] | None = None,
        stderr: IO[str] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C at the terminal is the tests' to turn into an end
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._reader: threading.Thread | None = None
        if heard is not None:
            self._reader = threading.Thread(target=self._listen, args=(heard,), daemon=True)
            self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def say(self, line: str) -> None:
        """Write a line to it."""
        self._in.write(line + "\n")
        self._in.flush()

    def hear(self) -> str:
        """Its next line; empty when it has ended."""
        return self._out.readline()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def close(self, timeout_s: float = 20) -> int:
        """End its input, and wait for its end; the exit status.

        Raises:
            subprocess.TimeoutExpired: it did not end by itself, and was killed.
        """
        with suppress(BrokenPipeError):
            self._in.close()
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            if self._reader is not None:
                self._reader.join()
            self._out.close()

    def _listen(self, heard: Callable[[str], None]) -> None:
        for line in self._out:
            heard(line)
        heard("")
