"""Which groups `kgroups copy-offsets` copies, and what they have committed."""

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from kgroups.cli.commands.writes.lookups import committed_by, read_logs
from kgroups.cli.output.printer import Printer
from kgroups.cli.source import GLOB_SIGNS
from kgroups.core.errors import (
    ItemError,
    KgroupsError,
    NotFoundError,
    RefusedError,
    UsageError,
    counted,
)
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.checkpoint_topic import read_checkpoints
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.checkpoints import (
    Translation,
    missing_checkpoint,
    translated_group,
    translations,
)
from kgroups.core.offsets.copy import (
    Pair,
    check_pairs,
    copied_partitions,
    pairs_of_pattern,
    parse_pair,
    parse_pairs,
)
from kgroups.core.offsets.scope import Scope
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition

MAX_BYTES: Final = 16 * MIB
MAX_LINES: Final = 20
NONE: Final = "NO_CHECKPOINT"
OTHER_TYPES: Final = frozenset({"share", "streams"})


class Wanted(NamedTuple):
    """Request to copy offsets.

    Args:
        pattern: of the source groups, where they are many.
        target: of the pattern; None for the same names.
    """

    pairs: tuple[Pair, ...] = ()
    pattern: str | None = None
    target: str | None = None


class Source(NamedTuple):
    """A group whose commits are copied, which ones, and to which group."""

    group: Group
    partitions: list[TopicPartition]
    target: str


class Sources(NamedTuple):
    """The groups whose commits are copied.

    Args:
        refused: groups, and commits of checkpoints, that cannot be copied.
        translations: what checkpoints tell of each partition, by target group.
        summary: what the report's summary says of that.
        errors: why groups could not be compared with the source cluster, which holds the others
            back.
    """

    sources: list[Source]
    look: Callable[[], Callable[[str], Group | None]]
    refused: list[Change]
    translations: Mapping[str, list[Translation]] = {}
    summary: Mapping[str, object] = {}
    errors: Sequence[ItemError] = ()


def wanted_pairs(
    source: str | None,
    target: str | None,
    pairs: Sequence[str] | None,
    file: Path | None,
    *,
    elsewhere: bool,
) -> Wanted:
    """Request that the options spell.

    Args:
        elsewhere: the target is another cluster.
    Raises:
        UsageError: nothing, several things at once, or a group to itself.
    """
    ways = [source is not None, bool(pairs), file is not None]
    if sum(ways) != 1 or (target is not None and source is None):
        raise UsageError(
            "expected one of --from, --map and --map-file",
            hint="use --from GROUP --to OTHER, or --map OLD=NEW",
        )
    found: list[Pair] = []
    if file is not None:
        text = read_text(file.expanduser(), MAX_BYTES, "a CSV file, each line `old,new`")
        found = parse_pairs(text, str(file))
    elif pairs:
        found = [parse_pair(text) for text in pairs]
    elif source and GLOB_SIGNS & set(source):
        if target is None and not elsewhere:
            raise UsageError("no --to given", hint="for example --to 'billing-v2-*'")
        if target is not None:
            pairs_of_pattern(source, target, ())
        return Wanted((), source, target)
    elif not source or not (target or (target is None and elsewhere)):
        raise UsageError(
            "`--from` and `--to` must name two groups", hint="use --from GROUP --to OTHER"
        )
    else:
        found = [Pair(source, target or source)]
    found = list(dict.fromkeys(found))
    check_pairs(found, elsewhere=elsewhere)
    return Wanted(tuple(found))


def look_at_sources(
    printer: Printer, admin: ClusterAdmin, wanted: Wanted, scope: Scope, *, elsewhere: bool
) -> Sources:
    """The groups with what is to be copied of each, and those of which nothing can be.

    One group that is named alone fails at once.

    Raises:
        NotFoundError: no group fits; the only one is not there, or has committed nothing there.
        UsageError: two groups would go to one.
    """
    pairs = wanted.pairs
    if wanted.pattern is not None:
        listed = admin.list_groups().groups
        names = [group.group for group in listed if group.type not in OTHER_TYPES]
        pairs = tuple(pairs_of_pattern(wanted.pattern, wanted.target, names))
        check_pairs(pairs, elsewhere=elsewhere)
        if not pairs:
            raise NotFoundError(f"no group matches `{wanted.pattern}`", code="GROUP_ID_NOT_FOUND")
    names = list(dict.fromkeys(pair.source for pair in pairs))
    looked = admin.snapshot(names, log_offsets=False, progress=printer.progress)
    read_logs(admin, scope.names)  # brokers keep commits for hidden topics to themselves
    sources: list[Source] = []
    refused: list[Change] = []
    for pair in pairs:
        group = looked.group(pair.source)
        if wanted.pattern is not None and group is not None and group.offsets == {}:
            continue  # it fits, and has nothing that could be copied
        try:
            sources.append(_source(looked, pair, scope))
        except KgroupsError as error:
            if len(pairs) == 1:
                raise
            refused.append(Change(pair.target).failed(ItemError.of(pair.source, error)))

    def look() -> Callable[[str], Group | None]:
        return admin.snapshot(names, members=False, log_offsets=False).group

    return Sources(sources, look, refused)


