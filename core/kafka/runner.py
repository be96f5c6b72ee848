"""asyncio for callers without an event loop, ended in order by Ctrl-C."""

import asyncio
import signal
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

_DRAINED: Final = 1 << 12

Result = TypeVar("Result")


class Runner:
    """Runs one event loop, question after question; what waits stands still in between.

    asyncio turns the first Ctrl-C into the end of the task where it finds Python's own handler;
    the second one waits for nothing.
    """

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._task: asyncio.Task[Any] | None = None
        self._awaken, self._waking = socket.socketpair()
        for end in (self._awaken, self._waking):
            end.setblocking(False)
        self._runner.get_loop().add_reader(self._awaken, self._drain)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Result of the work.

        Raises:
            KeyboardInterrupt: it was interrupted, by a signal or by `cancel`, and has cleaned up.
        """
        answers: list[Result] = []
        try:
            with self._awakened():
                self._runner.run(self._keep(work, answers))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        return answers[0]

    def cancel(self) -> bool:
        """Interrupt what runs, from a signal handler; False where nothing does."""
        if self._task is None:
            return False
        self._task.cancel()
        self._runner.get_loop().call_soon_threadsafe(lambda: None)  # wakes it
        return True

    def close(self) -> None:
        """Give up whatever still stands."""
        try:
            self._runner.close()
        finally:
            self._awaken.close()
            self._waking.close()

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            self._awaken.recv(_DRAINED)

    async def _keep(self, work: Coroutine[Any, Any, Result], answers: list[Result]) -> None:
        """Put the answer aside instead of returning it.

        `asyncio.Runner` puts the signal handler back when its task is done, and the signal module
        then takes the repr of that handler, of the task and of its result: 0.1 s for a snapshot
        of 2,000 groups.
        """
        self._task = asyncio.current_task()
        try:
            answers.append(await work)
        finally:
            self._task = None

    @contextmanager
    def _awakened(self) -> Iterator[None]:
        """Signals wake the loop meanwhile.

        One that comes just before it waits, or that another thread gets, would not end the wait.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        former = signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(former)
