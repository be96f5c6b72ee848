"""What an event loop is to the wire client: the few things that it needs of one, as types."""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, TypeVar, overload

Result = TypeVar("Result")
Other = TypeVar("Other")


class Future(Protocol):
    """Something that is still to come; awaiting it gives its result."""

    def __await__(self) -> Any: ...

    def done(self) -> bool:
        """Whether it has a result, has failed, or is given up."""

    def cancelled(self) -> bool:
        """Whether it is given up."""

    def cancel(self) -> bool:
        """Give it up; of a task: what it awaits, and thereby itself."""

    def result(self) -> Any:
        """The result; raises why there is none."""

    def exception(self) -> BaseException | None:
        """Why there is no result."""

    def set_result(self, result: Any, /) -> None:
        """It has come."""

    def set_exception(self, error: BaseException, /) -> None:
        """It will not come."""


class Stream(Protocol):
    """Bytes from and to an address."""

    async def readexactly(self, size: int) -> bytes:
        """So many bytes; EOFError where fewer come, OSError where the connection is lost."""

    async def read(self) -> bytes:
        """What has come, at least a byte; empty at the end."""

    def write(self, data: bytes) -> None:
        """Send without waiting. Whether it fails is seen by who reads."""

    async def close(self) -> None:
        """End the connection at once."""

    def info(self, name: str) -> Any:
        """A fact of asyncio's transports: `peername`, `ssl_object`."""


class Loop(Protocol):
    """The loop that runs. Moments are seconds of `time.monotonic`."""

    def future(self) -> Future:
        """A future of this loop."""

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Future:
        """The work as a task, which goes on by itself."""

    async def sleep(self, seconds: float) -> None:
        """Let so much time pass; 0 is one turn of the loop."""

    def timeout_at(self, moment: float) -> AbstractAsyncContextManager[object]:
        """The block fails with a TimeoutError where it lasts longer."""

    def lock(self) -> AbstractAsyncContextManager[object]:
        """A lock, entered by one task at a time in the order in which they came."""

    @overload
    async def gather(
        self, first: Awaitable[Result], second: Awaitable[Other], /
    ) -> tuple[Result, Other]: ...
    @overload
    async def gather(
        self, *works: Awaitable[Result], return_exceptions: Literal[True]
    ) -> list[Result | BaseException]: ...
    @overload
    async def gather(self, *works: Awaitable[Result]) -> list[Result]: ...
    async def gather(self, *works: Any, return_exceptions: bool = False) -> Any:
        """What each of the works gives, all done at once.

        The first failure is raised at once, and the others go on; or failures are results.
        """

    async def wait(
        self,
        futures: Sequence[Future],
        *,
        until: float | None = None,
        first: bool = False,
    ) -> None:
        """Until all of the futures are done, or the first of them, or the time is over.

        They go on when the wait is given up.
        """

    async def connect(self, address: tuple[str, int], tls: Any = None) -> Stream:
        """A TCP connection, with TLS if there is a context.

        Raises:
            OSError: there is none.
            UnicodeError: the host cannot be a name.
        """


class Turns(Protocol):
    """What futures and streams of the small loop need of it."""

    current: Any

    def soon(self, what: Callable[[], None]) -> None:
        """Call this in the next turn."""

    def soon_from_thread(self, what: Callable[[], None]) -> None:
        """The same, from another thread; nothing where the loop is closed."""

    def at(self, moment: float, what: Callable[[], None]) -> "Timer":
        """Call this at a moment, or soon after it."""

    def future(self) -> Any:
        """A future of this loop."""

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The work as a task."""

    async def wait(self, futures: Sequence[Any]) -> None:
        """Until all of the futures are done."""

    async def ready(self, file: int, event: int) -> None:
        """Wait until a file can be read, or written to."""


class Timer(Protocol):
    """Something to do at a moment."""

    def cancel(self) -> None:
        """Do nothing then."""


class Runner(Protocol):
    """Runs a loop from outside, as often as there is something to ask."""

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What the work gives; what it has spawned stands still until the next run.

        Raises:
            KeyboardInterrupt: it was interrupted, by a signal or by `cancel`, and has cleaned up.
        """

    def cancel(self) -> bool:
        """Interrupt what runs, from a signal handler; False where nothing does."""

    def close(self) -> None:
        """Give up whatever still stands."""
