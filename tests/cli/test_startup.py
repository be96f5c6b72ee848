"""Starting is quick because little is imported; what must stay out is named here."""

import json
import sys
from pathlib import Path

import pytest

from kgroups.cli.nouns import NOUNS
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.process import environment, finish
from tests.support.kafka.child import run_program

HEAVY = (
    "confluent_kafka",
    "crc32c",
    "pyspark",
    "pandas",
    "pyarrow",
    "numpy",
    "rich.table",
)

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


@pytest.mark.share(3)
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
    """In a pipe not even Rich's tables are imported, nor what reads records."""
    modules = (*HEAVY, "kgroups.core.protocol.batches")
    assert imported(*command.split(), "--from", shop, modules=modules) == []


@pytest.mark.parametrize(
    "line",
    ["list --help", "-b host:1 --timeout=5s --verbose list --help", "-ojson list --help"],
)
def test_only_the_command_on_the_line_is_imported(line: str) -> None:
    """However its global options are written."""
    modules = tuple(f"kgroups.cli.{module}" for module in NOUNS.values())
    assert imported(*line.split(), modules=modules) == [f"kgroups.cli.{NOUNS['list']}"]


def test_an_unreachable_cluster_is_told_without_confluent_kafka() -> None:
    """The wire client finds out that nobody listens; librdkafka is not even loaded."""
    assert "confluent_kafka" not in imported("list", "-b", "127.0.0.1:1")


def test_python_m() -> None:
    """`python -m kgroups.cli` is `kgroups`, and calls itself so."""
    done = run_program([sys.executable, "-m", "kgroups.cli", "--help"], env=environment())
    assert done.returncode == 0
    assert done.stdout == finish("--help")[1]
