"""Every way into a broker, and every way to be kept out, within the time that was given."""

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.core.errors import ClusterError, KgroupsError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings, read_settings
from tests.support.kafka.broker import KafkaCluster, free_ports
from tests.support.kafka.broker_config import ClusterSpec, SecurityProtocol
from tests.support.kafka.waiting import wait_for_thread
from tests.support.own_waiting import OwnWaiting

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "a broker with every login; one with TLS and ACLs: tests/kafka/security/test_ping.py"
    ),
]

OAUTH = "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config"
SPEC = ClusterSpec(
    protocols=("SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    users={"alice": "alice-secret", "bob_2": "p&s=s #4"},
    properties={
        "listener.name.ssl.ssl.client.auth": "required",
        "listener.name.sasl_plaintext.sasl.enabled.mechanisms": (
            "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"
        ),
        "listener.name.sasl_ssl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
        OAUTH: "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
    },
)


@pytest.fixture(scope="module")
def secure() -> Iterator[KafkaCluster]:
    """A broker with every listener; the TLS one asks for a client certificate."""
    with KafkaCluster(SPEC) as cluster:
        yield cluster


def _settings(properties: Mapping[str, str], tmp_path: Path) -> ClientSettings:
    """Settings read from a properties file, as the command line reads them."""
    path = tmp_path / "client.properties"
    lines = (
        f"{name}={value.replace(chr(92), chr(92) * 2)}\n" for name, value in properties.items()
    )
    path.write_text("".join(lines))
    return read_settings(None, path)


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
    secure: KafkaCluster, tmp_path: Path, listener: SecurityProtocol, mechanism: str
) -> None:
    """librdkafka's and Java's properties both open each listener."""
    librdkafka = secure.librdkafka_settings(listener, mechanism=mechanism or "PLAIN")
    java = secure.java_settings(listener, mechanism=mechanism or "PLAIN")
    java["bootstrap.servers"] = secure.addresses(listener)
    for properties in (librdkafka, java):
        with ClusterAdmin(_settings(properties, tmp_path)) as admin:
            assert admin.notice is None
            assert admin.list_groups().cluster_id == secure.cluster_id


