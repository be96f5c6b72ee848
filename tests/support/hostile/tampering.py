"""A broker that answers well but for one API: a proxy before an embedded cluster of one broker.

What it does with the answers of that API is a `Conduct`: change the bytes, or take the connection
over. Brokers' addresses in answers are its own, so that every connection comes to it.
"""

import asyncio
import struct
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, NamedTuple

from kgroups.core.protocol.frames import read_response
from kgroups.core.protocol.table import response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import writer
from tests.support.hostile.loopback_server import WAIT_S, LoopbackServer, read_frame
from tests.support.kafka.waiting import LIFE_S
from tests.support.protocol.plain import as_message, as_plain
from tests.support.protocol.spoken_apis import APIS


class Wire(NamedTuple):
    """The answer that is due, whole and without its length, and the way to the client.

    Args:
        request: what it answers, without its length.
    """

    api: str
    version: int
    frame: bytes
    writer: asyncio.StreamWriter
    request: bytes = b""

    def send(self, frame: bytes) -> None:
        """Send a frame with its length before it."""
        self.writer.write(struct.pack(">i", len(frame)) + frame)

    @property
    def settles(self) -> bool:
        """Whether no commit was asked for, only that all of them are stable."""
        return self.api == "offset_fetch" and self.request[-2] == 1  # before the tags

    @property
    def start(self) -> int:
        """Where the answer begins, after its header."""
        flexible = self.version in response_table(APIS[self.api].key).flexible
        return 5 if flexible and self.api != "api_versions" else 4


Conduct = Callable[[Wire], Awaitable[None]]
"""Sends what the broker answers, or does not; whoever returns goes on with the connection."""


async def lose(_: Wire) -> None:
    """The connection ends instead."""
    raise ConnectionResetError


class HeldAnswers:
    """A conduct that keeps answers back until they are let go.

    Args:
        passed: how many are passed on first.
    """

    def __init__(self, passed: int = 0) -> None:
        self._passed = passed
        self._is_open = threading.Event()

    async def __call__(self, wire: Wire) -> None:
        """Pass one on, now or later."""
        self._passed -= 1
        if self._passed < 0:
            await asyncio.to_thread(self._is_open.wait, WAIT_S)
        wire.send(wire.frame)

    def let_go(self) -> None:
        """Pass on what is kept back, and all that comes."""
        self._is_open.set()


class TamperingProxy(LoopbackServer):
    """Listens until it is left.

    Args:
        upstream: `host:port` of the only broker behind it.
        conducts: API name to what is done with its answers; others' are passed on.
        withheld: APIs whose requests are neither passed on nor answered.
    """

    def __init__(
        self, upstream: str, conducts: Mapping[str, Conduct], *, withheld: Collection[str] = ()
    ) -> None:
        super().__init__()
        host, port = upstream.rsplit(":", 1)
        self._upstream = (host, int(port))
        self._conducts = dict(conducts)
        self._withheld = {APIS[api].key for api in withheld}
        self.seen: set[str] = set()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass requests on, and the answers as the conducts have them."""
        answers, upstream = await asyncio.open_connection(*self._upstream)
        try:
            while True:
                request = await read_frame(reader)
                if struct.unpack_from(">h", request)[0] in self._withheld:
                    await asyncio.sleep(LIFE_S)
                upstream.write(struct.pack(">i", len(request)) + request)
                await self._answer(request, await read_frame(answers), writer)
                await writer.drain()
        finally:
            upstream.transport.abort()

    async def _answer(self, request: bytes, frame: bytes, writer: asyncio.StreamWriter) -> None:
        key, version = struct.unpack_from(">hh", request)
        api = next(name for name, known in APIS.items() if known.key == key)
        self.seen.add(api)
        wire = Wire(api, version, frame, writer, request)
        if api in ("metadata", "find_coordinator"):
            wire = wire._replace(frame=self._readdressed(wire))
        conduct = self._conducts.get(api)
        if conduct is None:
            wire.send(wire.frame)
        else:
            await conduct(wire)

    def _readdressed(self, wire: Wire) -> bytes:
        """An answer of Metadata or FindCoordinator in which every broker is here."""

        def change(body: dict[str, Any]) -> None:
            for broker in body.get("brokers") or body.get("coordinators") or [body]:
                broker.update(host="127.0.0.1", port=self.port)

        return rewritten(wire, change)


def rewritten(wire: Wire, change: Callable[[dict[str, Any]], None]) -> bytes:
    """The answer with its fields changed."""
    api = Api(APIS[wire.api].key)
    body = as_plain(read_response(api, wire.version, wire.frame))
    change(body)
    out = bytearray(wire.frame[: wire.start])
    writer(response_table(api), wire.version)(out, as_message(body))
    return bytes(out)
