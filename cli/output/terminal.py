"""Short tables on a terminal, laid out and coloured by Rich."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgroups.cli.output.table import Column, Grid

# What deserves an eye: values of these fields get this style.
STYLES: dict[str, dict[str, str]] = {
    "state": {
        "Stable": "green",
        "Empty": "dim",
        "Dead": "red",
        "PreparingRebalance": "yellow",
        "CompletingRebalance": "yellow",
        "Assigning": "yellow",
        "Reconciling": "yellow",
    },
    "lag_status": {
        "no_commit": "yellow",
        "unknown": "yellow",
        "below_log_start": "red",
        "beyond_end": "red",
        "topic_missing": "red",
        "leaderless": "red",
    },
    "result": {
        "done": "green",
        "refused": "red",
        "failed": "red",
        "skipped": "yellow",
        "unknown": "red",
    },
}


GAP = 2


def print_grid(grid: Grid, *, no_color: bool, console: Console | None = None) -> None:
    """Print a table; where it is too wide, facts that many rows share stand above them once.

    Cells that still do not fit are folded, never cut. Numbers are not folded: where they alone
    are too wide, each row is a paragraph of headings and values.
    """
    console = console or Console(no_color=no_color or None, highlight=False)
    numbers = [index for index, column in enumerate(grid.columns) if column.right]
    if sum(_widths(grid)[index] + GAP for index in numbers) > console.width:
        _print_records(grid, console)
        return
    shared = [index for index, column in enumerate(grid.columns) if column.shared]
    if not shared or _width(grid) <= console.width:
        _print_table(grid, range(grid.height), range(len(grid.columns)), console)
        return
    rest = [index for index, column in enumerate(grid.columns) if not column.shared]
    first = True
    for facts, rows in groupby(
        range(grid.height), key=lambda row: [grid.cells[index][row] for index in shared]
    ):
        if not first:
            console.print()
        first = False
        _print_facts([grid.columns[index] for index in shared], facts, console)
        _print_table(grid, list(rows), rest, console)


def _widths(grid: Grid) -> list[int]:
    """Cells that each column takes."""
    return [
        max(map(cell_len, (column.header or "", *cells)))
        for column, cells in zip(grid.columns, grid.cells, strict=True)
    ]


def _width(grid: Grid) -> int:
    """Cells that the table takes side by side."""
    widths = _widths(grid)
    return sum(widths) + GAP * (len(widths) - 1)


def _print_records(grid: Grid, console: Console) -> None:
    for number, row in enumerate(zip(*grid.cells, strict=True)):
        if number:
            console.print()
        _print_facts(grid.columns, row, console)


def _print_facts(columns: Sequence[Column], facts: Sequence[str], console: Console) -> None:
    line = Text()
    for column, fact in zip(columns, facts, strict=True):
        pair = Text.assemble((column.header or "", "dim"), " ", _cell(column, fact))
        if line and line.cell_len + GAP + pair.cell_len > console.width:
            console.print(line, soft_wrap=True)
            line = Text()
        line = Text.assemble(line, " " * GAP, pair) if line else pair
    console.print(line, soft_wrap=True)


def _print_table(grid: Grid, rows: Iterable[int], columns: Sequence[int], console: Console) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for index in columns:
        column = grid.columns[index]
        table.add_column(
            column.header or "", justify="right" if column.right else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(_cell(grid.columns[i], grid.cells[i][row]) for i in columns))
    console.print(table)


def _cell(column: Column, text: str) -> Text:
    if text == "-":
        return Text(text, style="dim")
    return Text(text, style=STYLES.get(column.field, {}).get(text, ""))
