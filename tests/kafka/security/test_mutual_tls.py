"""Client certificates and TLS: encrypted keys in every form, host names, SNI, versions."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from kgroups.core.errors import ClusterError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import read_settings
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.certificates import make_certificates
from tests.support.kafka.child import run_program
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.tls_listener import tls_listener

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("more of TLS: tests/kafka/security/test_ping.py"),
]

PASSWORD: Final = "Key-p4ss #=;"
FORMS: Final = ("PKCS#8 beside the certificate", "PKCS#1 beside it", "one PEM store", "text")


@pytest.fixture(scope="module")
def keys(guarded_kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's key, encrypted as OpenSSL does it now, and as it did it."""
    folder = tmp_path_factory.mktemp("keys")
    start = ("-in", str(guarded_kafka.tls / "client.key"), "-passout", f"pass:{PASSWORD}")
    for name, how in {
        "new.key": ("pkcs8", "-topk8", "-v2", "aes-256-cbc"),
        "old.key": ("ec", "-aes256"),
    }.items():
        run_program(["openssl", *how, *start, "-out", str(folder / name)], check=True)
    chain = (guarded_kafka.tls / "client.pem").read_text()
    (folder / "store.pem").write_text((folder / "new.key").read_text() + chain)
    return folder


def in_form(form: str, cluster: KafkaCluster, keys: Path) -> dict[str, str]:
    """Properties of a client with the encrypted key in this form, but for its password."""
    base = {"bootstrap.servers": cluster.addresses("SSL"), "security.protocol": "SSL"}
    if form == "one PEM store":
        store = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(keys / "store.pem")}
        trust = {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(cluster.tls / "ca.pem"),
        }
        return base | store | trust
    if form == "text":
        return {
            **base,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": text_of(cluster.tls / "client.pem"),
            "ssl.keystore.key": text_of(keys / "new.key"),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": text_of(cluster.tls / "ca.pem"),
        }
    return {
        **base,
        "ssl.ca.location": str(cluster.tls / "ca.pem"),
        "ssl.certificate.location": str(cluster.tls / "client.pem"),
        "ssl.key.location": str(keys / ("old.key" if "PKCS#1" in form else "new.key")),
    }


def text_of(path: Path) -> str:
    """PEM as one line of a properties file."""
    return path.read_text().strip().replace("\n", "\\n")


@pytest.mark.parametrize("form", FORMS)
def test_encrypted_keys(guarded_kafka: KafkaCluster, keys: Path, tmp_path: Path, form: str) -> None:
    """With the password we are in; with another, or none, it is said so, and not asked for."""
    file = tmp_path / "client.properties"
    properties = in_form(form, guarded_kafka, keys)
    write_properties_file(file, properties | {"ssl.key.password": PASSWORD})
    settings = read_settings(None, file)
    assert settings.wire_obstacle() is None
    assert PASSWORD not in repr(settings)
    with ClusterAdmin(settings) as admin:
        assert admin.list_groups().cluster_id == guarded_kafka.cluster_id
    for wrong in ({"ssl.key.password": "Mistaken-7c2f"}, {}):
        write_properties_file(file, properties | wrong)
        outcome = run("list", "--command-config", str(file), "--debug")
        assert (outcome.exit_code, outcome.stdout) == (2, "")
        assert "cannot be read" in outcome.stderr.partition("\n")[0]
        assert "`ssl.key.password`" in outcome.stderr
        assert "Mistaken" not in outcome.stderr


def test_a_key_of_another_certificate(
    guarded_kafka: KafkaCluster, keys: Path, tmp_path: Path
) -> None:
    """Said before anything is connected."""
    properties = in_form(FORMS[0], guarded_kafka, keys)
    properties["ssl.key.location"] = str(guarded_kafka.tls / "stranger.key")
    settings = read_settings(None, write_properties_file(tmp_path / "p", properties))
    with ClusterAdmin(settings) as admin, pytest.raises(UsageError, match="cannot be read"):
        admin.list_groups()


def ping(file: Path) -> Outcome:
    """The steps as JSON."""
    return run("ping", "--command-config", str(file), "--timeout", "60s", "-o", "json")


@pytest.mark.parametrize(
    ("enabled", "spoken"),
    [
        (None, "TLSv1.3"),
        ("TLSv1.2,TLSv1.3", "TLSv1.3"),
        ("TLSv1.2", "TLSv1.2"),
        ("TLSv1.3", "TLSv1.3"),
    ],
)
def test_versions(
    secure_kafka: KafkaCluster, tmp_path: Path, enabled: str | None, spoken: str
) -> None:
    """The newest that both sides allow."""
    properties = secure_kafka.librdkafka_settings("SSL")
    if enabled is not None:
        properties["ssl.enabled.protocols"] = enabled
    outcome = ping(write_properties_file(tmp_path / "p", properties))
    assert outcome.exit_code == 0
    step = next(item for item in outcome.document["items"] if item["step"] == "TLS")
    assert step["detail"].startswith(f"{spoken}; ")


def test_no_version_that_is_safe(secure_kafka: KafkaCluster, tmp_path: Path) -> None:
    """File and line, and what there is."""
    properties = secure_kafka.librdkafka_settings("SSL") | {"ssl.enabled.protocols": "TLSv1.1"}
    file = write_properties_file(tmp_path / "p", properties)
    with pytest.raises(UsageError) as caught:
        read_settings(None, file)
    line = list(properties).index("ssl.enabled.protocols") + 1
    assert caught.value.message == (
        f"{file}:{line}: `ssl.enabled.protocols` names no version of TLS that is supported"
    )
    assert caught.value.hint == "expected TLSv1.2 or TLSv1.3, or both"


@contextmanager
def listener(folder: Path, seen: list[str | None]) -> Iterator[int]:
    """The port of a TLS listener with a certificate for other hosts, which notes the names asked
    for (SNI) and hangs up.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "elsewhere.pem", folder / "elsewhere.key")
    context.sni_callback = lambda _socket, name, _context: seen.append(name)
    with tls_listener(context) as port:
        yield port


def test_host_names(tmp_path: Path) -> None:
    """A server is told which host is meant, and has to be that host, unless an empty
    `ssl.endpoint.identification.algorithm` says otherwise: its issuer counts then.
    """
    make_certificates(tmp_path / "tls", ["elsewhere"])
    seen: list[str | None] = []
    with listener(tmp_path / "tls", seen) as port:

        def failure(host: str, **more: str) -> ClusterError:
            properties = {
                "bootstrap.servers": f"{host}:{port}",
                "security.protocol": "SSL",
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(tmp_path / "tls" / f"{more.pop('ca', 'ca')}.pem"),
                **{name.replace("_", "."): value for name, value in more.items()},
            }
            settings = read_settings(None, write_properties_file(tmp_path / "p", properties))
            with (
                ClusterAdmin(settings, timeout_ms=60_000) as admin,
                pytest.raises(ClusterError) as caught,
            ):
                admin.list_groups()
            return caught.value

        strict = failure("localhost")
        assert strict.code == "SSL_HANDSHAKE_FAILED"
        assert "is not for `localhost`" in strict.message
        assert seen
        assert set(seen) == {"localhost"}
        for algorithm in ("", "none", "NONE"):
            loose = failure("localhost", ssl_endpoint_identification_algorithm=algorithm)
            assert "is not for" not in loose.message  # it hung up later
        unknown = failure("localhost", ca="stranger", ssl_endpoint_identification_algorithm="")
        assert "is not trusted" in unknown.message
        seen.clear()
        failure("127.0.0.1")
        assert set(seen) <= {None}  # an address is not a name
