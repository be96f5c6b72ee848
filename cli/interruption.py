"""Ctrl-C between the first write and its report: nothing that was done goes untold."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self, TypeVar

import typer

from kgroups.cli.exits import write_lines
from kgroups.cli.signals import be_quiet
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.offsets.result import Doubt

STDERR: Final = 2

Result = TypeVar("Result")


class Interruption:
    """While it is entered, Ctrl-C ends nothing but what `send` and `look` are at.

    The first one is noted: what is being sent is waited for, what is being looked at is not. The
    second one does not wait for what is being sent either.

    Args:
        what: is ended by what was being sent: `this batch`.
    Attributes:
        asked: whether Ctrl-C has come.
        is_cut: whether something was sent and not waited for.
    """

    def __init__(self, admin: ClusterAdmin, what: str = "the answer") -> None:
        self.asked = self.is_cut = False
        self._admin = admin
        self._what = what
        self._sending = False
        self._all_sent = False
        self._former: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._former = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

    def end(self) -> None:
        """End the command if Ctrl-C has come; everything is told then.

        Raises:
            typer.Exit: with the code of an interrupted command.
        """
        if self.asked:
            raise typer.Exit(EXIT_CODE_INTERRUPTED)

    def send(self, write: Callable[[], Result]) -> Result | None:
        """Result of a write; None where a second Ctrl-C has ended it."""
        try:
            self._sending = True
            result = write()
            self._sending = False
            return result
        except KeyboardInterrupt:
            be_quiet()
            self._sending = False
            self.is_cut = True
            return None

    def look(self, read: Callable[[], Result], otherwise: Result) -> Result:
        """Result of a read after all writes; `otherwise` where Ctrl-C has ended it."""
        self._all_sent = True
        if self.is_cut:
            return otherwise
        try:
            self._handle(signal.default_int_handler)  # which asyncio replaces by one of its own
            try:
                return read()
            finally:
                self._handle(self._note)
        except KeyboardInterrupt:
            be_quiet()
            self._handle(self._note)
            self.asked = True
            return otherwise

    def _handle(self, handler: Callable[[int, FrameType | None], Any]) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if not self.asked:
            self.asked = True
            if not self._all_sent:
                _say(f"stopping after {self._what}; Ctrl-C again stops at once")
        elif not self._sending or not self._admin.cancel():
            raise KeyboardInterrupt


def interrupted_text(what: str, done: int, planned: int, unknown: int, undo: Path | None) -> str:
    """How much is written, in one line: `interrupted: 3 of 5 groups are deleted`.

    Args:
        what: is written: `groups are deleted`.
    """
    open_ = f", {unknown:,} may be" if unknown else ""
    file = "" if undo is None else f"; undo file: {undo}"
    return f"interrupted: {done:,} of {planned:,} {what}{open_}{file}"


def tell_interrupted(what: str, done: int, planned: int, unknown: int, undo: Path | None) -> None:
    """Say so on stderr."""
    write_lines([interrupted_text(what, done, planned, unknown, undo)], [])


def _say(text: str) -> None:
    """Write a line from a signal handler.

    Not through `sys.stderr`: it may be in the middle of a write, and cannot be entered again.
    """
    wipe = "\r\x1b[K" if os.isatty(STDERR) else ""
    with contextlib.suppress(OSError):
        os.write(STDERR, f"{wipe}{text}\n".encode())


def not_waited_for(target: str) -> ItemError:
    """The doubt about an item that was being sent when a second Ctrl-C came."""
    cause = "interrupted before the response arrived"
    return Doubt(
        target,
        "INTERRUPTED",
        f"{cause}: outcome unknown",
        None,
        EXIT_CODE_INTERRUPTED,
        cause,
    )
