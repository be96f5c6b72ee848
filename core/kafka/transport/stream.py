"""TCP and TLS to an address, and why there is neither."""

import asyncio
import contextlib
import socket
import ssl
from typing import Final

from kgroups.core.kafka.config.settings import TlsSettings
from kgroups.core.kafka.failures import BrokerFailure, UnknownHost
from kgroups.core.kafka.transport.inbox import address_text, timed_out

_READ_LIMIT: Final = 1 << 18
_NEXT_ADDRESS_S: Final = 0.25
"""After so long without an answer the next address of a name is tried, too (RFC 8305)."""


async def open_stream(
    address: tuple[str, int], settings: TlsSettings, tls: ssl.SSLContext | None, deadline: float
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A TCP connection, with TLS if there is a context; nothing has been asked over it.

    Args:
        address: host and port.
        settings: what the context was made of.
        deadline: on the event loop's clock, seconds.
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
        async with asyncio.timeout_at(deadline):
            return await asyncio.open_connection(
                *address,
                ssl=tls,
                server_hostname=address[0] if tls else None,
                limit=_READ_LIMIT,
                happy_eyeballs_delay=_NEXT_ADDRESS_S,
            )
    except TimeoutError as error:
        raise timed_out(name, "connect" if tls is None else "connect with TLS") from error
    except ssl.SSLCertVerificationError as error:
        from kgroups.core.kafka.transport.handshake import bad_certificate

        raise await bad_certificate(address, error, deadline) from error
    except (ssl.SSLError, ConnectionResetError, BrokenPipeError, EOFError) as error:
        from kgroups.core.kafka.transport.handshake import no_handshake

        raise no_handshake(name, error, settings) from error
    except (UnicodeError, socket.gaierror) as error:
        raise UnknownHost(address[0], name) from error
    except OSError as error:
        raise _unreachable(name, error) from error


async def speaks_tls(address: tuple[str, int], deadline: float) -> bool:
    """Whether a port that hung up on plain words answers to a TLS greeting."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # nothing is sent over it: only the answer matters
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout_at(deadline):
            _, writer = await asyncio.open_connection(*address, ssl=context)
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except (OSError, EOFError):
        return False
    writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


def _unreachable(address: str, error: OSError) -> BrokerFailure:
    """Nobody there: the port is closed, or the way to it."""
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        reason, hint = "connection refused", "check the port, and that the broker is running"
    else:
        reason = (error.strerror or str(error) or type(error).__name__).lower()
        hint = "check the address, and that the broker is running"
    return BrokerFailure(
        "BROKER_NOT_AVAILABLE", f"{address} cannot be reached: {reason}", hint=hint, address=address
    )
