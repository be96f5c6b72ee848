"""The CSV of `--export` and `--from-file`: `[group,]topic,partition,offset`, no header."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from kgroups.cli.official.arguments import LateError
from kgroups.cli.official.validation import Misuse

Partition = tuple[str, int]
Plan = Mapping[str, Mapping[Partition, int]]

_LONG_TEXT = 24
_LAST_QUOTED = ord(",")


def plan_text(plan: Plan, *, with_group: bool) -> str:
    """The lines of a plan, and an empty one."""
    lines = []
    for group, offsets in sorted(plan.items()):
        for (topic, number), offset in sorted(offsets.items()):
            names = [_quoted(group)] if with_group else []
            lines.append(",".join([*names, _quoted(topic), str(number), str(offset)]) + "\n")
    return "".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A cell as Jackson writes it: quoted if long, or if it has a sign up to the comma."""
    plain = len(text) <= _LONG_TEXT and all(
        ord(sign) > _LAST_QUOTED and sign != "\\" for sign in text
    )
    return text if plain else '"' + text.replace('"', '""') + '"'


def read_plan(
    path: str, groups: Iterable[str], *, one_group: bool
) -> dict[str, dict[Partition, int]]:
    """The offsets of a file for these groups; rows of other groups do not count.

    Args:
        path: of the file.
        groups: that are reset.
        one_group: exactly one `--group` is given, so that the file may leave the group out.
    Raises:
        LateError: the file cannot be read, or a line has not three or four cells that fit.
        Misuse: an offset is negative.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LateError(f"java.io.IOException: Unable to read file {path}") from error
    rows = [
        (number, [cell.strip() for cell in row])
        for number, row in enumerate(csv.reader(io.StringIO(text)), 1)
    ]
    while rows and not rows[-1][1]:
        rows.pop()
    names = list(groups)
    short = one_group and bool(rows) and len(rows[0][1]) == 3
    plan: dict[str, dict[Partition, int]] = {}
    if not rows:
        raise LateError(f"{path} holds no line")
    for number, row in rows:
        if len(row) != (3 if short else 4):
            expected = "topic,partition,offset" if short else "group,topic,partition,offset"
            raise LateError(f"{path}:{number}: expected {expected}, found {len(row)} cells")
        group = names[0] if short else row[0]
        topic, partition, offset = row[-3:]
        if not (partition.isdecimal() and offset.removeprefix("-").isdecimal()):
            raise LateError(f"{path}:{number}: expected numbers for partition and offset")
        if int(offset) < 0:
            raise Misuse("Invalid negative offset")
        if group in names:
            plan.setdefault(group, {})[topic, int(partition)] = int(offset)
    return plan
