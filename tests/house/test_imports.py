"""No module needs itself by way of others, not even for a type."""

import json
import sys
from collections.abc import Mapping, Set
from graphlib import TopologicalSorter
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


def test_no_module_needs_itself(imports: Mapping[str, Set[str]]) -> None:
    """Neither at run time nor for a type alone; a cycle is told in the error."""
    assert len(imports) > 300
    TopologicalSorter(imports).prepare()
