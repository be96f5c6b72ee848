"""No module needs itself by way of others, not even for a type."""

import json
import sys
from collections.abc import Mapping, Set
from pathlib import Path

import pytest

from tests.support.kafka.child import run_program

# The one tree that `kgroups` is once it is installed.
TREE = Path(__file__).parents[2] / "typings"
PROGRAM = """
import grimp, json
graph = grimp.build_graph("kgroups", cache_dir=None)
print(json.dumps({one: [*graph.find_modules_directly_imported_by(one)] for one in graph.modules}))
"""


@pytest.fixture(scope="module")
def imports() -> Mapping[str, Set[str]]:
    """The modules that each module imports, `TYPE_CHECKING` and lazy imports included."""
    done = run_program([sys.executable, "-c", PROGRAM], cwd=TREE, check=True)
    return {module: {*imported} for module, imported in json.loads(done.stdout).items()}


def cycles(imports: Mapping[str, Set[str]]) -> list[list[str]]:
    """Sets of modules that need one another, each sorted; Tarjan's algorithm."""
    found: list[list[str]] = []
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        path.append(module)
        for other in sorted(imports[module]):
            if other not in number:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in path:
                lowest[module] = min(lowest[module], number[other])
        if lowest[module] == number[module]:
            start = path.index(module)
            together = path[start:]
            del path[start:]
            if len(together) > 1:
                found.append(sorted(together))

    for module in sorted(imports):
        if module not in number:
            visit(module)
    return found


def test_a_cycle_is_found() -> None:
    """A ring of three, and what hangs on it without being of it."""
    ring = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set[str](), "e": {"a"}}
    assert cycles(ring) == [["a", "b", "c"]]


def test_no_module_needs_itself(imports: Mapping[str, Set[str]]) -> None:
    """Neither at run time nor for a type alone."""
    assert cycles(imports) == []
    assert len(imports) > 300
