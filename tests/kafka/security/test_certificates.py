"""TLS that fails is told by its cause, with a hint for it, over our connection and librdkafka's."""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from socket import create_server

import pytest

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import read_settings
from tests.support.cli.process import finish
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec, SecurityProtocol
from tests.support.kafka.certificates import ODD, make_certificates
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.tls_listener import tls_listener

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("brokers with odd certificates; TLS: tests/kafka/security/test_ping.py"),
]

SPEC = ClusterSpec(
    protocols=("SSL", "SASL_SSL"), certificates={"SSL": "expired", "SASL_SSL": "elsewhere"}
)
LIBRDKAFKA = pytest.param(True, marks=pytest.mark.slow("librdkafka waits long before it fails"))
WAYS = pytest.mark.parametrize(
    "through_librdkafka", [False, LIBRDKAFKA], ids=["wire", "librdkafka"]
)

# Certificate that a listener shows -> what is said of it, with its address for `{}`, and the hint.
SAID: Mapping[str, tuple[str, str]] = {
    "expired": (
        "the certificate of {} expired on 2024-03-01 12:34 UTC",
        "renew the broker's certificate",
    ),
    "early": (
        "the certificate of {} is not valid before 2098-01-01 00:00 UTC",
        "check this machine's clock",
    ),
    "elsewhere": (
        "the certificate of {} is not for `127.0.0.1`, only for `kafka-1.example`, "
        "`*.kafka.example`, `10.0.0.1`",
        (
            "use a name from the certificate, in `--bootstrap-server` and in the broker's "
            "`advertised.listeners`"
        ),
    ),
    "stranger": (
        "the certificate of {} is not trusted: it is self-signed",
        "set `ssl.truststore.location` (`ssl.ca.location`) to that certificate",
    ),
}


