"""A small event loop: what the wire client needs of asyncio, imported in a tenth of the time.

asyncio brings TLS, subprocesses, thread pools and logging, and takes longer to import than
everything else that `list` does. This loop has sockets and moments; futures, tasks and time limits
behave as asyncio's do, and so does Ctrl-C: the first one gives up the work in order, the second
one ends it where it is.
"""

import heapq
import os
import selectors
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kgroups.core.kafka.loops.running import HERE
from kgroups.core.kafka.loops.short_future import (
    Cancelled,
    ShortFuture,
    ShortLock,
    ShortTask,
    ShortTimeout,
)

if TYPE_CHECKING:
    from kgroups.core.kafka.loops.loop import Loop, Runner, Stream

_DRAINED: Final = 1 << 12

Result = TypeVar("Result")


class Timer:
    """Something to do at a moment, unless it is cancelled."""

    __slots__ = ("_what", "moment")

    def __init__(self, moment: float, what: Callable[[], None]) -> None:
        self.moment = moment
        self._what: Callable[[], None] | None = what

    def __lt__(self, other: "Timer") -> bool:
        return self.moment < other.moment

    def cancel(self) -> None:
        """Do nothing then."""
        self._what = None

    def __call__(self) -> None:
        if self._what is not None:
            self._what()


