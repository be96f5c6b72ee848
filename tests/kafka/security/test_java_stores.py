"""A file of Java's client works as it is: ours beside the official tool with the same one."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import read_settings
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import STORE_PASSWORD, SecurityProtocol
from tests.support.kafka.certificates import ODD, make_certificates
from tests.support.kafka.guarded import OPEN
from tests.support.kafka.java_stores import KINDS, make_key_store, make_trust_store
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.workload import commit_offsets, fetch_offsets
from tests.support.official.running import run_ours

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "stores of Java before a broker; as files: tests/core/kafka/config/test_stores.py"
    ),
]

KEY_PASSWORD = "another-one"
PAIRS = ("JKS", "PKCS12", "PKCS12 with RC2 and 3DES")

Write = Callable[..., tuple[str, str, str, str]]
"""Kind of the stores, listener and changes -> the arguments that name broker and file."""


@pytest.fixture(scope="module")
def stores(guarded_kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`KIND.trust` and `KIND.own`; the keys of JKS have another password than their store."""
    folder, tls = tmp_path_factory.mktemp("stores"), guarded_kafka.tls
    for kind in KINDS:
        make_trust_store(folder / f"{kind}.trust", kind, tls / "stranger.pem", tls / "ca.pem")
    for kind in PAIRS:
        word = KEY_PASSWORD if kind == "JKS" else None
        make_key_store(folder / f"{kind}.own", kind, tls / "client.p12", key_password=word)
    return folder


@pytest.fixture
def write(guarded_kafka: KafkaCluster, stores: Path, tmp_path: Path) -> Write:
    """Writes Java properties with stores of a kind; a change to None leaves a property out."""

    def properties(
        kind: str, listener: SecurityProtocol, changes: Mapping[str, str | None] | None = None
    ) -> tuple[str, str, str, str]:
        found: dict[str, str | None] = {
            **guarded_kafka.java_settings(listener, user="alice"),
            "ssl.truststore.location": str(stores / f"{kind}.trust"),
            "ssl.truststore.password": None if "without" in kind else STORE_PASSWORD,
            "ssl.truststore.type": kind.partition(" ")[0],
            "ssl.keystore.location": str(stores / f"{kind}.own"),
            "ssl.keystore.type": kind.partition(" ")[0],
            "ssl.key.password": KEY_PASSWORD if kind == "JKS" else None,
        }
        if listener != "SSL":
            found = {name: text for name, text in found.items() if "ssl.key" not in name}
        file = write_properties_file(tmp_path / "client.properties", {**found, **(changes or {})})
        return (
            "--bootstrap-server",
            guarded_kafka.addresses(listener),
            "--command-config",
            str(file),
        )

    return properties


CASES: tuple[tuple[str, SecurityProtocol], ...] = (
    *((kind, "SASL_SSL") for kind in KINDS),
    *((kind, "SSL") for kind in PAIRS),
)


@pytest.mark.parametrize(("kind", "listener"), CASES, ids=[" over ".join(case) for case in CASES])
def test_beside_the_official_tool(
    official: WarmTools, write: Write, kind: str, listener: SecurityProtocol
) -> None:
    """One-sided and mutual TLS: both list the same groups, in both grammars."""
    way = write(kind, listener)
    theirs = official.run("consumer-groups", *way, "--list")
    assert theirs.status == 0, theirs
    ours = run(*way, "list", "-o", "json")
    assert ours.exit_code == 0, ours
    assert sorted(item["group"] for item in ours.document["items"]) == sorted(theirs.stdout.split())
    assert ours.stderr == ""  # not through librdkafka
    same = run_ours([*way, "--list"])
    assert (same.status, sorted(same.stdout.split())) == (0, sorted(theirs.stdout.split()))


@pytest.mark.parametrize("declared", ["JKS", "PKCS12", None])
def test_the_content_decides(official: WarmTools, write: Write, declared: str | None) -> None:
    """Java reads either kind under either type, and without one."""
    for kind in ("JKS", "PKCS12"):
        types = {"ssl.truststore.type": declared, "ssl.keystore.type": declared}
        way = write(kind, "SSL", types)
        assert official.run("consumer-groups", *way, "--list").status == 0
        assert run(*way, "list").exit_code == 0


@pytest.mark.parametrize("kind", PAIRS)
def test_through_librdkafka(guarded_kafka: KafkaCluster, write: Write, kind: str) -> None:
    """Which is given the certificates and the key as PEM."""
    _, address, _, file = write(kind, "SSL")
    settings = read_settings(address, Path(file))
    with ClusterAdmin(replace(settings, through_librdkafka=True)) as admin:
        assert admin.list_groups().cluster_id == guarded_kafka.cluster_id


