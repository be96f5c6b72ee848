"""One table of client properties: Java's spelling and librdkafka's."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kgroups.core.input_files.properties import Property


class Spelling(NamedTuple):
    """How librdkafka spells a property of Java's client; None if it has no such property."""

    librdkafka: str | None
    value: Callable[[str], str] = str


JAVA: dict[str, Spelling] = {
    "sasl.jaas.config": Spelling(None),
    "sasl.mechanism": Spelling("sasl.mechanism"),
    "sasl.kerberos.service.name": Spelling("sasl.kerberos.service.name"),
    "sasl.kerberos.kinit.cmd": Spelling("sasl.kerberos.kinit.cmd"),
    "sasl.kerberos.min.time.before.relogin": Spelling("sasl.kerberos.min.time.before.relogin"),
    "sasl.kerberos.ticket.renew.jitter": Spelling(None),
    "sasl.kerberos.ticket.renew.window.factor": Spelling(None),
    "sasl.client.callback.handler.class": Spelling(None),
    "sasl.login.callback.handler.class": Spelling(None),
    "sasl.login.class": Spelling(None),
    "sasl.oauthbearer.token.endpoint.url": Spelling("sasl.oauthbearer.token.endpoint.url"),
    "sasl.oauthbearer.client.credentials.client.id": Spelling("sasl.oauthbearer.client.id"),
    "sasl.oauthbearer.client.credentials.client.secret": Spelling("sasl.oauthbearer.client.secret"),
    "sasl.oauthbearer.header.urlencode": Spelling(None),
    "sasl.oauthbearer.jwt.retriever.class": Spelling(None),
    "sasl.oauthbearer.jwt.validator.class": Spelling(None),
    "sasl.oauthbearer.scope.claim.name": Spelling(None),
    "sasl.oauthbearer.sub.claim.name": Spelling(None),
    "security.protocol": Spelling("security.protocol"),
    "security.providers": Spelling(None),
    "ssl.cipher.suites": Spelling("ssl.cipher.suites"),
    "ssl.enabled.protocols": Spelling(None),
    "ssl.protocol": Spelling(None),
    "ssl.provider": Spelling(None),
    "ssl.engine.factory.class": Spelling(None),
    "ssl.keymanager.algorithm": Spelling(None),
    "ssl.trustmanager.algorithm": Spelling(None),
    "ssl.secure.random.implementation": Spelling(None),
    "ssl.endpoint.identification.algorithm": Spelling(
        "ssl.endpoint.identification.algorithm", lambda value: value.lower() or "none"
    ),
    "bootstrap.servers": Spelling("bootstrap.servers"),
    "client.id": Spelling("client.id"),
    "client.rack": Spelling("client.rack"),
    "client.dns.lookup": Spelling("client.dns.lookup"),
    "connections.max.idle.ms": Spelling("connections.max.idle.ms"),
    "metadata.max.age.ms": Spelling("metadata.max.age.ms"),
    "reconnect.backoff.ms": Spelling("reconnect.backoff.ms"),
    "reconnect.backoff.max.ms": Spelling("reconnect.backoff.max.ms"),
    "retry.backoff.ms": Spelling("retry.backoff.ms"),
    "retry.backoff.max.ms": Spelling("retry.backoff.max.ms"),
    "request.timeout.ms": Spelling(None),  # `--timeout` decides
    "default.api.timeout.ms": Spelling(None),  # `ClientSettings.api_timeout_ms`
    "retries": Spelling(None),
    "send.buffer.bytes": Spelling("socket.send.buffer.bytes"),
    "receive.buffer.bytes": Spelling("socket.receive.buffer.bytes"),
    "socket.connection.setup.timeout.ms": Spelling("socket.connection.setup.timeout.ms"),
    "socket.connection.setup.timeout.max.ms": Spelling(None),
    "metric.reporters": Spelling(None),
    "metrics.num.samples": Spelling(None),
    "metrics.recording.level": Spelling(None),
    "metrics.sample.window.ms": Spelling(None),
    "auto.include.jmx.reporter": Spelling(None),
    "enable.metrics.push": Spelling("enable.metrics.push"),
}
"""Java's admin client properties. Names that are not here pass as they are."""

_ALIASES = {"sasl.mechanisms": "sasl.mechanism", "metadata.broker.list": "bootstrap.servers"}


def to_librdkafka(given: Mapping[str, Property]) -> dict[str, Property]:
    """The properties in librdkafka's spelling; what it has no word for is left out.

    Certificates and keys are left as they are: `kafka/config/tls.py` reads them.

    Args:
        given: name to property, in either spelling or a mixture.
    """
    known: dict[str, Property] = {}
    for name, item in given.items():
        spelling = JAVA.get(name, Spelling(_ALIASES.get(name, name)))
        if spelling.librdkafka is not None:
            known[spelling.librdkafka] = item._replace(value=spelling.value(item.value))
    return known
