"""A way to a broker that is far away: whatever is sent arrives half a round trip later."""

import asyncio
import socket
import threading
from contextlib import suppress
from typing import Self

ROUND_TRIP_S = 0.1
CHUNK = 1 << 16
PATIENCE_S = 10.0


class FarWay:
    """A proxy on loopback, in a thread of its own; a context manager that ends it.

    A connection takes a round trip before anything passes, as TCP's takes before the first byte.

    Attributes:
        port: where clients come in; brokers advertise it.
        broker_port: of the broker's listener behind it; to be set before the first client comes.
    """

    def __init__(self) -> None:
        # asyncio switches Nagle's algorithm off only where the socket names its protocol.
        self._server = socket.socket(proto=socket.IPPROTO_TCP)
        self._server.bind(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.broker_port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        serving = asyncio.start_server(self._client, sock=self._server)
        asyncio.run_coroutine_threadsafe(serving, self._loop).result(PATIENCE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._server.close()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        broker = await asyncio.open_connection("127.0.0.1", self.broker_port)
        opened_s = self._loop.time() + ROUND_TRIP_S
        with suppress(OSError):
            await asyncio.gather(
                self._carry(reader, broker[1], opened_s), self._carry(broker[0], writer, 0.0)
            )

    async def _carry(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, from_s: float
    ) -> None:
        """Pass on what comes, each piece when its time has come, however much is under way."""
        while data := await source.read(CHUNK):
            arrives_s = max(self._loop.time(), from_s) + ROUND_TRIP_S / 2
            self._loop.call_at(arrives_s, target.write, data)
        self._loop.call_at(self._loop.time() + ROUND_TRIP_S / 2, target.close)
