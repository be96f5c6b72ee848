"""Work that blocks, beside an event loop: it is ended, or left to itself, when its time is over."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

Result = TypeVar("Result")


class Abort:
    """Ends work from outside, once; whoever does the work says how."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None
        self._is_wanted = False

    def by(self, end: Callable[[], None]) -> None:
        """Ends the work so from now on; at once, if that was wanted already."""
        with self._lock:
            self._end = end
            wanted = self._is_wanted
        if wanted:
            end()

    def __call__(self) -> None:
        with self._lock:
            self._is_wanted = True
            end = self._end
        if end is not None:
            end()


async def in_background(work: Callable[[Abort], Result], deadline: float) -> Result:
    """Result of the work, done in a thread of its own.

    The thread does not keep the process from ending, as those of the event loop's would.

    Args:
        deadline: on the event loop's clock, seconds.
    Raises:
        TimeoutError: it was not done until then.
    """
    loop, abort = asyncio.get_running_loop(), Abort()
    done: asyncio.Future[Result] = loop.create_future()

    def tell(how: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if done.done() else how())

    def run() -> None:
        try:
            result = work(abort)
        except BaseException as error:
            failure = error
            tell(lambda: done.set_exception(failure))
        else:
            tell(lambda: done.set_result(result))

    threading.Thread(target=run, daemon=True, name="kgroups-background").start()
    try:
        async with asyncio.timeout_at(deadline):
            return await done
    finally:
        if not done.done() or done.cancelled():
            abort()
