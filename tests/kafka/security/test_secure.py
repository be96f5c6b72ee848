"""The secure listeners let in whoever may come in, and nobody else."""

from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import SASL_MECHANISMS, SecurityProtocol
from tests.support.kafka.official_tools import WarmTools

pytestmark = pytest.mark.kafka

# (listener, mechanism): every way in that the brokers of the tests offer
WAYS_IN: tuple[tuple[SecurityProtocol, str], ...] = (
    ("SSL", "PLAIN"),
    *(("SASL_PLAINTEXT", mechanism) for mechanism in SASL_MECHANISMS),
    *(("SASL_SSL", mechanism) for mechanism in SASL_MECHANISMS),
)


def brokers_seen(settings: dict[str, str], timeout_s: float = 10) -> int:
    """How many brokers a client with these properties sees.

    Raises:
        KafkaException: it was not let in within the time.
    """
    quiet: dict[str, str | int | float] = {**settings, "log_level": 0}
    return len(AdminClient(quiet).list_topics(timeout=timeout_s).brokers)


@pytest.mark.slow("a second broker with logins")
@pytest.mark.parametrize(("listener", "mechanism"), WAYS_IN)
def test_the_right_credentials_get_in(
    secure_kafka: KafkaCluster, listener: SecurityProtocol, mechanism: str
) -> None:
    """librdkafka gets in with each mechanism over each listener."""
    assert brokers_seen(secure_kafka.librdkafka_settings(listener, mechanism=mechanism)) == 1


@pytest.mark.slow("a second broker with logins")
@pytest.mark.parametrize(("listener", "mechanism"), WAYS_IN)
def test_the_official_tool_gets_in_with_the_java_spelling(
    secure_kafka: KafkaCluster,
    official: WarmTools,
    tmp_path: Path,
    listener: SecurityProtocol,
    mechanism: str,
) -> None:
    """The Java properties that the cluster hands out work too."""
    settings = secure_kafka.java_settings(listener, mechanism=mechanism)
    path = tmp_path / "client.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    answer = official.groups_tool(
        secure_kafka.addresses(listener), "--command-config", str(path), "--list"
    )
    # Other tests of these brokers leave groups there.
    unguarded = official.groups_tool(secure_kafka.bootstrap, "--list")
    assert answer.status == 0
    assert set(answer.stdout.splitlines()) == set(unguarded.stdout.splitlines())


@pytest.mark.slow("a second broker with logins")
@pytest.mark.parametrize(("listener", "mechanism"), WAYS_IN[1:])
def test_a_wrong_password_is_refused(
    secure_kafka: KafkaCluster, listener: SecurityProtocol, mechanism: str
) -> None:
    """SASL with another password does not get in."""
    settings = secure_kafka.librdkafka_settings(listener, mechanism=mechanism, password="guess")
    with pytest.raises(KafkaException):
        brokers_seen(settings, timeout_s=2)


@pytest.mark.slow("a second broker with logins")
def test_a_stranger_authority_is_refused(secure_kafka: KafkaCluster) -> None:
    """A client that trusts another authority does not talk to the broker."""
    settings = secure_kafka.librdkafka_settings("SSL")
    settings["ssl.ca.location"] = str(secure_kafka.tls / "stranger.pem")
    with pytest.raises(KafkaException):
        brokers_seen(settings, timeout_s=2)


def test_a_client_certificate_is_demanded(guarded_kafka: KafkaCluster) -> None:
    """With the certificate a client gets in, without it none does."""
    settings = guarded_kafka.librdkafka_settings("SSL")
    assert brokers_seen(settings) == 1
    del settings["ssl.certificate.location"], settings["ssl.key.location"]
    with pytest.raises(KafkaException):
        brokers_seen(settings, timeout_s=2)


@pytest.mark.slow("a second broker with logins")
def test_acls_stop_whoever_they_do_not_name(
    guarded_kafka: KafkaCluster, official: WarmTools, tmp_path: Path
) -> None:
    """`admin` may describe a group, `alice` is told that she may not."""
    said = {}
    for user in ("admin", "alice"):
        settings = guarded_kafka.java_settings("SASL_PLAINTEXT", user=user)
        path = tmp_path / f"{user}.properties"
        path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        said[user] = official.groups_tool(
            guarded_kafka.addresses("SASL_PLAINTEXT"),
            *("--command-config", str(path), "--describe", "--group", "anybodys"),
        ).stdout
    assert "Group anybodys not found" in said["admin"]
    assert "GroupAuthorizationException" in said["alice"]


@pytest.mark.slow("a second broker with logins")
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
@pytest.mark.parametrize("password", [None, "Mistaken-7c2f"])
def test_debug_tells_no_secret(
    secure_kafka: KafkaCluster, tmp_path: Path, mechanism: str, password: str | None
) -> None:
    """Of a login, good or bad, that there is one, and how long its messages are."""
    settings = secure_kafka.librdkafka_settings("SASL_SSL", mechanism=mechanism, password=password)
    path = tmp_path / "client.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    path.chmod(0o600)
    outcome = run("list", "--command-config", str(path), "--debug")
    assert outcome.exit_code == (0 if password is None else 3)
    assert "SaslAuthenticate v" in outcome.stderr
    assert settings["sasl.password"] not in outcome.stderr
