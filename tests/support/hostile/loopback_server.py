"""A listener on loopback in a thread of its own, whose clients are served by one event loop."""

import asyncio
import struct
import threading
from abc import ABC, abstractmethod
from typing import Self

from tests.support.kafka.waiting import LIFE_S, wait_for_thread

WAIT_S = 60.0


class LoopbackServer(ABC):
    """Serves until it is left.

    Attributes:
        port: where it listens, once it does.
    """

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    @abstractmethod
    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a client; the end of its connection may end this anywhere."""

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(WAIT_S), "nobody listens"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        wait_for_thread(self._thread, timeout_s=WAIT_S)

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"127.0.0.1:{self.port}"

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._client, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await asyncio.wait_for(self._stop.wait(), LIFE_S)
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self.talk(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.transport.abort()
            self._tasks.discard(task)


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """The next frame, without its length."""
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(size)
