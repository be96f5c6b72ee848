"""`kgroups copy-offsets`: copy committed offsets to another group or cluster."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from kgroups.cli.commands.writes.copy_matches import (
    COLUMN,
    Comparison,
    MatchBy,
    TopicPrefix,
    comparison_of,
    matched_changes,
)
from kgroups.cli.commands.writes.copy_sources import (
    Source,
    Sources,
    look_at_checkpoints,
    look_at_sources,
    refused_type,
    wanted_pairs,
)
from kgroups.cli.commands.writes.lookups import free_groups, read_logs
from kgroups.cli.commands.writes.offset_writes import (
    NoUndo,
    Topics,
    UndoDir,
    offset_write,
    undo_dir_of,
)
from kgroups.cli.commands.writes.prompts import Consent, DryRun, Execute, KeepGoing, SavePlan
from kgroups.cli.commands.writes.record_skips import Limit, View
from kgroups.cli.commands.writes.writing import Run, carry_out
from kgroups.cli.contexts.in_force import contexts_of
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions, options_of, within
from kgroups.cli.source import cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.cli.usage import Text, Texts, option
from kgroups.core.errors import ItemError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at_times
from kgroups.core.kafka.lookups.record_times import record_moments
from kgroups.core.kafka.lookups.record_walk import Stand
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.checkpoints import with_notes
from kgroups.core.offsets.copy import Moment, plan_copy, plan_copy_by_time, verified_copy
from kgroups.core.offsets.reset import committed
from kgroups.core.offsets.scope import log_of, parse_scope
from kgroups.core.snapshot import ClusterSnapshot, Group, Topic, TopicPartition

HELP = """Copy committed offsets to another group or cluster.

Within one cluster, offsets are copied with their metadata. To another cluster
(--to-context, --to-bootstrap-server, or an address in --to-command-config)
they are translated by time, because offsets differ there: to the first record
not older than the next record to read. Records of the same millisecond may be
read twice; none is skipped. A group that has read everything is placed after
the last record's time. --topic-prefix is for topics that are renamed there.

--match records looks for the next record itself: by time, key, headers, value
and the records around it. READ on the topics of both clusters is required.
  exact      found: none is skipped, none is read twice
  ambiguous  several are alike; the earliest is taken
  not there  not replicated yet, or gone; the row fails (exit code 5)
--limit bounds what is read in each cluster (1m records; 10 minutes).

Many groups: --from and --to with one `*` each, --map OLD=NEW (repeatable), or
--map-file FILE with lines `old,new`; to another cluster, --from alone keeps
the names. --verify looks at both groups again after the write and fails rows
where one of them has committed since.

--checkpoints TOPIC commits the offsets that MirrorMaker 2 has translated. -b
alone names the target cluster, which holds that topic. With
--to-bootstrap-server, -b is the source cluster, whose commits are compared:
one without a checkpoint is a failed row, and notes tell how many records
would be read twice. Topics are named as in the target cluster.

The source group may be active; the target group must have no members and is
created if it does not exist. Share and streams groups are refused. Shows the
plan and asks for confirmation unless --yes (or --execute) is given; without a
terminal and without --yes it does nothing (exit code 2). Saves replaced
offsets to an undo file first, and reads back what it wrote.

RESULTS, one per partition
  planned  would be copied (--dry-run)
  done     is copied, and reads back so
  refused  the group has members              exit code 4
  failed   not found (5), refused by the broker, or overwritten since
  skipped  already there, others could not be copied, or you declined
  unknown  no answer within --timeout, so it may or may not be done (3)

EXAMPLES
  kgroups copy-offsets --from billing --to billing-v2 --dry-run
  kgroups copy-offsets --from billing --to billing-v2 --topic orders --yes
  kgroups copy-offsets --from billing --to billing -b east:9092 \\
      --to-bootstrap-server west:9092
  kgroups copy-offsets --from billing -c east --to-context west \\
      --match records --topic-prefix east. --dry-run
  kgroups copy-offsets --from 'billing-*' --to 'billing-v2-*' --verify --yes
  kgroups copy-offsets --from '*' --checkpoints east.checkpoints.internal \\
      -b east:9092 --to-bootstrap-server west:9092
