"""From a host name to a broker that lets us in: name resolution, TCP, TLS, login, API versions."""

import asyncio
import datetime
import ssl
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.probing.step import Step, failed
from kgroups.core.kafka.transport.addresses import bootstrap_addresses, places_of
from kgroups.core.kafka.transport.connection import Connection
from kgroups.core.kafka.transport.handshake import open_stream
from kgroups.core.kafka.transport.inbox import address_text
from kgroups.core.kafka.transport.logins.login import credentials_for
from kgroups.core.kafka.transport.logins.token_keeper import keeper_of, name_of
from kgroups.core.kafka.transport.logins.tokens import utc_text
from kgroups.core.kafka.transport.messages import APIS, kafka_name
from kgroups.core.kafka.transport.tcp import close
from kgroups.core.kafka.transport.tls import make_context
from kgroups.core.protocol.tables.api_keys import Api

FEW_DAYS: Final = 30
OF_LOGIN: Final = frozenset(
    {
        "SASL_AUTHENTICATION_FAILED",
        "UNSUPPORTED_SASL_MECHANISM",
        "ILLEGAL_SASL_STATE",
    }
)
OPTIONAL: Final[Mapping[Api, str]] = {
    Api.CONSUMER_GROUP_DESCRIBE: "groups of KIP-848 are not shown",
    Api.LIST_CONFIG_RESOURCES: "configurations without a group are not found",
    Api.SHARE_GROUP_DESCRIBE: "share groups are not shown",
    Api.DESCRIBE_SHARE_GROUP_OFFSETS: "start offsets of share groups are not shown",
    Api.ALTER_SHARE_GROUP_OFFSETS: "start offsets of share groups cannot be reset",
    Api.DELETE_SHARE_GROUP_OFFSETS: "start offsets of share groups cannot be deleted",
    Api.STREAMS_GROUP_DESCRIBE: "streams groups are not shown",
    Api.INCREMENTAL_ALTER_CONFIGS: "configurations of groups cannot be changed",
    Api.DESCRIBE_CLIENT_QUOTAS: "quotas are not found",
    Api.DESCRIBE_QUORUM: "the clock is not compared",
    Api.DESCRIBE_PRODUCERS: "open transactions are not found",
    Api.DESCRIBE_TRANSACTIONS: "transactions are not described",
    Api.LIST_TRANSACTIONS: "transactional ids are not found",
    Api.WRITE_TXN_MARKERS: "hanging transactions cannot be aborted",
}
"""APIs that are missing in older brokers, and what does not work then."""


class NetworkProbe:
    """The steps to one broker, each of which needs those before it.

    Args:
        settings: how to reach the cluster and enter it.
    """

    def __init__(self, settings: ClientSettings, deadline: Deadline) -> None:
        self._settings, self._deadline = settings, deadline
        self._tls = make_context(settings.tls) if settings.uses_tls else None
        self._addresses = list(settings.addresses)

    async def names(self) -> list[Step]:
        """The addresses of each bootstrap server's host."""
        hosts = list(dict.fromkeys(host for host, _ in self._addresses))
        steps = await asyncio.gather(*map(self._resolve, hosts))
        lost = {step.target for step in steps if step.status == "failed"}
        addresses = await bootstrap_addresses(self._settings, self._deadline.at)
        self._addresses = [address for address in addresses if address[0] not in lost]
        return _forgiven(steps)

    async def _resolve(self, host: str) -> Step:
        began = time.monotonic()
        try:
            places = await places_of((host, 0), self._deadline.at)
        except TimeoutError:
            why = "the name server did not answer in time"
        except (OSError, UnicodeError) as error:
            has_reason = isinstance(error, OSError) and error.strerror
            why = str(has_reason or "no such name").lower()
        else:
            known_as = ", ".join(dict.fromkeys(str(at[0]) for *_, at in places))
            return Step("name resolution", host, "ok", known_as, took_ms=_since(began))
        return Step(
            "name resolution",
            host,
            "failed",
            f"`{host}` cannot be resolved: {why}",
            "check the spelling, /etc/hosts, and the name server of this machine",
            code="BROKER_NOT_AVAILABLE",
        )

    async def tcp(self) -> list[Step]:
        """Whether somebody listens at each address."""
        steps = await asyncio.gather(*map(self._connect, self._addresses))
        lost = {step.target for step in steps if step.status == "failed"}
        self._addresses = [a for a in self._addresses if address_text(a) not in lost]
        return _forgiven(steps)

    async def _connect(self, address: tuple[str, int]) -> Step:
        name, began = address_text(address), time.monotonic()
        limit = self._deadline.share(len(self._addresses))
        try:
            _, writer = await open_stream(address, self._settings.tls, None, limit)
        except BrokerFailure as failure:
            return failed("TCP", name, failure)
        took_ms, peer = _since(began), writer.get_extra_info("peername")
        await close(writer)
        return Step("TCP", name, "ok", f"connected to {peer[0]}", took_ms=took_ms)

    async def tls(self) -> list[Step]:
        """The handshake with the first server: chain, host name, days left."""
        address = self._addresses[0]
        name, began = address_text(address), time.monotonic()
        if self._tls is None:
            return [Step("TLS", name, "skipped", self._settings.security_protocol)]
        try:
            _, writer = await open_stream(address, self._settings.tls, self._tls, self._deadline.at)
        except BrokerFailure as failure:
            return [failed("TLS", name, failure)]
        took_ms = _since(began)
        shown: ssl.SSLObject = writer.get_extra_info("ssl_object")
        version, certificate = shown.version() or "TLS", shown.getpeercert()
        await close(writer)
        return [replace(_judged(name, version, certificate), took_ms=took_ms)]

    async def ticket(self) -> list[Step]:
        """The Kerberos ticket for the first server."""
        settings, began, host = self._settings, time.monotonic(), self._addresses[0][0]
        if settings.kerberos is None:
            return []
        target = f"{settings.kerberos.service}/{host}"
        try:
            credentials = await credentials_for(host, settings, self._deadline.at)
            await credentials.message(None, self._deadline.at)
        except BrokerFailure as failure:
            return [failed("ticket", target, failure)]
        return [Step("ticket", target, "ok", f"for `{credentials.who}`", took_ms=_since(began))]

    async def token(self) -> list[Step]:
        """Credentials to log in with, where somebody else gives it."""
        settings, began = self._settings, time.monotonic()
        if settings.wire_obstacle() is not None or settings.oauth is None:
            return []
        source = name_of(settings.oauth)
        try:
            token = await keeper_of(settings.oauth).token(self._deadline.at)
        except BrokerFailure as failure:
            return [failed("token", source, failure)]
        end = "" if token.expires_at is None else f", until {utc_text(token.expires_at)}"
        detail = f"for `{token.principal or '?'}`{end}"
        return [Step("token", source, "ok", detail, took_ms=_since(began))]

    async def login(self) -> list[Step]:
        """The login, and the versions of the APIs that the first server has."""
        settings, address = self._settings, self._addresses[0]
        name, began = address_text(address), time.monotonic()
        who = f"`{settings.username}` with {settings.sasl_mechanism}"
        if settings.username is None:
            who = str(settings.sasl_mechanism)
        if settings.wire_obstacle() is not None:
            return []
        try:
            connection = await Connection.open(address, settings, self._tls, self._deadline.at)
        except BrokerFailure as failure:
            return [failed("login" if failure.code in OF_LOGIN else "API versions", name, failure)]
        took_ms = _since(began)
        count, missing = len(connection.versions), _missing(connection)
        await connection.close()
        login = Step("login", name, "ok", who, took_ms=took_ms)
        if not settings.uses_sasl:
            detail = f"{settings.security_protocol}: no user name and password"
            login = Step("login", name, "skipped", detail)
        return [login, _versions(name, count, missing)]


