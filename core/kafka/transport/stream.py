"""The way to an address, or why there is none: nobody there, or no TLS with whoever is."""

import socket
import ssl

from kgroups.core.kafka.config.tls import TlsSettings
from kgroups.core.kafka.failures import BrokerFailure, UnknownHost
from kgroups.core.kafka.transport.addresses import Address
from kgroups.core.kafka.transport.handshake import why_no_tls
from kgroups.core.kafka.transport.inbox import address_text, timed_out
from kgroups.core.kafka.transport.tcp import Stream, connect


async def open_stream(
    address: Address, settings: TlsSettings, tls: ssl.SSLContext | None, deadline: float
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
            failure = await why_no_tls(address, error, settings, deadline)
        raise failure or _unreachable(address[0], name, error) from error


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
