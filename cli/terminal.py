"""Short tables on a terminal, laid out and coloured by Rich."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgroups.cli.table import Column, Grid

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
    "result": {"done": "green", "refused": "red", "failed": "red", "skipped": "yellow"},
}


def print_grid(grid: Grid, *, no_color: bool, console: Console | None = None) -> None:
    """Print a table; cells that do not fit are folded, never cut."""
    console = console or Console(no_color=no_color or None, highlight=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in grid.columns:
        table.add_column(
            column.header or "", justify="right" if column.right else "left", overflow="fold"
        )
    for row in zip(*grid.cells, strict=True):
        table.add_row(*map(_cell, grid.columns, row))
    console.print(table)


def _cell(column: Column, text: str) -> Text:
    if text == "-":
        return Text(text, style="dim")
    return Text(text, style=STYLES.get(column.field, {}).get(text, ""))