def _forgiven(steps: list[Step]) -> list[Step]:
    """The steps; where some server can be used, failures of others are warnings."""
    if all(step.status == "failed" for step in steps):
        return steps
    return [replace(step, status="warning") if step.status == "failed" else step for step in steps]


def _since(began: float) -> float:
    return round(1_000 * (time.monotonic() - began), 1)


def _judged(name: str, version: str, certificate: Mapping[str, Any] | None) -> Step:
    """Step about the certificate, after a handshake that succeeded."""
    if not certificate:
        return Step(
            "TLS",
            name,
            "warning",
            f"{version}; the certificate is not verified",
            "remove `enable.ssl.certificate.verification=false`",
        )
    ends = datetime.datetime.fromtimestamp(
        ssl.cert_time_to_seconds(certificate["notAfter"]), datetime.UTC
    )
    days = (ends - datetime.datetime.now(datetime.UTC)).days
    names = [value for kind, value in certificate.get("subjectAltName", ())]
    detail = (
        f"{version}; certificate of {_common_name(certificate, 'subject')}, issued by "
        f"{_common_name(certificate, 'issuer')}, for {', '.join(names[:5]) or 'no host'}, "
        f"{days} days left"
    )
    if days < FEW_DAYS:
        remedy = f"renew the broker's certificate before {ends:%Y-%m-%d}"
        return Step("TLS", name, "warning", detail, remedy, days_left=days)
    return Step("TLS", name, "ok", detail, days_left=days)


def _common_name(certificate: Mapping[str, Any], of: str) -> str:
    parts = [pair for relative in certificate.get(of, ()) for pair in relative]
    common = [value for kind, value in parts if kind == "commonName"]
    return f"`{(common or [value for _, value in parts] or ['?'])[-1]}`"


def _missing(connection: Connection) -> list[Api]:
    """The APIs that we use and the broker does not have in a version that we know."""
    own = {Api.SASL_HANDSHAKE, Api.SASL_AUTHENTICATE}
    return [api for api in APIS if api not in own and connection.offers(api) is None]


def _versions(name: str, count: int, missing: list[Api]) -> Step:
    detail = f"{count} APIs"
    without = [OPTIONAL[api] for api in missing if api in OPTIONAL]
    if without:
        detail += f"; {', '.join(without)}"
    needed = [kafka_name(api) for api in missing if api not in OPTIONAL]
    if not needed:
        return Step("API versions", name, "ok", detail)
    return Step(
        "API versions",
        name,
        "warning",
        f"{detail}; missing: {', '.join(needed)}",
        "brokers from 2.4 on have them; what needs one fails with UNSUPPORTED_VERSION",
        code="UNSUPPORTED_VERSION",
    )
