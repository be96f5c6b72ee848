"""Secrets of a context: where they may come from, what goes wrong there, and who may read them."""

import os
import stat
from pathlib import Path

import pytest

from kgroups.cli.contexts.context_file import parse_contexts
from kgroups.cli.contexts.secrets import properties_of, shown
from kgroups.core.errors import UsageError
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run
from tests.support.kafka.settings import write_properties_file
from tests.support.kafka.waiting import wait_until
from tests.support.processes import is_running

LINE = 6


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Where the configuration file goes."""
    return tmp_path / "config.yaml"


def write(config: Path, secret: str) -> None:
    """A configuration file whose password is to be had there."""
    config.write_text(
        "current: a\ncontexts:\n  a:\n    bootstrap_servers: 127.0.0.1:1\n    properties:\n"
        f"      sasl.password: {secret}\n"
        "      security.protocol: SASL_PLAINTEXT\n      sasl.mechanism: PLAIN\n"
        "      sasl.username: ops\n"
    )


def password(config: Path, secret: str, timeout_ms: int = 60_000) -> str:
    """What the password of such a context comes to."""
    write(config, secret)
    context = parse_contexts(config.read_text(), config).contexts["a"]
    return properties_of(context, timeout_ms)["sasl.password"].value


def test_where_it_may_come_from(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file itself, the environment, a file beside it, and a command, run without a shell."""
    monkeypatch.setenv("SHOP_PW", "from env")
    (config.parent / "pw").write_text("from file\n")
    assert password(config, "plain") == "plain"
    assert password(config, "env:SHOP_PW") == "from env"
    assert password(config, "file:pw") == "from file"
    assert password(config, f"file:{config.parent}/pw") == "from file"
    assert password(config, "exec:echo 'from $HOME' command") == "from $HOME command"
    assert password(config, "'exec:printf \"a\\nb\\n\"'") == "a\nb"


def test_a_command_runs_once(config: Path) -> None:
    """Though the cluster is opened several times."""
    log = config.parent / "log"
    secret = f"""exec:sh -c 'echo run >> "{log}"; echo secret'"""
    assert [password(config, secret) for _ in range(3)] == ["secret"] * 3
    assert log.read_text() == "run\n"


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ("env:SHOP_NOT_SET", "the environment variable `SHOP_NOT_SET` is not set"),
        ("file:missing", "cannot be read: no such file or directory"),
        ("file:.", "is a directory"),
        ("'env:'", "`env:` has nothing after it"),
        ("'exec: '", "`exec:` has nothing after it"),
        ("exec:no-such-program-here x", "`no-such-program-here` cannot be run"),
        ("exec:sh -c 'echo no key >&2; exit 3'", "`sh` failed with exit code 3: no key"),
        ("exec:true", "`true` printed nothing"),
        ("exec:sh 'x", "`exec:` cannot be read: no closing quotation"),
        ("exec:sleep 600", "`sleep` did not end within 0.5 s"),
    ],
)
def test_what_cannot_be_had(config: Path, secret: str, said: str) -> None:
    """One sentence with file, line and property, exit code 2; no cluster is asked."""
    write(config, secret)
    outcome = run("list", "--timeout", "500ms", env={"KGROUPS_CONFIG": str(config)})
    first, *_ = outcome.stderr.splitlines()
    assert outcome.exit_code == 2
    place = f"error: `{config}`, line {LINE}, `contexts.a.properties.sasl.password`: "
    assert first.startswith(place)
    assert said in first


def test_a_command_that_hangs_ends_with_what_it_started(config: Path) -> None:
    """The whole of its process group."""
    pid_file = config.parent / "pid"
    with pytest.raises(UsageError, match="did not end"):
        password(config, f"exec:sh -c 'sleep 600 & echo $! > {pid_file}; wait'", 1_000)
    pid = int(pid_file.read_text())
    wait_until(lambda: not is_running(pid), "the command's child to end")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o622])
def test_no_command_from_a_file_that_others_write(config: Path, mode: int) -> None:
    """Nobody else decides what runs."""
    write(config, "exec:echo secret")
    config.chmod(mode)
    outcome = run("list", env={"KGROUPS_CONFIG": str(config)})
    assert outcome.exit_code == 2
    assert "`exec:` is not run from a file that other users can change" in outcome.stderr


