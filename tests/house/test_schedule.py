"""The schedule of tests: what stays together, what goes first; what is slow says why."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import cast

import pytest

from tests.schedule import SHARED, in_order, seconds, units_of
from tests.support.durations import Duration, recorded
from tests.support.kafka.child import run_program
from tests.support.sandbox.twins import mark_twins
from tests.support.shares import Shares

ROOT = Path(__file__).parents[2]
RECORDED = {
    "tests/a.py": {"quick": Duration(3, 1), "slow": Duration(90, 60)},
    "tests/b.py": {"quick": Duration(7, 7)},
    "tests/c.py": {"quick": Duration(5, 2)},
}
NAMED = re.compile(r"tests(?:/\w+)+\.py")
CONFTEST = """\
from pathlib import Path
from tests.support.budget import Budget
from tests.support.durations import Duration, DurationRecorder

RECORD = Path(__file__).with_name("record.json")

def pytest_configure(config):
    config.pluginmanager.register(DurationRecorder(RECORD, Path(__file__).parent))
    known = {"test_long.py": {"quick": Duration(9_000, 9_000)}}
    config.pluginmanager.register(Budget(600, known))
"""
BURNS = """\
import subprocess, sys, time
BURN = "import time\\nwhile time.process_time() < 0.6: pass"

def test_burns():
    start = time.process_time()
    while time.process_time() < start + 0.6: pass

def test_lets_another_burn():
    subprocess.run([sys.executable, "-c", BURN], timeout=300)
"""


def item(nodeid: str, *fixtures: str, slow: bool = False) -> pytest.Item:
    """A test as far as the schedule looks at it."""
    mark = pytest.mark.slow("of its own") if slow else None
    fake = SimpleNamespace(
        nodeid=nodeid, fixturenames=fixtures, get_closest_marker=lambda name: mark
    )
    return cast(pytest.Item, fake)


def test_who_shares_stays_together() -> None:
    """The unit follows from the fixtures of a file's tests; of two, from the first of the table."""
    items = [
        item("tests/a.py::test_1"),
        item("tests/a.py::test_2", "tmp_path", "spark"),
        item("tests/b.py::test_1", "guarded_kafka", "spark"),
        item("tests/c.py::test_1", "secure_kafka"),
        item("tests/d.py::test_1", "tmp_path"),
    ]
    assert units_of(items) == {
        "tests/a.py": SHARED["spark"],
        "tests/b.py": SHARED["spark"],
        "tests/c.py": SHARED["guarded_kafka"],
    }


def test_who_names_what_it_shares_stays_with_it() -> None:
    """The parameter of an engine that is marked `spark` is its session; `spark` as data is not."""
    named = [item(f"tests/{name}.py::test_1") for name in "ab"]
    for each, marked in zip(named, (True, False), strict=True):
        vars(each)["callspec"] = SimpleNamespace(params={"engine": "spark", "n": 1})
        vars(each)["get_closest_marker"] = lambda name, marked=marked: marked and name == "spark"
    assert units_of(named) == {"tests/a.py": SHARED["spark"]}


def test_what_is_shared_is_a_fixture() -> None:
    """One that was renamed would be shared no more."""
    text = "\n".join(
        (ROOT / file).read_text()
        for file in (
            "tests/conftest.py",
            "tests/core/coordinator/conftest.py",
            "tests/official/conftest.py",
            "tests/pages/conftest.py",
            "tests/support/spark_session.py",
        )
    )
    assert {name for name in SHARED if f"\ndef {name}(" not in text} == set()


def test_the_longest_unit_goes_first() -> None:
    """By the sum of what its tests in this run took; what is slow counts only where it runs."""
    quick = [item("tests/a.py::1"), item("tests/b.py::1"), item("tests/c.py::1")]
    quick += [item("tests/a.py::2")]
    units = {"tests/a.py": "together", "tests/c.py": "together"}
    assert [each.nodeid for each in in_order(quick, {}, RECORDED)] == [
        *("tests/b.py::1", "tests/c.py::1", "tests/a.py::1", "tests/a.py::2")
    ]
    assert in_order(quick, units, RECORDED)[0].nodeid == "tests/a.py::1"  # eight seconds of seven
    assert in_order(quick, units, RECORDED)[-1].nodeid == "tests/b.py::1"
    slow = [*quick, item("tests/a.py::3", slow=True)]
    assert in_order(slow, {}, RECORDED)[0].nodeid == "tests/a.py::1"


def test_what_was_never_recorded() -> None:
    """A new file counts for something, the slow half of a file that has none for nothing."""
    assert seconds(RECORDED, "tests/new.py", "quick") > 0
    assert seconds(RECORDED, "tests/b.py", "slow") == 0


def test_the_record_is_of_this_suite() -> None:
    """Files come, go and move between two records; most of them stay."""
    known = recorded()
    assert sum((ROOT / file).is_file() for file in known) > len(known) / 2


def test_make_test_stays_within_ten_minutes() -> None:
    """As recorded, on two cores: a sixth of the time is left for waiting."""
    quick = [kinds["quick"].processor_seconds for kinds in recorded().values() if "quick" in kinds]
    assert sum(quick) <= 1_000