def test_client_certificate_opens_the_tls_listener(secure: KafkaCluster, tmp_path: Path) -> None:
    """Mutual TLS with PEM files, in files and as text in the properties."""
    files = secure.librdkafka_settings("SSL") | {
        "ssl.certificate.location": str(secure.tls / "client.pem"),
        "ssl.key.location": str(secure.tls / "client.key"),
    }

    def text(name: str) -> str:
        return (secure.tls / name).read_text().strip().replace("\n", "\\n")

    inline = {
        "bootstrap.servers": secure.addresses("SSL"),
        "security.protocol": "SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": text("ca.pem"),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": text("client.pem"),
        "ssl.keystore.key": text("client.key"),
    }
    path = tmp_path / "inline.properties"
    path.write_text("".join(f"{name}={value}\n" for name, value in inline.items()))
    for settings in (_settings(files, tmp_path), read_settings(None, path)):
        with ClusterAdmin(settings) as admin:
            assert admin.list_groups().cluster_id == secure.cluster_id


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_unusual_user_and_password_are_sent_as_they_are(
    secure: KafkaCluster, mechanism: str
) -> None:
    """Blanks, equals signs, comment signs in a password: by every mechanism."""
    (user, password) = list(SPEC.users.items())[1]
    settings = ClientSettings(
        secure.addresses("SASL_PLAINTEXT"),
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism=mechanism,
        username=user,
        password=password,
    )
    with ClusterAdmin(settings) as admin:
        assert admin.list_groups().cluster_id == secure.cluster_id


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
    secure: KafkaCluster, tmp_path: Path, spelling: str, through_librdkafka: bool
) -> None:
    """Tokens that nobody signed, in both spellings, over the wire and through librdkafka."""
    properties = UNSECURED[spelling] | {
        "bootstrap.servers": secure.addresses("SASL_PLAINTEXT"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
    }
    settings = _settings(properties, tmp_path)
    with ClusterAdmin(replace(settings, through_librdkafka=through_librdkafka)) as admin:
        assert (admin.notice is None) != through_librdkafka
        assert admin.list_groups().cluster_id == secure.cluster_id


LOGINS = [case for case in LISTENERS if case[1]]


@pytest.mark.parametrize(("listener", "mechanism"), LOGINS, ids=[" ".join(c) for c in LOGINS])
def test_wrong_password_is_said(
    secure: KafkaCluster, tmp_path: Path, listener: SecurityProtocol, mechanism: str
) -> None:
    """The user, not the password, is in the message; exit 3."""
    properties = secure.librdkafka_settings(listener, mechanism=mechanism, password="wr0ng")
    error = _refusal(_settings(properties, tmp_path))
    assert isinstance(error, ClusterError)
    assert error.code == "SASL_AUTHENTICATION_FAILED"
    assert secure.address(1, listener) in error.message
    assert "`alice`" in error.message
    assert "wr0ng" not in error.message + str(error.hint)
    assert "password" in (error.hint or "")


KEPT_OUT: list[tuple[str, SecurityProtocol, dict[str, str], str, str]] = [
    (
        "TLS port spoken to in plain",
        "SSL",
        {"security.protocol": "PLAINTEXT"},
        "requires TLS",
        "security.protocol=SSL",
    ),
    (
        "SASL over TLS port spoken to in plain",
        "SASL_SSL",
        {"security.protocol": "SASL_PLAINTEXT"},
        "requires TLS",
        "SASL_SSL",
    ),
    (
        "plain port spoken to in TLS",
        "PLAINTEXT",
        {"security.protocol": "SSL"},
        "does not speak TLS",
        "PLAINTEXT",
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
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256"},
        "does not offer SASL mechanism `SCRAM-SHA-256`",
        "it offers PLAIN, SCRAM-SHA-512",
    ),
    (
        "a mechanism that only librdkafka could speak",
        "SASL_SSL",
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-1"},
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
    secure: KafkaCluster,
    tmp_path: Path,
    listener: SecurityProtocol,
    changes: dict[str, str],
    message: str,
    hint: str,
) -> None:
    """One sentence with the address, and a hint at the property to change; exit 3."""
    properties = secure.librdkafka_settings("SASL_SSL") | changes
    properties["bootstrap.servers"] = secure.address(1, listener)
    error = _refusal(_settings(properties, tmp_path))
    assert isinstance(error, ClusterError), error
    assert message in error.message
    assert hint in (error.hint or "")
    assert secure.address(1, listener) in error.message
    assert "\n" not in error.message


def test_unknown_authority_is_said(secure: KafkaCluster, tmp_path: Path) -> None:
    """The certificate is not trusted; the hint names the property."""
    properties = secure.librdkafka_settings("SASL_SSL")
    properties["ssl.ca.location"] = str(secure.tls / "stranger.pem")
    error = _refusal(_settings(properties, tmp_path))
    assert "is not trusted" in error.message
    assert "ssl.truststore.location" in (error.hint or "")


def test_host_that_the_certificate_does_not_name_is_said(
    secure: KafkaCluster, tmp_path: Path
) -> None:
    """127.0.0.2 is not in the certificate; without the check of the host it passes."""
    properties = secure.librdkafka_settings("SASL_SSL")
    port = secure.address(1, "SASL_SSL").rpartition(":")[2]
    properties["bootstrap.servers"] = f"127.0.0.2:{port}"
    with socket.create_connection(("127.0.0.1", int(port)), timeout=60):
        pass
    error = _refusal(_settings(properties, tmp_path))
    assert "127.0.0.2" in error.message


def test_missing_client_certificate_is_said(secure: KafkaCluster, tmp_path: Path) -> None:
    """The broker hangs up; the hint says that it may want a certificate."""
    error = _refusal(_settings(secure.librdkafka_settings("SSL"), tmp_path))
    assert isinstance(error, ClusterError)
    assert "certificate" in (error.hint or "")


def test_wrong_port_is_said() -> None:
    """Nobody listens: the answer is there at once, not after the timeout."""
    (port,) = free_ports(1)
    with OwnWaiting() as waiting:
        error = _refusal(ClientSettings(f"127.0.0.1:{port}"), timeout_ms=60_000)
    assert waiting.seconds < 30
    assert isinstance(error, ClusterError)
    assert f"127.0.0.1:{port} cannot be reached: connection refused" == error.message


def test_unknown_host_is_said() -> None:
    """A misspelt host name is told from a closed port."""
    error = _refusal(ClientSettings("kafka.invalid:9092"))
    assert isinstance(error, ClusterError)
    assert "kafka.invalid:9092" in error.message


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


def test_first_server_that_answers_is_taken(secure: KafkaCluster) -> None:
    """Dead and silent bootstrap servers before a good one cost moments, not the timeout."""
    (dead,) = free_ports(1)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        servers = f"127.0.0.1:{dead},127.0.0.1:{silent.getsockname()[1]},{secure.bootstrap}"
        # What waits for the silent one waits for minutes, a busy broker answers before.
        started = time.monotonic()
        with ClusterAdmin(ClientSettings(servers), timeout_ms=1_000_000) as admin:
            assert admin.list_groups().cluster_id == secure.cluster_id
        assert time.monotonic() - started < 120


def test_trust_store_that_is_missing_is_a_usage_error(secure: KafkaCluster, tmp_path: Path) -> None:
    """Exit 2 with the file's name: nothing was connected yet."""
    properties = secure.librdkafka_settings("SASL_SSL")
    for name, words in (("no.pem", "does not exist"), ("client.properties", "cannot be read")):
        properties["ssl.ca.location"] = str(tmp_path / name)
        settings = _settings(properties, tmp_path)
        with ClusterAdmin(settings) as admin, pytest.raises(UsageError, match=words):
            admin.list_groups()