"""
COMMAND = WriteCommand


def copy_offsets(
    ctx: typer.Context,
    from_: Annotated[Text, option("--from GROUP", "Source group, or glob.")] = None,
    to: Annotated[Text, option("--to GROUP", "Target group; * as in --from.")] = None,
    map_: Annotated[Texts, option("--map OLD=NEW", "Source and target; repeatable.")] = None,
    map_file: Annotated[
        Path | None, option("--map-file FILE", "CSV file, each line `old,new`.")
    ] = None,
    topic: Topics = None,
    to_bootstrap_server: Annotated[
        Text, option("--to-bootstrap-server HOST:PORT", "Target cluster.")
    ] = None,
    to_command_config: Annotated[
        Path | None, option("--to-command-config FILE", "Client properties of the target cluster.")
    ] = None,
    to_context: Annotated[
        Text, option("--to-context CONTEXT", "Target cluster, by its context.")
    ] = None,
    topic_prefix: TopicPrefix = "",
    match: MatchBy = None,
    limit: Limit = None,
    isolation: View = "read_committed",
    checkpoints: Annotated[
        Text, option("--checkpoints TOPIC", "MirrorMaker 2's topic of checkpoints.")
    ] = None,
    verify: Annotated[bool, option("--verify", "Check both groups again afterwards.")] = False,
    undo_dir: UndoDir = None,
    no_undo: NoUndo = False,
    keep_going: KeepGoing = False,
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Execute = False,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    consent = Consent(yes=yes, dry_run=dry_run, keep_going=keep_going, plan=plan)
    folder = undo_dir_of(undo_dir, no_undo=no_undo)
    addressed = to_bootstrap_server is not None or to_command_config is not None
    elsewhere = addressed or to_context is not None
    if verify and dry_run:
        raise UsageError("--verify looks again after a write, and --dry-run writes nothing")
    if checkpoints == "":
        raise UsageError("--checkpoints must name a topic")
    by_time = elsewhere and checkpoints is None
    comparison = comparison_of(match, limit, isolation, by_time=by_time)
    if topic_prefix and not by_time:
        raise UsageError("--topic-prefix requires another cluster, and no --checkpoints")
    foreign = elsewhere or checkpoints is not None
    wanted = wanted_pairs(from_, to, map_, map_file, elsewhere=foreign)
    scope = parse_scope(topic or ())
    with ExitStack() as clusters:
        admin = clusters.enter_context(cluster_to_change(options, dry_run=dry_run or elsewhere))
        target = admin
        if checkpoints is None:
            sources = look_at_sources(printer, admin, wanted, scope, elsewhere=elsewhere)
        if elsewhere:
            other = _other(options, to_bootstrap_server, to_command_config, to_context)
            there = cluster_to_change(other, admin.deadline, dry_run=dry_run)
            target = clusters.enter_context(there)
        if checkpoints is not None:
            known = admin if elsewhere else None
            sources = look_at_checkpoints(printer, known, target, checkpoints, wanted, scope)
        here = admin if by_time else None
        looked, changes, logs = _plan(printer, sources, target, here, topic_prefix, comparison)
        targets = {source.target for source in sources.sources}
        errors = [error for error in looked.errors if error.target not in targets]
        run = Run(printer, target, consent, looked.cluster_id)
        write = offset_write(
            run,
            "copy-offsets",
            folder,
            logs,
            verify=_verifier(sources, target, topic_prefix) if verify else None,
            summary=sources.summary,
            more=lambda change: {} if comparison is None else comparison.told(change),
            shown=() if comparison is None else (COLUMN,),
        )
        blocked = bool(sources.errors)
        carry_out(run, write, changes, [*errors, *sources.errors], blocked=blocked)


def _other(
    options: GlobalOptions, address: str | None, file: Path | None, context: str | None
) -> GlobalOptions:
    """The options with the target cluster in place of the source.

    Raises:
        UsageError: it is named in two ways, or its context is not known.
    """
    other = replace(options, bootstrap_server=address, command_config=file, contexts=())
    if context is None:
        return other
    if address is not None or file is not None:
        raise UsageError(
            "--to-context cannot be used with --to-bootstrap-server or --to-command-config"
        )
    named = contexts_of((context,))[0]
    return within(other, {"client", "output", "timeout_ms"}, named)


def _plan(
    printer: Printer,
    sources: Sources,
    target: ClusterAdmin,
    admin: ClusterAdmin | None,
    prefix: str,
    comparison: Comparison | None,
) -> tuple[ClusterSnapshot, list[Change], dict[str, Topic]]:
    """The target groups as they are, the changes, and the topics that these are about.

    Args:
        admin: the cluster of the sources, where offsets are translated; None where they are
            copied as they are.
        prefix: of topics in the target cluster only.
        comparison: of records; None where offsets are translated by time.
    """
    by_target = {source.target: source for source in sources.sources}
    looked = target.snapshot(list(by_target), log_offsets=False, progress=printer.progress)
    free, changes = free_groups(looked, list(by_target), create=True)
    refusals = [(group.group, refused_type(group)) for group in free]
    changes += (
        Change(name).failed(ItemError.of(name, why)) for name, why in refusals if why is not None
    )
    free = [group for group in free if refused_type(group) is None]
    names = {name for each in sources.sources for name, _ in each.partitions}
    logs = read_logs(target, {prefix + name for name in names})
    copies = [(group, by_target[group.group]) for group in free]
    if admin is None:
        for group, source in copies:
            changes += plan_copy(group, source.group, source.partitions, logs)
    elif comparison is not None:
        clusters = (admin, target)
        both = (read_logs(admin, names), logs)
        changes += matched_changes(printer, clusters, copies, both, prefix, comparison)
    else:
        changes += _by_time(admin, target, copies, logs, prefix)
    changes = [*sources.refused, *changes]
    if sources.translations:
        changes = with_notes(changes, sources.translations)
    return looked, changes, logs


def _by_time(
    admin: ClusterAdmin,
    target: ClusterAdmin,
    copies: Sequence[tuple[Group, Source]],
    logs: Mapping[str, Topic],
    prefix: str,
) -> list[Change]:
    """The plan for groups of another cluster.

    Records are read for many groups at once; those that stand at different offsets of one
    partition in one round each.
    """
    here = read_logs(admin, {name for _, source in copies for name, _ in source.partitions})
    stands = [_places(source.group, source.partitions, here) for _, source in copies]
    distinct: dict[TopicPartition, dict[Stand, None]] = {}
    for places, _ in stands:
        for at, place in places.items():
            distinct.setdefault(at, {})[place] = None
    moments: dict[tuple[TopicPartition, Stand], Moment] = {}
    found: dict[tuple[TopicPartition, Stand], int | str | None] = {}
    for turn in zip_longest(*distinct.values()):
        places = {at: place for at, place in zip(distinct, turn, strict=True) if place is not None}
        told = record_moments(admin, here, places)
        times = {
            (prefix + topic, number): moment.time_ms
            for (topic, number), moment in told.items()
            if moment.time_ms is not None and log_of(logs, (prefix + topic, number)) is not None
        }
        offsets = offsets_at_times(target, times)
        for at, place in places.items():
            moments[at, place], found[at, place] = told[at], offsets.get((prefix + at[0], at[1]))
    changes: list[Change] = []
    for (group, source), (places, lost) in zip(copies, stands, strict=True):
        ordered = {
            (prefix + at[0], at[1]): lost[at] if at in lost else moments[at, places[at]]
            for at in source.partitions
        }
        own = {(prefix + at[0], at[1]): found[at, place] for at, place in places.items()}
        changes += plan_copy_by_time(group, ordered, own, logs)
    return changes


def _verifier(
    sources: Sources, target: ClusterAdmin, prefix: str
) -> Callable[[Sequence[Change]], list[Change]]:
    """Looks at both sides after the write: who committed since is told."""

    def verify(changes: Sequence[Change]) -> list[Change]:
        group_here = sources.look()
        names = [source.target for source in sources.sources]
        there = target.snapshot(names, members=False, log_offsets=False)
        pairs = {
            source.target: (source.group, group_here(source.group.group))
            for source in sources.sources
        }
        groups = {name: there.group(name) for name in names}
        return [verified_copy(change, pairs, groups, prefix) for change in changes]

    return verify


def _places(
    source: Group, partitions: list[TopicPartition], logs: Mapping[str, Topic]
) -> tuple[dict[TopicPartition, Stand], dict[TopicPartition, Moment]]:
    """Where the group stands in each log, and the partitions whose logs cannot be asked."""
    places: dict[TopicPartition, Stand] = {}
    lost: dict[TopicPartition, Moment] = {}
    for at in partitions:
        log, commit = log_of(logs, at), committed(source, at)
        if log is None or commit is None:
            lost[at] = Moment(error="UNKNOWN_TOPIC_OR_PARTITION")
        elif log.error is not None or log.log_start_offset is None or log.log_end_offset is None:
            lost[at] = Moment(error=log.error or "LEADER_NOT_AVAILABLE")
        else:
            places[at] = Stand(commit.offset, log.log_start_offset, log.log_end_offset)
    return places, lost
