"""Java's spelling of client properties, and librdkafka's."""

from collections.abc import Mapping
from typing import Final

from kgroups.core.input_files.properties import Property

JAVA_ONLY: Final = frozenset(
    {
        "sasl.jaas.config",
        "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.ticket.renew.window.factor",
        "sasl.client.callback.handler.class",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
        "sasl.oauthbearer.header.urlencode",
        "sasl.oauthbearer.jwt.retriever.class",
        "sasl.oauthbearer.jwt.validator.class",
        "sasl.oauthbearer.scope.claim.name",
        "sasl.oauthbearer.sub.claim.name",
        "security.providers",
        "ssl.enabled.protocols",
        "ssl.protocol",
        "ssl.provider",
        "ssl.engine.factory.class",
        "ssl.keymanager.algorithm",
        "ssl.trustmanager.algorithm",
        "ssl.secure.random.implementation",
        "request.timeout.ms",  # `--timeout` decides
        "default.api.timeout.ms",  # `ClientSettings.api_timeout_ms`
        "retries",
        "socket.connection.setup.timeout.max.ms",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "auto.include.jmx.reporter",
    }
)
"""Properties of Java's admin client that librdkafka has no word for."""

_RENAMED: Final = {
    "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "sasl.mechanisms": "sasl.mechanism",
    "metadata.broker.list": "bootstrap.servers",
}
_HOST_CHECK: Final = "ssl.endpoint.identification.algorithm"


def to_librdkafka(given: Mapping[str, Property]) -> dict[str, Property]:
    """The properties in librdkafka's spelling; what it has no word for is left out.

    Certificates and keys are left as they are: `kafka/config/tls.py` reads them.

    Args:
        given: name to property, in either spelling or a mixture.
    """
    spelled = {
        _RENAMED.get(name, name): item for name, item in given.items() if name not in JAVA_ONLY
    }
    check = spelled.get(_HOST_CHECK)
    if check is not None:
        spelled[_HOST_CHECK] = check._replace(value=check.value.lower() or "none")
    return spelled