@pytest.fixture(scope="module")
def odd() -> Iterator[KafkaCluster]:
    """A broker whose TLS listeners show certificates that no client should take."""
    with KafkaCluster(SPEC) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every kind of certificate."""
    folder = tmp_path_factory.mktemp("tls")
    make_certificates(folder, ODD)
    return folder


def refusal(
    properties: Mapping[str, str], folder: Path, *, through_librdkafka: bool
) -> KgroupsError:
    """Why a client with these properties is not let in."""
    file = write_properties_file(folder / "client.properties", properties)
    settings = read_settings(None, file)
    with (
        ClusterAdmin(replace(settings, through_librdkafka=through_librdkafka)) as admin,
        pytest.raises(KgroupsError) as caught,
    ):
        admin.list_groups()
    assert caught.value.exit_code == 3
    assert "\n" not in caught.value.message
    return caught.value


def words(failure: KgroupsError) -> tuple[str, str | None]:
    """Sentence and hint of a TLS failure."""
    assert failure.code == "SSL_HANDSHAKE_FAILED"
    return failure.message, failure.hint


def said_of(certificate: str, address: str) -> tuple[str, str]:
    """What is to be said of a certificate that is shown at an address."""
    message, hint = SAID[certificate]
    return message.format(address), hint


@WAYS
@pytest.mark.parametrize("listener", ["SSL", "SASL_SSL"])
def test_odd_certificates_of_a_broker(
    odd: KafkaCluster, tmp_path: Path, listener: SecurityProtocol, through_librdkafka: bool
) -> None:
    """Until when it was valid; which names it has."""
    properties = odd.librdkafka_settings(listener)
    failure = refusal(properties, tmp_path, through_librdkafka=through_librdkafka)
    address = odd.address(1, listener)
    assert words(failure) == said_of(SPEC.certificates[listener], address)


def test_the_command_line_says_it(odd: KafkaCluster, tmp_path: Path) -> None:
    """Exit 3 with one error and one hint, and nothing of trust stores."""
    properties = odd.librdkafka_settings("SSL")
    file = write_properties_file(tmp_path / "client.properties", properties)
    code, stdout, stderr = finish("list", "--command-config", str(file))
    message, hint = said_of("expired", odd.address(1, "SSL"))
    assert (code, stdout, stderr) == (3, "", f"error: {message}\n\nhint: {hint}\n")


@WAYS
def test_unknown_authority(
    secure_kafka: KafkaCluster, tmp_path: Path, through_librdkafka: bool
) -> None:
    """Who issued it, and which setting trusts them."""
    properties = secure_kafka.librdkafka_settings("SSL")
    properties["ssl.ca.location"] = str(secure_kafka.tls / "stranger.pem")
    failure = refusal(properties, tmp_path, through_librdkafka=through_librdkafka)
    address = secure_kafka.address(1, "SSL")
    assert words(failure) == (
        f"the certificate of {address} is not trusted: it was issued by `kgroups ca`",
        "set `ssl.truststore.location` (`ssl.ca.location`) to the certificate of that CA",
    )


@WAYS
def test_client_certificate_demanded(
    guarded_kafka: KafkaCluster, tmp_path: Path, through_librdkafka: bool
) -> None:
    """Without one the hint names the settings; with one of a stranger it is not accepted."""
    properties = guarded_kafka.librdkafka_settings("SSL")
    for name in ("ssl.certificate.location", "ssl.key.location"):
        del properties[name]
    address = guarded_kafka.address(1, "SSL")
    failure = refusal(properties, tmp_path, through_librdkafka=through_librdkafka)
    assert words(failure) == (
        f"{address} requires a client certificate",
        "set `ssl.keystore.location`, or `ssl.certificate.location` and `ssl.key.location`",
    )
    for name, end in (("certificate", "pem"), ("key", "key")):
        properties[f"ssl.{name}.location"] = str(guarded_kafka.tls / f"stranger.{end}")
    failure = refusal(properties, tmp_path, through_librdkafka=through_librdkafka)
    message, hint = words(failure)
    assert message.startswith(f"{address} rejected the client certificate: ")
    assert hint == "the broker must trust its issuer, and it must not have expired"


@WAYS
def test_plain_words_on_a_tls_port_and_back(
    secure_kafka: KafkaCluster, tmp_path: Path, through_librdkafka: bool
) -> None:
    """TLS spoken to a plain port; the other way round the hint names the protocol."""
    properties = secure_kafka.librdkafka_settings("SSL")
    plain, secured = secure_kafka.address(1), secure_kafka.address(1, "SSL")
    properties["bootstrap.servers"] = plain
    failure = refusal(properties, tmp_path, through_librdkafka=through_librdkafka)
    message, hint = words(failure)
    assert message == f"{plain} does not speak TLS"
    assert "`security.protocol` to PLAINTEXT" in str(hint)
    properties = {"bootstrap.servers": secured, "security.protocol": "PLAINTEXT"}
    failure = refusal(properties, tmp_path, through_librdkafka=through_librdkafka)
    assert failure.message == f"{secured} requires TLS, but the connection is plaintext"
    assert "`security.protocol=SSL`" in str(failure.hint)


@contextmanager
def listener(stores: Path, certificate: str, *versions: ssl.TLSVersion) -> Iterator[str]:
    """The address of a TLS listener that shows a certificate and then hangs up."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(stores / f"{certificate}.pem", stores / f"{certificate}.key")
    if versions:
        context.minimum_version, context.maximum_version = versions
    with tls_listener(context) as port:
        yield f"127.0.0.1:{port}"


@WAYS
@pytest.mark.parametrize("certificate", SAID)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_every_cause_in_every_version_of_tls(
    stores: Path,
    tmp_path: Path,
    certificate: str,
    version: ssl.TLSVersion,
    through_librdkafka: bool,
) -> None:
    """The same words whatever version the two agree upon."""
    with listener(stores, certificate, version, version) as address:
        properties = {
            "bootstrap.servers": address,
            "security.protocol": "SSL",
            "ssl.ca.location": str(stores / "ca.pem"),
        }
        failure = refusal(properties, tmp_path, through_librdkafka=through_librdkafka)
    assert words(failure) == said_of(certificate, address)


def test_the_telling_failure_of_several_servers(stores: Path, tmp_path: Path) -> None:
    """A dead server beside one whose certificate has expired: the certificate is told."""
    with create_server(("127.0.0.1", 0)) as closed:
        dead = f"127.0.0.1:{closed.getsockname()[1]}"
    with listener(stores, "expired") as address:
        properties = {
            "bootstrap.servers": f"{address},{dead}",
            "security.protocol": "SSL",
            "ssl.ca.location": str(stores / "ca.pem"),
        }
        failure = refusal(properties, tmp_path, through_librdkafka=False)
    assert words(failure) == said_of("expired", address)
