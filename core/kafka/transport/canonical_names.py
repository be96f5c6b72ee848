"""Bootstrap servers under their canonical names (KIP-235), which asyncio's loop looks up.

Certificates and Kerberos principals hold these names where one alias stands for all brokers.
"""

import asyncio
import socket

from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.deadline import Deadline


async def canonical_addresses(
    settings: ClientSettings, deadline: Deadline
) -> tuple[tuple[str, int], ...]:
    """Host and port for each address of each bootstrap server, in their order, each once."""
    found = await asyncio.gather(*(_canonical(address, deadline) for address in settings.addresses))
    return tuple(dict.fromkeys(each for several in found for each in several))


async def _canonical(address: tuple[str, int], deadline: Deadline) -> list[tuple[str, int]]:
    """A server's canonical names, or its addresses where they have none; itself, if unknown."""
    loop, (host, port) = asyncio.get_running_loop(), address

    async def name_of(place: str) -> str:
        try:
            return (await loop.getnameinfo((place, port), socket.NI_NAMEREQD))[0]
        except OSError:
            return place

    try:
        async with asyncio.timeout_at(deadline.at):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            names = await asyncio.gather(*(name_of(str(each[4][0])) for each in found))
    except (OSError, UnicodeError):  # connecting to it says why
        return [address]
    return [(name, port) for name in dict.fromkeys(names)]
