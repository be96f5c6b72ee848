"""Starting is quick because little is imported; what must stay out is named here."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from kgroups.cli.app import nouns_on, program
from kgroups.cli.nouns import NOUNS
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.process import environment, finish
from tests.support.kafka.child import run_program

HEAVY = (
    "confluent_kafka",
    "kio",
    "pyspark",
    "pandas",
    "pyarrow",
    "numpy",
    "rich.table",
    "jmespath",
)
CONDITIONS = ("kgroups.core.conditions.grammar", "kgroups.core.conditions.group_figures")

PROBE = """
import json, sys
from kgroups.cli import app
sys.argv = ["kgroups", *{args!r}]
try:
    app.main()
except SystemExit:
    pass
sys.stdout.flush()
found = [name for name in {modules!r} if name in sys.modules]
print(json.dumps(found), file=sys.stderr)
"""


def imported(*args: str, modules: tuple[str, ...] = HEAVY) -> list[str]:
    """Those of the modules that a command has imported when it ends."""
    probe = PROBE.format(args=args, modules=modules)
    done = run_program([sys.executable, "-c", probe], env=environment(), check=True)
    found: list[str] = json.loads(done.stderr.splitlines()[-1])
    return found


@pytest.fixture
def shop(tmp_path: Path) -> str:
    """A snapshot file."""
    write_snapshot(clusters.shop(), tmp_path / "shop.json")
    return str(tmp_path / "shop.json")


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("--version",),
        ("list", "--help"),
        ("lag", "report", "--help"),
        ("plan", "--help"),
        ("completion", "zsh"),
        ("coordinator", "g", "--partitions", "50"),
    ],
    ids=" ".join,
)
def test_help_and_completion_import_nothing_heavy(args: tuple[str, ...]) -> None:
    """Help pages and completion need none of the libraries that talk or compute."""
    assert imported(*args) == []


@pytest.mark.parametrize("command", ["list", "describe --all-groups"])
def test_list_and_describe_import_nothing_heavy(command: str, shop: str) -> None:
    """In a pipe not even Rich's tables are imported."""
    assert imported(*command.split(), "--from", shop) == []


@pytest.mark.parametrize("command", ["list", "describe --all-groups"])
def test_conditions_are_imported_with_a_condition(command: str, shop: str) -> None:
    """Who gives none does not wait for their parser."""
    line = (*command.split(), "--from", shop)
    assert imported(*line, modules=CONDITIONS) == []
    assert imported(*line, "--where", "lag > 1", modules=CONDITIONS) == list(CONDITIONS)


def test_each_noun_registers_the_command_of_its_name() -> None:
    """The table that says which module to import for a command is true of every command."""
    for noun in NOUNS:
        tree: Any = get_command(program((noun,)))
        names = list(getattr(tree, "commands", {tree.name: tree}))
        assert names == [noun]


@pytest.mark.parametrize(
    ("line", "imported"),
    [
        ("describe g", 1),
        ("completion bash", 1),
        ("--output json list", 1),
        ("-b host:1 --timeout=5s --verbose list", 1),
        ("--help list", len(NOUNS)),
        ("-ojson list", len(NOUNS)),
        ("--output --verbose list", len(NOUNS)),
        ("--verbose=list", len(NOUNS)),
        ("--output json", len(NOUNS)),
        ("--output=json completion bash", 1),
    ],
)
def test_only_the_command_on_the_line_is_read(line: str, imported: int) -> None:
    """A line with a command needs no other."""
    assert len(tuple(nouns_on(line.split()))) == imported


def test_an_unreachable_cluster_is_told_without_confluent_kafka() -> None:
    """The wire client finds out that nobody listens; librdkafka is not even loaded."""
    assert "confluent_kafka" not in imported("list", "-b", "127.0.0.1:1")


def test_python_m() -> None:
    """`python -m kgroups.cli` is `kgroups`, and calls itself so."""
    done = run_program([sys.executable, "-m", "kgroups.cli", "--help"], env=environment())
    assert done.returncode == 0
    assert done.stdout == finish("--help")[1]
