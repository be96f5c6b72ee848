"""Rows of values as aligned text: plain columns, fast enough for 100,000 rows, and CSV cells.

Rich lays out some thousands of cells a second; this writer does a million, so it prints every
table in a pipe and every long one on a terminal.
"""

import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from types import NoneType
from typing import Any, Final, NamedTuple, TextIO

from kgroups.cli.output.escapes import printable
from kgroups.core.member_ids import short_ids

DEFAULT_WIDTH: Final = 80

Item = Mapping[str, Any]
Row = tuple[Any, ...]

LINES_A_CHUNK = 2_000
SIMPLE = {int, str, NoneType}
"""Values that can be told apart by equality alone."""


def heading(field: str) -> str:
    """The heading of a field's column, where nothing shorter is given: `lag_max` is LAG-MAX."""
    return field.replace("member_count", "members").upper().replace("_", "-")


class Column(NamedTuple):
    """One column of a view.

    Args:
        field: name in CSV, as in JSON.
        header: heading in a table; None keeps the column out of tables.
        right: numbers stand right.
        quiet: values that say nothing: a column that holds only these is left out of a table.
        verbose: in tables only with `--verbose`.
        shared: a fact that many rows have in common: where a table is too wide for a terminal, it
            stands above those rows once.
        decimals: fractions are rounded to so many digits for people; None leaves them.
        is_member: it holds member ids, which are shortened where a terminal is too narrow.
        chosen: it was asked for, and stays however narrow the terminal is.
    """

    field: str
    header: str | None = None
    right: bool = False
    quiet: tuple[Any, ...] = ()
    verbose: bool = False
    shared: bool = False
    decimals: int | None = None
    is_member: bool = False
    chosen: bool = False

    def for_people(self, value: Any) -> Any:
        """A value as a person reads it."""
        is_fraction = self.decimals is not None and isinstance(value, float)
        return round(value, self.decimals) if is_fraction else value


class Block(NamedTuple):
    """A row that is told in lines, which hold more than a table has room for.

    Args:
        mark: begins it, `error[DATA_LOST]`.
        style: value of `level` that colours the mark.
        head: stands behind the mark.
        command: to type next, in one line.
    """

    mark: str
    style: str
    head: str
    texts: tuple[str, ...]
    command: str


@dataclass(frozen=True, slots=True)
class View:
    """One kind of row of a document: its columns, and the rows that an item gives.

    Args:
        name: singular noun of a row, for messages.
        rows: the rows of an item, one value a column.
        key: what rows are sorted by, ascending; None keeps the order of the items.
        pick: takes the values of `columns` out of a row, where it holds others too.
        block: makes a row of what a person reads, where no table does.
    """

    name: str
    columns: tuple[Column, ...]
    rows: Callable[[Any], Iterable[Row]]
    key: Callable[[Row], Any] | None = None
    pick: Callable[[Row], Row] | None = None
    block: Callable[[Row], Block] | None = None

    @property
    def headings(self) -> list[str]:
        """Of every column, those that tables leave out too."""
        return [column.header or column.field for column in self.columns]

    def rows_of(self, items: Iterable[Any]) -> list[Row]:
        """All rows of these items, sorted if the view says so."""
        return list(self.each_row(items))

    def each_row(self, items: Iterable[Any]) -> Iterable[Row]:
        """The rows as they come, unless they have to be sorted."""
        rows: Iterable[Row] = (row for item in items for row in self.rows(item))
        if self.key is not None:
            rows = sorted(rows, key=self.key)
        return rows if self.pick is None else map(self.pick, rows)


def itself(item: Item) -> Iterable[Item]:
    """The item is its only row."""
    return (item,)


def plain_view(
    name: str, columns: tuple[Column, ...], rows: Callable[[Item], Iterable[Item]] = itself
) -> View:
    """A view of values by name: those of the fields that columns are named by."""
    fields = [column.field for column in columns]
    return View(name, columns, lambda item: [tuple(map(row.get, fields)) for row in rows(item)])


def each_of(name: str) -> Callable[[Item], Iterable[Item]]:
    """The rows that an item holds under a name, each with what it says of itself."""
    return lambda item: ({**item, **row} for row in item[name] or ())


def with_coordinator(item: Item) -> Item:
    """The item with `coordinator_id` and the like beside its own fields."""
    parts = item["coordinator"] or {}
    return {**item, **{f"coordinator_{name}": value for name, value in parts.items()}}


class Grid(NamedTuple):
    """Cells of a table column by column, ready to be laid out; columns without value dropped."""

    columns: tuple[Column, ...]
    cells: tuple[list[str], ...]

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.cells[0]) if self.cells else 0


