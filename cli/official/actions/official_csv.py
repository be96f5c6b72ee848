"""The CSV of `--export` and `--from-file`: `[group,]topic,partition,offset`, no header."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from kgroups.cli.official.arguments import LateError
from kgroups.cli.official.validation import Misuse
from kgroups.cli.output.escapes import for_stdout
from kgroups.core.errors import UsageError
from kgroups.core.offsets.plan_file import plan_rows, read_plan_text
from kgroups.core.snapshot import TopicPartition

Plan = Mapping[str, Mapping[TopicPartition, int]]

_LONG_TEXT = 24
_LAST_QUOTED = ord(",")


def plan_text(plan: Plan, *, with_group: bool) -> str:
    """The lines of a plan, and an empty one."""
    lines = []
    shown = for_stdout()
    for group, offsets in sorted(plan.items()):
        for (topic, number), offset in sorted(offsets.items()):
            names = [_quoted(shown(group))] if with_group else []
            lines.append(",".join([*names, _quoted(shown(topic)), str(number), str(offset)]) + "\n")
    return "".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A cell as Jackson writes it: quoted if long, or if it has a sign up to the comma."""
    plain = len(text) <= _LONG_TEXT and all(
        ord(sign) > _LAST_QUOTED and sign != "\\" for sign in text
    )
    return text if plain else '"' + text.replace('"', '""') + '"'


def read_plan(
    path: str, groups: Iterable[str], *, one_group: bool
) -> dict[str, dict[TopicPartition, int]]:
    """The offsets of a file for these groups; rows of other groups do not count.

    Args:
        path: of the file; of two lines for one partition the last counts.
        one_group: exactly one `--group` is given, so that the file may leave the group out.
    Raises:
        LateError: the file cannot be read, or a line has not three or four cells that fit.
        Misuse: an offset is negative.
    """
    try:
        text = read_plan_text(Path(path))
    except UsageError as error:
        raise LateError(f"java.io.IOException: Unable to read file {path}") from error
    names = list(groups)
    plan: dict[str, dict[TopicPartition, int]] = {}
    widths = (3, 4) if one_group else (4,)
    try:
        for row in plan_rows(text.rstrip(), path, widths=widths, skip_empty=False):
            if row.offset < 0:
                raise Misuse("Invalid negative offset")
            group = names[0] if row.group is None else row.group
            if group in names:
                plan.setdefault(group, {})[row.at] = row.offset
    except Misuse:
        raise
    except UsageError as error:
        hint = "" if error.hint is None else f": {error.hint}"
        raise LateError(error.message + hint) from error
    return plan