def test_a_write(guarded_kafka: KafkaCluster, write: Write) -> None:
    """Who is in by a key store may change what the owner of the certificate may."""
    group = "mine-by-store"
    commit_offsets(guarded_kafka.bootstrap, {group: {(OPEN, 0): 3}})
    line = ("reset-offsets", group, "--topic", f"{OPEN}:0", "--to", "4", "--yes", "--no-undo")
    assert run(*write("PKCS12", "SSL"), *line).exit_code == 0
    assert fetch_offsets(guarded_kafka.bootstrap, group) == {(OPEN, 0): 4}


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of another authority, some odd; `trust.jks` trusts a third one."""
    folder = tmp_path_factory.mktemp("strangers")
    make_certificates(folder, ODD)
    make_trust_store(folder / "trust.jks", "JKS", folder / "stranger.pem")
    return folder


@pytest.mark.parametrize(
    "through",
    ["", pytest.param("librdkafka", marks=pytest.mark.slow("it waits long before it fails"))],
)
def test_what_is_wrong_is_one_sentence(
    official: WarmTools, write: Write, stores: Path, strangers: Path, through: str
) -> None:
    """Passwords, stores and certificates that do not do: Java's tool fails, ours says why."""
    own, trust = stores / "PKCS12.own", stores / "PKCS12.trust"
    cases: list[tuple[dict[str, str | None], int, str]] = [
        (
            {"ssl.truststore.password": "hunter2"},
            2,
            f"the password of trust store `{trust}` is wrong, or the file is damaged",
        ),
        (
            {"ssl.keystore.password": "hunter2"},
            2,
            f"the password of key store `{own}` is wrong, or the file is damaged",
        ),
        ({"ssl.truststore.location": f"{trust}x"}, 2, f"trust store `{trust}x` does not exist"),
        ({"ssl.keystore.location": str(trust)}, 2, f"key store `{trust}` holds no private key"),
        (
            {"ssl.truststore.location": str(strangers / "trust.jks")},
            3,
            "is not trusted: it was issued by `kgroups ca`",
        ),
        (
            {"ssl.keystore.location": None, "ssl.keystore.password": None},
            3,
            "requires a client certificate",
        ),
        (
            {"ssl.keystore.location": str(strangers / "client.p12")},
            3,
            "rejected the client certificate: ",
        ),
        (
            {"ssl.keystore.location": str(strangers / "expired.p12")},
            3,
            "rejected the client certificate: it expired on 2024-03-01 12:34 UTC",
        ),
    ]
    for changes, code, said in cases:
        way = write("PKCS12", "SSL", changes)
        if not through:
            theirs = official.run("consumer-groups", *way, "--list", "--timeout", "3000")
            assert "Error: " in theirs.stdout, said
        ours = run(*way, "list", "--quiet", *(["--client", through] if through else []))
        assert (ours.exit_code, ours.stdout) == (code, ""), ours
        message = ours.stderr.rstrip("\n").partition("\n\n")[0]
        assert message.startswith("error: ")
        assert said in message
        assert "\n" not in message
        assert "hunter2" not in ours.stderr


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_jaas_strings_are_translated(
    guarded_kafka: KafkaCluster, tmp_path: Path, mechanism: str
) -> None:
    """A login module over several lines, its options in any order, opens a write."""
    settings = guarded_kafka.java_settings("SASL_SSL", mechanism=mechanism, user="bob")
    module, _, rest = settings["sasl.jaas.config"].partition(" required ")
    user, password = (option.strip(" ;") for option in rest.split('" '))
    settings["sasl.jaas.config"] = f'{module} \\\n  required \\\n  {password} \\\n  {user}";'
    login = {name: value for name, value in settings.items() if "keystore" not in name}
    file = write_properties_file(tmp_path / "client.properties", login)
    group = f"mine-jaas-{mechanism}"
    commit_offsets(guarded_kafka.bootstrap, {group: {(OPEN, 0): 3}})
    way = ("--command-config", str(file), "-b", guarded_kafka.addresses("SASL_SSL"))
    line = ("reset-offsets", group, "--topic", f"{OPEN}:0", "--to", "5", "--yes", "--no-undo")
    told = run(*way, *line)
    assert told.exit_code == 0, told
    assert fetch_offsets(guarded_kafka.bootstrap, group) == {(OPEN, 0): 5}
