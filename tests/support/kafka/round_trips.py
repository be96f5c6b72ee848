"""Round trips that a client waits for, counted on a network of our own: time does not matter."""

import asyncio
import functools
import selectors
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from kgroups.core.kafka.transport import tcp

_LIMIT_S: Final = 60.0


@dataclass
class Line:
    """A connection: what the client sends lies at `near`; the broker is at `far`."""

    near: socket.socket
    far: socket.socket
    unsent: bytes = b""

    def cross(self) -> bool:
        """Carry all whole requests to the broker and its answers back; False for none."""
        self.near.settimeout(0)
        try:
            while more := self.near.recv(1 << 16):
                self.unsent += more
        except OSError:  # no more now, or no client
            pass
        requests, self.unsent = _split(self.unsent)
        self.far.sendall(b"".join(requests))
        answers = [_answer(self.far) for _ in requests]
        self.near.settimeout(_LIMIT_S)
        self.near.sendall(b"".join(answers))
        return bool(requests)


@dataclass
class Network:
    """Whatever is under way arrives when the client has nothing left to do but wait.

    So requests that do not wait for one another cross together, however slow the machine is.

    Attributes:
        round_trips: how often the client has waited for the other side.
    """

    round_trips: int = 0
    lines: list[Line] = field(default_factory=list)
    opening: list[tuple[asyncio.Future[socket.socket], Any]] = field(default_factory=list)

    def pass_on(self) -> bool:
        """Let everything arrive; False where nothing is under way."""
        opening, self.opening = self.opening, []
        crossed = [line.cross() for line in self.lines]
        for done, at in opening:
            near, client = socket.socketpair()
            client.setblocking(False)
            self.lines.append(Line(near, socket.create_connection(at, timeout=_LIMIT_S)))
            done.set_result(client)
        was_waited_for = bool(opening) or any(crossed)
        self.round_trips += was_waited_for
        return was_waited_for

    async def connect(self, place: Any) -> socket.socket:
        """Stands for the client's own way to connect; it takes a round trip, as TCP does."""
        done: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        self.opening.append((done, place[-1]))
        return await done

    def close(self) -> None:
        """End all connections."""
        for line in self.lines:
            line.near.close()
            line.far.close()


class _Waits(selectors.DefaultSelector):
    """Waits as an event loop does; a wait for the network passes at once."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self._network = network

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        return super().select(0 if self._network.pass_on() else timeout)


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Network]:
    """The network of clients that run in this thread meanwhile."""
    network = Network()
    runner = functools.partial(
        asyncio.Runner, loop_factory=lambda: asyncio.SelectorEventLoop(_Waits(network))
    )
    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "Runner", runner)
        patched.setattr(tcp, "_connected", network.connect)
        yield network
    network.close()


def _split(data: bytes) -> tuple[list[bytes], bytes]:
    """The whole frames at the beginning, and what follows them."""
    frames: list[bytes] = []
    while len(data) >= 4:
        end = 4 + struct.unpack_from(">i", data)[0]
        if len(data) < end:
            break
        frames.append(data[:end])
        data = data[end:]
    return frames, data


def _answer(far: socket.socket) -> bytes:
    """The next frame from a broker."""
    start = _exactly(far, 4)
    return start + _exactly(far, struct.unpack(">i", start)[0])


def _exactly(far: socket.socket, size: int) -> bytes:
    far.settimeout(_LIMIT_S)
    data = b""
    while len(data) < size:
        more = far.recv(size - len(data))
        assert more, "the broker hung up"
        data += more
    return data
