"""A client of librdkafka with one deadline a question, and its complaints as failures."""

import asyncio
import re
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.kafka.config.settings import ClientSettings, SecurityProtocol
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.librdkafka.librdkafka_client import CODES, code_of, make_client
from kgroups.core.kafka.transport.connection import Connection
from kgroups.core.kafka.transport.tls import make_context
from kgroups.core.snapshot import Broker

_LOOK_S = 0.5
"""How often to look whether waiting for the first answer has become pointless."""

_LOGIN_FAILED = frozenset({"SASL_AUTHENTICATION_FAILED", "UNSUPPORTED_SASL_MECHANISM"})
_FINAL = _LOGIN_FAILED | {"SSL_HANDSHAKE_FAILED"}

_EXPLAIN_S = 1.0
"""To find out why TLS failed, though the question's time may be over."""


class LibrdkafkaSession:
    """A client of librdkafka for as long as its answers may be on their way.

    Args:
        settings: every property goes to librdkafka, but those that it does not have.
    Raises:
        UsageError: librdkafka cannot work with the settings.
    """

    def __init__(self, settings: ClientSettings) -> None:
        self.deadline = Deadline(0.0)  # set before each question
        self.is_stuck = False
        """Whether a request was not answered in time: those after it wait behind it."""
        self.may_write = False
        """Whether the question that is put now may change the cluster."""
        self._settings = settings
        self._complaint: tuple[str, str] | None = None
        # Kept for as long as an answer may be on its way: librdkafka answers a listing with
        # nothing, and no error, when the client that asked is gone.
        self.admin = make_client(AdminClient, settings, self._complain)
        self._brokers: tuple[Broker, ...] = ()
        self._cluster_id: str | None = None
        self._offsets_partitions = 0

    def fresh(self) -> Self:
        """Another client for the same question: its connections wait for nothing."""
        other = type(self)(self._settings)
        other.deadline = self.deadline
        return other

    def check_write(self) -> None:
        """A write that no guard was asked about is a mistake of ours."""
        if not self.may_write:
            raise RuntimeError("a write in a question that may not write")

    def begin(self) -> None:
        """Learns the brokers."""
        metadata = self._metadata()
        self._cluster_id = metadata.cluster_id
        self._brokers = tuple(
            Broker(item.id, item.host, item.port)
            for item in sorted(metadata.brokers.values(), key=lambda item: int(item.id))
        )
        offsets = metadata.topics.get(OFFSETS_TOPIC)
        self._offsets_partitions = len(offsets.partitions) if offsets else 0

    def _metadata(self) -> Any:
        """The cluster's metadata; waits no longer once the login or the handshake has failed."""
        self._complaint = None
        while True:
            try:
                metadata = self.admin.list_topics(timeout=min(self.left_s(), _LOOK_S))
                self._tell_requests()
                return metadata
            except KafkaException as error:
                self.admin.poll(0)  # delivers what it complained of meanwhile
                if not self.deadline.is_over and not self._is_kept_out():
                    continue
                failure = self.failure_of(error.args[0])
                servers = self._settings.bootstrap_servers
                code, detail = self._complaint or (failure.code, "timed out")
                explained = None
                if code not in _LOGIN_FAILED:
                    explained = _protocol_failure(self._settings, max(self.left_s(), _EXPLAIN_S))
                if explained is not None:
                    raise explained from error
                raise BrokerFailure(
                    code,
                    f"{servers} cannot be reached through librdkafka: {detail}",
                    hint="check the address, security protocol and login",
                ) from error

    def _is_kept_out(self) -> bool:
        return self._complaint is not None and self._complaint[0] in _FINAL

    def left_s(self) -> float:
        """Seconds until the question's time is over; librdkafka wants at least a millisecond."""
        return max(0.001, self.deadline.left_s)

    def wait(self, future: "Future[Any]") -> Any:
        """The future's answer.

        Raises:
            BrokerFailure: it failed, or has not come in time.
        """
        try:
            answer = future.result(timeout=self.left_s() + 1)
            self._tell_requests()
            return answer
        except KafkaException as error:
            failure = self.failure_of(error.args[0])
            self.is_stuck = self.is_stuck or failure.code == "REQUEST_TIMED_OUT"
            raise failure from error
        except FutureTimeout as error:
            self.is_stuck = True
            raise BrokerFailure("REQUEST_TIMED_OUT") from error
        except ValueError as error:
            raise BrokerFailure("INVALID_REQUEST", str(error)) from error

    def _tell_requests(self) -> None:
        """librdkafka keeps what it logs until it is polled."""
        if self._settings.trace is not None:
            self.admin.poll(0)

    def failure_of(self, error: Any) -> BrokerFailure:
        """librdkafka's error under Kafka's name."""
        if isinstance(error, KafkaException):
            error = error.args[0]
        return BrokerFailure(code_of(error))

    def _complain(self, error: Any) -> None:
        """Keeps what librdkafka says of its connections: the most telling comes first."""
        name = str(error.name())
        code = CODES.get(name)
        if code is None or name == "_ALL_BROKERS_DOWN":
            return
        if "SSL handshake failed" in str(error.str()):  # a port that hangs up has no code of TLS
            code = "SSL_HANDSHAKE_FAILED"
        if self._complaint is None or code in _FINAL:
            detail = re.sub(r"^\S+/bootstrap: ", "", str(error.str()))
            self._complaint = (code, re.sub(r" \((?:after|in state)[^()]*\)$", "", detail))


def _protocol_failure(settings: ClientSettings, timeout_s: float) -> BrokerFailure | None:
    """Why TLS, or doing without it, fails at the first bootstrap server.

    No login is tried.

    Returns:
        None if it does not fail, or we cannot tell.
    """
    protocol: SecurityProtocol = "SSL" if settings.uses_tls else "PLAINTEXT"
    simple = ClientSettings(
        settings.bootstrap_servers, security_protocol=protocol, tls=settings.tls
    )

    async def knock() -> None:
        deadline = asyncio.get_running_loop().time() + timeout_s
        connection = await Connection.open(simple.addresses[0], simple, context, deadline)
        await connection.close()

    try:
        context = make_context(settings.tls) if settings.uses_tls else None
        asyncio.run(knock())
    except BrokerFailure as failure:
        return failure if failure.fatal or failure.code == "SSL_HANDSHAKE_FAILED" else None
    return None
