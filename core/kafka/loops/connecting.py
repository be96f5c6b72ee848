"""The places of an address, and a socket that is connected to the first that answers.

asyncio has a race of its own, which loses a socket that is connected where it is given up.
"""

import socket
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from kgroups.core.kafka.loops import NEXT_PLACE_S

if TYPE_CHECKING:
    from kgroups.core.kafka.loops.loop import Future, Loop

Place = tuple[int, int, int, Any]
"""Family, kind, protocol and address of a socket."""

Connects = Callable[[Place], Coroutine[Any, Any, socket.socket]]


async def first_connected(left: list[Place], connects: Connects, loop: "Loop") -> socket.socket:
    """A socket connected to the first of these places where somebody listens.

    They are tried in turn, each a moment after the one before.

    Args:
        connects: a socket connected to one of them.
        loop: that runs.
    Raises:
        OSError: there is none; of several reasons, that somebody refuses says most.
    """
    if len(left) == 1:
        return await connects(left[0])
    errors: list[BaseException] = []
    trying: list[Future] = []
    try:
        while left or trying:
            if left:
                trying.append(loop.spawn(connects(left.pop(0))))
            until = time.monotonic() + NEXT_PLACE_S if left else None
            await loop.wait(trying, until=until, first=True)
            while done := next((task for task in trying if task.done()), None):
                trying.remove(done)
                error = done.exception()
                if error is None:
                    found: socket.socket = done.result()
                    return found
                errors.append(error)
    finally:
        for task in trying:
            _give_up(task)
    raise next((error for error in errors if isinstance(error, ConnectionError)), errors[0])


def _give_up(task: "Future") -> None:
    """An attempt that came second: it ends, or its socket is closed."""
    if not task.done():
        task.cancel()
    elif task.exception() is None:
        task.result().close()


def numeric_places(address: tuple[str, int]) -> list[Place] | None:
    """Where a host is that is given by its number; None where it is a name.

    Raises:
        UnicodeError: the host cannot be a name.
    """
    try:
        return look_up(name_bytes(address[0]), address[1], socket.AI_NUMERICHOST)
    except socket.gaierror:
        return None


def name_bytes(host: str) -> bytes:
    """A name as it is looked up: given a text, `getaddrinfo` imports the tables of IDNA first.

    Raises:
        UnicodeError: the host cannot be a name.
    """
    return host.encode("ascii" if host.isascii() else "idna")


def look_up(name: bytes, port: int, flags: int = 0) -> list[Place]:
    """Where a name is; it may take long.

    Raises:
        OSError: nobody knows it.
    """
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, kind, protocol, at) for family, kind, protocol, _, at in found]
