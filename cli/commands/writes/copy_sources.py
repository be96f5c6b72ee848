"""Which groups `kgroups copy-offsets` copies, and what they have committed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from kgroups.cli.commands.writes.lookups import committed_by, read_logs
from kgroups.cli.output.printer import Printer
from kgroups.cli.source import GLOB_SIGNS
from kgroups.core.errors import ItemError, KgroupsError, NotFoundError, UsageError
from kgroups.core.input_files.files import MIB, read_text
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.copy import copied_partitions
from kgroups.core.offsets.group_pairs import (
    Pair,
    check_pairs,
    pairs_of_pattern,
    parse_pair,
    parse_pairs,
)
from kgroups.core.offsets.scope import Scope
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin

MAX_BYTES: Final = 16 * MIB


class Wanted(NamedTuple):
    """What is asked for.

    Args:
        pairs: groups by name.
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


def wanted_pairs(
    source: str | None,
    target: str | None,
    pairs: Sequence[str] | None,
    file: Path | None,
    *,
    elsewhere: bool,
) -> Wanted:
    """What the options ask for.

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
    printer: Printer, admin: "ClusterAdmin", wanted: Wanted, scope: Scope, *, elsewhere: bool
) -> tuple[list[Source], list[Change]]:
    """The groups with what is to be copied of each, and those of which nothing can be.

    One group that is named alone fails at once.

    Raises:
        ClusterError: the cluster cannot be asked.
        NotFoundError: no group fits; the only one is not there, or has committed nothing there.
        UsageError: two groups would go to one.
    """
    pairs = wanted.pairs
    if wanted.pattern is not None:
        names = [group.group for group in admin.list_groups().groups if group.type != "share"]
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
    return sources, refused


def _source(looked: ClusterSnapshot, pair: Pair, scope: Scope) -> Source:
    """A group and what is to be copied of it.

    Raises:
        ClusterError: it may not be looked at, or could not be.
        NotFoundError: nothing is committed for something that is named.
    """
    committed_by(looked, pair.source)
    group = looked.needed(pair.source)
    partitions = copied_partitions(group, scope)
    topics = {topic for topic, _ in partitions}
    missing = [name for name in scope.topics if name not in topics]
    missing += [f"{at[0]}-{at[1]}" for at in scope.partitions if at not in partitions]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise NotFoundError(f"group `{group.group}` committed nothing for {names}")
    return Source(group, partitions, pair.target)
