"""The schedule of the tests: its files are those that it means, and what is slow says why."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.schedule import FIRST, TOGETHER, unit_of

ROOT = Path(__file__).parents[2]
# Unit and the fixture, as a pattern, that the tests of its files ask for.
ASKED = {
    "the session of Spark": r"\bspark: SparkSession",
    "the world of the official tool": r"\bfull: KafkaCluster",
    "the brokers that let not everybody in": r"\b(secure|guarded)_kafka: KafkaCluster",
    "the three brokers": r"\btrio: Trio",
}


@pytest.mark.parametrize("unit", TOGETHER)
def test_who_shares_stays_together(unit: str) -> None:
    """Every file that asks for a unit's fixture is of some unit, and those of a unit ask for it."""
    files = {
        str(file.relative_to(ROOT))
        for file in (ROOT / "tests").rglob("test_*.py")
        if re.search(ASKED[unit], file.read_text())
    }
    assert {file for file in files if unit_of(file) == file} == set()
    assert set(TOGETHER[unit]) <= files


def test_what_is_named_is_there() -> None:
    """A unit that goes first is a file, or files that stay together."""
    assert {name for name in FIRST if name not in TOGETHER and not (ROOT / name).is_file()} == set()
    assert set(TOGETHER) <= set(FIRST)


def slow_marks(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and reason of each mark `slow` of a module; an empty reason where there is none."""
    reasons = {
        id(node.func): node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "pytest.mark.slow":
            yield node.lineno, str(reasons.get(id(node), ""))


def only_slow(tree: ast.Module) -> str | None:
    """What of a module has slow cases only: the module, or a list of cases; None: nothing has."""
    tests = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[:5] == "test_"
    ]
    if all(any("mark.slow" in ast.unparse(mark) for mark in _whole(test)) for test in tests):
        return "the module"
    for node in ast.walk(tree):
        cases = node.elts if isinstance(node, ast.List) else []
        if cases and all("marks=pytest.mark.slow" in ast.unparse(case) for case in cases):
            return ast.unparse(node)
    return None


def _whole(test: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """The marks of all the cases of a test."""
    return [mark for mark in test.decorator_list if "parametrize" not in ast.unparse(mark)]


@pytest.mark.parametrize(
    "file",
    [
        file
        for file in (ROOT / "tests").rglob("test_*.py")
        if "mark.slow" in file.read_text() and file != Path(__file__)
    ],
    ids=lambda file: file.stem,
)
def test_what_is_slow_says_why_and_has_a_quick_case(file: Path) -> None:
    """A reason with each mark, and beside it what `make test` has of its kind."""
    tree = ast.parse(file.read_text())
    bare = [line for line, reason in slow_marks(tree) if len(reason.split()) < 3]
    assert not bare, f"{file}: no reason in lines {bare}"
    assert only_slow(tree) is None


@pytest.mark.parametrize(
    ("text", "reasons", "whole"),
    [
        ("@pytest.mark.slow\ndef test_a(): ...\ndef test_b(): ...", [""], None),
        ("@pytest.mark.slow('so long')\ndef test_a(): ...", ["so long"], "the module"),
        ("A = [pytest.param(1, marks=pytest.mark.slow('x'))]\ndef test_a(): ...", ["x"], "[pyt"),
        ("A = [2, pytest.param(1, marks=pytest.mark.slow('x'))]\ndef test_a(): ...", ["x"], None),
    ],
)
def test_the_search_itself(text: str, reasons: list[str], whole: str | None) -> None:
    """It finds marks without a reason, and modules and lists without a quick case."""
    tree = ast.parse(text)
    assert [reason for _, reason in slow_marks(tree)] == reasons
    found = only_slow(tree)
    assert found is None if whole is None else found is not None and found.startswith(whole)
