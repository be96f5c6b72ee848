"""TCP, with TLS or without: a connection to whichever place of an address listens first."""

import asyncio
import socket
import ssl
from contextlib import suppress
from typing import Final

from kgroups.core.kafka.transport.addresses import Address, Place, places_of

NEXT_PLACE_S: Final = 0.25
"""After so long without an answer the next address is tried, too (RFC 8305)."""

_READ_LIMIT: Final = 1 << 18

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def connect(address: Address, tls: ssl.SSLContext | None, deadline: float) -> Stream:
    """A connection; whatever fails is raised as it is.

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
