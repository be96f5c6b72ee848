"""Every way into a broker, and every way to be kept out, within the time that was given."""

import socket
import threading
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.core.errors import ClusterError, KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings, read_settings
from tests.support.kafka.broker import KafkaCluster, free_ports
from tests.support.kafka.broker_config import SecurityProtocol
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.waiting import wait_for_thread
from tests.support.own_waiting import OwnWaiting

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("every login; with TLS and ACLs: tests/kafka/security/test_ping.py"),
]


def _settings(properties: Mapping[str, str], tmp_path: Path) -> ClientSettings:
    """Settings read from a properties file, as the command line reads them."""
    return read_settings(None, write_properties_file(tmp_path / "client.properties", properties))


def _refusal(settings: ClientSettings, timeout_ms: int = 5_000) -> KgroupsError:
    """Why the cluster could not be asked; it must be known within the time given."""
    with (
        OwnWaiting() as waiting,
        ClusterAdmin(settings, timeout_ms=timeout_ms) as admin,
        pytest.raises(KgroupsError) as caught,
    ):
        admin.list_groups()
    assert waiting.seconds < timeout_ms / 1000 + 2
    return caught.value


LISTENERS: list[tuple[SecurityProtocol, str]] = [
    ("PLAINTEXT", ""),
    ("SASL_PLAINTEXT", "PLAIN"),
    ("SASL_PLAINTEXT", "SCRAM-SHA-256"),
    ("SASL_PLAINTEXT", "SCRAM-SHA-512"),
    ("SASL_SSL", "PLAIN"),
    ("SASL_SSL", "SCRAM-SHA-512"),
]


@pytest.mark.parametrize(
    ("listener", "mechanism"), LISTENERS, ids=[" ".join(case).strip() for case in LISTENERS]
)
def test_wire_client_gets_in(
    secure_kafka: KafkaCluster, tmp_path: Path, listener: SecurityProtocol, mechanism: str
) -> None:
    """librdkafka's and Java's properties both open each listener."""
    librdkafka = secure_kafka.librdkafka_settings(listener, mechanism=mechanism or "PLAIN")
    java = secure_kafka.java_settings(listener, mechanism=mechanism or "PLAIN")
    java["bootstrap.servers"] = secure_kafka.addresses(listener)
    for properties in (librdkafka, java):
        with ClusterAdmin(_settings(properties, tmp_path)) as admin:
            assert admin.notice is None
            assert admin.list_groups().cluster_id == secure_kafka.cluster_id


UNSECURED = {
    "Java": {
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
            'unsecuredLoginStringClaim_sub="alice" unsecuredLoginNumberClaim_level="1" '
            'extension_traceId="7";'
        )
    },
    "librdkafka": {
        "enable.sasl.oauthbearer.unsecure.jwt": "true",
        "sasl.oauthbearer.config": "principal=alice lifeSeconds=60 extension_traceId=7",
    },
}


