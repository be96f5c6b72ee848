"""Properties of Java's clients: what can be read is, the rest comes with the way to convert it."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import STORE_PASSWORD
from tests.support.kafka.child import run_program
from tests.support.kafka.guarded import OPEN
from tests.support.kafka.workload import commit_offsets, fetch_offsets
from tests.support.official.running import run_ours

pytestmark = pytest.mark.kafka

# What the tools would ask for at a terminal.
PASSWORDS = {
    "keytool": ("-srcstorepass", STORE_PASSWORD, "-deststorepass", STORE_PASSWORD),
    "openssl": ("-passin", f"pass:{STORE_PASSWORD}"),
}


def call(*words: str) -> None:
    """Run a tool that must succeed."""
    done = run_program(words)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def stores(guarded_kafka: KafkaCluster, tmp_path: Path) -> dict[str, str]:
    """Java properties with a trust store and a key store of Java's own kind."""
    tls = guarded_kafka.tls
    trust, own = tmp_path / "trust.jks", tmp_path / "me.jks"
    kind = ("-storetype", "JKS", "-storepass", STORE_PASSWORD, "-noprompt")
    call("keytool", "-importcert", "-file", str(tls / "ca.pem"), "-keystore", str(trust), *kind)
    start = ("keytool", "-importkeystore", "-srckeystore", str(tls / "client.p12"))
    call(*start, "-destkeystore", str(own), "-deststoretype", "JKS", *PASSWORDS["keytool"])
    return {
        "bootstrap.servers": guarded_kafka.addresses("SSL"),
        "security.protocol": "SSL",
        "ssl.truststore.location": str(trust),
        "ssl.truststore.password": STORE_PASSWORD,
        "ssl.keystore.location": str(own),
        "ssl.keystore.password": STORE_PASSWORD,
    }


def test_the_hint_leads_in(
    guarded_kafka: KafkaCluster, tmp_path: Path, stores: dict[str, str]
) -> None:
    """Both grammars refuse the stores; who does as they are told gets in, and may write."""
    file = tmp_path / "client.properties"
    way = ("--command-config", str(file))
    address = ("--bootstrap-server", stores["bootstrap.servers"])
    for refused in ("ssl.truststore.location", "ssl.keystore.location"):
        file.write_text("".join(f"{name}={value}\n" for name, value in stores.items()))
        told = run(*way, "list")
        assert told.exit_code == 2
        assert f"`{refused}` is a JKS store, which only Java can read" in told.stderr
        theirs = run_ours([*address, *way, "--list"])
        assert (theirs.status, theirs.stdout) == (1, "")
        assert "Failed to create new KafkaAdminClient" in theirs.stderr
        hint = told.stderr.partition("hint: ")[2].strip()
        assert hint in theirs.stderr
        for quoted in re.findall(r"`([^`]*)`", hint):
            words = shlex.split(quoted)
            if words[0] in PASSWORDS:
                call(*words, *PASSWORDS[words[0]])
            else:
                name, _, value = quoted.partition("=")
                stores[name] = value
    file.write_text("".join(f"{name}={value}\n" for name, value in stores.items()))
    group = "mine-converted"
    commit_offsets(guarded_kafka.bootstrap, {group: {(OPEN, 0): 3}})
    line = ("reset-offsets", group, "--topic", f"{OPEN}:0", "--to", "4", "--yes", "--no-undo")
    assert run(*way, *line).exit_code == 0
    assert fetch_offsets(guarded_kafka.bootstrap, group) == {(OPEN, 0): 4}
    done = run_ours([*address, *way, "--delete", "--group", group])
    assert (done.status, done.stderr) == (0, "")


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_jaas_strings_are_translated(
    guarded_kafka: KafkaCluster, tmp_path: Path, mechanism: str
) -> None:
    """A login module over several lines, its options in any order, opens a write."""
    settings = guarded_kafka.java_settings("SASL_SSL", mechanism=mechanism, user="bob")
    module, _, rest = settings["sasl.jaas.config"].partition(" required ")
    user, password = (option.strip(" ;") for option in rest.split('" '))
    settings["sasl.jaas.config"] = f'{module} \\\n  required \\\n  {password} \\\n  {user}";'
    text = (f"{name}={value}\n" for name, value in settings.items() if "keystore" not in name)
    file = tmp_path / "client.properties"
    file.write_text("".join(text))
    group = f"mine-jaas-{mechanism}"
    commit_offsets(guarded_kafka.bootstrap, {group: {(OPEN, 0): 3}})
    way = ("--command-config", str(file), "-b", guarded_kafka.addresses("SASL_SSL"))
    line = ("reset-offsets", group, "--topic", f"{OPEN}:0", "--to", "5", "--yes", "--no-undo")
    told = run(*way, *line)
    assert told.exit_code == 0, told
    assert fetch_offsets(guarded_kafka.bootstrap, group) == {(OPEN, 0): 5}
