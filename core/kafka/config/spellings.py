"""One table of client properties: Java's spelling, librdkafka's, and what cannot be translated."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from kgroups.core.errors import UsageError
from kgroups.core.input_files.files import first_bytes
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
    "ssl.truststore.certificates": Spelling("ssl.ca.pem"),
    "ssl.truststore.password": Spelling(None),
    "ssl.truststore.type": Spelling(None),
    "ssl.keystore.certificate.chain": Spelling("ssl.certificate.pem"),
    "ssl.keystore.key": Spelling("ssl.key.pem"),
    "ssl.keystore.type": Spelling(None),
    "ssl.key.password": Spelling("ssl.key.password"),
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

_STORES = {"ssl.truststore.location", "ssl.keystore.location"}
_ALIASES = {"sasl.mechanisms": "sasl.mechanism", "metadata.broker.list": "bootstrap.servers"}

_PEM_SUFFIXES = (".pem", ".crt", ".cer", ".cert")
_PKCS12_SUFFIXES = (".p12", ".pfx", ".pkcs12")


def to_librdkafka(given: Mapping[str, Property]) -> dict[str, Property]:
    """The properties in librdkafka's spelling; what it has no word for is left out.

    Args:
        given: name to property, in either spelling or a mixture.
    Raises:
        UsageError: a key or trust store is of a kind that can only be read by Java.
    """
    known: dict[str, Property] = {}
    for name, item in given.items():
        if name in _STORES:
            known |= _translate_store(name, item, given)
            continue
        if name == "ssl.keystore.password" and "ssl.keystore.location" not in known:
            store = given.get("ssl.keystore.location")
            if store is None or _store_type(store, given.get("ssl.keystore.type")) == "PEM":
                continue
        spelling = JAVA.get(name, Spelling(_ALIASES.get(name, name)))
        if spelling.librdkafka is not None:
            known[spelling.librdkafka] = item._replace(value=spelling.value(item.value))
    return known


def _translate_store(
    name: str, item: Property, given: Mapping[str, Property]
) -> dict[str, Property]:
    """A Java store as librdkafka's properties."""
    kind = "truststore" if name.startswith("ssl.truststore") else "keystore"
    store_type = _store_type(item, given.get(f"ssl.{kind}.type"))
    if store_type == "PEM":
        if kind == "truststore":
            return {"ssl.ca.location": item}
        return {"ssl.certificate.location": item, "ssl.key.location": item}
    if store_type == "PKCS12" and kind == "keystore":
        return {name: item}
    suffix = Path(item.value).suffix
    pem = f"{item.value.removesuffix(suffix)}.pem"
    if store_type == "JKS":
        source = f"{item.value.removesuffix(suffix)}.p12"
        convert = (
            f"keytool -importkeystore -srckeystore {item.value} -destkeystore {source} "
            "-deststoretype PKCS12"
        )
    else:
        convert, source = "", item.value
    what = "-nokeys" if kind == "truststore" else "-nodes"
    export = f"openssl pkcs12 -in {source} {what} -out {pem}"
    steps = f"`{convert}`, then `{export}`" if convert else f"`{export}`"
    raise UsageError(
        f"{item.place}: `{name}` is a {store_type} store, which only Java can read",
        hint=f"convert it with {steps}, then set `ssl.{kind}.type=PEM` and "
        f"`ssl.{kind}.location={pem}`",
    )


def _store_type(store: Property, declared: Property | None) -> str:
    """PEM, PKCS12 or JKS: as declared, else by the first bytes, else by the name."""
    if declared is not None:
        return declared.value.upper()
    suffix = Path(store.value).suffix.lower()
    start = first_bytes(Path(store.value), 4)
    if start == b"\xfe\xed\xfe\xed":
        return "JKS"
    if start[:1] == b"\x30" or suffix in _PKCS12_SUFFIXES:
        return "PKCS12"
    return "PEM" if suffix in _PEM_SUFFIXES or start else "JKS"
