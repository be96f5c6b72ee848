"""Why TLS, or doing without it, fails: librdkafka says little about it."""

import asyncio

from kgroups.core.errors import UsageError
from kgroups.core.kafka.config.settings import ClientSettings, SecurityProtocol
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.connection import Connection
from kgroups.core.kafka.transport.tls import make_context


def protocol_failure(settings: ClientSettings, timeout_s: float) -> BrokerFailure | None:
    """Why TLS, or doing without it, fails at the first bootstrap server.

    No login is tried.

    Returns:
        None if it does not fail, or we cannot tell.
    """
    protocol: SecurityProtocol = "SSL" if settings.uses_tls else "PLAINTEXT"
    simple = ClientSettings(
        settings.bootstrap_servers, security_protocol=protocol, tls=settings.tls
    )

    async def knock() -> None:
        deadline = asyncio.get_running_loop().time() + timeout_s
        connection = await Connection.open(simple.addresses[0], simple, context, deadline)
        await connection.close()

    try:
        context = make_context(settings.tls) if settings.uses_tls else None
        asyncio.run(knock())
    except BrokerFailure as failure:
        return failure if failure.fatal or failure.code == "SSL_HANDSHAKE_FAILED" else None
    except UsageError:  # a store that only librdkafka can read
        return None
    return None
