"""Ctrl-C, SIGTERM and SIGHUP: they interrupt a command, end a server, and name the exit code."""

import _thread
import itertools
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Any, Final, Self, TypeVar

from kgroups.core.errors import EXIT_CODE_INTERRUPTED

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_S: Final = 0.01

_told: list[signal.Signals] = []
_quiet: list[bool] = []

Result = TypeVar("Result")


def interrupt_on_signals() -> None:
    """From now on each of the signals interrupts the command as Ctrl-C does.

    What is under way is cleaned up on the way out, and `exit_code` says which signal it was. A
    signal that is ignored (`nohup`) stays so.
    """
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            # asyncio ends its tasks in order only where it finds Python's own handler
            own = signal.default_int_handler if number == signal.SIGINT else _interrupt
            signal.signal(number, own)
    sys.unraisablehook = _deliver_again


def _interrupt(number: int, frame: FrameType | None) -> None:
    _told.append(signal.Signals(number))
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):  # Ctrl-C is ignored, as in a job in the background
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


def _deliver_again(lost: Any) -> None:
    """Interrupt once more: an interrupt in a destructor or a callback is thrown away by Python."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        if not _quiet:
            sys.__unraisablehook__(lost)
        return

    def later() -> None:
        time.sleep(_AGAIN_S)  # the destructor has ended then
        _thread.interrupt_main(_told[-1] if _told else signal.SIGINT)

    _thread.start_new_thread(later, ())


def be_quiet() -> None:
    """From now on Python says nothing of what an interrupt has left half made.

    An event loop whose `__init__` was interrupted fails in its destructor, its task is pending and
    the task's coroutine was never awaited. Called before the interrupt's traceback, which keeps
    them alive, is let go.
    """
    if sys.unraisablehook is _deliver_again:  # else another program handles the signals
        _quiet.append(True)
        warnings.simplefilter("ignore", RuntimeWarning)
        if "logging" in sys.modules:
            import_module("logging").disable()


def told_to_end() -> bool:
    """Whether SIGTERM or SIGHUP has come."""
    return bool(_told)


def exit_code() -> int:
    """Exit code of an interrupted command: 128 and the number of the signal."""
    return 128 + _told[0] if _told else EXIT_CODE_INTERRUPTED


def leave_on_signals(code: int) -> None:
    """From now on each of the signals ends the process at once: there is nothing left to do."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        os._exit(code)

    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, leave)


def ignore_signals() -> None:
    """From now on none of the signals does anything.

    For the last moments: the interpreter puts the default handlers back before it is gone, and
    a signal that comes then would kill a process that has done its work.
    """
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def stop_on_signals() -> Callable[[], object]:
    """Waits for the first of the signals; a second one ends the process at once.

    A signal may be delivered to the cluster's thread, where it does not wake the one that waits,
    and a second one while the first is handled. A pipe that the C handler writes to, and a
    counter, take both; `threading.Event` takes neither.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    earlier = itertools.count()

    def ask(number: int, _frame: FrameType | None) -> None:
        _told.append(signal.Signals(number))
        if next(earlier):
            os._exit(exit_code())

    signal.signal(signal.SIGINT, ask)
    signal.signal(signal.SIGTERM, ask)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, ask)
    return lambda: os.read(reading, 1)


class Pauses:
    """While it is entered, a signal interrupts only what runs in `during`.

    What runs elsewhere is finished and told first: the next `during` then raises. A second signal
    waits for nothing.
    """

    def __init__(self) -> None:
        self._asked = False
        self._former: Any = None

    def __enter__(self) -> Self:
        self._former = signal.getsignal(signal.SIGINT)
        self._handle(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        self._handle(self._former)

    def during(self, work: Callable[[], Result]) -> Result:
        """Result of the work.

        Raises:
            KeyboardInterrupt: a signal came, now or before.
        """
        try:
            self._handle(signal.default_int_handler)  # which asyncio replaces by one of its own
            if self._asked:
                raise KeyboardInterrupt
            return work()
        finally:
            self._handle(self._note)

    def _handle(self, handler: Any) -> None:
        is_ours = threading.current_thread() is threading.main_thread()
        if is_ours and self._former != signal.SIG_IGN:  # as in a job in the background
            signal.signal(signal.SIGINT, handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
