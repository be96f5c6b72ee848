"""asyncio as the wire client's loop."""

import asyncio
import contextlib
import socket
import time
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kgroups.core.kafka.loops.connecting import (
    Place,
    first_connected,
    look_up,
    name_bytes,
    numeric_places,
)

if TYPE_CHECKING:
    from kgroups.core.kafka.loops.loop import Future, Loop, Stream

_READ_LIMIT: Final = 1 << 18

Result = TypeVar("Result")


class AsyncioLoop:
    """Whatever loop of asyncio runs in this thread."""

    def future(self) -> "Future":
        """A future of this loop."""
        return asyncio.get_running_loop().create_future()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> "Future":
        """The work as a task, which goes on by itself."""
        return asyncio.get_running_loop().create_task(work)

    async def sleep(self, seconds: float) -> None:
        """Let so much time pass; 0 is one turn of the loop."""
        await asyncio.sleep(seconds)

    def timeout_at(self, moment: float) -> asyncio.Timeout:
        """The block fails with a TimeoutError where it lasts longer."""
        return asyncio.timeout_at(moment)

    def lock(self) -> asyncio.Lock:
        """A lock, entered by one task at a time."""
        return asyncio.Lock()

    async def gather(self, *works: Any, return_exceptions: bool = False) -> Any:
        """What each of the works gives, all done at once."""
        return await asyncio.gather(*works, return_exceptions=return_exceptions)

    async def wait(
        self,
        futures: Sequence[Any],
        *,
        until: float | None = None,
        first: bool = False,
    ) -> None:
        """Until all of the futures are done, or the first of them, or the time is over."""
        await asyncio.wait(
            futures,
            timeout=None if until is None else max(0.0, until - time.monotonic()),
            return_when=asyncio.FIRST_COMPLETED if first else asyncio.ALL_COMPLETED,
        )

    async def connect(self, address: tuple[str, int], tls: Any = None) -> "Stream":
        """A TCP connection, with TLS if there is a context."""
        places = numeric_places(address) or await _looked_up(address)
        connected = await first_connected(places, _connected, self)
        host = address[0] if tls else None
        return _AsyncioStream(
            *await asyncio.open_connection(
                sock=connected, ssl=tls, server_hostname=host, limit=_READ_LIMIT
            )
        )


async def _looked_up(address: tuple[str, int]) -> list[Place]:
    """Where a name is, looked up in a thread."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, look_up, name_bytes(address[0]), address[1])


async def _connected(place: Place) -> socket.socket:
    *kind, at = place
    fresh = socket.socket(*kind)
    try:
        fresh.setblocking(False)
        await asyncio.get_running_loop().sock_connect(fresh, at)
    except BaseException:
        fresh.close()
        raise
    return fresh


class _AsyncioStream:
    """A stream of asyncio."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.readexactly = reader.readexactly
        self.write = writer.write
        self.info = writer.get_extra_info
        self._reader, self._writer = reader, writer

    async def read(self) -> bytes:
        """What has come, at least a byte; empty at the end."""
        return await self._reader.read(_READ_LIMIT)

    async def close(self) -> None:
        """End the connection at once."""
        self._writer.transport.abort()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


ASYNCIO: "Final[Loop]" = AsyncioLoop()


class AsyncioRunner:
    """Runs a loop of asyncio, which puts its own handler in the place of Python's for Ctrl-C."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._task: asyncio.Task[Any] | None = None

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """What the work gives.

        Raises:
            KeyboardInterrupt: it was interrupted, and has cleaned up.
        """
        answers: list[Result] = []
        try:
            self._runner.run(self._keep(work, answers))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        return answers[0]

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

    def cancel(self) -> bool:
        """Interrupt what runs, from a signal handler; False where nothing does."""
        if self._task is None:
            return False
        self._task.cancel()
        self._runner.get_loop().call_soon_threadsafe(lambda: None)  # wakes it
        return True

    def close(self) -> None:
        """Give up whatever still stands."""
        self._runner.close()
