"""Waiting for Ctrl-C: the first ends a server cleanly, a second one at once."""

import itertools
import os
import signal
from collections.abc import Callable
from types import FrameType

from kgroups.core.errors import EXIT_CODE_INTERRUPTED


def stop_on_signals() -> Callable[[], object]:
    """Waits for the first Ctrl-C or SIGTERM; a second one ends the process at once.

    A signal may be delivered to the cluster's thread, where it does not wake the one that waits,
    and a second one while the first is handled. A pipe that the C handler writes to, and a
    counter, take both; `threading.Event` takes neither.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    earlier = itertools.count()

    def ask(_number: int, _frame: FrameType | None) -> None:
        if next(earlier):
            os._exit(EXIT_CODE_INTERRUPTED)

    signal.signal(signal.SIGINT, ask)
    signal.signal(signal.SIGTERM, ask)
    return lambda: os.read(reading, 1)
