"""What a broker's error means stands in one table, and nothing gives it another exit code."""

import ast
from collections.abc import Iterator
from pathlib import Path

from kgroups.core import errors
from kgroups.core.protocol.errors import MEANINGS

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "core" / "protocol" / "errors.py"
CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.KgroupsError)
}


def calls() -> Iterator[tuple[str, str, str]]:
    """Place, name and error name of every call that is given one of Kafka's errors as a literal."""
    for folder in ("core", "cli"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                    given = (*node.args, *(keyword.value for keyword in node.keywords))
                    codes = (each.value for each in given if isinstance(each, ast.Constant))
                    for code in codes:
                        if code in MEANINGS and path != TABLE:
                            place = f"{path.relative_to(ROOT)}:{node.lineno}"
                            yield place, node.func.id, str(code)


def test_items_are_made_from_the_table() -> None:
    """`broker_error(...)`, not `ItemError(...)` with a sentence and an exit code of its own."""
    assert [place for place, name, _ in calls() if name == "ItemError"] == []


def test_what_ends_a_command_has_the_exit_code_of_the_table() -> None:
    """A class of errors that is raised with Kafka's name for it has that name's exit code."""
    raised = [(place, name, code) for place, name, code in calls() if name in CLASSES]
    assert raised, "nothing raises one: this test looks in the wrong place"
    for place, name, code in raised:
        assert CLASSES[name].exit_code == MEANINGS[code].exit_code, f"{place}: {name} for {code}"
