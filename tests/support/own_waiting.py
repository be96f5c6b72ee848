"""How long a thread has waited by itself: a busy machine makes that shorter, never longer.

Time on the clock passes too while others have the processor. Linux counts for each thread how
long it ran and how long it was ready to run; what is left is what it chose to wait: for a socket,
a lock, a timer. Where that ends by a deadline, it can be held against the deadline.
"""

import time
from pathlib import Path
from typing import Self


def busy_s(thread: str) -> float | None:
    """Seconds that a thread ran or was ready to run; None where the system does not tell.

    Args:
        thread: its folder in /proc: a process id for the main thread, or `thread-self`.
    """
    try:
        ran_ns, ready_ns, _ = map(int, Path(f"/proc/{thread}/schedstat").read_text().split())
    except (OSError, ValueError):
        return None
    return (ran_ns + ready_ns) / 1e9


class OwnWaiting:
    """How long the calling thread waits in a `with`.

    Attributes:
        seconds: known afterwards; 0 where the system does not tell.
    """

    seconds: float

    def __enter__(self) -> Self:
        self._busy_s, self._began = busy_s("thread-self"), time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        took_s, busy = time.monotonic() - self._began, busy_s("thread-self")
        if busy is None or self._busy_s is None:
            self.seconds = 0.0
        else:
            self.seconds = took_s - (busy - self._busy_s)
