"""Plain columns: widths, sides, and names that would drive a terminal."""

import csv
import io
import os
import tracemalloc
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Row, View, cell_text, grid_of, table_chunks
from kgroups.cli.params import GlobalOptions

NAMES = (Column("name", "NAME"), Column("count", "COUNT", right=True))

CASES: dict[str, tuple[list[tuple[Any, ...]], str]] = {
    "numbers stand right": ([("a", 5), ("bb", 1234)], "NAME  COUNT\na         5\nbb     1234\n"),
    "unknown and empty are a dash": (
        [(None, None), ("", 0)],
        "NAME  COUNT\n-         -\n-         0\n",
    ),
    "wide characters take two columns": (
        [("日本", 1), ("a", 2)],
        "NAME  COUNT\n日本      1\na         2\n",
    ),
    "marks take none": (
        [("e\u0301e", 1), ("ee", 2)],
        "NAME  COUNT\ne\u0301e        1\nee        2\n",
    ),
    "control characters are spelled out": (
        [("a\x1b[2J\n", 1)],
        "NAME        COUNT\na\\x1b[2J\\n      1\n",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_layout(case: str) -> None:
    """The rows stand as the case says."""
    rows, text = CASES[case]
    assert "".join(table_chunks(grid_of(NAMES, rows))) == text


def test_quiet_columns_are_left_out() -> None:
    """A column that says nothing takes no room; one row that says something brings it back."""
    columns = (*NAMES, Column("status", "STATUS", quiet=("ok",)))
    quiet = grid_of(columns, [("a", 1, "ok")])
    loud = grid_of(columns, [("a", 1, "ok"), ("b", 2, "lost")])
    assert [column.header for column in quiet.columns] == ["NAME", "COUNT"]
    assert [column.header for column in loud.columns] == ["NAME", "COUNT", "STATUS"]


def test_last_column_is_not_padded() -> None:
    """No line ends in blanks."""
    grid = grid_of((Column("n", "N"), Column("text", "TEXT")), [(1, "long text"), (2, "x")])
    assert all(line == line.rstrip() for line in "".join(table_chunks(grid)).splitlines())


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (1.5, "1.5"),
        (["a", "b"], "a,b"),
        ({"b": [10, 9], "a": [0], "c": []}, "a:0;b:9,10"),
    ],
)
def test_cell_text(value: object, text: str) -> None:
    """Each kind of value has one spelling."""
    assert cell_text(value) == text


def _report(items: Iterator[dict[str, Any]]) -> Report:
    view = View("thing", NAMES, lambda item: [(item["name"], item["count"])])
    return Report("kgroups.test/1", items, (view,))


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "yaml"])
def test_items_are_written_as_they_come(form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No form collects the items before it writes the first of them."""
    written = io.StringIO()
    lengths: list[int] = []

    def items() -> Iterator[dict[str, Any]]:
        for number in range(3_000):
            lengths.append(len(written.getvalue()))
            yield {"name": f"n{number}", "count": number}

    monkeypatch.setattr("sys.stdout", written)
    Printer(GlobalOptions(output=form)).show(_report(items()))
    assert lengths[-1] > 10_000


def test_csv_quotes_what_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names with commas, quotes and line ends come back as they were."""
    name = 'a,"b"\nc'
    written = io.StringIO()
    monkeypatch.setattr("sys.stdout", written)
    Printer(GlobalOptions(output="csv")).show(_report(iter([{"name": name, "count": None}])))
    assert list(csv.reader(io.StringIO(written.getvalue()))) == [["name", "count"], [name, ""]]


SHARED = (
    Column("group", "GROUP", shared=True),
    Column("round", "ROUND", right=True, shared=True),
    Column("member", "MEMBER"),
    Column("lag", "LAG", right=True),
)
ROUNDS = [("app", 1, "m-1", 5), ("app", 1, "m-2", 60), ("app", 2, "m-3", 7)]


def on_a_terminal(
    width: int, columns: Sequence[Column] = SHARED, rows: Iterable[Row] = ROUNDS, **how: bool
) -> tuple[list[str], tuple[str, ...]]:
    """What a terminal of this width shows of the rows, and the columns that are left out."""
    from rich.console import Console

    from kgroups.cli.output.terminal import print_grid

    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=False, highlight=False)
    left_out = print_grid(grid_of(columns, rows), no_color=True, console=console, **how)
    return [line.rstrip() for line in out.getvalue().splitlines()], left_out


