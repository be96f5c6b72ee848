"""What each command may import, by name: a start is as quick as its imports are few."""

import json
import sys
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from kgroups.cli.nouns import NOUNS
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.process import environment
from tests.support.kafka.child import run_program

PROBE = """
import json, sys
before = set(sys.modules)
from kgroups.cli import app
sys.argv = ["kgroups", *{args!r}]
try:
    app.main()
except SystemExit as end:
    code = end.code
sys.stdout.flush()
is_file = lambda module: getattr(module, "__spec__", None) is not None
new = [name for name, module in sys.modules.items() if name not in before and is_file(module)]
print(json.dumps([code, new]), file=sys.stderr)
"""
EACH_NOUN = """
import json, os, sys
from importlib import import_module
from kgroups.cli import app, tree
from kgroups.cli.nouns import NOUNS
for noun, module in NOUNS.items():
    sys.stdout.flush()
    if os.fork() == 0:
        import_module(f"kgroups.cli.{module}")
        print(json.dumps([noun, [name for name in sys.modules if "kgroups.cli.commands" in name]]))
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


class Allowed(NamedTuple):
    """What a line may import.

    Args:
        libraries: other people's packages, with what these import.
        messages: Kafka's APIs whose messages are loaded, with the versions a new broker speaks.
        own: our packages in `core` and `assignors` (single modules are small), and commands.
    """

    libraries: frozenset[str]
    messages: frozenset[str]
    own: frozenset[str]


def allowed(libraries: str = "", messages: str = "", own: str = "") -> Allowed:
    """The names in these texts."""
    return Allowed(*(frozenset(text.split()) for text in (libraries, messages, own)))


PARSER = "typer annotated_doc shellingham"
FILE = "orjson yaml"
FACTS = "assignors lag"
CLUSTER = "assignors coordinator input_files kafka"
FROM_FILE = f"{FACTS} input_files"

LINES = {
    "--version": allowed(),
    "--help": allowed(),
    "completion zsh": allowed(),
    "completion --help": allowed(PARSER, own="commands.completion"),
    "list -b CLUSTER": allowed(own=f"{CLUSTER} commands.list commands.describe"),
    "describe g -b CLUSTER": allowed(own=f"{CLUSTER} lag commands.describe"),
    "list --from FILE": allowed(FILE, own=f"{FROM_FILE} commands.list commands.describe"),
    "describe billing --from FILE": allowed(FILE, own=f"{FROM_FILE} commands.describe"),
    "plan g -b CLUSTER": allowed(own=f"{CLUSTER} planning commands.plan"),
    "plan billing --from FILE": allowed(
        FILE, own=f"{FROM_FILE} conditions coordinator planning commands.plan"
    ),
}
SPARED = frozenset(
    {
        "asyncio",
        "concurrent.futures",
        "csv",
        "dataclasses",
        "difflib",
        "inspect",
        "json",
        "logging",
        "ssl",
        "subprocess",
        "unicodedata",
        "uuid",
    }
)
"""Of the standard library: what the tables of `list` and `describe` on a cluster do without."""
PLANNING = frozenset({"dataclasses", "inspect", "uuid"})
"""What those of `plan` need of it."""

SHARED = {
    "list": {"describe"},
    "plan": {"lag"},
    "simulate": {"lag"},
    "writes": {"gates"},
}
"""Modules or folders of commands that use those of another."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A cluster and a snapshot file, by their words in the lines above."""
    file = tmp_path_factory.mktemp("shop") / "shop.json"
    write_snapshot(clusters.shop(), file)
    with Sandbox(brokers=1) as cluster:
        yield {"CLUSTER": cluster.bootstrap_servers, "FILE": str(file)}


@pytest.mark.parametrize("line", LINES)
def test_a_command_imports_what_its_list_names(line: str, places: dict[str, str]) -> None:
    """Libraries, messages and packages are those of the list: none more, and none that is gone."""
    args = [places.get(word, word) for word in line.split()]
    probe = PROBE.format(args=args)
    done = run_program([sys.executable, "-c", probe], env=environment(), check=True)
    code, names = json.loads(done.stderr.splitlines()[-1])
    assert code == (5 if " g " in line else 0)
    if line.endswith("-b CLUSTER"):
        spared = SPARED - PLANNING if line.startswith("plan") else SPARED
        assert spared.isdisjoint(names)
    found = Allowed(
        frozenset(
            top
            for top in (name.partition(".")[0] for name in names)
            if top not in sys.stdlib_module_names and top != "kgroups"
        ),
        frozenset(
            words[2]
            for words in (name.split(".") for name in names)
            if words[:2] == ["kio", "schema"] and words[-1] in ("request", "response", "header")
        ),
        frozenset(filter(None, map(own_package, names))),
    )
    for kind, names, listed in zip(Allowed._fields, found, LINES[line], strict=True):
        assert sorted(names - listed) == [], f"`{line}` imports {kind} that its list does not have"
        assert sorted(listed - names) == [], f"`{line}` no longer imports {kind} of its list"


def own_package(name: str) -> str:
    """The package in `core`, `assignors` or the command that a module of ours belongs to."""
    match name.split("."):
        case ["kgroups", "cli", "commands", noun, *_]:
            return f"commands.{noun}"
        case ["kgroups", "core", package, _, *_] if package != "imports":
            return package
        case ["kgroups", "assignors", *_]:
            return "assignors"
    return ""


def test_no_command_imports_another() -> None:
    """The module of a command is loaded with its own line only, and with no other's."""
    done = run_program([sys.executable, "-c", EACH_NOUN], env=environment(), check=True)
    loaded = dict(json.loads(line) for line in done.stdout.splitlines())
    assert loaded.keys() == NOUNS.keys()
    for noun, modules in loaded.items():
        own = NOUNS[noun].removeprefix("commands.").partition(".")[0]
        strangers = {name.split(".")[3] for name in modules if name.count(".") > 2}
        strangers -= {own, *SHARED.get(own, ())}
        assert not strangers, f"`{noun}` imports the commands {sorted(strangers)}"
