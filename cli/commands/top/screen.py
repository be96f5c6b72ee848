"""The screen of `kgroups top` as a value: keys change it, a frame shows it; no terminal."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from kgroups.cli.commands.top.board import GroupRow, sorted_rows
from kgroups.cli.output.escapes import printable
from kgroups.cli.output.table import Column, grid_of, table_chunks

COLUMNS: Final = (
    Column("group", "GROUP"),
    Column("state", "STATE"),
    Column("member_count", "MEMBERS", right=True),
    Column("lag", "LAG", right=True),
    Column("held_partitions", "HELD", right=True, quiet=(None, 0)),
    Column("rate_in", "RATE-IN", right=True, decimals=1),
    Column("rate_out", "RATE-OUT", right=True, decimals=1),
    Column("catch_up_seconds", "CATCH-UP-SECONDS", right=True, decimals=0),
    Column("rebalances", "REBALANCES", right=True),
)
HELP_LINE: Final = "q quit  / filter  s sort  r reverse  Enter details  p plan  e peek"
DETAIL_LINE: Final = "q back  p plan  e peek"
_KEYS: Final = re.compile(r"\x1b[\[O](?:[0-9;]*[A-Za-z~])|.", re.DOTALL)
_MOVES: Final = {
    "\x1b[A": -1, "\x1bOA": -1, "k": -1,
    "\x1b[B": 1, "\x1bOB": 1, "j": 1,
}  # fmt: skip
_PAGES: Final = {"\x1b[5~": -1, "\x1b[6~": 1}


def keys_in(text: str) -> list[str]:
    """Keys that were typed, one by one; an arrow is one key."""
    return _KEYS.findall(text)


@dataclass(slots=True)
class Screen:
    """State of the screen.

    Args:
        rows: all groups.
        details: lines about the group that was opened.
        status: a failure of the last look.
    """

    sort: str = "lag"
    ascending: bool = False
    filter: str = ""
    is_typing: bool = False
    opened: str | None = None
    selected: str | None = None
    top: int = 0
    height: int = 24
    width: int = 80
    rows: Sequence[GroupRow] = ()
    details: Sequence[str] = ()
    status: str = ""
    at: str = ""
    _shown: list[GroupRow] = field(default_factory=list)

    def arrange(self) -> None:
        """Filter and sort the rows anew; the selected group stays selected."""
        fitting = (row for row in self.rows if self.filter in row.group)
        self._shown = sorted_rows(fitting, self.sort, ascending=self.ascending)
        names = [row.group for row in self._shown]
        if self.selected not in names:
            self.selected = names[min(self.top, len(names) - 1)] if names else None
        at = names.index(self.selected) if self.selected is not None else 0
        self.top = max(0, min(max(self.top, at - self._room + 1), at))

    @property
    def window(self) -> list[str]:
        """Names of the groups that are on the screen."""
        return [row.group for row in self._shown[self.top : self.top + self._room]]

    @property
    def _room(self) -> int:
        """Rows of the table that fit."""
        return max(1, self.height - 4)

    def press(self, key: str) -> str | None:
        """Handle a key: `quit`, `plan` or `peek` if that is asked for, else None."""
        if self.is_typing:
            self._type(key)
            return None
        if self.opened is not None:
            return self._press_in_details(key)
        match key:
            case "q":
                return "quit"
            case "/":
                self.is_typing = True
            case "\x1b":
                self.filter = ""
            case "s":
                names = [column.field for column in COLUMNS]
                self.sort = names[(names.index(self.sort) + 1) % len(names)]
                self.ascending = self.sort in ("group", "state")
            case "r":
                self.ascending = not self.ascending
            case "\r" | "\n":
                self.opened, self.details, self.top = self.selected, (), 0
            case "p" | "e" if self.selected is not None:
                return "plan" if key == "p" else "peek"
            case _:
                self._move(key)
        self.arrange()
        return None

    def _press_in_details(self, key: str) -> str | None:
        if key in ("p", "e"):
            return "plan" if key == "p" else "peek"
        if key in ("q", "\x1b", "\x7f"):
            self.opened, self.top = None, 0
            self.arrange()
            return None
        step = _MOVES.get(key, 0) + _PAGES.get(key, 0) * self._room
        self.top = max(0, min(self.top + step, len(self.details) - self._room))
        return None

    def _type(self, key: str) -> None:
        if key in ("\r", "\n", "\x1b"):
            self.is_typing = False
            self.filter = "" if key == "\x1b" else self.filter
        elif key == "\x7f":
            self.filter = self.filter[:-1]
        elif key.isprintable():
            self.filter += key
        self.arrange()

    def _move(self, key: str) -> None:
        step = _MOVES.get(key, 0) + _PAGES.get(key, 0) * self._room
        names = [row.group for row in self._shown]
        if step and self.selected in names:
            at = names.index(self.selected) + step
            self.selected = names[max(0, min(at, len(names) - 1))]

    def frame(self) -> Iterator[str]:
        """The lines of the screen, no longer and no more than fit; the selected one is marked."""
        if self.opened is not None:
            yield self._line(f"{self.opened}  {self.at}")
            yield ""
            for line in self.details[self.top : self.top + self._room]:
                yield self._line(line)
            yield self._line(self.status or DETAIL_LINE)
            return
        order = f"{'up' if self.ascending else 'down'} by {self.sort}"
        count = f"{len(self._shown):,} of {len(self.rows):,} groups"
        yield self._line(f"{self.at}  {count}  {order}")
        typed = f"filter: {self.filter}{'_' if self.is_typing else ''}"
        yield self._line(typed if self.filter or self.is_typing else "")
        heading, *lines = lines_of(COLUMNS, self._shown[self.top : self.top + self._room])
        yield self._line(f"  {heading}")
        for name, line in zip(self.window, lines, strict=True):
            mark = "> " if name == self.selected else "  "
            text = self._line(f"{mark}{line}")
            yield f"\x1b[7m{text.ljust(self.width)}\x1b[0m" if name == self.selected else text
        yield self._line(self.status or HELP_LINE)

    def _line(self, text: str) -> str:
        return printable(text)[: self.width]


def lines_of(columns: Sequence[Column], rows: Iterable[tuple[object, ...]]) -> list[str]:
    """A table as lines: its heading, then its rows."""
    rounded = [
        tuple(column.for_people(value) for column, value in zip(columns, row, strict=True))
        for row in rows
    ]
    return "".join(table_chunks(grid_of(columns, rounded))).splitlines()
