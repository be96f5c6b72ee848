"""Offsets in a CSV file without a heading, as Kafka's tool: `[group,]topic,partition,offset`."""

import csv
import io
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.offsets.targets import MAX_OFFSET
from kgroups.core.snapshot import TopicPartition

Offsets = dict[TopicPartition, int]

MAX_BYTES: Final = 16 * MIB
MAX_ROWS: Final = 500_000
MAX_LINE: Final = 100_000
_DIGITS: Final = len(str(MAX_OFFSET))


def read_plan_text(path: Path) -> str:
    """The text of such a file.

    Raises:
        UsageError: it cannot be read, is not a regular file, is longer than any, or is no text.
    """
    return read_text(path, MAX_BYTES, "a CSV file, each line `[group,]topic,partition,offset`")


class PlanRow(NamedTuple):
    """One line of such a file.

    Args:
        place: `file:line`, for messages.
        group: None where the line names none.
        offset: may be negative, which no reset takes.
    """

    place: str
    group: str | None
    at: TopicPartition
    offset: int


def plan_rows(
    text: str, where: str, *, widths: Collection[int] = (3, 4), skip_empty: bool = True
) -> Iterator[PlanRow]:
    """The lines of a file, in order.

    Args:
        text: lines that all have as many cells as the first.
        where: the file's name, for messages.
        widths: how many cells may be: 3 without the group, 4 with it.
        skip_empty: lines without a cell do not count; else one is as wrong as any short line.
    Raises:
        UsageError: another number of cells, a partition or an offset that is no number, or no line.
    """
    width = 0
    for place, cells in csv_lines(text, where, MAX_ROWS, skip_empty=skip_empty):
        width = width or len(cells)
        if width not in widths or len(cells) != width:
            raise UsageError(f"{place}: {len(cells)} columns", hint=_expected(widths))
        group = cells[0] if width == 4 else None
        at = (cells[-3], _number(cells[-2], place))
        yield PlanRow(place, group, at, _number(cells[-1], place, signed=True))


def csv_lines(
    text: str, where: str, most: int, *, skip_empty: bool = True
) -> Iterator[tuple[str, list[str]]]:
    """`file:line` and the cells of each line of a CSV file without a heading.

    Args:
        skip_empty: lines without a cell do not count.
    Raises:
        UsageError: more lines, one that is too long or no CSV, or none.
    """
    lines = 0
    reader = csv.reader(_short_lines(text, where), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if skip_empty and not any(cells):
                continue
            lines += 1
            if lines > most:
                raise UsageError(f"{where}:{reader.line_num}: more than {most:,} lines")
            yield f"{where}:{reader.line_num}", cells
    except csv.Error as error:
        raise UsageError(f"{where}:{reader.line_num}: {error}") from error
    if not lines:
        raise UsageError(f"{where} is empty")


def _short_lines(text: str, where: str) -> Iterator[str]:
    """The lines of a text; one of millions of cells would be as many objects at once.

    Raises:
        UsageError: one is longer than any.
    """
    for number, line in enumerate(io.StringIO(text), start=1):
        if len(line) > MAX_LINE:
            raise UsageError(f"{where}:{number}: longer than {MAX_LINE:,} characters")
        yield line


def parse_offsets(text: str, where: str) -> dict[str | None, Offsets]:
    """Offsets of each group; those of lines without a group under None.

    Args:
        text: lines of three cells, or lines of four; empty lines do not count.
        where: the file's name, for messages.
    Raises:
        UsageError: another number of cells than in the first line, a partition or an offset that
            is no number, a partition twice, or no line.
    """
    plan: dict[str | None, Offsets] = {}
    for row in plan_rows(text, where):
        offsets = plan.setdefault(row.group, {})
        if row.offset < 0:
            raise UsageError(f"{row.place}: `{row.offset}` is not a partition or offset")
        if row.at in offsets:
            raise UsageError(f"{row.place}: {row.at[0]}-{row.at[1]} appears twice")
        offsets[row.at] = row.offset
    return plan


def _expected(widths: Collection[int]) -> str:
    forms = {3: "`topic,partition,offset`", 4: "`group,topic,partition,offset`"}
    return "expected lines of " + ", or of ".join(forms[width] for width in sorted(widths))


def _number(cell: str, line: str, *, signed: bool = False) -> int:
    digits = cell.removeprefix("-") if signed else cell
    number = digits.isascii() and digits.isdecimal() and len(digits.lstrip("0")) <= _DIGITS
    if not (number and int(digits) <= MAX_OFFSET):
        raise UsageError(f"{line}: `{shorten(cell, 40)}` is not a partition or offset")
    return int(cell)
