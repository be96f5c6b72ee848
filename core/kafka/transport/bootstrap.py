"""The way in: a connection to the bootstrap server that answers first."""

from typing import TYPE_CHECKING

from kgroups.core.kafka.config.settings import CANONICAL, ClientSettings
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import TELLING, BrokerFailure
from kgroups.core.kafka.loops import NEXT_PLACE_S
from kgroups.core.kafka.loops.running import running
from kgroups.core.kafka.transport.connection import Connection
from kgroups.core.kafka.transport.inbox import Allowance

if TYPE_CHECKING:
    import ssl


async def first_to_answer(
    settings: ClientSettings,
    tls: "ssl.SSLContext | None",
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
        await running().sleep(delay_s)
        return await Connection.open(address, settings, tls, deadline.at, allowance)

    tasks = [
        running().spawn(knock(address, index * NEXT_PLACE_S))
        for index, address in enumerate(await _addresses(settings, deadline))
    ]
    failures: list[BrokerFailure] = []
    winner: Connection | None = None
    try:
        left = list(tasks)
        while left and winner is None and not (failures and failures[-1].fatal):
            await running().wait(left, first=True)
            left.remove(done := next(task for task in left if task.done()))
            try:
                winner = await done
            except BrokerFailure as failure:
                failures.append(failure)
    finally:
        for task in tasks:
            task.cancel()
        for outcome in await running().gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Connection) and outcome is not winner:
                await outcome.close()
    if winner is None:
        raise next((each for each in failures if each.code in TELLING), failures[-1])
    return winner


async def _addresses(settings: ClientSettings, deadline: Deadline) -> tuple[tuple[str, int], ...]:
    """Host and port of each bootstrap server, by `client.dns.lookup`."""
    if settings.dns_lookup != CANONICAL:
        return settings.addresses
    from kgroups.core.kafka.transport.canonical_names import canonical_addresses

    return await canonical_addresses(settings, deadline)