@pytest.mark.parametrize("through_librdkafka", [False, True])
@pytest.mark.parametrize("spelling", UNSECURED)
def test_unsecured_tokens(
    secure_kafka: KafkaCluster, tmp_path: Path, spelling: str, through_librdkafka: bool
) -> None:
    """Tokens that nobody signed, in both spellings, over the wire and through librdkafka."""
    properties = UNSECURED[spelling] | {
        "bootstrap.servers": secure_kafka.addresses("SASL_PLAINTEXT"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
    }
    settings = _settings(properties, tmp_path)
    with ClusterAdmin(replace(settings, through_librdkafka=through_librdkafka)) as admin:
        assert (admin.notice is None) != through_librdkafka
        assert admin.list_groups().cluster_id == secure_kafka.cluster_id


LOGINS = [case for case in LISTENERS if case[1]]


@pytest.mark.parametrize(("listener", "mechanism"), LOGINS, ids=[" ".join(c) for c in LOGINS])
def test_wrong_password_is_said(
    secure_kafka: KafkaCluster, tmp_path: Path, listener: SecurityProtocol, mechanism: str
) -> None:
    """The user, not the password, is in the message; exit 3."""
    properties = secure_kafka.librdkafka_settings(listener, mechanism=mechanism, password="wr0ng")
    error = _refusal(_settings(properties, tmp_path))
    assert isinstance(error, ClusterError)
    assert error.code == "SASL_AUTHENTICATION_FAILED"
    assert secure_kafka.address(1, listener) in error.message
    assert "`alice`" in error.message
    assert "wr0ng" not in error.message + str(error.hint)
    assert "password" in (error.hint or "")


KEPT_OUT: list[tuple[str, SecurityProtocol, dict[str, str], str, str]] = [
    (
        "SASL over TLS port spoken to in plain",
        "SASL_SSL",
        {"security.protocol": "SASL_PLAINTEXT"},
        "requires TLS",
        "SASL_SSL",
    ),
    (
        "login port spoken to without a login",
        "SASL_PLAINTEXT",
        {"security.protocol": "PLAINTEXT"},
        "closed the connection",
        "login",
    ),
    (
        "login on a port that asks for none",
        "PLAINTEXT",
        {"security.protocol": "SASL_PLAINTEXT"},
        "does not support login",
        "PLAINTEXT",
    ),
    (
        "a mechanism that is not offered",
        "SASL_SSL",
        UNSECURED["librdkafka"] | {"sasl.mechanism": "OAUTHBEARER"},
        "does not offer SASL mechanism `OAUTHBEARER`",
        "it offers PLAIN, SCRAM-SHA-256, SCRAM-SHA-512",
    ),
    (
        "a mechanism that only librdkafka could speak",
        "SASL_SSL",
        {"sasl.mechanism": "SCRAM-SHA-1"},
        "SCRAM-SHA-1",
        "security protocol and login",
    ),
]


@pytest.mark.parametrize(
    ("listener", "changes", "message", "hint"),
    [case[1:] for case in KEPT_OUT],
    ids=[case[0] for case in KEPT_OUT],
)
def test_wrong_protocol_is_said(
    secure_kafka: KafkaCluster,
    tmp_path: Path,
    listener: SecurityProtocol,
    changes: dict[str, str],
    message: str,
    hint: str,
) -> None:
    """One sentence with the address, and a hint at the property to change; exit 3."""
    properties = secure_kafka.librdkafka_settings("SASL_SSL") | changes
    properties["bootstrap.servers"] = secure_kafka.address(1, listener)
    error = _refusal(_settings(properties, tmp_path))
    assert isinstance(error, ClusterError), error
    assert message in error.message
    assert hint in (error.hint or "")
    assert secure_kafka.address(1, listener) in error.message
    assert "\n" not in error.message


def test_wrong_port_is_said() -> None:
    """Nobody listens: the answer is there at once, not after the timeout."""
    (port,) = free_ports(1)
    with OwnWaiting() as waiting:
        error = _refusal(ClientSettings(f"127.0.0.1:{port}"), timeout_ms=60_000)
    assert waiting.seconds < 30
    assert isinstance(error, ClusterError)
    assert f"127.0.0.1:{port} cannot be reached: connection refused" == error.message


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_silent_port_ends_with_the_timeout(protocol: SecurityProtocol) -> None:
    """A port that accepts and never answers costs what was given, no more."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        settings = ClientSettings(f"127.0.0.1:{port}", security_protocol=protocol)
        error = _refusal(settings, timeout_ms=700)
    assert isinstance(error, ClusterError)
    assert f"127.0.0.1:{port}" in error.message
    assert error.code == "REQUEST_TIMED_OUT"


def test_port_of_something_else_is_said() -> None:
    """A web server's answer is not taken for a broker's."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        server.settimeout(60)

        def serve() -> None:
            client, _ = server.accept()
            with closing(client):
                client.settimeout(60)
                client.recv(1000)
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=serve)
        thread.start()
        error = _refusal(ClientSettings(f"127.0.0.1:{port}"))
        wait_for_thread(thread)
    assert f"127.0.0.1:{port} does not speak Kafka's protocol" == error.message


def test_first_server_that_answers_is_taken(secure_kafka: KafkaCluster) -> None:
    """Dead and silent bootstrap servers before a good one do not cost the timeout.

    It is longer than a test may last.
    """
    (dead,) = free_ports(1)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        servers = f"127.0.0.1:{dead},127.0.0.1:{silent.getsockname()[1]},{secure_kafka.bootstrap}"
        with ClusterAdmin(ClientSettings(servers), timeout_ms=10_000_000) as admin:
            assert admin.list_groups().cluster_id == secure_kafka.cluster_id
