"""Offsets in a CSV file without a heading, as Kafka's tool: `[group,]topic,partition,offset`."""

import csv
import io

from kgroups.core.errors import UsageError
from kgroups.core.offsets.scope import Partition
from kgroups.core.offsets.targets import MAX_OFFSET

Offsets = dict[Partition, int]


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
    width = 0
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            line = f"{where}:{reader.line_num}"
            width = width or len(cells)
            if width not in (3, 4) or len(cells) != width:
                raise UsageError(
                    f"{line}: {len(cells)} cells",
                    hint="each line is `topic,partition,offset`, or each one is "
                    "`group,topic,partition,offset`",
                )
            group = cells[0] if width == 4 else None
            at = (cells[-3], _number(cells[-2], line))
            offsets = plan.setdefault(group, {})
            if at in offsets:
                raise UsageError(f"{line}: {at[0]}-{at[1]} a second time")
            offsets[at] = _number(cells[-1], line)
    except csv.Error as error:
        raise UsageError(f"{where}:{reader.line_num}: {error}") from error
    if not plan:
        raise UsageError(f"{where} holds no line")
    return plan


def _number(cell: str, line: str) -> int:
    if not (cell.isascii() and cell.isdecimal() and int(cell) <= MAX_OFFSET):
        raise UsageError(f"{line}: `{cell}` is no partition or offset")
    return int(cell)