def _source(looked: ClusterSnapshot, pair: Pair, scope: Scope) -> Source:
    """A group and what is to be copied of it.

    Raises:
        ClusterError: it may not be looked at, or could not be.
        NotFoundError: nothing is committed for something that is named.
        RefusedError: it is a share or a streams group.
    """
    group = looked.needed(pair.source)
    refusal = refused_type(group)
    if refusal is not None:
        raise refusal
    committed_by(looked, pair.source)
    partitions = copied_partitions(group, scope)
    missing = scope.missing(partitions)
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise NotFoundError(f"group `{group.group}` committed nothing for {names}")
    return Source(group, partitions, pair.target)


def refused_type(group: Group) -> RefusedError | None:
    """Why nothing is copied from, or to, a group of this type; None if it can be."""
    if group.type not in OTHER_TYPES:
        return None
    text = f"`{group.group}` is a {group.type} group, and only commits of consumers are copied"
    return RefusedError(text, hint="use `kgroups reset-offsets` to move its offsets")


def look_at_checkpoints(
    printer: Printer,
    admin: ClusterAdmin | None,
    target: ClusterAdmin,
    topic: str,
    wanted: Wanted,
    scope: Scope,
) -> Sources:
    """The groups by their checkpoints, compared with the source cluster if it is given.

    Args:
        admin: the source cluster; None if it is not to be asked.
        target: the cluster that holds the checkpoints.
    Raises:
        ClusterError: a cluster cannot be asked.
        NotFoundError: no such topic; no group fits; the only one has no checkpoint.
        UsageError: the topic holds no checkpoints; two groups would go to one.
    """
    named = {pair.source for pair in wanted.pairs}
    pattern = wanted.pattern

    def is_wanted(group: str) -> bool:
        return group in named if pattern is None else fnmatch.fnmatchcase(group, pattern)

    checkpoints = read_checkpoints(target, topic, is_wanted)
    pairs = wanted.pairs
    if pattern is not None:
        listed = () if admin is None else admin.list_groups().groups
        names = {*checkpoints.groups, *(group.group for group in listed if group.type != "share")}
        pairs = tuple(pairs_of_pattern(pattern, wanted.target, names))
        check_pairs(pairs, elsewhere=True)
    groups, errors = _in_source(printer, admin, pairs)
    unseen = {error.target for error in errors}
    sources: list[Source] = []
    refused: list[Change] = []
    told: dict[str, list[Translation]] = {}
    summary: list[dict[str, Any]] = []
    for source, name in pairs:
        own = checkpoints.groups.get(source, {})
        rows = translations(own, checkpoints.prefix, groups.get(source))
        rows = [row for row in rows if not scope.names or scope.holds(row.at)]
        if not rows and pattern is not None:
            continue
        problem = _without_checkpoint(source, topic, rows, scope)
        if problem is not None and len(pairs) == 1:
            raise problem
        if problem is not None:
            refused.append(Change(name).failed(ItemError.of(source, problem)))
            continue
        told[name] = rows
        held = [row.at for row in rows if row.checkpoint is not None]
        sources.append(Source(checkpoints.as_group(source), held, name))
        refused += (missing_checkpoint(name, row) for row in rows if row.checkpoint is None)
        is_known = admin is not None and source not in unseen
        summary.append(translated_group(name, rows, source_known=is_known))
    if pattern is not None and not (told or refused):
        raise NotFoundError(f"`{topic}` has no checkpoint of a group like `{pattern}`", code=NONE)
    tell_checkpoints(printer, summary)

    def look() -> Callable[[str], Group | None]:
        names = {source.group.group for source in sources}
        return read_checkpoints(target, topic, names.__contains__).as_group

    return Sources(sources, look, refused, told, {"checkpoints": summary}, errors)


def _in_source(
    printer: Printer, admin: ClusterAdmin | None, pairs: Sequence[Pair]
) -> tuple[dict[str, Group], list[ItemError]]:
    """The groups as they are in the source cluster, and why others could not be looked at."""
    names = list(dict.fromkeys(pair.source for pair in pairs))
    if admin is None or not names:
        return {}, []
    here = admin.snapshot(names, members=False, log_offsets=False, progress=printer.progress)
    errors = [error for error in here.errors if error.code != "GROUP_ID_NOT_FOUND"]
    return {group.group: group for group in here.groups}, errors


def _without_checkpoint(
    group: str, topic: str, told: Sequence[Translation], scope: Scope
) -> NotFoundError | None:
    """Why a group, or what is named of it, cannot be copied; None if it can."""
    missing = scope.missing({one.at for one in told})
    if told and not missing:
        return None
    what = "" if not missing else " for " + ", ".join(f"`{name}`" for name in missing)
    hint = "topics are named as in the target cluster" if missing else None
    return NotFoundError(
        f"`{topic}` has no checkpoint of group `{group}`{what}", hint=hint, code=NONE
    )


def tell_checkpoints(printer: Printer, groups: Sequence[Mapping[str, Any]]) -> None:
    """A line a group, or one for very many: translated, missing, read twice."""
    if len(groups) > MAX_LINES:
        sums = {
            name: None
            if any(group[name] is None for group in groups)
            else sum(group[name] for group in groups)
            for name in ("translated", "missing", "read_again")
        }
        groups = [{"group": f"{len(groups)} groups", **sums}]
    for group in groups:
        many = group["translated"]
        text = f"{group['group']}: {counted(many, 'partition')} translated"
        if group["missing"] is not None:
            text += f", {group['missing']} without checkpoint"
        if group["read_again"] is not None:
            text += f", {group['read_again']} records read twice"
        printer.note("CHECKPOINTS_READ", text)
