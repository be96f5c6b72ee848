"""A client configuration that holds a password and that others can read: one warning, on stderr."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run

PLAIN = "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n"
PLAIN += '  username="u" password="s3cret";\n'
SECRETS = [
    ("a login of Java's", PLAIN),
    ("a login of librdkafka's", "sasl.username=u\nsasl.password=s3cret\n"),
    ("a key's password", "ssl.key.password=s3cret\n"),
    ("an OAuth client", "sasl.oauthbearer.client.secret=s3cret\n"),
]
HARMLESS = [
    ("no secret", "client.id=x\n"),
    ("where a token is to be had", "sasl.oauthbearer.token.endpoint.url=https://localhost/token\n"),
]

NO_GROUPS = "note: there are no groups\n"


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """A cluster that wants no password."""
    with Sandbox(brokers=1) as cluster:
        yield cluster.bootstrap_servers


def listed(bootstrap: str, folder: Path, text: str, mode: int) -> tuple[str, str]:
    """stdout and stderr of a listing with this configuration, in a file for each mode."""
    path = folder / f"{mode:o}.properties"
    path.write_text(text)
    path.chmod(mode)
    line = ("list", "-b", bootstrap, "--command-config", str(path), "-o", "json")
    outcome = run(*line)
    assert outcome.exit_code == 0, outcome.stderr
    return outcome.stdout, outcome.stderr


@pytest.mark.parametrize("text", [case[1] for case in SECRETS], ids=[case[0] for case in SECRETS])
def test_a_password_that_all_can_read(text: str, bootstrap: str, tmp_path: Path) -> None:
    """Said once, without the password, and not in the document; a private file is fine."""
    stdout, stderr = listed(bootstrap, tmp_path, text, 0o644)
    assert stderr.count("warning: ") == 1
    assert f"`{tmp_path / '644.properties'}` contains a password" in stderr
    assert "s3cret" not in stdout + stderr
    assert json.loads(stdout)["errors"] == []
    assert "contains a password" not in stdout
    for mode in (0o600, 0o640):
        assert listed(bootstrap, tmp_path, text, mode)[1] == NO_GROUPS


@pytest.mark.parametrize("text", [case[1] for case in HARMLESS], ids=[case[0] for case in HARMLESS])
def test_a_configuration_without_secrets(text: str, bootstrap: str, tmp_path: Path) -> None:
    """Anybody may read it."""
    assert listed(bootstrap, tmp_path, text, 0o644)[1] == NO_GROUPS
