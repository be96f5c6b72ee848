"""The way in: a connection to the bootstrap server that answers first."""

import asyncio
import ssl

from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import TELLING, BrokerFailure
from kgroups.core.kafka.transport.addresses import bootstrap_addresses
from kgroups.core.kafka.transport.connection import Connection
from kgroups.core.kafka.transport.inbox import Allowance
from kgroups.core.kafka.transport.requests import BROKERS
from kgroups.core.kafka.transport.tcp import NEXT_PLACE_S


async def first_to_answer(
    settings: ClientSettings,
    tls: ssl.SSLContext | None,
    allowance: Allowance,
    deadline: Deadline,
) -> Connection:
    """A connection to whichever bootstrap server answers first; `BROKERS` is asked over it.

    They are tried in the order given, each a moment after the one before, so that a dead one
    does not cost its whole timeout.

    Raises:
        BrokerFailure: none answered, or one does not let us in.
    """

    async def knock(address: tuple[str, int], delay_s: float) -> Connection:
        await asyncio.sleep(delay_s)
        return await Connection.open(address, settings, tls, deadline.at, allowance, BROKERS)

    tasks = [
        asyncio.create_task(knock(address, index * NEXT_PLACE_S))
        for index, address in enumerate(await bootstrap_addresses(settings, deadline.at))
    ]
    failures: list[BrokerFailure] = []
    winner: Connection | None = None
    try:
        left = list(tasks)
        while left and winner is None and not (failures and failures[-1].fatal):
            await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
            left.remove(done := next(task for task in left if task.done()))
            try:
                winner = await done
            except BrokerFailure as failure:
                failures.append(failure)
    finally:
        for task in tasks:
            task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, Connection) and outcome is not winner:
                await outcome.close()
    if winner is None:
        raise next((failure for failure in failures if failure.code in TELLING), failures[-1])
    return winner
