"""Settings: both spellings of properties, addresses, JAAS, stores; secrets kept out of sight."""

from pathlib import Path

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.kafka.config.settings import ClientSettings, parse_addresses, read_settings
from kgroups.core.kafka.config.tls import TlsSettings
from tests.support.kafka.settings import settings_from_text

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"

JAVA = f"""
bootstrap.servers=a:1,b:2
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config={SCRAM} required username="alice" \\
    password="top, \\\\"secret\\\\"; =";
ssl.truststore.type=PEM
ssl.truststore.location=/ca.pem
ssl.keystore.type=PEM
ssl.keystore.location=/me.pem
ssl.key.password=key-secret
ssl.endpoint.identification.algorithm=
client.id=me
key.deserializer=x
"""
LIBRDKAFKA = """
metadata.broker.list=a:1,b:2
security.protocol=sasl_ssl
sasl.mechanisms=SCRAM-SHA-512
sasl.username=alice
sasl.password=top, "secret"; =
ssl.ca.location=/ca.pem
ssl.certificate.location=/me.pem
ssl.key.location=/me.pem
ssl.key.password=key-secret
ssl.endpoint.identification.algorithm=none
client.id=me
"""


def test_both_spellings_give_the_same_settings() -> None:
    """Java's and librdkafka's files for one cluster are understood alike."""
    java, librdkafka = settings_from_text(JAVA), settings_from_text(LIBRDKAFKA)
    for name in (
        "bootstrap_servers",
        "security_protocol",
        "sasl_mechanism",
        "username",
        "password",
        "client_id",
    ):
        assert getattr(java, name) == getattr(librdkafka, name), name
    assert java.password == 'top, "secret"; ='
    assert java.addresses == (("a", 1), ("b", 2))
    for tls in (java.tls, librdkafka.tls):
        assert (tls.ca_file, tls.key_password, tls.verify_host) == ("/ca.pem", "key-secret", False)
    assert java.tls.keystore_file == librdkafka.tls.certificate_file == "/me.pem"
    assert librdkafka.tls.key_file == "/me.pem"
    assert java.wire_obstacle() is None


def test_librdkafka_gets_every_property_in_its_own_spelling() -> None:
    """What only Java has is left out, the login is taken out of the JAAS string."""
    properties = settings_from_text(JAVA).properties
    assert properties["sasl.username"] == "alice"
    assert properties["ssl.endpoint.identification.algorithm"] == "none"
    assert not any(name.startswith("sasl.jaas") for name in properties)


def test_secrets_are_not_shown() -> None:
    """Neither the repr nor the str of settings holds a password or a key."""
    settings = settings_from_text(JAVA + "ssl.keystore.key=PRIVATE-KEY\n")
    assert "secret" not in repr(settings) + str(settings) + repr(settings.tls)
    assert "PRIVATE-KEY" not in repr(settings)


def test_flag_wins_over_file_and_override_over_both(tmp_path: Path) -> None:
    """The address given on the command line is used; the rest comes from the file."""
    path = tmp_path / "c.properties"
    path.write_text("bootstrap.servers=a:1\nclient.id=me\n")
    assert read_settings(None, path).bootstrap_servers == "a:1"
    settings = read_settings("b:2", path, {"client.id": "you"})
    assert (settings.bootstrap_servers, settings.client_id) == ("b:2", "you")


ADDRESSES = [
    ("a:1", (("a", 1),)),
    ("a", (("a", 9092),)),
    (" a:1 , b:2 ,", (("a", 1), ("b", 2))),
    ("[::1]:9093", (("::1", 9093),)),
    ("[::1]", (("::1", 9092),)),
    ("SASL_SSL://a:1", (("a", 1),)),
]


@pytest.mark.parametrize(("text", "expected"), ADDRESSES, ids=[a[0] for a in ADDRESSES])
def test_addresses_are_read(text: str, expected: tuple[tuple[str, int], ...]) -> None:
    """Host and port, IPv6 in brackets, a listener's name in front."""
    assert parse_addresses(text) == expected


@pytest.mark.parametrize(
    "text", ["", " , ", "a:", "a:x", "a:0", "a:70000", ":1", "::1", "[::1]x:2", "a:-1", "a:٣"]
)
def test_broken_address_is_a_usage_error(text: str) -> None:
    """Whatever is no `host:port` is refused before anything is connected."""
    with pytest.raises(UsageError):
        ClientSettings(text)


