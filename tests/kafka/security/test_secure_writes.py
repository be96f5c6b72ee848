"""Writes through TLS, logins and client certificates; and secrets, which are written nowhere."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.cli.process import PROGRAM, environment
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import STORE_PASSWORD
from tests.support.kafka.child import run_program
from tests.support.kafka.guarded import OPEN, SPEC, WAYS, write_properties
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.workload import commit_offsets, fetch_offsets
from tests.support.official.running import run_ours, without_undo

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("every way in for writes; for reads: tests/kafka/security/test_ping.py"),
]

START = {(OPEN, 0): 3, (OPEN, 1): 4}
WRONG = "wr0ng-passw0rd"
KEY_PASSWORD = "key-hush-hush"


@pytest.fixture(params=WAYS, ids=[" ".join(way).strip() for way in WAYS])
def way(
    guarded_kafka: KafkaCluster, tmp_path: Path, request: pytest.FixtureRequest
) -> tuple[str, ...]:
    """`--command-config FILE` for one way in."""
    return write_properties(guarded_kafka, tmp_path / "client.properties", request.param)


@pytest.fixture
def own(guarded_kafka: KafkaCluster, request: pytest.FixtureRequest) -> str:
    """A group that the test may change."""
    name = f"mine-{request.node.name}"
    commit_offsets(guarded_kafka.bootstrap, {name: START})
    return name


def test_own_grammar(
    guarded_kafka: KafkaCluster, tmp_path: Path, way: tuple[str, ...], own: str
) -> None:
    """Reset and back, deletion of offsets, deletion of the group."""
    plain = guarded_kafka.bootstrap
    undo = ("--undo-dir", str(tmp_path))
    reset = ("reset-offsets", own, "--topic", OPEN, "--to", "latest", "--yes", "-o", "json")
    done = run(*way, *reset, *undo)
    assert done.exit_code == 0, done
    assert fetch_offsets(plain, own) == {(OPEN, 0): 10, (OPEN, 1): 10}
    file = done.document["summary"]["undo_file"]
    assert run(*way, "reset-offsets", "--undo", file, "--yes", *undo).exit_code == 0
    assert fetch_offsets(plain, own) == START
    assert run(*way, "delete-offsets", own, "--topic", f"{OPEN}:0", "--yes", *undo).exit_code == 0
    assert fetch_offsets(plain, own) == {(OPEN, 1): 4}
    assert run(*way, "delete", own, "--yes").exit_code == 0
    listed = run("-b", plain, "list", "-o", "json").document["items"]
    assert own not in {item["group"] for item in listed}


def test_official_grammar(
    guarded_kafka: KafkaCluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: tuple[str, ...],
    own: str,
) -> None:
    """The same, and deletion of records."""
    monkeypatch.setenv("KGROUPS_UNDO_DIR", str(tmp_path))
    plain = guarded_kafka.bootstrap
    # the addresses are those of the properties file, as the official tool would be given them
    file = Path(way[1]).read_text()
    address = next(line for line in file.splitlines() if line.startswith("bootstrap"))
    at = ("--bootstrap-server", address.partition("=")[2], *way)
    done = run_ours(
        [*at, "--reset-offsets", "--group", own, "--topic", OPEN, "--shift-by", "2", "--execute"]
    )
    assert (done.status, without_undo(done.stderr)) == (0, "")
    assert fetch_offsets(plain, own) == {(OPEN, 0): 5, (OPEN, 1): 6}
    done = run_ours([*at, "--delete-offsets", "--group", own, "--topic", f"{OPEN}:0"])
    assert done.stdout.startswith(f"Request succeeded for deleting offsets from group {own}.")
    assert fetch_offsets(plain, own) == {(OPEN, 1): 6}
    done = run_ours([*at, "--delete", "--group", own])
    assert done.stdout == f"Deletion of requested consumer groups ('{own}') was successful.\n"
    rows = [{"topic": OPEN, "partition": 1, "offset": 0}]
    (tmp_path / "records.json").write_text(json.dumps({"partitions": rows}))
    done = run_ours(["delete-records", *at, "--offset-json-file", str(tmp_path / "records.json")])
    assert done.stdout.endswith(f"partition: {OPEN}-1\tlow_watermark: 0\n")


SECRETS = (*SPEC.users.values(), STORE_PASSWORD, WRONG, KEY_PASSWORD)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home of the program's own; nothing in it may hold a secret afterwards."""
    folder = tmp_path / "home"
    folder.mkdir()
    yield folder
    written = [file for file in folder.rglob("*") if file.is_file()]
    for file in written:
        text = file.read_bytes().decode(errors="replace")
        assert not [secret for secret in SECRETS if secret in text], file


def program(home: Path, *args: str) -> tuple[int, str]:
    """Exit code of the program, and all that it wrote, which holds no secret."""
    own = {"HOME": str(home), "TMPDIR": str(home), "XDG_STATE_HOME": str(home / "state")}
    done = run_program([PROGRAM, *args], env={**environment(), **own}, cwd=home)
    told = done.stdout + done.stderr
    assert not [secret for secret in SECRETS if secret in told], told
    return done.returncode, told


def test_no_secret_where_they_are_right(
    guarded_kafka: KafkaCluster, tmp_path: Path, home: Path, own: str
) -> None:
    """Tables, documents, snapshots, undo files of both grammars; PLAIN's login is in clear."""
    way = write_properties(guarded_kafka, tmp_path / "alice", ("SASL_SSL", "PLAIN", "alice"))
    assert program(home, *way, "--verbose", "describe", own, "-o", "json")[0] == 0
    assert program(home, *way, "snapshot", "save", "all.json")[0] == 3
    line = ("reset-offsets", own, "--topic", OPEN, "--to", "+1", "--yes")
    assert program(home, *way, *line)[0] == 0
    at = ("--bootstrap-server", guarded_kafka.addresses("SASL_SSL"), *way)
    official = ("--reset-offsets", "--group", own, "--topic", OPEN, "--to-latest", "--execute")
    assert program(home, *at, *official)[0] == 0
    undo = list((home / "state").rglob("undo-*.json"))
    assert len(undo) == 2
    assert (home / "all.json").stat().st_size > 100


