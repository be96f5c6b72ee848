"""Properties of the libraries that are configured by them: what each is, or that nobody has it."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

PropertyKind = Literal["flag", "whole", "number", "text"]
FLAG: Final[PropertyKind] = "flag"
WHOLE: Final[PropertyKind] = "whole"
NUMBER: Final[PropertyKind] = "number"
TEXT: Final[PropertyKind] = "text"

_FLAGS: Final = {"true": True, "false": False}
_WHOLE: Final = re.compile(r"[+-]?\d{1,19}")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

EXPECTED: Final[dict[PropertyKind, str]] = {
    "flag": "true or false",
    "whole": "a whole number",
    "number": "a number",
    "text": "text",
}


def plain_value(kind: PropertyKind, text: str) -> object | None:
    """The value that a client reads from this text; None where it would not start."""
    text = text.strip()
    if kind == "flag":
        return _FLAGS.get(text.lower())
    if kind == "whole":
        return int(text) if _WHOLE.fullmatch(text) else None
    if kind == "number":
        return float(text) if _NUMBER.fullmatch(text) else None
    return text


# Name -> (what its value is, default; None for none).
JAVA_PROPERTIES: Final[Mapping[str, tuple[PropertyKind, str | None]]] = {
    "allow.auto.create.topics": (FLAG, "true"),
    "auto.commit.interval.ms": (WHOLE, "5000"),
    "auto.offset.reset": (TEXT, "latest"),
    "bootstrap.resolve.timeout.ms": (WHOLE, "0"),
    "bootstrap.servers": (TEXT, None),
    "check.crcs": (FLAG, "true"),
    "client.dns.lookup": (TEXT, "use_all_dns_ips"),
    "client.id": (TEXT, ""),
    "client.rack": (TEXT, ""),
    "config.providers": (TEXT, ""),
    "connections.max.idle.ms": (WHOLE, "540000"),
    "default.api.timeout.ms": (WHOLE, "60000"),
    "enable.auto.commit": (FLAG, "true"),
    "enable.metrics.push": (FLAG, "true"),
    "exclude.internal.topics": (FLAG, "true"),
    "fetch.max.bytes": (WHOLE, "52428800"),
    "fetch.max.wait.ms": (WHOLE, "500"),
    "fetch.min.bytes": (WHOLE, "1"),
    "group.id": (TEXT, None),
    "group.instance.id": (TEXT, None),
    "group.protocol": (TEXT, "classic"),
    "group.remote.assignor": (TEXT, None),
    "heartbeat.interval.ms": (WHOLE, "3000"),
    "interceptor.classes": (TEXT, ""),
    "isolation.level": (TEXT, "read_uncommitted"),
    "key.deserializer": (TEXT, None),
    "max.partition.fetch.bytes": (WHOLE, "1048576"),
    "max.poll.interval.ms": (WHOLE, "300000"),
    "max.poll.records": (WHOLE, "500"),
    "metadata.cluster.check.enable": (FLAG, "true"),
    "metadata.max.age.ms": (WHOLE, "300000"),
    "metadata.recovery.rebootstrap.trigger.ms": (WHOLE, "300000"),
    "metadata.recovery.strategy": (TEXT, "rebootstrap"),
    "metric.reporters": (TEXT, "org.apache.kafka.common.metrics.JmxReporter"),
    "metrics.num.samples": (WHOLE, "2"),
    "metrics.recording.level": (TEXT, "INFO"),
    "metrics.sample.window.ms": (WHOLE, "30000"),
    "partition.assignment.strategy": (
        TEXT,
        "org.apache.kafka.clients.consumer.RangeAssignor,"
        "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    ),
    "receive.buffer.bytes": (WHOLE, "65536"),
    "reconnect.backoff.max.ms": (WHOLE, "1000"),
    "reconnect.backoff.ms": (WHOLE, "50"),
    "request.timeout.ms": (WHOLE, "30000"),
    "retry.backoff.max.ms": (WHOLE, "1000"),
    "retry.backoff.ms": (WHOLE, "100"),
    "sasl.client.callback.handler.class": (TEXT, None),
    "sasl.jaas.config": (TEXT, None),
    "sasl.kerberos.kinit.cmd": (TEXT, "/usr/bin/kinit"),
    "sasl.kerberos.min.time.before.relogin": (WHOLE, "60000"),
    "sasl.kerberos.service.name": (TEXT, None),
    "sasl.kerberos.ticket.renew.jitter": (NUMBER, "0.05"),
    "sasl.kerberos.ticket.renew.window.factor": (NUMBER, "0.8"),
    "sasl.login.callback.handler.class": (TEXT, None),
    "sasl.login.class": (TEXT, None),
    "sasl.login.connect.timeout.ms": (WHOLE, None),
    "sasl.login.read.timeout.ms": (WHOLE, None),
    "sasl.login.refresh.buffer.seconds": (WHOLE, "300"),
    "sasl.login.refresh.min.period.seconds": (WHOLE, "60"),
    "sasl.login.refresh.window.factor": (NUMBER, "0.8"),
    "sasl.login.refresh.window.jitter": (NUMBER, "0.05"),
    "sasl.login.retry.backoff.max.ms": (WHOLE, "10000"),
    "sasl.login.retry.backoff.ms": (WHOLE, "100"),
    "sasl.mechanism": (TEXT, "GSSAPI"),
    "sasl.oauthbearer.allow.unverified.audience": (FLAG, "false"),
    "sasl.oauthbearer.allow.unverified.issuer": (FLAG, "false"),
    "sasl.oauthbearer.assertion.algorithm": (TEXT, "RS256"),
    "sasl.oauthbearer.assertion.claim.aud": (TEXT, None),
    "sasl.oauthbearer.assertion.claim.exp.seconds": (WHOLE, "300"),
    "sasl.oauthbearer.assertion.claim.iss": (TEXT, None),
    "sasl.oauthbearer.assertion.claim.jti.include": (FLAG, "false"),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": (WHOLE, "60"),
    "sasl.oauthbearer.assertion.claim.sub": (TEXT, None),
    "sasl.oauthbearer.assertion.file": (TEXT, None),
    "sasl.oauthbearer.assertion.private.key.file": (TEXT, None),
    "sasl.oauthbearer.assertion.private.key.passphrase": (TEXT, None),
    "sasl.oauthbearer.assertion.template.file": (TEXT, None),
    "sasl.oauthbearer.client.credentials.client.id": (TEXT, None),
    "sasl.oauthbearer.client.credentials.client.secret": (TEXT, None),
    "sasl.oauthbearer.clock.skew.seconds": (WHOLE, "30"),
    "sasl.oauthbearer.expected.audience": (TEXT, ""),
    "sasl.oauthbearer.expected.issuer": (TEXT, None),
    "sasl.oauthbearer.header.urlencode": (FLAG, "false"),
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": (WHOLE, "3600000"),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": (WHOLE, "10000"),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": (WHOLE, "100"),
    "sasl.oauthbearer.jwks.endpoint.url": (TEXT, None),
    "sasl.oauthbearer.jwt.retriever.class": (
        TEXT,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
    ),
    "sasl.oauthbearer.jwt.validator.class": (
        TEXT,
        "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
    ),
    "sasl.oauthbearer.scope": (TEXT, None),
    "sasl.oauthbearer.scope.claim.name": (TEXT, "scope"),
    "sasl.oauthbearer.sub.claim.name": (TEXT, "sub"),
    "sasl.oauthbearer.token.endpoint.url": (TEXT, None),
    "security.protocol": (TEXT, "PLAINTEXT"),
    "security.providers": (TEXT, None),
    "send.buffer.bytes": (WHOLE, "131072"),
    "session.timeout.ms": (WHOLE, "45000"),
    "share.acknowledgement.mode": (TEXT, "implicit"),
    "share.acquire.mode": (TEXT, "BATCH_OPTIMIZED"),
    "socket.connection.setup.timeout.max.ms": (WHOLE, "30000"),
    "socket.connection.setup.timeout.ms": (WHOLE, "10000"),
    "ssl.cipher.suites": (TEXT, ""),
    "ssl.enabled.protocols": (TEXT, "TLSv1.2,TLSv1.3"),
    "ssl.endpoint.identification.algorithm": (TEXT, "https"),
    "ssl.engine.factory.class": (TEXT, None),
    "ssl.key.password": (TEXT, None),
    "ssl.keymanager.algorithm": (TEXT, "SunX509"),
    "ssl.keystore.certificate.chain": (TEXT, None),
    "ssl.keystore.key": (TEXT, None),
    "ssl.keystore.location": (TEXT, None),
    "ssl.keystore.password": (TEXT, None),
    "ssl.keystore.type": (TEXT, "JKS"),
    "ssl.protocol": (TEXT, "TLSv1.3"),
    "ssl.provider": (TEXT, None),
    "ssl.secure.random.implementation": (TEXT, None),
    "ssl.trustmanager.algorithm": (TEXT, "PKIX"),
    "ssl.truststore.certificates": (TEXT, None),
    "ssl.truststore.location": (TEXT, None),
    "ssl.truststore.password": (TEXT, None),
    "ssl.truststore.type": (TEXT, "JKS"),
    "value.deserializer": (TEXT, None),
}


# Name -> (what its value is, default; None for none).
LIBRDKAFKA_PROPERTIES: Final[Mapping[str, tuple[PropertyKind, str | None]]] = {
    "client.id": (TEXT, "rdkafka"),
    "metadata.broker.list": (TEXT, None),
    "bootstrap.servers": (TEXT, None),
    "message.max.bytes": (WHOLE, "1000000"),
    "message.copy.max.bytes": (WHOLE, "65535"),
    "receive.message.max.bytes": (WHOLE, "100000000"),
    "max.in.flight.requests.per.connection": (WHOLE, "1000000"),
    "max.in.flight": (WHOLE, "1000000"),
    "metadata.recovery.strategy": (TEXT, "rebootstrap"),
    "metadata.recovery.rebootstrap.trigger.ms": (WHOLE, "300000"),
    "topic.metadata.refresh.interval.ms": (WHOLE, "300000"),
    "metadata.max.age.ms": (WHOLE, "900000"),
    "topic.metadata.refresh.fast.interval.ms": (WHOLE, "100"),
    "topic.metadata.refresh.fast.cnt": (WHOLE, "10"),
    "topic.metadata.refresh.sparse": (FLAG, "true"),
    "topic.metadata.propagation.max.ms": (WHOLE, "30000"),
    "topic.blacklist": (TEXT, None),
    "debug": (TEXT, None),
    "socket.timeout.ms": (WHOLE, "60000"),
    "socket.blocking.max.ms": (WHOLE, "1000"),
    "socket.send.buffer.bytes": (WHOLE, "0"),
    "socket.receive.buffer.bytes": (WHOLE, "0"),
    "socket.keepalive.enable": (FLAG, "false"),
    "socket.nagle.disable": (FLAG, "true"),
    "socket.max.fails": (WHOLE, "1"),
    "broker.address.ttl": (WHOLE, "1000"),
    "broker.address.family": (TEXT, "any"),
    "socket.connection.setup.timeout.ms": (WHOLE, "30000"),
    "connections.max.idle.ms": (WHOLE, "0"),
    "reconnect.backoff.jitter.ms": (WHOLE, "0"),
    "reconnect.backoff.ms": (WHOLE, "100"),
    "reconnect.backoff.max.ms": (WHOLE, "10000"),
    "statistics.interval.ms": (WHOLE, "0"),
    "enabled_events": (WHOLE, "0"),
    "log_level": (WHOLE, "6"),
    "log.queue": (FLAG, "false"),
    "log.thread.name": (FLAG, "true"),
    "enable.random.seed": (FLAG, "true"),
    "log.connection.close": (FLAG, "true"),
    "internal.termination.signal": (WHOLE, "0"),
    "api.version.request": (FLAG, "true"),
    "api.version.request.timeout.ms": (WHOLE, "10000"),
    "api.version.fallback.ms": (WHOLE, "0"),
    "broker.version.fallback": (TEXT, "0.10.0"),
    "allow.auto.create.topics": (FLAG, "false"),
    "security.protocol": (TEXT, "plaintext"),
    "ssl.cipher.suites": (TEXT, None),
    "ssl.curves.list": (TEXT, None),
    "ssl.sigalgs.list": (TEXT, None),
    "ssl.key.location": (TEXT, None),
    "ssl.key.password": (TEXT, None),
    "ssl.key.pem": (TEXT, None),
    "ssl.certificate.location": (TEXT, None),
    "ssl.certificate.pem": (TEXT, None),
    "ssl.ca.location": (TEXT, None),
    "https.ca.location": (TEXT, None),
    "https.ca.pem": (TEXT, None),
    "ssl.ca.pem": (TEXT, None),
    "ssl.ca.certificate.stores": (TEXT, "Root"),
    "ssl.crl.location": (TEXT, None),
    "ssl.keystore.location": (TEXT, None),
    "ssl.keystore.password": (TEXT, None),
    "ssl.providers": (TEXT, None),
    "ssl.engine.location": (TEXT, None),
    "ssl.engine.id": (TEXT, "dynamic"),
    "enable.ssl.certificate.verification": (FLAG, "true"),
    "ssl.endpoint.identification.algorithm": (TEXT, "https"),
    "sasl.mechanisms": (TEXT, "GSSAPI"),
    "sasl.mechanism": (TEXT, "GSSAPI"),
    "sasl.kerberos.service.name": (TEXT, "kafka"),
    "sasl.kerberos.principal": (TEXT, "kafkaclient"),
    "sasl.kerberos.kinit.cmd": (
        TEXT,
        'kinit -R -t "%{sasl.kerberos.keytab}" -k %{sasl.kerberos.principal} || '
        'kinit -t "%{sasl.kerberos.keytab}" -k %{sasl.kerberos.principal}',
    ),
    "sasl.kerberos.keytab": (TEXT, None),
    "sasl.kerberos.min.time.before.relogin": (WHOLE, "60000"),
    "sasl.username": (TEXT, None),
    "sasl.password": (TEXT, None),
    "sasl.oauthbearer.config": (TEXT, None),
    "enable.sasl.oauthbearer.unsecure.jwt": (FLAG, "false"),
    "sasl.oauthbearer.method": (TEXT, "default"),
    "sasl.oauthbearer.client.id": (TEXT, None),
    "sasl.oauthbearer.client.credentials.client.id": (TEXT, None),
    "sasl.oauthbearer.client.credentials.client.secret": (TEXT, None),
    "sasl.oauthbearer.client.secret": (TEXT, None),
    "sasl.oauthbearer.scope": (TEXT, None),
    "sasl.oauthbearer.extensions": (TEXT, None),
    "sasl.oauthbearer.token.endpoint.url": (TEXT, None),
    "sasl.oauthbearer.sub.claim.name": (TEXT, "sub"),
    "sasl.oauthbearer.grant.type": (TEXT, "client_credentials"),
    "sasl.oauthbearer.assertion.algorithm": (TEXT, "RS256"),
    "sasl.oauthbearer.assertion.private.key.file": (TEXT, None),
    "sasl.oauthbearer.assertion.private.key.passphrase": (TEXT, None),
    "sasl.oauthbearer.assertion.private.key.pem": (TEXT, None),
    "sasl.oauthbearer.assertion.file": (TEXT, None),
    "sasl.oauthbearer.assertion.claim.aud": (TEXT, None),
    "sasl.oauthbearer.assertion.claim.exp.seconds": (WHOLE, "300"),
    "sasl.oauthbearer.assertion.claim.iss": (TEXT, None),
    "sasl.oauthbearer.assertion.claim.jti.include": (FLAG, "false"),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": (WHOLE, "60"),
    "sasl.oauthbearer.assertion.claim.sub": (TEXT, None),
    "sasl.oauthbearer.assertion.jwt.template.file": (TEXT, None),
    "sasl.oauthbearer.metadata.authentication.type": (TEXT, "none"),
    "plugin.library.paths": (TEXT, None),
    "group.id": (TEXT, None),
    "group.instance.id": (TEXT, None),
    "partition.assignment.strategy": (TEXT, "range,roundrobin"),
    "session.timeout.ms": (WHOLE, "45000"),
    "heartbeat.interval.ms": (WHOLE, "3000"),
    "group.protocol.type": (TEXT, "consumer"),
    "group.protocol": (TEXT, "classic"),
    "group.remote.assignor": (TEXT, None),
    "coordinator.query.interval.ms": (WHOLE, "600000"),
    "max.poll.interval.ms": (WHOLE, "300000"),
    "enable.auto.commit": (FLAG, "true"),
    "auto.commit.interval.ms": (WHOLE, "5000"),
    "enable.auto.offset.store": (FLAG, "true"),
    "queued.min.messages": (WHOLE, "100000"),
    "queued.max.messages.kbytes": (WHOLE, "65536"),
    "fetch.wait.max.ms": (WHOLE, "500"),
    "fetch.queue.backoff.ms": (WHOLE, "1000"),
    "fetch.message.max.bytes": (WHOLE, "1048576"),
    "max.partition.fetch.bytes": (WHOLE, "1048576"),
    "fetch.max.bytes": (WHOLE, "52428800"),
    "fetch.min.bytes": (WHOLE, "1"),
    "fetch.error.backoff.ms": (WHOLE, "500"),
    "offset.store.method": (TEXT, "broker"),
    "isolation.level": (TEXT, "read_committed"),
    "enable.partition.eof": (FLAG, "false"),
    "check.crcs": (FLAG, "false"),
    "client.rack": (TEXT, None),
    "max.poll.records": (WHOLE, "500"),
    "share.acknowledgement.mode": (TEXT, "implicit"),
    "transactional.id": (TEXT, None),
    "transaction.timeout.ms": (WHOLE, "60000"),
    "enable.idempotence": (FLAG, "false"),
    "enable.gapless.guarantee": (FLAG, "false"),
    "queue.buffering.max.messages": (WHOLE, "100000"),
    "queue.buffering.max.kbytes": (WHOLE, "1048576"),
    "queue.buffering.max.ms": (NUMBER, "5"),
    "linger.ms": (NUMBER, "5"),
    "message.send.max.retries": (WHOLE, "2147483647"),
    "retries": (WHOLE, "2147483647"),
    "retry.backoff.ms": (WHOLE, "100"),
    "retry.backoff.max.ms": (WHOLE, "1000"),
    "queue.buffering.backpressure.threshold": (WHOLE, "1"),
    "compression.codec": (TEXT, "none"),
    "compression.type": (TEXT, "none"),
    "batch.num.messages": (WHOLE, "10000"),
    "batch.size": (WHOLE, "1000000"),
    "delivery.report.only.error": (FLAG, "false"),
    "sticky.partitioning.linger.ms": (WHOLE, "10"),
    "client.dns.lookup": (TEXT, "use_all_dns_ips"),
    "enable.metrics.push": (FLAG, "true"),
    "request.required.acks": (WHOLE, "-1"),
    "acks": (WHOLE, "-1"),
    "request.timeout.ms": (WHOLE, "30000"),
    "message.timeout.ms": (WHOLE, "300000"),
    "delivery.timeout.ms": (WHOLE, "300000"),
    "queuing.strategy": (TEXT, "fifo"),
    "produce.offset.report": (FLAG, "false"),
    "partitioner": (TEXT, "consistent_random"),
    "compression.level": (WHOLE, "-1"),
    "auto.commit.enable": (FLAG, "true"),
    "auto.offset.reset": (TEXT, "largest"),
    "offset.store.path": (TEXT, "."),
    "offset.store.sync.interval.ms": (WHOLE, "-1"),
    "consume.callback.max.messages": (WHOLE, "0"),
}


Table = Mapping[str, tuple[PropertyKind, str | None]]

# Libraries that are configured by properties.
TABLES: Final[Mapping[str, Table]] = {
    "java": JAVA_PROPERTIES,
    "librdkafka": LIBRDKAFKA_PROPERTIES,
}
SHOWN: Final[Mapping[str, str]] = {"java": "the Java consumer", "librdkafka": "librdkafka"}

# librdkafka's word -> Java's for the same thing.
JAVA_NAMES: Final[Mapping[str, str]] = {
    "socket.timeout.ms": "request.timeout.ms",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms",
    "auto.commit.enable": "enable.auto.commit",
}

# Of librdkafka's share consumer, of its producer, and of its cache: not what Java calls so.
NOT_OF_GROUPS: Final[Mapping[str, frozenset[str]]] = {
    "java": frozenset(),
    "librdkafka": frozenset({"max.poll.records", "request.timeout.ms", "metadata.max.age.ms"}),
}

# Said of a member itself.
IDENTITY: Final = ("client.id", "client.rack", "group.id", "group.instance.id", "group.protocol")


def unknown_property(name: str, library: str, accepted: Iterable[str]) -> tuple[str, str | None]:
    """What is said of a property that is not accepted, and a hint."""
    what = f"unknown property `{name[:60]}` of {SHOWN.get(library, library)}"
    for other, table in TABLES.items():
        if name in table and other != library:
            return what, f"it is a property of {SHOWN[other]}: `client: {other}`"
    close = difflib.get_close_matches(name[:60], sorted(accepted), 1)
    return what, f"did you mean `{close[0]}`?" if close else None
