"""Tables that are wider than the terminal: member ids are shortened, as git shortens its own."""

import os
from typing import Final, TextIO

from kgroups.cli.output.table import Grid, width_of
from kgroups.core.member_ids import short_ids

DEFAULT_WIDTH: Final = 80


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
