"""Waiting for a condition with a deadline: the one place of the tests where time passes."""

import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")
# For what serves until it is told to stop: longer than any run of the tests.
LIFE_S = 24 * 3600.0
# For what takes a second alone, and much longer on a machine that is busy.
USUAL_S = 150.0


class DeadlinePassed(AssertionError):
    """A condition did not come true in time."""


class Deadline:
    """So many seconds from now on, for waits that have several parts.

    Attributes:
        seconds: how many.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until then; 0 when it has passed."""
        return max(0.0, self._end - time.monotonic())


def wait_until(
    condition: Callable[[], Value], what: str, *, timeout_s: float = USUAL_S, pause_s: float = 0.05
) -> Value:
    """The first true answer of `condition`.

    Args:
        what: names the condition in the failure.
        pause_s: between two looks; a real client needs it.
    Raises:
        DeadlinePassed: it stayed false for `timeout_s`.
    """
    deadline = Deadline(timeout_s)
    while True:
        value = condition()
        if value:
            return value
        if not deadline.left():
            raise DeadlinePassed(f"after {timeout_s:g} s still not: {what} (last seen: {value!r})")
        time.sleep(pause_s)


def wait_for_thread(thread: threading.Thread, *, timeout_s: float = USUAL_S) -> None:
    """Until a thread has ended.

    Raises:
        DeadlinePassed: it runs on; with where it is.
    """
    thread.join(timeout_s)
    if thread.is_alive():
        frame = sys._current_frames().get(thread.ident or 0)
        where = "".join(traceback.format_stack(frame)) if frame is not None else ""
        raise DeadlinePassed(f"after {timeout_s:g} s still runs: {thread.name}\n{where}")
