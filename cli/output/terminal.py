"""Short tables on a terminal, laid out and coloured by Rich."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgroups.cli.output.table import Block, Column, Grid

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
        "held": "yellow",
    },
    "level": {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"},
    "result": {
        "done": "green",
        "refused": "red",
        "failed": "red",
        "skipped": "yellow",
        "unknown": "red",
    },
}


GAP = 2
KEPT = frozenset({"lag", "lag_status", "state", "result", "holds", "verdict"})
"""Columns that stay however narrow the terminal is, beside the first one."""


def print_grid(
    grid: Grid, *, no_color: bool, whole: bool = False, console: Console | None = None
) -> tuple[str, ...]:
    """Print a table; no word of it is broken.

    Where it is too wide, what all rows share stands above them once, and columns that do not fit
    beside those to their left are left out; where that does not do, each row is a paragraph of
    headings and values.

    Args:
        whole: leave no column out.
    Returns:
        The headings of the columns that were left out.
    """
    console = console or Console(no_color=no_color or None, highlight=False)
    every = range(len(grid.columns))
    if _width(grid, every) <= console.width:
        _print_table(grid, range(grid.height), every, console)
        return ()
    shared = [i for i in every if grid.columns[i].shared or _is_the_same(grid.cells[i])]
    wanted = [i for i in every if i not in shared]
    fitting = wanted if whole else _fitting(grid, wanted, console.width)
    if not fitting or _width(grid, fitting) > console.width:
        _print_records(grid, console)
        return ()
    first = True
    for facts, rows in groupby(
        range(grid.height), key=lambda row: [grid.cells[index][row] for index in shared]
    ):
        if not first:
            console.print()
        first = False
        _print_facts([grid.columns[index] for index in shared], facts, console)
        _print_table(grid, list(rows), fitting, console)
    return tuple(grid.columns[i].header or "" for i in wanted if i not in fitting)


def print_blocks(blocks: Iterable[tuple[Block, Iterable[str]]], *, no_color: bool) -> None:
    """Print blocks in lines, an empty one between them, their marks in colour."""
    console = Console(no_color=no_color or None, highlight=False)
    for number, (block, lines) in enumerate(blocks):
        if number:
            console.print()
        for line in lines:
            text = Text(line)
            if line.startswith(block.mark):
                text.stylize(STYLES["level"].get(block.style, ""), 0, len(block.mark))
            console.print(text, soft_wrap=True)


def _is_the_same(cells: Sequence[str]) -> bool:
    """Whether several rows have one value."""
    return len(cells) > 1 and len(set(cells)) == 1


def _fitting(grid: Grid, wanted: Sequence[int], width: int) -> list[int]:
    """The first column, those that are kept, and from the left each one that fits beside them."""
    kept = (i for i in wanted if grid.columns[i].chosen or grid.columns[i].field in KEPT)
    fitting = {*wanted[:1], *kept}
    for index in wanted:
        if _width(grid, sorted(fitting | {index})) <= width:
            fitting.add(index)
    return sorted(fitting)


def _width(grid: Grid, columns: Sequence[int]) -> int:
    """Cells of the terminal that these columns take side by side."""
    widths = [
        max(map(cell_len, (grid.columns[index].header or "", *grid.cells[index])))
        for index in columns
    ]
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
