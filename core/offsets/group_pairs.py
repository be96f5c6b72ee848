"""Which groups are copied to which: by name, by pattern, as `OLD=NEW`, from a file."""

import fnmatch
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kgroups.core.errors import UsageError
from kgroups.core.offsets.plan_file import csv_lines

ANY: Final = "*"
MAX_PAIRS: Final = 100_000


class Pair(NamedTuple):
    """A group and the one that gets its commits."""

    source: str
    target: str


def parse_pair(text: str) -> Pair:
    """What `OLD=NEW` spells; a name that holds `=` needs a file.

    Raises:
        UsageError: not of that form.
    """
    source, _, target = text.partition("=")
    if not source or not target or "=" in target:
        raise UsageError(f"`--map {text}` is not valid", hint="expected OLD=NEW, or use --map-file")
    return Pair(source, target)


def parse_pairs(text: str, where: str) -> list[Pair]:
    """The lines `old,new` of a CSV file without a heading; empty ones do not count.

    Raises:
        UsageError: a line of another form, or none.
    """
    pairs = []
    for place, cells in csv_lines(text, where, MAX_PAIRS):
        if len(cells) != 2 or not all(cells):
            raise UsageError(f"{place}: not a pair of groups", hint="expected lines `old,new`")
        pairs.append(Pair(*cells))
    return pairs


def pairs_of_pattern(pattern: str, target: str | None, names: Iterable[str]) -> list[Pair]:
    """The groups that fit a glob, ascending, each with its target.

    Args:
        target: with one `*`, for what that of the pattern stands for; None for the same name.
    Raises:
        UsageError: the two do not have one `*` each.
    """
    fitting = sorted(name for name in names if fnmatch.fnmatchcase(name, pattern))
    if target is None:
        return [Pair(name, name) for name in fitting]
    plain = pattern.count(ANY) == 1 and not {"?", "["} & set(pattern)
    if not plain or target.count(ANY) != 1:
        raise UsageError(
            f"`{pattern}` and `{target}` must have one `*` each",
            hint="for example --from 'billing-*' --to 'billing-v2-*', or use --map OLD=NEW",
        )
    before, after = pattern.split(ANY)
    return [
        Pair(name, target.replace(ANY, name[len(before) : len(name) - len(after)]))
        for name in fitting
    ]


def check_pairs(pairs: Sequence[Pair], *, elsewhere: bool) -> None:
    """See that each group gets the commits of one other.

    Args:
        elsewhere: the targets are of another cluster.
    Raises:
        UsageError: one does not.
    """
    targets: dict[str, str] = {}
    for source, target in pairs:
        if source == target and not elsewhere:
            raise UsageError(
                f"`{source}` cannot be copied to itself", hint="use --from GROUP --to OTHER"
            )
        if targets.setdefault(target, source) != source:
            raise UsageError(f"`{targets[target]}` and `{source}` would both go to `{target}`")
