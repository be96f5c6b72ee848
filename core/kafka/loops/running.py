"""Which loop runs: each thread has one at a time."""

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgroups.core.kafka.loops.loop import Loop


class _Here(threading.local):
    """What holds for one thread."""

    loop: "Loop | None" = None


HERE = _Here()
"""The small loop that runs in this thread; None where none does."""


def running() -> "Loop":
    """The loop that runs in this thread: a small one, or else asyncio's."""
    if HERE.loop is not None:
        return HERE.loop
    from kgroups.core.kafka.loops.asyncio_loop import ASYNCIO  # longer than all other imports

    return ASYNCIO
