"""`kgroups context`: the configuration file, what it refuses, and what changing it leaves alone."""

from pathlib import Path

import pytest

from kgroups.cli.contexts.context_file import read_contexts
from tests.support.cli.runner import Outcome, run

FILE = """\
# Clusters of the shop.
current: eu

contexts:
  eu:  # Frankfurt
    bootstrap_servers: kafka-eu:9093
    cluster_id: id-of-eu
    timeout: 3s
    properties:
      security.protocol: SASL_SSL
      sasl.mechanism: PLAIN
      sasl.username: ops
      sasl.password: hunter2
      enable.ssl.certificate.verification: false

  # For tests.
  local:
    bootstrap_servers: localhost:9092
    output: json

# Nothing below.
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration file with two contexts."""
    path = tmp_path / "config.yaml"
    path.write_text(FILE)
    return path


def context(config: Path, *args: str, **env: str) -> Outcome:
    """The end of `kgroups context ARGS…` with this file."""
    return run("context", *args, env={"KGROUPS_CONFIG": str(config), **env})


def names(config: Path) -> list[str]:
    """The contexts that the file has."""
    return list(read_contexts(config).contexts)


def test_list(config: Path) -> None:
    """Each context is a row; the current one is marked, and secrets are not in it."""
    outcome = context(config, "list", "-o", "json")
    assert [item["context"] for item in outcome.document["items"]] == ["eu", "local"]
    eu = outcome.document["items"][0]
    assert (eu["current"], eu["cluster_id"], eu["timeout_seconds"]) == (True, "id-of-eu", 3)
    assert eu["properties"]["sasl.password"] == "(hidden)"
    assert eu["properties"]["enable.ssl.certificate.verification"] == "false"
    assert "hunter2" not in outcome.stdout


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "yaml"])
def test_no_form_shows_a_secret(config: Path, form: str) -> None:
    """Neither `show` nor `list`."""
    for command in ("show", "list"):
        outcome = context(config, command, "-o", form, "--verbose")
        assert outcome.exit_code == 0
        assert "hunter2" not in outcome.stdout + outcome.stderr


def test_no_file_is_no_context(tmp_path: Path) -> None:
    """A list of none, and a hint."""
    outcome = context(tmp_path / "none.yaml", "list", "-o", "json")
    assert (outcome.exit_code, outcome.document["items"]) == (0, [])
    assert "kgroups context add" in outcome.stderr


