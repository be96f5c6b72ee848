"""One broker: an address, a listener and the connections it accepted."""

import asyncio
import errno
import socket
from dataclasses import dataclass, field

from kgroups.core.errors import UsageError
from kgroups.core.sandbox.wire.client_connection import Connection, ConnectionFactory

_BACKLOG = 1024
_ACCEPT_TURNS = 5
"""Turns of the loop that accepting a connection takes, with some to spare."""


@dataclass(slots=True)
class Broker:
    """A broker of the embedded cluster.

    Args:
        host, port: where it listens and what it advertises; the port is 0 before the first start.
        is_up: whether it accepts connections.
    """

    broker_id: int
    host: str
    port: int
    rack: str | None = None
    is_up: bool = False
    connections: set[Connection] = field(default_factory=set)
    _server: asyncio.Server | None = None
    _socket: socket.socket | None = None

    @property
    def address(self) -> str:
        """`host:port`, with an IPv6 host in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def reserve(self) -> None:
        """Take the address, without accepting anybody yet; the port is known from here on.

        Raises:
            UsageError: the port is taken, or the address is not this machine's.
        """
        if self._socket is None:
            self._socket = bind(self.host, self.port)
            self.port = self._socket.getsockname()[1]

    async def listen(self, connect: ConnectionFactory) -> None:
        """Accept connections; the port stays the same after the first time.

        Raises:
            UsageError: the port is taken, or the address is not this machine's.
        """
        self.reserve()
        sock, self._socket = self._socket, None
        assert sock is not None, "it was reserved"
        self.is_up = True  # before the first client can be there
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(connect, sock=sock, backlog=_BACKLOG)

    async def shut(self, reason: str) -> None:
        """Stop listening and drop every connection.

        The listener closes after the connections that were being accepted are there and were
        refused: asyncio forgets to close them if their server is gone.
        """
        self.is_up = False
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        server, self._server = self._server, None
        if server is not None:
            loop = asyncio.get_running_loop()
            for listener in server.sockets:
                loop.remove_reader(listener.fileno())
            for _ in range(_ACCEPT_TURNS):
                await asyncio.sleep(0)
            server.close()
        for connection in tuple(self.connections):
            connection.close(reason)


def bind(host: str, port: int) -> socket.socket:
    """A listening address, not yet accepting.

    Raises:
        UsageError: the port is taken or not allowed, or the host is not ours.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off only where the protocol is named.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except (OSError, UnicodeError) as error:
        sock.close()
        raise _bind_error(host, port, error) from error
    return sock


def _bind_error(host: str, port: int, error: Exception) -> UsageError:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EADDRINUSE:
        return UsageError(
            f"port {port} of {host} is in use", hint="choose another with --port, or 0 for any"
        )
    if number == errno.EACCES:
        return UsageError(
            f"no permission to listen on port {port} of {host}", hint="choose one above 1023"
        )
    return UsageError(f"cannot listen on `{host}`: {error}")
