"""A program that is spoken to in lines, and answers in lines: its process, pipes and end."""

import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Self

from tests.support.kafka.child import Child, Command
from tests.support.kafka.waiting import LIFE_S, DeadlinePassed, wait_for_thread

ANSWER_S = 120.0


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
        command: Command,
        *,
        heard: Callable[[str], None] | None = None,
        stderr: IO[str] | None = None,
    ) -> None:
        # a session of its own: Ctrl-C at the terminal is the tests' to turn into an end
        self._process = Child(command, stdin=subprocess.PIPE, stderr=stderr, start_new_session=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        self._reader: threading.Thread | None = None
        if heard is not None:
            self._reader = threading.Thread(target=self._listen, args=(heard,), daemon=True)
            self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    def say(self, line: str) -> None:
        """Write a line to it."""
        self._process.say(line)

    def hear(self, *, timeout_s: float = ANSWER_S) -> str:
        """Its next line; empty when it has ended.

        Raises:
            DeadlinePassed: neither came in time.
        """
        return self._process.line(timeout_s)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def close(self, timeout_s: float = 60) -> int:
        """End its input, and wait for its end; the exit status.

        Raises:
            DeadlinePassed: it did not end by itself, and was killed.
        """
        with suppress(BrokenPipeError):
            self._in.close()
        try:
            return self._process.wait(timeout_s)
        except DeadlinePassed:
            self._process.kill()
            self._process.wait(timeout_s)
            raise
        finally:
            if self._reader is not None:
                wait_for_thread(self._reader)
            self._out.close()

    def _listen(self, heard: Callable[[str], None]) -> None:
        while line := self._process.line(LIFE_S):
            heard(line)
        heard("")