def test_the_file_lies_where_xdg_says(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its folder of `XDG_CONFIG_HOME`, else in that of the home folder."""
    for variable, folder in (("XDG_CONFIG_HOME", "kgroups"), ("HOME", ".config/kgroups")):
        home = config.parent / variable
        (home / folder).mkdir(parents=True)
        (home / folder / "config.yaml").write_text(FILE)
        monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
        monkeypatch.setenv(variable, str(home))
        assert run("context", "current", "--short").stdout == "eu\n"


def test_use(config: Path) -> None:
    """Another one becomes the current one, and nothing else changes."""
    assert context(config, "use", "local").exit_code == 0
    assert config.read_text() == FILE.replace("current: eu", "current: local")
    assert context(config, "use", "--none").exit_code == 0
    assert config.read_text() == FILE.replace("current: eu\n", "")
    assert context(config, "use", "eu").exit_code == 0
    assert context(config, "current", "--short").stdout == "eu\n"


def test_remove(config: Path) -> None:
    """The context goes, comments about others stay, and it is not the current one any more."""
    assert context(config, "remove", "eu").exit_code == 0
    assert names(config) == ["local"]
    assert "# For tests." in config.read_text()
    assert read_contexts(config).current is None
    assert context(config, "remove", "local").exit_code == 0
    assert names(config) == []
    assert config.read_text().endswith("# Nothing below.\n")
    assert context(config, "add", "again", "-b", "here:1").exit_code == 0
    assert names(config) == ["again"]


def test_add(config: Path) -> None:
    """At the end, with everything that was said; what was there stays."""
    args = ("--property", "sasl.password=env:PW", "--property", "client.id=a:b #c", "--protected")
    more = ("--cluster-id", "ü", "--default-output", "jsonl", "--default-timeout", "1m", "--use")
    assert context(config, "add", "on", "-b", "a:1,b:2", *args, *more).exit_code == 0
    file = read_contexts(config)
    assert file.current == "on"
    added = file.contexts["on"]
    assert (added.bootstrap_servers, added.cluster_id, added.protected) == ("a:1,b:2", "ü", True)
    assert (added.output, added.timeout_ms) == ("jsonl", 60_000)
    assert {name: at.value for name, at in added.properties.items()} == {
        "sasl.password": "env:PW",
        "client.id": "a:b #c",
    }
    assert config.read_text().startswith(FILE.partition("  eu:")[0].replace("eu", "'on'"))
    assert context(config, "add", "on", "-b", "a:1").exit_code == 2


def test_add_makes_a_file_of_ones_own(tmp_path: Path) -> None:
    """With its folder; only its owner may read it, and a file is kept by its absolute path."""
    path = tmp_path / "new" / "config.yaml"
    assert context(path, "add", "one", "--command-config", "c.properties").exit_code == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert read_contexts(path).contexts["one"].command_config == Path.cwd() / "c.properties"


def test_a_link_stays_one(config: Path) -> None:
    """The file that it leads to is replaced, and keeps its mode."""
    config.chmod(0o640)
    link = config.with_name("link.yaml")
    link.symlink_to(config)
    assert context(link, "add", "three", "-b", "c:3").exit_code == 0
    assert link.is_symlink()
    assert names(config) == ["eu", "local", "three"]
    assert config.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("contexts:\n  a:\n    bootstrap_server: b:1\n", "line 3", "did you mean `bootstrap_serv"),
        ("contexts:\n  a:\n    colour: red\n", "unknown key `colour`", "accepted keys: `bootstr"),
        ("context: {}\n", "line 1, `context`: unknown key", "accepted keys: `current`, `contexts`"),
        ("contexts:\n  a:\n    timeout: soon\n", "line 3, `contexts.a.timeout`", "500ms"),
        ("contexts:\n  a:\n    timeout: 5\n", "line 3", "quotes"),
        ("contexts:\n  a:\n    output: xml\n", "line 3", None),
        ("contexts:\n  a:\n    output: nagios\n", "line 3", None),
        ("contexts:\n  a:\n    protected: 1\n", "expected true or false", None),
        ("contexts:\n  a:\n    bootstrap_servers: 'b:x'\n", "`b:x` is not an address", "host:port"),
        ("contexts:\n  'a b':\n    protected: true\n", "line 2", "a name has letters"),
        ("contexts:\n  a:\n    properties: {x: [1]}\n", "`contexts.a.properties.x`", None),
        (
            "contexts:\n  a:\n    command_config: f\n    properties: {x: y}\n",
            "line 4, `contexts.a.properties`: `command_config` and `properties` cannot",
            None,
        ),
        ("current: b\ncontexts:\n  a: {}\n", "line 1, `current`: no context `b`", "it has `a`"),
        ("contexts: [\n", "not YAML", None),
        ("contexts:\n  a: {}\n  a: {}\n", "appears twice", None),
    ],
)
@pytest.mark.parametrize("command", ["context list", "context use a", "list"])
def test_what_cannot_be_understood(
    tmp_path: Path, command: str, text: str, said: str, hint: str | None
) -> None:
    """One sentence with file and line, what is accepted, exit code 2, and nothing is written."""
    path = tmp_path / "config.yaml"
    path.write_text(text)
    outcome = run(*command.split(), env={"KGROUPS_CONFIG": str(path)})
    assert outcome.exit_code == 2
    first, *_ = outcome.stderr.splitlines()
    assert first.startswith(f"error: `{path}`")
    assert said in first
    assert hint is None or hint in outcome.stderr
    assert path.read_text() == text


@pytest.mark.parametrize(
    "text",
    ["contexts: {a: {bootstrap_servers: 'a:1'}}\n", "x: &x a\n", "{current: a, contexts: {a: }}\n"],
)
def test_what_cannot_be_changed(tmp_path: Path, text: str) -> None:
    """A file in flow style is left alone, and said to be."""
    path = tmp_path / "config.yaml"
    path.write_text(text)
    outcome = context(path, "add", "b", "-b", "b:1")
    assert outcome.exit_code == 2
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("use nobody", "no context `nobody`"),
        ("use", "give either a context or --none"),
        ("use eu --none", "give either a context or --none"),
        ("remove eu nobody", "no context `nobody`"),
        ("show nobody", "no context `nobody`"),
        ("add new", "no address given"),
        ("add -- -x -b a:1", "Got unexpected"),
        ("add a/b -b a:1", "cannot be the name of a context"),
        ("add new -b a:x", "`a:x` is not an address"),
        ("add new -b a:1 --cluster-id x --pin", "cannot be used together"),
        ("add new -b a:1 --property nothing", "`nothing` is not a property"),
        ("add new -b a:1 --default-output nagios", "cannot be a default"),
        ("add new -b a:1 --default-timeout soon", "is not a duration"),
        ("add new --command-config f --property a=b", "cannot be used together"),
        ("add new -b 127.0.0.1:1 --pin", "cannot be reached"),
    ],
)
def test_what_is_refused(config: Path, words: str, said: str) -> None:
    """Nothing is written."""
    outcome = context(config, *words.split())
    assert outcome.exit_code == (3 if "reached" in said else 2)
    assert said.lower() in outcome.stderr.lower()
    assert config.read_text() == FILE


def test_current(config: Path) -> None:
    """The one in force: of the flag, else of the environment, else of the file, else none."""
    assert context(config, "current", "--short").stdout == "eu\n"
    assert context(config, "current", "--short", KGROUPS_CONTEXT="local").stdout == "local\n"
    both = context(config, "current", "--short", "-c", "eu", KGROUPS_CONTEXT="local")
    assert both.stdout == "eu\n"
    assert context(config, "current").stdout.startswith("CURRENT")
    context(config, "use", "--none")
    none = context(config, "current", "--short")
    assert (none.exit_code, none.stdout, none.stderr) == (0, "", "")
    assert context(config, "current").exit_code == 5