def test_no_secret_where_they_are_wrong(
    guarded_kafka: KafkaCluster, tmp_path: Path, home: Path
) -> None:
    """Refused logins, in both grammars and loudly: the user is named, the password is not."""
    for user, mechanism in (("alice", "PLAIN"), ("bob", "SCRAM-SHA-512")):
        way = write_properties(
            guarded_kafka, tmp_path / user, ("SASL_SSL", mechanism, user), password=WRONG
        )
        code, told = program(home, *way, "--verbose", "describe", "--all-groups")
        assert code == 3
        assert f"`{user}`" in told
        at = ("--bootstrap-server", guarded_kafka.addresses("SASL_SSL"), *way)
        code, told = program(home, *at, "--list")
        assert code == 1
        assert "SaslAuthenticationException" in told


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
@pytest.mark.parametrize("password", [None, "Mistaken-7c2f"])
def test_debug_tells_no_secret(
    secure_kafka: KafkaCluster, tmp_path: Path, mechanism: str, password: str | None
) -> None:
    """Of a login, good or bad, that there is one, and how long its messages are."""
    settings = secure_kafka.librdkafka_settings("SASL_SSL", mechanism=mechanism, password=password)
    file = write_properties_file(tmp_path / "client.properties", settings)
    outcome = run("list", "--command-config", str(file), "--debug")
    assert outcome.exit_code == (0 if password is None else 3)
    assert "SaslAuthenticate v" in outcome.stderr
    assert settings["sasl.password"] not in outcome.stderr


def broken(cluster: KafkaCluster) -> Mapping[str, dict[str, str]]:
    """Properties that cannot be used, with secrets in them."""
    java = cluster.java_settings("SASL_SSL", user="alice")
    java["bootstrap.servers"] = cluster.addresses("SASL_SSL")
    stores = {"ssl.keystore.location", "ssl.keystore.type"}
    java = {name: value for name, value in java.items() if name not in stores}
    jaas = java["sasl.jaas.config"]
    mutual = cluster.librdkafka_settings("SSL")
    return {
        "JAAS without its end": {**java, "sasl.jaas.config": jaas.rstrip(";")},
        "JAAS with a broken option": {**java, "sasl.jaas.config": jaas.replace('";', "'';")},
        "JAAS without a module": {**java, "sasl.jaas.config": jaas.partition(" ")[2]},
        "JAAS without a user": {**java, "sasl.jaas.config": jaas.replace("username", "name")},
        "no such mechanism": {**java, "sasl.mechanism": "PLAINER"},
        "no such protocol": {**java, "security.protocol": "SASL_TLS"},
        "JKS store": {
            **java,
            "ssl.truststore.type": "JKS",
            "ssl.truststore.location": "trust.jks",
            "ssl.truststore.password": STORE_PASSWORD,
        },
        "locked key": {
            **mutual,
            "ssl.key.location": str(cluster.tls / "locked.key"),
            "ssl.key.password": WRONG,
        },
        "locked store": {
            "bootstrap.servers": mutual["bootstrap.servers"],
            "security.protocol": "SSL",
            "ssl.ca.location": mutual["ssl.ca.location"],
            "ssl.keystore.location": str(cluster.tls / "client.p12"),
            "ssl.keystore.password": WRONG,
        },
    }


OFFICIAL_TOO = ("JAAS with a broken option", "locked key", "locked store")


def test_no_secret_where_the_file_is_wrong(
    guarded_kafka: KafkaCluster, tmp_path: Path, home: Path
) -> None:
    """A file that cannot be understood, or a key that does not open, is named without its words."""
    lock_key(guarded_kafka.tls)
    for what, properties in broken(guarded_kafka).items():
        name = f"{what.replace(' ', '-')}.properties"
        file = write_properties_file(tmp_path / name, properties)
        way = ("--command-config", str(file))
        code, told = program(home, *way, "--verbose", "--timeout", "3s", "list")
        assert code in (2, 3), told
        if what in OFFICIAL_TOO:
            at = ("--bootstrap-server", properties["bootstrap.servers"])
            code, told = program(home, *at, *way, "--list")
            assert (code, "Error: " in told) == (1, True), told


def test_locked_key_opens(guarded_kafka: KafkaCluster, tmp_path: Path, home: Path) -> None:
    """A client key under a password lets a write in."""
    lock_key(guarded_kafka.tls)
    settings = guarded_kafka.librdkafka_settings("SSL") | {
        "ssl.key.location": str(guarded_kafka.tls / "locked.key"),
        "ssl.key.password": KEY_PASSWORD,
    }
    file = write_properties_file(tmp_path / "client.properties", settings)
    way = ("--command-config", str(file))
    reset = ("reset-offsets", "mine-b", "--topic", f"{OPEN}:0", "--to", "current", "--yes")
    code, told = program(home, *way, *reset)
    assert code == 0, told


def lock_key(tls: Path) -> None:
    """Makes `locked.key`: the client's key under a password."""
    locked = tls / "locked.key"
    if not locked.exists():
        run_program(
            [
                *("openssl", "pkcs8", "-topk8", "-in", str(tls / "client.key")),
                *("-out", str(locked), "-passout", f"pass:{KEY_PASSWORD}"),
            ],
            check=True,
            env={"PATH": os.environ["PATH"]},
        )
