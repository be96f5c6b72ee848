"""TCP: what comes, what is sent, and why nobody is there."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kgroups.core.kafka.config.tls import TlsSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.runner import Runner
from kgroups.core.kafka.transport.handshake import open_stream
from kgroups.core.kafka.transport.tcp import Stream, close, connect
from tests.support.kafka.waiting import wait_for_thread
from tests.support.requirements import requires

LONG_S = 60.0
MANY = 5_000_000
"""Bytes that no buffer of a socket takes at once."""

Answer = Callable[[socket.socket], None]


@pytest.fixture
def runner() -> Iterator[Runner]:
    """It is closed in the end."""
    made = Runner()
    yield made
    made.close()


@contextmanager
def listener(answer: Answer, host: str = "127.0.0.1") -> Iterator[int]:
    """The port of one who answers the first to come, and hangs up."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as listening:
        listening.settimeout(LONG_S)

        def serve() -> None:
            with listening.accept()[0] as peer:
                peer.settimeout(LONG_S)
                answer(peer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        wait_for_thread(thread)


def receive(peer: socket.socket, size: int) -> bytes:
    """So many bytes."""
    found = b""
    while len(found) < size:
        found += peer.recv(size - len(found))
    return found


async def opened(port: int, host: str = "127.0.0.1") -> Stream:
    """A stream to a port of this machine."""
    return await open_stream((host, port), TlsSettings(), None, time.monotonic() + LONG_S)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        pytest.param("::1", marks=requires("IPv6")),
        "localhost",
    ],
)
def test_bytes_both_ways(runner: Runner, host: str) -> None:
    """In pieces as they are asked for, however they come."""

    def answer(peer: socket.socket) -> None:
        assert receive(peer, 5) == b"hello"
        peer.sendall(b"wor")
        assert receive(peer, 1) == b"!"
        peer.sendall(b"ldly")

    async def ask(port: int) -> None:
        reader, writer = await opened(port, host)
        writer.write(b"hel")
        writer.write(b"lo")
        assert await reader.readexactly(2) == b"wo"
        writer.write(b"!")
        assert await reader.readexactly(4) == b"rldl"
        assert await reader.read(MANY) == b"y"
        assert writer.get_extra_info("peername")[0] in ("127.0.0.1", "::1")
        await close(writer)

    with listener(answer, "127.0.0.1" if host == "localhost" else host) as port:
        runner.run(ask(port))


def test_more_than_a_socket_takes_is_given_up(runner: Runner) -> None:
    """Who closes a stream does not wait until all of it is sent."""
    is_over = threading.Event()

    def answer(_: socket.socket) -> None:
        assert is_over.wait(LONG_S)

    async def ask(port: int) -> None:
        _, writer = await opened(port)
        writer.write(bytes(10 * MANY))
        await asyncio.sleep(0)
        await close(writer)

    with listener(answer) as port:
        runner.run(ask(port))
        is_over.set()


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("127.0.0.1", "connection refused"),
        ("localhost", "connection refused"),
        ("a" * 64 + ".example", "the host name is not known"),
        ("\N{SNOWMAN}" * 70, "the host name is not known"),
        ("", "is not an address"),
    ],
)
def test_nobody_there(runner: Runner, host: str, words: str) -> None:
    """Says why."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(BrokerFailure, match=words):
        runner.run(opened(port, host))


def test_a_look_up_that_hangs(runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left behind when its time is over, and its answer is nobody's."""
    is_over, is_known = threading.Event(), threading.Event()
    real = socket.getaddrinfo

    def hang(name: Any, port: int, *, type: int, flags: int) -> Any:
        if flags:
            return real(name, port, type=type, flags=flags)
        assert is_over.wait(LONG_S)
        try:
            return real("127.0.0.1", port, type=type)
        finally:
            is_known.set()

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    limit = time.monotonic() + 0.05
    with pytest.raises(BrokerFailure, match="did not connect in time"):
        runner.run(open_stream(("kafka", 9092), TlsSettings(), None, limit))
    runner.close()
    is_over.set()
    assert is_known.wait(LONG_S)


@pytest.mark.parametrize("turns", range(12))
def test_a_connection_that_is_given_up_leaves_no_socket(
    runner: Runner, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever that is: before it stands, between two steps after that, and once it is there."""
    made: list[socket.socket] = []

    class Kept(socket.socket):
        def __init__(self, *facts: Any, **more: Any) -> None:
            super().__init__(*facts, **more)
            made.append(self)

    async def give_up(port: int) -> None:
        monkeypatch.setattr(socket, "socket", Kept)
        opening = asyncio.create_task(connect(("127.0.0.1", port), None, time.monotonic() + LONG_S))
        for _ in range(turns):
            await asyncio.sleep(0)
        monkeypatch.undo()
        opening.cancel()
        await asyncio.wait([opening])
        if not opening.cancelled():
            _, writer = await opening
            await close(writer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        runner.run(give_up(listening.getsockname()[1]))
    assert [each.fileno() for each in made] == [-1] * len(made)
