"""TCP for the small loop."""

import os
import socket
import threading
from collections.abc import Callable
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import TYPE_CHECKING, Any, Final

from kgroups.core.kafka.loops.connecting import (
    Place,
    first_connected,
    look_up,
    name_bytes,
    numeric_places,
)
from kgroups.core.kafka.loops.running import running
from kgroups.core.kafka.loops.short_future import ShortFuture, ShortTask

if TYPE_CHECKING:
    from kgroups.core.kafka.loops.loop import Turns

_CHUNK: Final = 1 << 18


class ShortStream:
    """Bytes from and to a socket that is connected."""

    def __init__(self, loop: "Turns", connected: socket.socket) -> None:
        self._loop, self._socket = loop, connected
        self._come = bytearray()
        self._unsent = bytearray()
        self._sending: ShortTask | None = None

    async def readexactly(self, size: int) -> bytes:
        """So many bytes.

        Raises:
            EOFError: fewer come.
            OSError: the connection is lost.
        """
        while len(self._come) < size:
            more = await self._receive()
            if not more:
                raise EOFError
            self._come += more
        return self._taken(size)

    async def read(self) -> bytes:
        """What has come, at least a byte; empty at the end."""
        return self._taken(len(self._come)) or await self._receive()

    def _taken(self, size: int) -> bytes:
        found = bytes(memoryview(self._come)[:size])
        del self._come[:size]
        return found

    async def _receive(self) -> bytes:
        while True:
            await self._loop.ready(self._socket.fileno(), EVENT_READ)
            try:
                return self._socket.recv(_CHUNK)
            except BlockingIOError:  # it was not for us
                continue

    def write(self, data: bytes) -> None:
        """Send without waiting. Whether it fails is seen by who reads."""
        self._unsent += data
        if self._sending is None and self._send():
            self._sending = self._loop.spawn(self._send_on())

    def _send(self) -> bool:
        """Send what the system takes at once; whether something is left."""
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self._unsent.clear()
        return bool(self._unsent)

    async def _send_on(self) -> None:
        while self._unsent:
            await self._loop.ready(self._socket.fileno(), EVENT_WRITE)
            self._send()
        self._sending = None

    async def close(self) -> None:
        """End the connection at once."""
        if self._sending is not None:
            self._sending.cancel()
            await self._loop.wait([self._sending])
        self._socket.close()

    def info(self, name: str) -> Any:
        """A fact of asyncio's transports."""
        return self._socket.getpeername() if name == "peername" else None


async def connect(loop: "Turns", address: tuple[str, int]) -> ShortStream:
    """A connection to the first place of an address where somebody listens.

    Raises:
        OSError: there is none; of several reasons, that somebody refuses says most.
        UnicodeError: the host cannot be a name.
    """
    places = await _places(loop, address)
    return ShortStream(loop, await first_connected(places, partial(_connected, loop), running()))


async def _connected(loop: "Turns", place: Place) -> socket.socket:
    *kind, at = place
    fresh = socket.socket(*kind)
    try:
        fresh.setblocking(False)
        fresh.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            fresh.connect(at)
        except (BlockingIOError, InterruptedError):
            await loop.ready(fresh.fileno(), EVENT_WRITE)
            code = fresh.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code)) from None
    except BaseException:
        fresh.close()
        raise
    return fresh


async def _places(loop: "Turns", address: tuple[str, int]) -> list[Place]:
    """Where a host is. A name is looked up in a thread, which may be left behind."""
    known = numeric_places(address)
    if known is not None:
        return known
    name, port = name_bytes(address[0]), address[1]
    found = loop.future()
    threading.Thread(
        target=_tell, args=(loop, found, name, port), daemon=True, name="kgroups-names"
    ).start()
    places: list[Place] = await found
    return places


def _tell(loop: "Turns", found: ShortFuture, name: bytes, port: int) -> None:
    """Look a name up, and say in the loop's thread what came of it."""
    how: Callable[[], None]
    try:
        places = look_up(name, port)
    except OSError as error:
        failure = error
        how = lambda: found.set_exception(failure)  # noqa: E731
    else:
        how = lambda: found.set_result(places)  # noqa: E731
    loop.soon_from_thread(lambda: None if found.done() else how())
