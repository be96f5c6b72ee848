"""Where addresses are: names are looked up in threads, left behind when their time is over."""

import asyncio
import socket
from typing import Any

from kgroups.core.kafka.config.settings import CANONICAL, ClientSettings
from kgroups.core.kafka.transport.background import in_background

Address = tuple[str, int]
"""Host and port."""

Place = tuple[int, int, int, Any]
"""Family, kind, protocol and address of a socket."""


async def places_of(address: Address, deadline: float) -> list[Place]:
    """Where a host is; a name is looked up.

    Args:
        address: host and port.
        deadline: seconds of `time.monotonic`.
    Raises:
        OSError: nobody knows it, or nobody answers in time.
        UnicodeError: the host cannot be a name.
    """
    # Given a text, `getaddrinfo` imports the tables of IDNA first.
    name, port = address[0].encode("ascii" if address[0].isascii() else "idna"), address[1]
    try:
        return _look_up(name, port, socket.AI_NUMERICHOST)
    except socket.gaierror:
        return await in_background(lambda _: _look_up(name, port), deadline)


def _look_up(name: bytes, port: int, flags: int = 0) -> list[Place]:
    places = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, kind, protocol, at) for family, kind, protocol, _, at in places]


async def bootstrap_addresses(settings: ClientSettings, deadline: float) -> tuple[Address, ...]:
    """Host and port of each bootstrap server, by `client.dns.lookup`.

    Certificates and Kerberos principals hold canonical names (KIP-235) where one alias stands for
    all brokers.
    """
    if settings.dns_lookup != CANONICAL:
        return settings.addresses
    names = await asyncio.gather(*(_canonical(server, deadline) for server in settings.addresses))
    return tuple(dict.fromkeys(name for several in names for name in several))


async def _canonical(server: Address, deadline: float) -> list[Address]:
    """A server's canonical names, or its addresses where they have none; itself, if unknown."""

    async def name_of(place: str) -> Address:
        try:
            name, _ = await in_background(
                lambda _: socket.getnameinfo((place, server[1]), socket.NI_NAMEREQD), deadline
            )
        except OSError:
            name = place
        return name, server[1]

    try:
        places = await places_of(server, deadline)
    except (OSError, UnicodeError):  # connecting to it says why
        return [server]
    return await asyncio.gather(*(name_of(str(at[0])) for *_, at in places))