def test_a_run_records_and_has_a_budget(tmp_path: Path) -> None:
    """Processor time of tests and of what they start; what has no time left is named."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_burns.py").write_text(BURNS)
    (tmp_path / "test_long.py").write_text("def test_long(): pass")
    (tmp_path / "record.json").write_text('{"test_long.py": {"slow": [4, 3]}}')
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", "-rs"]
    command += ["--import-mode=prepend", "--rootdir", str(tmp_path), str(tmp_path)]
    done = run_program(command, cwd=ROOT)
    assert "2 passed, 1 skipped" in done.stdout, done
    assert "no time was left for test_long.py" in done.stdout
    kept = recorded(tmp_path / "record.json")
    assert kept["test_long.py"] == {"slow": Duration(4, 3)}
    assert kept["test_burns.py"]["quick"].processor_seconds > 1.1


def test_the_same_on_a_real_broker_is_slow() -> None:
    """A test that another module took over; not the other, nor what nobody took."""
    mine, theirs = ModuleType("tests.kafka.test_it"), ModuleType("tests.sandbox.test_own_it")

    def test_taken() -> None: ...

    def test_left() -> None: ...

    marked: list[tuple[str, str]] = []

    def made(module: ModuleType, function: FunctionType) -> pytest.Function:
        function.__module__ = mine.__name__
        name = (module.__name__, function.__name__)
        fake = SimpleNamespace(
            function=function,
            module=module,
            originalname=function.__name__,
            get_closest_marker=lambda mark: mark == "kafka",
            add_marker=lambda mark: marked.append(name),
        )
        return cast(pytest.Function, fake)

    taken, left = cast(FunctionType, test_taken), cast(FunctionType, test_left)
    mark_twins([made(theirs, taken), made(mine, taken), made(mine, left)])
    assert marked == [(mine.__name__, "test_taken")]


def test_a_share_of_many_cases() -> None:
    """Some of the cases, by name, and at least one; without the mark all of them."""
    marked: list[str] = []

    def made(nodeid: str, *marks: pytest.Mark) -> pytest.Item:
        fake = SimpleNamespace(
            nodeid=nodeid,
            get_closest_marker=lambda name: next(iter(marks), None),
            add_marker=lambda mark: marked.append(nodeid),
        )
        return cast(pytest.Item, fake)

    names = [f"tests/a.py::test_1[{number}]" for number in range(400)]
    share = pytest.mark.share(4).mark
    Shares().pytest_collection_modifyitems([made(name, share) for name in names])
    assert 250 < len(marked) < 350
    first, marked = marked, []
    Shares().pytest_collection_modifyitems([made(name, share) for name in names[:100]])
    assert marked == [name for name in first if name in names[:100]]
    marked.clear()
    Shares().pytest_collection_modifyitems([made(name) for name in names])
    assert marked == []
    some = [made(name, pytest.mark.share(1_000).mark) for name in names[:3]]
    Shares().pytest_collection_modifyitems(some)
    assert len(marked) == 2


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
    marks = [
        ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    tests = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name[:5] == "test_"
    ]
    slow = [any("mark.slow" in ast.unparse(mark) for mark in _whole(test)) for test in tests]
    if any("mark.slow" in mark for mark in marks) or (slow and all(slow)):
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
    """A reason with each mark, and what `make test` has of its kind: beside it or where it says."""
    tree = ast.parse(file.read_text())
    bare = [line for line, reason in slow_marks(tree) if len(reason.split()) < 3]
    assert not bare, f"{file}: no reason in lines {bare}"
    named = {name for _, reason in slow_marks(tree) for name in NAMED.findall(reason)}
    assert {name for name in named if only_slow(ast.parse((ROOT / name).read_text()))} == set()
    what = only_slow(tree)
    assert not what or named, f"{file}: no reason names the module with the quick case of {what}"


@pytest.mark.parametrize(
    ("text", "reasons", "whole"),
    [
        ("@pytest.mark.slow\ndef test_a(): ...\ndef test_b(): ...", [""], None),
        ("@pytest.mark.slow('so long')\ndef test_a(): ...", ["so long"], "the module"),
        ("pytestmark = pytest.mark.slow('a')\ndef test_a(): ...", ["a"], "the module"),
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


ORDERED = """\
from tests.house.test_schedule import item
from tests.schedule import in_order
from tests.support.durations import Duration

files = {f"tests/{name}.py": {"quick": Duration(s, s)} for name, s in zip("dabc", (.6, .1, .2, .3))}
units = dict.fromkeys(list(files)[1:], "unit")
print([one.nodeid for one in in_order([item(f"{file}::test") for file in files], units, files)])
"""


def test_every_process_comes_to_the_same_order() -> None:
    """In each, sets have another order, by which sums of floats differ in the last bit."""
    orders = {
        run_program(
            [sys.executable, "-c", ORDERED], cwd=ROOT, env={"PYTHONHASHSEED": str(seed)}
        ).stdout
        for seed in range(4)
    }
    assert len(orders) == 1
    assert "tests/d.py" in orders.pop()