def grid_of(columns: Sequence[Column], rows: Iterable[Row], *, verbose: bool = False) -> Grid:
    """The cells that a table shows: `-` for nothing, control characters spelled out.

    Args:
        rows: gone through once, and not held: there may be millions.
    """
    shown: list[Column] = []
    cells: list[list[str]] = []
    asked = [
        (index, column)
        for index, column in enumerate(columns)
        if column.header is not None and (verbose or not column.verbose)
    ]
    gathered: list[list[Any]] = [[] for _ in asked]
    rows = iter(rows)
    while chunk := list(islice(rows, LINES_A_CHUNK)):
        for (index, _), held in zip(asked, gathered, strict=True):
            held.extend(map(itemgetter(index), chunk))
    gathered.reverse()
    for _, column in asked:
        values = gathered.pop()  # each is let go when its cells are there
        if column.decimals is not None:
            values = list(map(column.for_people, values))
        if values and values[0] in column.quiet and values.count(values[0]) == len(values):
            continue  # the common case, for a tenth of what the sets below cost
        kinds = set(map(type, values))
        few = set(values) if kinds <= SIMPLE or kinds == {bool} else None
        if column.quiet and few is not None and few <= set(column.quiet):
            continue
        shown.append(column)
        if few is None or len(few) > len(values) // 2:
            cells.append(list(map(_shown, values)))
        else:  # nearly every column of a long table: the same texts over and over
            texts = {value: _shown(value) for value in few}
            cells.append(list(map(texts.__getitem__, values)))
    return Grid(tuple(shown), tuple(cells))


def _shown(value: object) -> str:
    if type(value) is int:
        return str(value)
    return "-" if value is None or value == "" else printable(cell_text(value))


def cell_text(value: object) -> str:
    """A value as one cell of a table or a CSV file; empty for None."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return assignment_text(value)
    if isinstance(value, list | tuple):
        return ",".join(cell_text(part) for part in value)
    return str(value)


def assignment_text(assignment: Mapping[str, Sequence[int]]) -> str:
    """`orders:0,1;audit:2` for a map from topic to partitions, topics and partitions ascending."""
    return ";".join(
        f"{topic}:{','.join(map(str, sorted(partitions)))}"
        for topic, partitions in sorted(assignment.items())
        if partitions
    )


def write_grid(grid: Grid) -> None:
    """Write a table in plain columns to stdout."""
    for chunk in table_chunks(grid):
        sys.stdout.write(chunk)


def table_chunks(grid: Grid) -> Iterator[str]:
    """Heading and rows as text, some thousand lines at a time; no trailing blanks."""
    formats: list[str] = []
    padded: list[list[str]] = []
    last = len(grid.columns) - 1
    for index, (column, cells) in enumerate(zip(grid.columns, grid.cells, strict=True)):
        texts = [column.header or "", *cells]
        few = set(texts)
        if index == last and not column.right:
            formats.append("%s")
        elif all(map(str.isascii, few)):
            formats.append(f"%{'' if column.right else '-'}{max(map(len, few))}s")
        else:  # `%` counts characters, a terminal columns
            width = max(map(_cells_wide, few))
            texts = [_pad(text, width, column.right) for text in texts]
            formats.append("%s")
        padded.append(texts)
    layout = "  ".join(formats) + "\n"
    lines: Iterator[str] = map(layout.__mod__, zip(*padded, strict=True))
    if any(cells[-1:] == " " for cells in set(padded[-1])):
        lines = (line.rstrip(" \n") + "\n" for line in lines)
    while chunk := "".join(islice(lines, LINES_A_CHUNK)):
        yield chunk


def width_of(grid: Grid) -> int:
    """Columns of a terminal that the table takes."""
    widths = [
        max(map(_cells_wide, {column.header or "", *cells}))
        for column, cells in zip(grid.columns, grid.cells, strict=True)
    ]
    return sum(widths) + 2 * (len(widths) - 1)


def live_lines(columns: Sequence[Column], rows: Iterable[Row]) -> Iterator[str]:
    """Heading and rows as they come: a column is as wide as its widest text so far."""
    widths = [0] * len(columns)
    is_first = True
    for row in rows:
        lines = [[column.header or "" for column in columns]] if is_first else []
        lines.append([_shown(c.for_people(v)) for c, v in zip(columns, row, strict=True)])
        is_first = False
        widths = [
            max(width, *map(_cells_wide, texts))
            for width, texts in zip(widths, zip(*lines, strict=True), strict=True)
        ]
        for texts in lines:
            padded = map(_pad, texts, widths, (column.right for column in columns))
            yield "  ".join(padded).rstrip() + "\n"


def _cells_wide(text: str) -> int:
    """Columns of a terminal that the text takes: wide East Asian characters two, marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def _pad(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - _cells_wide(text))
    return blanks + text if right else text + blanks


def fitted(grid: Grid, stream: TextIO) -> Grid:
    """The table, with short member ids where it goes to a terminal that is too narrow for it."""
    places = [index for index, column in enumerate(grid.columns) if column.is_member]
    if not places or not stream.isatty() or width_of(grid) <= terminal_width(stream):
        return grid
    ids = {text for index in places for text in grid.cells[index]}
    # of an id with signs spelled out no part can be given back
    short = short_ids(text for text in ids if text != "-" and "\\" not in text)
    cells = tuple(
        [short.get(text, text) for text in column] if index in places else column
        for index, column in enumerate(grid.cells)
    )
    return grid._replace(cells=cells)


def terminal_width(stream: TextIO) -> int:
    """Columns of a terminal: what `COLUMNS` says, else what the terminal does."""
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    except (OSError, ValueError):
        return DEFAULT_WIDTH