def test_others_read_the_file(config: Path) -> None:
    """A warning, once, if a literal secret is in it; references may be read by all."""
    env = {"KGROUPS_CONFIG": str(config), "SHOP_PW": "x"}
    write(config, "env:SHOP_PW")
    config.chmod(0o644)
    assert "warning" not in run("list", env=env).stderr
    write(config, "literal")
    assert stat.S_IMODE(config.stat().st_mode) == 0o644
    warning = f"warning: `{config}` contains a password and is readable by every user"
    assert run("list", env=env).stderr.count(warning) == 1
    loose = config.parent / "loose"
    loose.write_text("x")
    loose.chmod(0o644)
    write(config, "file:loose")
    assert f"warning: `{loose}`" in run("list", env=env).stderr


def test_completion_runs_no_command_and_says_nothing(config: Path) -> None:
    """A key press in a shell asks for no password."""
    mark = config.parent / "mark"
    write(config, f"exec:touch {mark}")
    env = {"KGROUPS_CONFIG": str(config)}
    outcome = run("complete-names", "groups", "kgroups describe ", env=env)
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, "", "")
    assert not mark.exists()
    assert run("complete-names", "contexts", "kgroups -c ", env=env).stdout == "a\n"
    config.write_text("contexts: [\n")
    broken = run("complete-names", "contexts", "kgroups -c ", env=env)
    assert (broken.exit_code, broken.stdout, broken.stderr) == (0, "", "")


def test_completion_gets_no_token_by_a_command(config: Path) -> None:
    """Neither from a context nor from a properties file."""
    mark = config.parent / "mark"
    login = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": f"exec:touch {mark}",
    }
    with Sandbox(brokers=1) as cluster:
        lines = [f"      {name}: {value}\n" for name, value in login.items()]
        head = f"contexts:\n  a:\n    bootstrap_servers: {cluster.bootstrap_servers}\n"
        config.write_text(f"current: a\n{head}    properties:\n{''.join(lines)}")
        file = write_properties_file(config.parent / "c.properties", login)
        way = f"kgroups -b {cluster.bootstrap_servers} --command-config {file} describe "
        for line in ("kgroups describe ", way):
            env = {"KGROUPS_CONFIG": str(config)}
            outcome = run("complete-names", "groups", line, env=env)
            assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, "", "")
            assert not mark.exists()
        # Only because it is completion: a command does run it.
        assert run("list", env={"KGROUPS_CONFIG": str(config)}).exit_code == 3
        assert mark.exists()


@pytest.mark.parametrize(
    ("name", "text", "seen"),
    [
        ("sasl.password", "literal", "(hidden)"),
        ("sasl.jaas.config", 'x required password="p";', "(hidden)"),
        ("ssl.key.password", "file:/k", "file:/k"),
        ("sasl.password", "exec:pass show kafka", "exec:pass …"),
        ("sasl.password", "exec:ask", "exec:ask"),
        ("sasl.username", "ops", "ops"),
        ("sasl.oauthbearer.token.endpoint.url", "https://x", "https://x"),
    ],
)
def test_what_is_shown(name: str, text: str, seen: str) -> None:
    """References, but neither secrets nor the arguments of commands."""
    assert shown(name, text) == seen


def test_paths_are_beside_the_file(config: Path) -> None:
    """A store named without a folder lies where the configuration file lies."""
    config.write_text(
        "contexts:\n  a:\n    properties:\n      ssl.ca.location: ca.pem\n"
        "      ssl.key.location: /k.pem\n      ssl.truststore.location: ~/t.pem\n"
    )
    found = properties_of(parse_contexts(config.read_text(), config).contexts["a"], 1)
    assert {name: each.value for name, each in found.items()} == {
        "ssl.ca.location": str(config.parent / "ca.pem"),
        "ssl.key.location": "/k.pem",
        "ssl.truststore.location": os.path.expanduser("~/t.pem"),  # noqa: PTH111
    }
