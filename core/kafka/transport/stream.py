"""TCP and TLS to an address, and why there is neither."""

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kgroups.core.kafka.config.settings import TlsSettings
from kgroups.core.kafka.failures import BrokerFailure, UnknownHost
from kgroups.core.kafka.transport.addresses import Address, Place, places_of
from kgroups.core.kafka.transport.inbox import address_text, timed_out

if TYPE_CHECKING:
    import ssl

NEXT_PLACE_S: Final = 0.25
"""After so long without an answer the next address is tried, too (RFC 8305)."""

_READ_LIMIT: Final = 1 << 18

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def open_stream(
    address: Address, settings: TlsSettings, tls: "ssl.SSLContext | None", deadline: float
) -> Stream:
    """A TCP connection, with TLS if there is a context; nothing has been asked over it.

    Args:
        address: host and port.
        settings: what the context was made of.
        deadline: seconds of `time.monotonic`.
    Raises:
        BrokerFailure: nobody there, or no TLS with whoever is.
    """
    name = address_text(address)
    if not address[0] or "\0" in address[0] or not 0 < address[1] < 1 << 16:
        raise BrokerFailure(
            "BROKER_NOT_AVAILABLE",
            f"`{name}` is not an address",
            hint="check the broker's `advertised.listeners`",
            address=name,
        )
    try:
        return await connect(address, tls, deadline)
    except TimeoutError as error:
        raise timed_out(name, "connect" if tls is None else "connect with TLS") from error
    except (OSError, EOFError, UnicodeError) as error:
        failure = None
        if tls is not None:
            from kgroups.core.kafka.transport.handshake import why_no_tls

            failure = await why_no_tls(address, error, settings, deadline)
        raise failure or _unreachable(address[0], name, error) from error


async def connect(address: Address, tls: "ssl.SSLContext | None", deadline: float) -> Stream:
    """The same; whatever fails is raised as it is.

    Raises:
        OSError: nobody there, a `TimeoutError` where nobody answers in time, or no TLS.
        UnicodeError: the host cannot be a name.
    """
    async with asyncio.timeout_at(deadline):
        connected = await _first_connected(await places_of(address, deadline))
        return await asyncio.open_connection(
            sock=connected,
            ssl=tls,
            server_hostname=address[0] if tls else None,
            limit=_READ_LIMIT,
        )


async def close(writer: asyncio.StreamWriter) -> None:
    """End a connection at once."""
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()


async def _first_connected(left: list[Place]) -> socket.socket:
    """A socket connected to the first of these places where somebody listens.

    They are tried in turn, each a moment after the one before. asyncio has a race of its own,
    which loses a socket that is connected where it is given up.

    Raises:
        OSError: there is none; of several reasons, that somebody refuses says most.
    """
    if len(left) == 1:
        return await _connected(left[0])
    errors: list[BaseException] = []
    trying: set[asyncio.Task[socket.socket]] = set()
    try:
        while left or trying:
            if left:
                trying.add(asyncio.create_task(_connected(left.pop(0))))
            done, trying = await asyncio.wait(
                trying,
                timeout=NEXT_PLACE_S if left else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            while done:
                task = done.pop()
                error = task.exception()
                if error is None:
                    trying |= done
                    return task.result()
                errors.append(error)
    finally:
        for task in trying:
            _give_up(task)
    raise next((error for error in errors if isinstance(error, ConnectionError)), errors[0])


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


def _give_up(task: "asyncio.Task[socket.socket]") -> None:
    """An attempt that came second: it ends, or its socket is closed."""
    if not task.done():
        task.cancel()
    elif task.exception() is None:
        task.result().close()


def _unreachable(host: str, address: str, error: Exception) -> BrokerFailure:
    """Nobody there: the name is unknown or the port is closed."""
    if isinstance(error, UnicodeError | socket.gaierror):
        return UnknownHost(host, address)
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        reason, hint = "connection refused", "check the port, and that the broker is running"
    else:
        reason = (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
        hint = "check the address, and that the broker is running"
    return BrokerFailure(
        "BROKER_NOT_AVAILABLE", f"{address} cannot be reached: {reason}", hint=hint, address=address
    )
