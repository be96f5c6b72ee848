"""Which groups a command is about: names, globs, regular expressions, or all of them."""

import fnmatch
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

from kgroups.cli.meanings.group_states import GROUP_STATES, hint_of
from kgroups.cli.params import parse_choice
from kgroups.cli.source import (
    GLOB_SIGNS,
    snapshot_of,
    snapshot_of_file,
    unknown_group,
    with_guess,
)
from kgroups.cli.usage import Texts, argument, option
from kgroups.core.errors import ItemError, PatternError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.lag.rules import Isolation
from kgroups.core.patterns import compile_pattern
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot

GroupNames = Annotated[Texts, argument("[GROUP]...", "Group names or globs: 'old-*'.")]
Regex = Annotated[Texts, option("--regex REGEX", "Groups whose whole name matches (RE2).")]
AllGroups = Annotated[bool, option("--all-groups", "Every group of the cluster.")]


def parse_states(values: list[str] | None) -> tuple[str, ...]:
    """The named states of groups.

    Raises:
        UsageError: a value that is none of them.
    """
    return parse_choice(values, GROUP_STATES, "group state", hint_of)


class Choice(NamedTuple):
    """The groups that were asked for.

    Args:
        names: names, and globs: texts with `*`, `?` or `[` that are no group's name.
        regex: RE2 patterns of whole names.
        every: all groups.
    """

    names: tuple[str, ...]
    regex: tuple[str, ...] = ()
    every: bool = False

    @property
    def plain(self) -> list[str] | None:
        """The names, where nothing else is asked for; None if the groups have to be listed."""
        if self.every or self.regex or any(GLOB_SIGNS & set(name) for name in self.names):
            return None
        return list(self.names)

    def among(self, listed: Iterable[str]) -> tuple[list[str], list[ItemError]]:
        """The groups that are meant, ascending, and an error for each text that fits none.

        A name without signs of a glob is taken as it is, whether it is listed or not.

        Args:
            listed: every group there is.
        """
        names = sorted(listed)
        if self.every:
            return names, []
        by_name: dict[str, None] = {}
        errors: list[ItemError] = []
        for text in self.names:
            fitting = [text]
            if GLOB_SIGNS & set(text) and text not in names:
                fitting = [name for name in names if fnmatch.fnmatchcase(name, text)]
            errors += _unless(fitting, text)
            by_name |= dict.fromkeys(fitting)
        for text in self.regex:
            fits = name_pattern(text)
            fitting = [name for name in names if fits(name)]
            errors += _unless(fitting, text)
            by_name |= dict.fromkeys(fitting)
        return list(by_name), errors


def exact_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names of groups as they were given, each once.

    Raises:
        UsageError: one is empty.
    """
    once = tuple(dict.fromkeys(names))
    if "" in once:
        raise UsageError("a group name cannot be empty", hint="`kgroups list` shows the names")
    return once


def choice_of(
    names: Sequence[str] | None, regex: Sequence[str] | None = None, *, every: bool = False
) -> Choice:
    """Groups that the arguments ask for.

    Raises:
        UsageError: nothing, or all and some; an empty name; a broken pattern.
    """
    some = bool(names or regex)
    if some == every:
        what = "groups and --all-groups cannot be used together" if every else "no group given"
        raise UsageError(what, hint="name groups, or use --regex or --all-groups")
    exact = exact_names(names or ())
    for text in regex or ():
        name_pattern(text)
    return Choice(exact, tuple(dict.fromkeys(regex or ())), every)


def name_pattern(text: str) -> Callable[[str], bool]:
    """A test of whether a whole name fits an RE2 pattern.

    Raises:
        UsageError: it does not compile.
    """
    try:
        return compile_pattern(text)
    except PatternError as error:
        raise UsageError(
            f"`{text}` is not a valid pattern: {error}",
            hint="--regex uses RE2 syntax, like brokers",
        ) from error


def chosen(admin: ClusterAdmin, choice: Choice) -> tuple[list[str], list[ItemError]]:
    """The groups that are meant on this cluster, and an error for each text that fits none.

    Raises:
        ClusterError: the groups have to be listed, and the cluster cannot be asked.
    """
    if choice.plain is not None:
        return choice.plain, []
    listing = admin.list_groups()
    names, errors = choice.among(group.group for group in listing.groups)
    return names, [*listing.errors, *errors]


def chosen_of(
    choice: Choice, listed: Collection[str], where: str
) -> tuple[list[str], list[ItemError]]:
    """The groups that are meant of those that are somewhere, and an error for each other text.

    Args:
        where: they are.
    """
    names, errors = choice.among(listed)
    missing = [name for name in names if name not in listed]
    unknown = (with_guess(unknown_group(name, where), sorted(listed)) for name in missing)
    return [name for name in names if name in listed], [*errors, *unknown]


def snapshot_of_choice(
    admin: ClusterAdmin | None,
    choice: Choice,
    *,
    file: Path | None = None,
    offsets: bool = True,
    isolation: Isolation = "read_uncommitted",
    progress: Callable[[str], None] | None = None,
) -> ClusterSnapshot:
    """The groups that are meant; what fits no group is among its errors.

    Args:
        admin: the cluster; None where a file takes its place.
        offsets: read commits, and the bounds of the logs.
    """
    names = choice.plain
    strangers: list[ItemError] = []
    if names is None and not choice.every:
        if admin is None:
            assert file is not None, "either a file or a cluster is asked"
            groups = snapshot_of_file(file).groups
            names, strangers = choice.among(group.group for group in groups)
        else:
            names, strangers = chosen(admin, choice)
    snapshot = snapshot_of(
        admin,
        names,
        file=file,
        offsets=offsets,
        log_offsets=offsets,
        isolation=isolation,
        progress=progress,
    )
    return replace(snapshot, errors=(*snapshot.errors, *strangers))


def _unless(fitting: Sequence[str], text: str) -> list[ItemError]:
    if fitting:
        return []
    return [broker_error(text, "GROUP_ID_NOT_FOUND", "no group matches")]


def chosen_groups(groups: list[str] | None, *, all_groups: bool) -> list[str] | None:
    """The named groups, each once; None stands for all.

    Raises:
        UsageError: neither names nor `--all-groups`, or both; an empty name.
    """
    if bool(groups) == all_groups:
        what = "groups and --all-groups cannot be used together" if groups else "no group given"
        raise UsageError(what, hint="name groups, or use --all-groups")
    if not groups:
        return None
    return list(exact_names(groups))