OAUTH = "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
BROKEN = [
    ("protocol", "security.protocol=TLS", "f:1: `TLS` is not a security protocol"),
    (
        "no login",
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN",
        "SASL `PLAIN` needs a user name and a password",
    ),
    ("no module", "sasl.jaas.config=hunter2", "f:1: `sasl.jaas.config` has no login module"),
    (
        "no semicolon",
        f'sasl.jaas.config={SCRAM} required username="a" password="hunter2"',
        "f:1: `sasl.jaas.config` does not end with `;`",
    ),
    (
        "broken option",
        f'sasl.jaas.config={SCRAM} required username="a" password="hunter2;',
        "f:1: `sasl.jaas.config` has a malformed option",
    ),
    (
        "no source of tokens",
        f"{OAUTH}sasl.login.class=x",
        "SASL `OAUTHBEARER` needs to know where to get a token",
    ),
    (
        "token endpoint that is no URL",
        f"{OAUTH}sasl.oauthbearer.token.endpoint.url=issuer/token",
        "f:3: `sasl.oauthbearer.token.endpoint.url` is not a URL",
    ),
    (
        "token endpoint without a secret",
        f"{OAUTH}sasl.oauthbearer.token.endpoint.url=https://i/t\nsasl.oauthbearer.client.id=hunter2",
        "f:3: the token endpoint needs a client id and a client secret",
    ),
    (
        "no token command",
        f"{OAUTH}sasl.oauthbearer.token.endpoint.url=exec:",
        "f:3: `exec:` has nothing after it",
    ),
    (
        "extension that is reserved",
        f"{OAUTH}sasl.oauthbearer.extensions=auth=hunter2",
        "SASL extension `auth` is not one that RFC 7628 allows",
    ),
    (
        "extension with a separator",
        f"{OAUTH}sasl.oauthbearer.extensions=a=hunter2\\u0001",
        "SASL extension `a` is not one that RFC 7628 allows",
    ),
    (
        "unsecured token of no time",
        f"{OAUTH}sasl.jaas.config=x.OAuthBearerLoginModule required "
        'unsecuredLoginLifetimeSeconds="hunter2";',
        "`unsecuredLoginLifetimeSeconds` is not a number of seconds",
    ),
    (
        "timeout in seconds",
        "default.api.timeout.ms=30s",
        "f:1: `default.api.timeout.ms` is not a number of milliseconds",
    ),
    (
        "endless timeout",
        "default.api.timeout.ms=2147483648",
        "f:1: `default.api.timeout.ms` is not a number of milliseconds",
    ),
]


@pytest.mark.parametrize(("text", "message"), [c[1:] for c in BROKEN], ids=[c[0] for c in BROKEN])
def test_unusable_value_is_named_without_its_secret(
    tmp_path: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """File, line, what is wrong and what was expected; passwords are not repeated."""
    monkeypatch.chdir(tmp_path)
    Path("f").write_text(text)
    with pytest.raises(UsageError) as caught:
        read_settings("a:1", Path("f"))
    assert caught.value.message == message
    assert "hunter2" not in caught.value.message + str(caught.value.hint)


def test_trust_store_of_a_token_endpoint() -> None:
    """The login module names it with its password, as Java's clients before 4.1 do."""
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
    settings = settings_from_text(
        f"{OAUTH}sasl.oauthbearer.token.endpoint.url=https://idp/token\n"
        f'sasl.jaas.config={module} clientId="me" clientSecret="hunter2" '
        'ssl.truststore.location="/trust.jks" ssl.truststore.password="hunter3";',
        "a:1",
    )
    assert settings.oauth is not None
    assert settings.oauth.tls == TlsSettings(ca_file="/trust.jks", ca_password="hunter3")
    assert "hunter" not in repr(settings.oauth)


OBSTACLES = [
    ("security.protocol=SASL_SSL", None),  # GSSAPI
    ("security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-1", "SASL mechanism `SCRAM-SHA-1`"),
    (
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        "sasl.oauthbearer.method=oidc\nsasl.oauthbearer.grant.type=jwt-bearer",
        "SASL mechanism `OAUTHBEARER` with a grant of librdkafka's",
    ),
    (
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n"
        "sasl.oauthbearer.token.endpoint.url=file:/token",
        None,
    ),
    ("security.protocol=SSL\nssl.keystore.location=/x/me.p12", None),
    ("sasl.mechanism=OAUTHBEARER", None),
]


@pytest.mark.parametrize(("text", "expected"), OBSTACLES, ids=[o[0] for o in OBSTACLES])
def test_obstacle_of_the_wire_client_is_named(text: str, expected: str | None) -> None:
    """What only librdkafka can do is known from the settings, and only when it is used."""
    assert settings_from_text(text, "a:1").wire_obstacle() == expected