def test_shared_facts_stand_above_where_it_is_narrow() -> None:
    """A wide terminal has one table; a narrow one a block for each combination of facts."""
    assert on_a_terminal(40)[0][:2] == ["GROUP  ROUND  MEMBER  LAG", "app        1  m-1       5"]
    assert on_a_terminal(20)[0] == [
        "GROUP app  ROUND 1",
        "MEMBER  LAG",
        "m-1       5",
        "m-2      60",
        "",
        "GROUP app  ROUND 2",
        "MEMBER  LAG",
        "m-3       7",
    ]
    assert on_a_terminal(12)[0][:2] == ["GROUP app", "ROUND 1"]


def test_numbers_are_never_folded() -> None:
    """Where what has to stay is too wide, a row is a paragraph."""
    assert on_a_terminal(10)[0][:5] == ["GROUP app", "ROUND 1", "MEMBER m-1", "LAG 5", ""]


WIDE = (
    Column("group", "GROUP"),
    Column("topic", "TOPIC"),
    Column("host", "HOST"),
    Column("lag", "LAG", right=True),
    Column("size", "SIZE", right=True),
)
HOSTS = [("app", "orders", "a-host-with-a-name", 5, 1), ("app", "bills", "another-host", 60, 2)]


@pytest.mark.parametrize(
    ("width", "first", "left_out"),
    [
        (80, "GROUP  TOPIC   HOST                LAG  SIZE", ()),
        (40, "GROUP app", ()),
        (25, "GROUP app", ("HOST",)),
        (14, "GROUP app", ("HOST", "SIZE")),
    ],
)
def test_columns_without_room(width: int, first: str, left_out: tuple[str, ...]) -> None:
    """What the rows share goes above them, then what does not fit beside its neighbours goes."""
    lines, missing = on_a_terminal(width, WIDE, HOSTS)
    assert (lines[0], missing) == (first, left_out)
    assert max(map(len, lines)) <= width
    shown = "\n".join(lines)
    assert {str(column.header) for column in WIDE if str(column.header) not in shown} == {*missing}


def test_columns_that_were_asked_for() -> None:
    """They stay, if a row has to be a paragraph for it; `whole` leaves none out either."""
    chosen = [column._replace(chosen=True) for column in WIDE]
    for columns, whole in ((chosen, False), (WIDE, True)):
        lines, missing = on_a_terminal(25, columns, HOSTS, whole=whole)
        assert (missing, "HOST another-host  LAG 60" in lines) == ((), True)


def test_flags_can_be_quiet() -> None:
    """A column of nothing but `false` says nothing; one `true` shows it."""
    columns = (Column("id", "ID"), Column("joins", "JOINS", quiet=(False,)))
    assert len(grid_of(columns, [("a", False), ("b", False)]).columns) == 1
    assert len(grid_of(columns, [("a", False), ("b", True)]).columns) == 2


def test_rows_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table holds the cells that it shows, and rows only as long as it takes to read them."""
    columns = (Column("name", "NAME"), Column("count", "COUNT", right=True), Column("hidden"))
    view = View("thing", columns, lambda number: (("orders", number, f"{number:0200}"),))

    def peak(count: int) -> int:
        report = Report("kgroups.things/1", range(count), (view,))
        tracemalloc.start()
        try:
            Printer(GlobalOptions()).show(report)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        monkeypatch.setattr("sys.stdout", nowhere)
        assert (peak(40_000) - peak(10_000)) / 30_000 < 300  # what is hidden takes 250 alone
