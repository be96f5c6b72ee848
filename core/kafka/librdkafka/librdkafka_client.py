"""A client of librdkafka with our settings, and its errors under Kafka's names."""

import logging
import re
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from confluent_kafka import KafkaError, KafkaException

from kgroups.core.errors import UsageError
from kgroups.core.kafka.config.settings import ClientSettings, RequestTrace, Trace
from kgroups.core.kafka.config.stores import Pem, identity_of, trust_of
from kgroups.core.kafka.config.tls import STORE_PROPERTIES, TlsSettings
from kgroups.core.kafka.failures import BrokerFailure, cluster_error
from kgroups.core.kafka.transport.tls import make_context

if TYPE_CHECKING:
    from kgroups.core.kafka.config.oauth import OAuthSettings

Client = TypeVar("Client")

CODES = {
    "_TIMED_OUT": "REQUEST_TIMED_OUT",
    "_TIMED_OUT_QUEUE": "REQUEST_TIMED_OUT",
    "_TRANSPORT": "BROKER_NOT_AVAILABLE",
    "_ALL_BROKERS_DOWN": "BROKER_NOT_AVAILABLE",
    "_RESOLVE": "BROKER_NOT_AVAILABLE",
    "_AUTHENTICATION": "SASL_AUTHENTICATION_FAILED",
    "_SSL": "SSL_HANDSHAKE_FAILED",
    "_UNSUPPORTED_FEATURE": "UNSUPPORTED_SASL_MECHANISM",
    "_WAIT_COORD": "COORDINATOR_NOT_AVAILABLE",
    "_UNKNOWN_TOPIC": "UNKNOWN_TOPIC_OR_PARTITION",
    "_UNKNOWN_PARTITION": "UNKNOWN_TOPIC_OR_PARTITION",
    "UNKNOWN_TOPIC_OR_PART": "UNKNOWN_TOPIC_OR_PARTITION",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
    "TOPIC_EXCEPTION": "INVALID_TOPIC_EXCEPTION",
    "INVALID_MSG": "CORRUPT_MESSAGE",
}
"""Kafka's names for what librdkafka says of its own accord, or calls otherwise."""


def code_of(error: KafkaError) -> str:
    """Kafka's name of an error."""
    name = str(error.name())
    return CODES.get(name, name.removeprefix("_"))


def make_client(
    kind: Callable[[dict[str, Any]], Client],
    settings: ClientSettings,
    complain: Callable[[Any], None],
    **more: object,
) -> Client:
    """A client of librdkafka with the settings; properties that it does not have are left out.

    Args:
        settings: how to reach the cluster and enter it.
        complain: told of every error of a connection; nothing goes to the screen.
            `settings.trace` is told of requests, when the client is polled.
        more: further properties, with `_` for `.`.
    Raises:
        UsageError: a property has a value that librdkafka refuses.
        ClusterError: there is no token to log in with.
    """
    config: dict[str, Any] = {
        name: text for name, text in settings.properties.items() if name not in STORE_PROPERTIES
    }
    if settings.uses_tls:
        make_context(settings.tls)  # what is wrong with the stores is told in our words
        config |= _stores_of(settings.tls)
    config |= {
        "bootstrap.servers": settings.bootstrap_servers,
        "security.protocol": settings.security_protocol.lower(),
        "client.id": settings.client_id,
        "log_level": 0,
        "error_cb": complain,
    }
    if settings.sasl_mechanism:
        config["sasl.mechanism"] = settings.sasl_mechanism
    if settings.oauth is not None:
        _token(settings.oauth, "")  # without one there is no client either, after 10 s
        config |= {"oauth_cb": partial(_token, settings.oauth)}
        config = {name: text for name, text in config.items() if name not in _OF_TOKENS}
    if settings.trace is not None:
        config |= {"debug": "protocol", "log_level": 7, "logger": _protocol_logger(settings.trace)}
    config |= {name.replace("_", "."): value for name, value in more.items()}
    while True:
        try:
            return kind(config)
        except KafkaException as error:
            text = str(error.args[0].str())
            unknown = re.search(r'No such configuration property: "([^"]+)"', text)
            if unknown is None or config.pop(unknown[1], None) is None:
                raise UsageError(
                    f"librdkafka rejects these properties: {text}",
                    hint="fix them in the `--command-config` file",
                ) from error


def _stores_of(tls: TlsSettings) -> dict[str, str]:
    """Certificates and key as librdkafka's properties: files in PEM by their names, all else as
    text.
    """
    stores: dict[str, Pem | None] = {"ca": trust_of(tls)}
    config: dict[str, str] = {}
    identity = identity_of(tls)
    if identity is not None:
        stores |= {"certificate": identity.certificate, "key": identity.key}
        if identity.password is not None:
            config["ssl.key.password"] = identity.password
    for name, pem in stores.items():
        if pem is not None and pem.text is not None:
            config[f"ssl.{name}.pem"] = pem.text
        elif pem is not None and pem.path is not None:
            config[f"ssl.{name}.location"] = pem.path
    return config


_OF_TOKENS = frozenset(
    {"sasl.oauthbearer.method", "enable.sasl.oauthbearer.unsecure.jwt", "sasl.oauthbearer.config"}
)
"""With these librdkafka would get tokens by itself, and not by the callback."""

_TOKEN_S = 60.0


def _token(oauth: "OAuthSettings", _: str) -> tuple[str, float, str, dict[str, str]]:
    """A token as librdkafka's callback gives it: text, end, principal, extensions.

    Raises:
        ClusterError: there is none; librdkafka asks again later.
    """
    from kgroups.core.kafka.transport.logins.token_keeper import keeper_of

    try:
        token = keeper_of(oauth).obtain(_TOKEN_S)
    except BrokerFailure as failure:
        raise cluster_error(failure) from failure
    end = time.time() + _LIFE_S if token.expires_at is None else token.expires_at
    return token.text, end, token.principal or "", dict(oauth.extensions)


_LIFE_S = 60.0
"""Of a token that does not say when it ends: after it librdkafka asks again."""


_LINE: Final = re.compile(
    r"(?:\w+://)?(?P<broker>[^/\s]+)/\S+: (?P<what>Sent|Received) "
    r"(?P<api>\w+?)(?:Request|Response) \(v(?P<version>\d+), (?P<bytes>\d+) bytes"
    r".*?CorrId (?P<id>\d+)(?:, rtt (?P<ms>[\d.]+)ms)?\)"
)
_SPELLING: Final = {"ApiVersion": "ApiVersions"}


class _ProtocolLog(logging.Handler):
    """librdkafka's log of requests as `RequestTrace`s; it is told when the client is polled.

    Every other line is dropped unread.
    """

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace
        self._sent: dict[tuple[str, str], int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Take one line."""
        message = record.getMessage()
        match = _LINE.search(message)
        if match is None:
            return
        connection = re.search(r"\[thrd:(.*?)\]:", message)
        request = (connection[1] if connection else match["broker"], match["id"])
        if match["what"] == "Sent":
            self._sent[request] = int(match["bytes"])
            return
        self._trace(
            RequestTrace(
                match["broker"],
                _SPELLING.get(match["api"], match["api"]),
                int(match["version"]),
                float(match["ms"] or 0.0),
                self._sent.pop(request, None),
                int(match["bytes"]),
            )
        )


def _protocol_logger(trace: Trace) -> logging.Logger:
    """A logger for one client, beside the loggers of the process."""
    logger = logging.Logger("kgroups.librdkafka", logging.DEBUG)
    logger.addHandler(_ProtocolLog(trace))
    return logger
