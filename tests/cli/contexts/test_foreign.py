"""`kgroups context import`: other clients' configurations as contexts."""

from pathlib import Path
from typing import Any, Final

import pytest

from kgroups.cli.contexts.context_file import property_text, read_contexts
from tests.support.cli.runner import Outcome, run

JAVA: Final = """\
bootstrap.servers=a:1,b:2
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=o.a.k.ScramLoginModule required username="u" password="p";
ssl.truststore.location=ca.pem
"""
KCL: Final = """\
seed_brokers = ["a:1", "b:2"]
timeout_ms = 7000
[tls]
ca_cert_path = "/ca.pem"
[sasl]
method = "scram_sha_256"
user = "u"
pass = "p"
"""
KAF: Final = """\
current-cluster: one
clusters:
- name: one
  version: ""
  brokers: [a:1]
  SASL: null
  TLS: null
  security-protocol: ""
- name: two (prod)
  brokers: [b:2]
  SASL: {mechanism: PLAIN, username: u, password: p}
  TLS: {cafile: ca.pem, clientfile: c.pem, clientkeyfile: k.pem, insecure: true}
  security-protocol: SASL_SSL
"""
KAFKACTL: Final = """\
contexts:
  default:
    brokers: [a:1]
    tls: {enabled: false, ca: x}
  remote:
    brokers: [b:2, c:3]
    clientID: me
    requestTimeout: 10s
    tls: {enabled: true, ca: /ca, cert: /cert, certKey: /key}
    sasl: {enabled: true, username: u, password: p, mechanism: scram-sha512}
current-context: default
"""
RPK: Final = """\
version: 7
current_profile: local
profiles:
  - name: local
    kafka_api: {brokers: [a:1]}
  - name: cloud
    kafka_api:
      brokers: [b:2]
      tls: {}
      sasl: {user: u, password: p, mechanism: SCRAM-SHA-256}
"""
LOGIN: Final = {"sasl.username": "u", "sasl.password": "p"}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Where the contexts go."""
    return tmp_path / "config" / "config.yaml"


def take(config: Path, name: str, text: str, *more: str) -> Outcome:
    """The end of the import of a file of this name."""
    file = config.parent.parent / name
    file.write_text(text)
    return run("context", "import", str(file), *more, env={"KGROUPS_CONFIG": str(config)})


def seen(config: Path) -> dict[str, tuple[str | None, int | None, dict[str, str]]]:
    """Address, timeout and properties of each context."""
    return {
        name: (
            each.bootstrap_servers,
            each.timeout_ms,
            {key: property_text(at) for key, at in each.properties.items()},
        )
        for name, each in read_contexts(config).contexts.items()
    }


def test_java_properties(config: Path) -> None:
    """Under the name of the file, or another; paths become absolute."""
    assert take(config, "prod.properties", JAVA).exit_code == 0
    assert take(config, "client", JAVA, "--name", "other").exit_code == 0
    found = seen(config)
    assert list(found) == ["prod", "other"]
    address, timeout_ms, properties = found["prod"]
    assert (address, timeout_ms) == ("a:1,b:2", None)
    assert properties["ssl.truststore.location"] == str(config.parent.parent / "ca.pem")
    assert properties["sasl.jaas.config"].endswith('password="p";')
    assert "bootstrap.servers" not in properties


def test_kcl(config: Path) -> None:
    """One file, one context; profiles of a file too."""
    assert take(config, "config_prod.toml", KCL).exit_code == 0
    expected = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-256",
        **LOGIN,
        "ssl.ca.location": "/ca.pem",
    }
    assert seen(config) == {"prod": ("a:1,b:2", 7_000, expected)}
    profiles = '[profiles.x]\nseed_brokers = ["x:1"]\n[profiles.y]\nseed_brokers = ["y:1"]\n'
    assert take(config, "config.toml", profiles).exit_code == 0
    assert list(seen(config)) == ["prod", "x", "y"]


def test_kaf(config: Path) -> None:
    """A file without suffix; a name that a context cannot have is made to fit."""
    assert take(config, "config-of-kaf", KAF).exit_code == 0
    folder = config.parent.parent
    found = seen(config)
    assert found["one"] == ("a:1", None, {})
    assert found["two-prod-"] == (
        "b:2",
        None,
        {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "PLAIN",
            **LOGIN,
            "ssl.ca.location": str(folder / "ca.pem"),
            "ssl.certificate.location": str(folder / "c.pem"),
            "ssl.key.location": str(folder / "k.pem"),
            "enable.ssl.certificate.verification": "false",
        },
    )


def test_tokens(config: Path) -> None:
    """kaf's client of a provider, and Java's properties whatever they say."""
    sasl = "{mechanism: OAUTHBEARER, clientID: me, clientSecret: s, tokenURL: 'https://i/t'"
    one = "clusters:\n- name: one\n  brokers: [a:1]\n  SASL: "
    assert take(config, "config-a", f"{one}{sasl}, scopes: [x, y]}}\n").exit_code == 0
    text = "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
    text += "sasl.oauthbearer.token.endpoint.url=exec:print-token --as me\n"
    assert take(config, "java.properties", text).exit_code == 0
    found = seen(config)
    client = "sasl.oauthbearer.client.credentials.client"
    assert found["one"][2] == {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://i/t",
        f"{client}.id": "me",
        f"{client}.secret": "s",
        "sasl.oauthbearer.scope": "x y",
    }
    endpoint = "sasl.oauthbearer.token.endpoint.url"
    assert found["java"][2][endpoint] == "exec:print-token --as me"
    env = {"KGROUPS_CONFIG": str(config)}
    told = run("context", "show", "java", env=env)
    assert "exec:print-token …" in told.stdout
    assert "--as" not in told.stdout
    assert take(config, "config-c", f"{one}{{mechanism: AWS_MSK_IAM}}\n").exit_code == 2  # taken
    amazon = one.replace("name: one", "name: amazon")
    assert take(config, "config-c", f"{amazon}{{mechanism: AWS_MSK_IAM}}\n").exit_code == 0
    assert seen(config)["amazon"][2]["sasl.mechanism"] == "AWS_MSK_IAM"
    lone = f"{one}{{mechanism: OAUTHBEARER, token: t}}\n"
    assert take(config, "config-b", lone).exit_code == 2


def test_kafkactl(config: Path) -> None:
    """What is not enabled is left out."""
    assert take(config, "config.yml", KAFKACTL).exit_code == 0
    assert seen(config) == {
        "default": ("a:1", None, {}),
        "remote": (
            "b:2,c:3",
            10_000,
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "SCRAM-SHA-512",
                **LOGIN,
                "ssl.ca.location": "/ca",
                "ssl.certificate.location": "/cert",
                "ssl.key.location": "/key",
                "client.id": "me",
            },
        ),
    }


def test_rpk(config: Path) -> None:
    """An empty `tls` turns TLS on."""
    assert take(config, "rpk.yaml", RPK).exit_code == 0
    protocol = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256", **LOGIN}
    assert seen(config) == {"local": ("a:1", None, {}), "cloud": ("b:2", None, protocol)}


@pytest.mark.parametrize(
    ("name", "text", "more", "said"),
    [
        ("rpk.yaml", RPK, ("--name", "x"), "holds 2 contexts"),
        ("rpk.yaml", RPK.replace("SCRAM-SHA-256", "OAUTHBEARER"), (), "`OAUTHBEARER` has no equ"),
        ("k.toml", "seed_brokers = [", (), "not TOML"),
        ("k.toml", "seed_brokers = 7", (), "not a list of addresses"),
        ("config.yml", "contexts: {}\n", (), "holds no cluster"),
        ("config.yml", "contexts: {a: 7}\n", (), "is not a mapping"),
        ("config.yml", "contexts: {a: {brokers: ['x:y']}}\n", (), "`x:y` is not an address"),
        ("x.properties", "what is this\n", ("--format", "rpk"), "is not a mapping"),
        ("x", "[broken", (), "is not a property"),
    ],
)
def test_what_cannot_be_imported(
    config: Path, name: str, text: str, more: tuple[Any, ...], said: str
) -> None:
    """One sentence, exit code 2, and nothing is written."""
    outcome = take(config, name, text, *more)
    assert outcome.exit_code == 2
    assert said in outcome.stderr.splitlines()[0] + outcome.stderr
    assert not config.exists()
