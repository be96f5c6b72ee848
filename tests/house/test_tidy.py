"""House rules that a linter does not know: what is pure, and which way imports point."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[2]
# The one tree that `kgroups` is once it is installed.
TREE = ROOT / "typings"

IMPURE = {"time", "datetime", "random", "secrets", "logging", "threading", "asyncio", "socket"}
IMPURE |= {
    "os",
    "io",
    "pathlib",
    "subprocess",
    "multiprocessing",
    "concurrent",
    "queue",
    "tempfile",
}

OWN = (
    "kgroups.core.coordinator",
    "kgroups.core.errors",
    "kgroups.core.protocol",
    "kgroups.core.uuids",
    "kgroups.assignors.wire",
    "kgroups.assignors.order",
)
DEFAULTS = {"default_ports.py", "default_assignors.py"}
"""What a coordinator and a member use where they are given nothing else."""
OF_PROTOCOL = ("kgroups.core.protocol", "kgroups.core.errors", "kgroups.core.snapshot")
CODECS = ("cramjam", "crc32c")


def test_the_coordinator_needs_nothing_but_pure_python() -> None:
    """Itself, errors, codecs and hash tables; no clocks, chance, files or threads.

    Its defaults need assignors, XXH3 and RE2, which are as pure.
    """
    impure = impure_imports(ROOT / "core" / "coordinator", OWN)
    assert impure.keys() <= DEFAULTS
    others = {name.split(".")[0] for names in impure.values() for name in names}
    assert others == {"kgroups", "xxhash"}


def test_the_protocol_needs_nothing_but_pure_python() -> None:
    """Itself, errors and committed offsets; of others the codecs of record batches."""
    assert impure_imports(ROOT / "core" / "protocol", (*OF_PROTOCOL, *CODECS)) == {}


def impure_imports(folder: Path, allowed: tuple[str, ...]) -> dict[str, set[str]]:
    """What the modules of a folder import that is neither allowed nor pure."""
    found: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        for name in imported_modules(path):
            top = name.split(".")[0]
            own = name.startswith(allowed)
            if not own and (top not in sys.stdlib_module_names or top in IMPURE):
                found.setdefault(path.name, set()).add(name)
    return found


def test_imports_point_one_way() -> None:
    """assignors <- core <- cli, and the walls between the rooms of core."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", program, "--config", "../pyproject.toml", "--no-cache"]
    done = run_program(command, cwd=TREE)
    assert done.returncode == 0, done.stdout


def imported_modules(path: Path) -> Iterator[str]:
    """The modules that a file names in its imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
