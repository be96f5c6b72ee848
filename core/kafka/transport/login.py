"""Logging in over SASL: the handshake that names a mechanism, then its messages."""

import secrets
from collections.abc import Callable
from typing import Any, Protocol

from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.framing import build, error_name
from kgroups.core.kafka.transport.scram import ScramClient, ScramError


class Exchange(Protocol):
    """What a login needs of a connection."""

    @property
    def address(self) -> str:
        """`host:port` of the broker."""

    async def ask(
        self, api: str, body: Callable[[int], Any], deadline: float, /
    ) -> tuple[int, Any]:
        """The version that was spoken, and the answer."""


async def log_in(connection: Exchange, settings: ClientSettings, deadline: float) -> None:
    """Logs in with the mechanism, user name and password of the settings.

    Raises:
        BrokerFailure: the broker does not offer the mechanism, or refused the login.
    """
    mechanism = settings.sasl_mechanism or ""
    _, answer = await connection.ask(
        "sasl_handshake",
        lambda version: build("sasl_handshake", version, mechanism=mechanism),
        deadline,
    )
    problem = error_name(answer.error_code)
    if problem == "UNSUPPORTED_SASL_MECHANISM":
        raise BrokerFailure(
            problem,
            f"{connection.address} does not offer SASL mechanism `{mechanism}`",
            hint=f"it offers {', '.join(sorted(answer.mechanisms)) or 'none'}",
            address=connection.address,
            fatal=True,
        )
    if problem is not None:
        raise BrokerFailure(
            problem,
            f"{connection.address} does not support login",
            hint="set `security.protocol` to PLAINTEXT or SSL, or check the port",
            address=connection.address,
            fatal=True,
        )
    username, password = settings.username or "", settings.password or ""
    if mechanism == "PLAIN":
        await _send(connection, f"\0{username}\0{password}".encode(), settings, deadline)
        return
    client = ScramClient(mechanism, username, password, secrets.token_urlsafe(18))
    try:
        challenge = await _send(connection, client.first(), settings, deadline)
        final = await _send(connection, client.final(challenge), settings, deadline)
        client.verify(final)
    except ScramError as error:
        raise _refused(connection, settings, str(error)) from error


async def _send(
    connection: Exchange, token: bytes, settings: ClientSettings, deadline: float
) -> bytes:
    """The broker's answer to one token."""

    def body(version: int) -> Any:
        return build("sasl_authenticate", version, auth_bytes=token)

    _, answer = await connection.ask("sasl_authenticate", body, deadline)
    if error_name(answer.error_code) is not None:
        raise _refused(connection, settings, None)
    return bytes(answer.auth_bytes)


def _refused(connection: Exchange, settings: ClientSettings, detail: str | None) -> BrokerFailure:
    reason = f": {detail}" if detail else ""
    return BrokerFailure(
        "SASL_AUTHENTICATION_FAILED",
        (
            f"{connection.address} rejected the login of `{settings.username}` with "
            f"{settings.sasl_mechanism}{reason}"
        ),
        hint="check the user name, password and mechanism",
        address=connection.address,
        fatal=True,
    )
