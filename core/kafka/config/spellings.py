"""Java's spelling of client properties, and librdkafka's."""

from collections.abc import Mapping
from typing import Final

from kgroups.core.input_files.properties import Property

_JAVA_ONLY: Final = frozenset(
    {
        "request.timeout.ms",  # `--timeout` decides
        "retries",
        "sasl.jaas.config",
        "sasl.oauthbearer.sub.claim.name",
    }
)
"""Properties of Java's clients that librdkafka would refuse, or take for others of its own.

Those that it does not know are left out where its client is made.
"""

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
    """The properties in librdkafka's spelling; what it would misread is left out.

    Certificates and keys are left as they are: `kafka/config/tls.py` reads them.

    Args:
        given: name to property, in either spelling or a mixture.
    """
    spelled = {
        _RENAMED.get(name, name): item for name, item in given.items() if name not in _JAVA_ONLY
    }
    check = spelled.get(_HOST_CHECK)
    if check is not None:
        spelled[_HOST_CHECK] = check._replace(value=check.value.lower() or "none")
    return spelled
