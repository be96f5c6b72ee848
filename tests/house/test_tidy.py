"""House rules that a linter does not know: sizes of files and functions, import contracts."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[2]
PRODUCT = ("assignors", "core", "cli")
MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 75


def product_files() -> Iterator[Path]:
    """Every module of the product."""
    for top in PRODUCT:
        yield from sorted((ROOT / top).rglob("*.py"))


def test_files_stay_small() -> None:
    """A file that outgrows its room is divided."""
    long = {
        str(path.relative_to(ROOT)): lines
        for path in product_files()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert long == {}


def test_functions_stay_small() -> None:
    """A function that does two things is two functions."""
    long = {
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}": length
        for path in product_files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        # A command's options are its signature, however many: the body counts.
        if (length := (node.end_lineno or 0) - node.body[0].lineno + 1) > MAX_FUNCTION_LINES
    }
    assert long == {}


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


def test_the_coordinator_needs_nothing_but_pure_python() -> None:
    """It imports itself and the standard library, without clocks, chance, files and threads."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "core" / "coordinator").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                top = name.split(".")[0]
                own = name.startswith("kgroups.core.coordinator")
                if not own and (top not in sys.stdlib_module_names or top in IMPURE):
                    found.setdefault(path.name, set()).add(name)
    assert found == {}


def test_imports_point_one_way() -> None:
    """assignors <- core <- cli, and the walls between the rooms of core."""
    program = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = run_program([sys.executable, "-c", program], cwd=ROOT)
    assert done.returncode == 0, done.stdout
