"""Logging in over SASL: the handshake that names a mechanism, then its messages."""

import secrets
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from kgroups.core.errors import shorten
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.background import in_background
from kgroups.core.kafka.transport.logins.mechanism import LoginError, Messages
from kgroups.core.kafka.transport.messages import Message
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct


class Exchange(Protocol):
    """Connection, as a login needs it."""

    @property
    def address(self) -> str:
        """`host:port` of the broker."""

    async def ask_now(self, api: Api, message: Message, deadline: float, /) -> tuple[int, Any]:
        """The version that was spoken, and the answer, whether we are logged in or not."""


class Credentials(NamedTuple):
    """Arguments of a login.

    Args:
        who: for messages: a user, a principal, a client.
        messages: those of the login, still to be exchanged.
        doubt: asked after a refusal: what may be wrong, and a hint.
        is_blocking: whether making a message takes time.
    """

    who: str
    messages: Messages
    doubt: Callable[[], tuple[str, str] | None] = lambda: None
    is_blocking: bool = False

    async def message(self, answer: bytes | LoginError | None, deadline: float) -> bytes | None:
        """Bytes to send after an answer, or after a refusal; None when the login is over.

        Args:
            answer: None before the first message.
            deadline: on the event loop's clock, seconds.
        Raises:
            LoginError: the login has failed.
            BrokerFailure: the message cannot be made, or not in time.
        """
        if not self.is_blocking:
            return self._advance(answer)
        try:
            return await in_background(lambda _: self._advance(answer), deadline)
        except TimeoutError as error:
            raise _too_late() from error

    def _advance(self, answer: bytes | LoginError | None) -> bytes | None:
        try:
            if isinstance(answer, LoginError):
                return self.messages.throw(answer)  # it may know more of the reason
            return next(self.messages) if answer is None else self.messages.send(answer)
        except StopIteration:
            return None


async def log_in(
    connection: Exchange, host: str, settings: ClientSettings, deadline: float
) -> float | None:
    """Logs in, or again, with what the settings say.

    Args:
        host: of the broker, as it was connected to.
    Returns:
        Seconds for which the broker lets us stay (KIP-368); None for as long as we like.
    Raises:
        BrokerFailure: there is nothing to log in with, the broker does not offer the mechanism,
            or it refused the login.
        MissingExtraError: the mechanism needs an extra that is not installed.
    """
    credentials = await credentials_for(host, settings, deadline)
    lifetime_s = None
    try:
        message = await credentials.message(None, deadline)
        await _name_mechanism(connection, settings.sasl_mechanism or "", deadline)
        while message is not None:
            try:
                answer = await _send(connection, message, deadline)
            except LoginError as error:
                message = await credentials.message(error, deadline)
                continue
            lifetime_s = _lifetime_s(answer)
            message = await credentials.message(bytes(answer.auth_bytes), deadline)
    except LoginError as error:
        raise _refused(connection, settings, credentials, error.detail) from error
    return lifetime_s


async def credentials_for(host: str, settings: ClientSettings, deadline: float) -> Credentials:
    """Credentials to log in with; a token is got for it, if one is needed.

    Raises:
        BrokerFailure: it cannot be had.
        MissingExtraError: the mechanism needs an extra that is not installed.
    """
    mechanism = settings.sasl_mechanism or ""
    if mechanism == "OAUTHBEARER" and settings.oauth is not None:
        from kgroups.core.kafka.transport.logins import token_keeper, tokens

        keeper = token_keeper.keeper_of(settings.oauth)
        token = await keeper.token(deadline)

        def doubt() -> tuple[str, str] | None:
            keeper.forget(token)
            return tokens.doubt_of(token)

        who = token.principal or settings.oauth.source
        return Credentials(who, tokens.oauthbearer(token, settings.oauth), doubt)
    if mechanism == "GSSAPI" and settings.kerberos is not None:
        from kgroups.core.kafka.transport.logins.kerberos import kerberos

        ticket = settings.kerberos
        try:
            who, messages = await in_background(lambda _: kerberos(ticket, host), deadline)
        except TimeoutError as error:
            raise _too_late() from error
        return Credentials(who, messages, is_blocking=True)
    username, password = settings.username or "", settings.password or ""
    if mechanism == "PLAIN":
        return Credentials(username, _plain(username, password))
    from kgroups.core.kafka.transport.logins.scram import scram

    nonce = secrets.token_urlsafe(18)
    return Credentials(username, scram(mechanism, username, password, nonce))


def _too_late() -> BrokerFailure:
    return BrokerFailure(
        "TICKET_NOT_AVAILABLE",
        "the KDC did not give a Kerberos ticket in time",
        hint="check the KDC in krb5.conf, or increase `--timeout`",
        fatal=True,
    )


def _plain(username: str, password: str) -> Messages:
    """The one message of PLAIN (RFC 4616)."""
    yield f"\0{username}\0{password}".encode()


async def _name_mechanism(connection: Exchange, mechanism: str, deadline: float) -> None:
    _, answer = await connection.ask_now(
        Api.SASL_HANDSHAKE,
        Struct(mechanism=mechanism),
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


async def _send(connection: Exchange, token: bytes, deadline: float) -> Any:
    """The broker's answer to one message.

    Raises:
        LoginError: it refused the login.
    """
    _, answer = await connection.ask_now(Api.SASL_AUTHENTICATE, Struct(auth_bytes=token), deadline)
    if error_name(answer.error_code) is not None:
        raise LoginError(None)
    return answer


def _lifetime_s(answer: Any) -> float | None:
    """How long the broker lets us stay: brokers from 2.2 on say it, 0 is without an end."""
    return answer.session_lifetime_ms / 1_000 or None


def _refused(
    connection: Exchange, settings: ClientSettings, credentials: Credentials, detail: str | None
) -> BrokerFailure:
    hint = _HINTS.get(settings.sasl_mechanism or "", "check the user name, password and mechanism")
    doubt = credentials.doubt()
    if doubt is not None:
        detail, hint = doubt
    reason = f": {detail}" if detail else ""
    return BrokerFailure(
        "SASL_AUTHENTICATION_FAILED",
        f"{connection.address} rejected the login of `{shorten(credentials.who)}` with "
        f"{settings.sasl_mechanism}{reason}",
        hint=hint,
        address=connection.address,
        fatal=True,
    )


_HINTS = {
    "GSSAPI": "check the service name, the broker's keytab, and the clocks of both machines",
    "OAUTHBEARER": "check the issuer, audience and scope that the broker expects of a token",
}
