"""The way in: which bootstrap servers there are, and a connection to the first that answers."""

import asyncio
import socket
import ssl
from typing import Final

from kgroups.core.kafka.config.settings import CANONICAL, ClientSettings
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import TELLING, BrokerFailure
from kgroups.core.kafka.transport.connection import Connection
from kgroups.core.kafka.transport.inbox import Allowance

STAGGER_S: Final = 0.25
"""How much later than the one before it an address is tried; the one before may be dead."""


async def first_to_answer(
    settings: ClientSettings,
    tls: ssl.SSLContext | None,
    allowance: Allowance,
    deadline: Deadline,
) -> Connection:
    """A connection to whichever bootstrap server answers first.

    They are tried in the order given, each a moment after the one before, so that a dead one
    does not cost its whole timeout.

    Raises:
        BrokerFailure: none answered, or one does not let us in.
    """

    async def knock(address: tuple[str, int], delay_s: float) -> Connection:
        await asyncio.sleep(delay_s)
        return await Connection.open(address, settings, tls, deadline.at, allowance)

    tasks = [
        asyncio.create_task(knock(address, index * STAGGER_S))
        for index, address in enumerate(await bootstrap_addresses(settings, deadline))
    ]
    failures: list[BrokerFailure] = []
    winner: Connection | None = None
    try:
        for next_done in asyncio.as_completed(tasks):
            try:
                winner = await next_done
                break
            except BrokerFailure as failure:
                failures.append(failure)
                if failure.fatal:
                    break
    finally:
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Connection) and outcome is not winner:
                await outcome.close()
    if winner is None:
        raise next((each for each in failures if each.code in TELLING), failures[-1])
    return winner


async def bootstrap_addresses(
    settings: ClientSettings, deadline: Deadline
) -> tuple[tuple[str, int], ...]:
    """Host and port of each bootstrap server, by `client.dns.lookup`.

    With `resolve_canonical_bootstrap_servers_only` each address of each name counts, under its
    canonical name: the one that certificates and Kerberos principals hold (KIP-235).
    """
    if settings.dns_lookup != CANONICAL:
        return settings.addresses
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