class ShortLoop:
    """A loop, and what runs it."""

    def __init__(self) -> None:
        self.current: ShortTask | None = None
        self._main: ShortTask | None = None
        self._ready: deque[Callable[[], None]] = deque()
        self._timers: list[Timer] = []
        self._tasks: dict[ShortTask, None] = {}
        self._selector = selectors.DefaultSelector()
        self._watched: dict[int, dict[int, ShortFuture]] = {}  # by file, then by event
        self._wakes = threading.Lock()
        self._is_open = True
        self._waking, self._awaken = os.pipe()
        os.set_blocking(self._waking, False)
        os.set_blocking(self._awaken, False)
        self._selector.register(self._waking, selectors.EVENT_READ)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What the work gives; what it has spawned stands still until the next run.

        Raises:
            KeyboardInterrupt: it was interrupted, by a signal or by `cancel`, and has cleaned up.
        """
        main = self._main = self.spawn(work)
        former, HERE.loop = HERE.loop, self
        try:
            with self._interrupted():
                while not main.done():
                    self._turn()
        finally:
            HERE.loop, self._main = former, None
        if main.cancelled():
            raise KeyboardInterrupt
        found: Result = main.result()
        return found

    def cancel(self) -> bool:
        """Interrupt what runs, from a signal handler; False where nothing does."""
        if self._main is None:
            return False
        self._main.cancel()
        self._wake()
        return True

    def close(self) -> None:
        """Give up whatever still stands."""
        for task in self._tasks:
            task.cancel()
        former, HERE.loop = HERE.loop, self
        try:
            while self._tasks:
                self._turn()
        finally:
            HERE.loop = former
        with self._wakes:
            was_open, self._is_open = self._is_open, False
        if not was_open:
            return
        self._selector.close()
        os.close(self._waking)
        os.close(self._awaken)

    @contextmanager
    def _interrupted(self) -> Iterator[None]:
        """Ctrl-C gives up the work meanwhile, where Python would raise KeyboardInterrupt.

        The signal's number is written to the pipe, too: one that comes just before the wait
        begins would not end it.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        is_asked = False

        def interrupt(_number: int, _frame: FrameType | None) -> None:
            nonlocal is_asked
            if is_asked or self._main is None or self._main.done():
                raise KeyboardInterrupt
            is_asked = True
            self._main.cancel()

        former = signal.set_wakeup_fd(self._awaken, warn_on_full_buffer=False)
        is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        try:
            if is_ours:
                signal.signal(signal.SIGINT, interrupt)
            yield
        finally:
            if is_ours and signal.getsignal(signal.SIGINT) is interrupt:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.set_wakeup_fd(former)

    def _turn(self) -> None:
        """Wait for whatever comes first, then do what is to be done now."""
        wait_s: float | None = None
        if self._ready:
            wait_s = 0.0
        elif self._timers:
            wait_s = max(0.0, self._timers[0].moment - time.monotonic())
        for key, events in self._selector.select(wait_s):
            if key.fd == self._waking:
                self._drain()
                continue
            for event, turn in self._watched[key.fd].items():
                if events & event:
                    turn.arrive()
        now = time.monotonic()
        while self._timers and self._timers[0].moment <= now:
            self._ready.append(heapq.heappop(self._timers))
        for _ in range(len(self._ready)):
            self._ready.popleft()()

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._waking, _DRAINED)

    def _wake(self) -> None:
        """End the wait that is under way; from any thread or signal handler."""
        with suppress(BlockingIOError):  # full: it is awake
            os.write(self._awaken, b"\0")

    def soon_from_thread(self, what: Callable[[], None]) -> None:
        """Call this in the loop's thread; nothing where the loop is closed."""
        with self._wakes:
            if self._is_open:
                self._ready.append(what)
                self._wake()

    def soon(self, what: Callable[[], None]) -> None:
        """Call this in the next turn."""
        self._ready.append(what)

    def at(self, moment: float, what: Callable[[], None]) -> Timer:
        """Call this at a moment, or soon after it."""
        timer = Timer(moment, what)
        heapq.heappush(self._timers, timer)
        return timer

    def future(self) -> ShortFuture:
        """A future of this loop."""
        return ShortFuture(self)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> ShortTask:
        """The work as a task, which goes on by itself."""
        task = ShortTask(self, work)
        self._tasks[task] = None
        task.tell(lambda _: self._tasks.pop(task))
        return task

    async def sleep(self, seconds: float) -> None:
        """Let so much time pass; 0 is one turn of the loop."""
        turn = self.future()
        timer = self.at(time.monotonic() + seconds, turn.arrive)
        try:
            await turn
        finally:
            timer.cancel()

    def timeout_at(self, moment: float) -> ShortTimeout:
        """The block fails with a TimeoutError where it lasts longer."""
        return ShortTimeout(self, moment)

    def lock(self) -> ShortLock:
        """A lock, entered by one task at a time in the order in which they came."""
        return ShortLock(self)

    async def gather(self, *works: Any, return_exceptions: bool = False) -> Any:
        """What each of the works gives, all done at once."""
        tasks = [work if isinstance(work, ShortFuture) else self.spawn(work) for work in works]
        try:
            await self._settled(tasks, failed=not return_exceptions)
        except Cancelled:
            for task in tasks:
                task.cancel()
            await self._settled(tasks)
            raise
        if not return_exceptions:
            failed = next((task for task in tasks if task.done() and _failure(task)), None)
            return [task.result() for task in tasks] if failed is None else failed.result()
        return [_failure(task) or task.result() for task in tasks]

    async def wait(
        self, futures: Sequence[Any], *, until: float | None = None, first: bool = False
    ) -> None:
        """Until all of the futures are done, or the first of them, or the time is over."""
        await self._settled(futures, until=until, first=first)

    async def _settled(
        self,
        futures: Sequence[ShortFuture],
        *,
        until: float | None = None,
        first: bool = False,
        failed: bool = False,
    ) -> None:
        """The same, or until the first has failed."""
        turn = self.future()
        left = len(futures)

        def one(done: ShortFuture) -> None:
            nonlocal left
            left -= 1
            if not left or first or (failed and _failure(done)):
                turn.arrive()

        for future in futures:
            future.tell(one)
        timer = None if until is None else self.at(until, turn.arrive)
        try:
            if futures:
                await turn
        finally:
            if timer is not None:
                timer.cancel()

    async def ready(self, file: int, event: int) -> None:
        """Wait until a file can be read, or written to.

        Args:
            file: its number; at most one task waits for the same event of it.
            event: one of the constants of `selectors`.
        """
        turn = self.future()
        turns = self._watched.setdefault(file, {})
        turns[event] = turn
        self._watch(file)
        try:
            await turn
        finally:
            del turns[event]
            self._watch(file)

    def _watch(self, file: int) -> None:
        """Have the selector wait for what tasks wait for."""
        if not self._is_open:
            return
        events = sum(self._watched[file])
        is_known = file in self._selector.get_map()
        if not events:
            del self._watched[file]
            self._selector.unregister(file)
        elif is_known:
            self._selector.modify(file, events)
        else:
            self._selector.register(file, events)

    async def connect(self, address: tuple[str, int], tls: Any = None) -> "Stream":
        """A TCP connection; there is no TLS here."""
        from kgroups.core.kafka.loops.short_stream import connect  # sockets, when there is one

        assert tls is None, "TLS is asyncio's"
        return await connect(self, address)


def _failure(future: ShortFuture) -> BaseException | None:
    """Why there is no result; one that was given up counts, too."""
    return Cancelled() if future.cancelled() else future.exception()


if TYPE_CHECKING:
    _loop: Loop = ShortLoop()
    _runner: Runner = ShortLoop()
