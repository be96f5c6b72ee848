"""`kgroups copy-offsets`: copy committed offsets to another group or cluster."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgroups.cli.commands.writes.lookups import committed_by, free_groups, read_logs
from kgroups.cli.commands.writes.plan_saving import SavePlan
from kgroups.cli.commands.writes.writing import (
    Consent,
    DryRun,
    Execute,
    KeepGoing,
    NoUndo,
    OffsetWrite,
    Topics,
    UndoDir,
    carry_out,
    undo_dir_of,
)
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions, options_of
from kgroups.cli.source import cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.core.errors import ItemError, NotFoundError, UsageError
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.copy import Moment, copied_partitions, plan_copy, plan_copy_by_time
from kgroups.core.offsets.reset import committed
from kgroups.core.offsets.scope import Scope, parse_scope
from kgroups.core.snapshot import ClusterSnapshot, Group, Topic, TopicPartition

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin
    from kgroups.core.kafka.librdkafka.record_times import Place

SCHEMA = "kgroups.copy-offsets/1"

HELP = """Copy committed offsets to another group or cluster.

Within one cluster, offsets are copied with their metadata. To another cluster
(--to-bootstrap-server, or an address in --to-command-config) they are
translated by time, because offsets differ there: to the first record that is
not older than the next record to read. Records of the same millisecond may be
read twice; none is skipped. A group that has read everything is placed after
the last record's time.

The source group may be active; the target group must have no members and is
created if it does not exist. Shows the plan and asks for confirmation unless
--yes (or --execute) is given; without a terminal and without --yes it does
nothing (exit code 2). Saves replaced offsets to an undo file first, and reads
back what it wrote.

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
"""


def register(app: typer.Typer) -> None:
    """Add `copy-offsets` to the program."""
    app.command("copy-offsets", help=HELP, cls=WriteCommand)(copy_offsets)


def copy_offsets(
    ctx: typer.Context,
    from_: Annotated[str, typer.Option("--from", metavar="GROUP", help="Source group.")],
    to: Annotated[str, typer.Option("--to", metavar="GROUP", help="Target group.")],
    topic: Topics = None,
    to_bootstrap_server: Annotated[
        str | None,
        typer.Option("--to-bootstrap-server", metavar="HOST:PORT", help="Target cluster."),
    ] = None,
    to_command_config: Annotated[
        Path | None,
        typer.Option(
            "--to-command-config", metavar="FILE", help="Client properties of the target cluster."
        ),
    ] = None,
    undo_dir: UndoDir = None,
    no_undo: NoUndo = False,
    keep_going: KeepGoing = False,
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Execute = False,
) -> None:
    """`kgroups copy-offsets`."""
    options = options_of(ctx)
    printer = Printer(options)
    consent = Consent(yes=yes, dry_run=dry_run, keep_going=keep_going, plan=plan)
    folder = undo_dir_of(undo_dir, no_undo=no_undo)
    elsewhere = to_bootstrap_server is not None or to_command_config is not None
    if not from_ or not to or (from_ == to and not elsewhere):
        raise UsageError(
            "`--from` and `--to` must name two groups", hint="use --from GROUP --to OTHER"
        )
    scope = parse_scope(topic or ())
    consent.check(options)
    with cluster_to_change(options, dry_run=dry_run or elsewhere) as admin:
        looked = admin.snapshot([from_], log_offsets=False, progress=printer.progress)
        committed_by(looked, from_)
        source = looked.needed(from_)
        read_logs(admin, scope.names)  # brokers keep commits for hidden topics to themselves
        partitions = _partitions(source, scope)
        if not elsewhere:
            there = admin.snapshot([to], log_offsets=False, progress=printer.progress)
            free, changes = free_groups(there, [to], create=True)
            logs = read_logs(admin, {name for name, _ in partitions})
            for group in free:
                changes += plan_copy(group, source, partitions, logs)
            write = OffsetWrite.on(there, "copy-offsets", consent, folder, logs)
            carry_out(printer, admin, write, changes, _errors(there, to))
            return
        other = replace(
            options,
            bootstrap_server=to_bootstrap_server,
            command_config=to_command_config,
            contexts=(),
        )
        with cluster_to_change(other, admin.deadline, dry_run=dry_run) as target:
            there = target.snapshot([to], log_offsets=False, progress=printer.progress)
            changes, logs = _by_time(admin, target, there, source, to, partitions, options)
            write = OffsetWrite.on(there, "copy-offsets", consent, folder, logs)
            carry_out(printer, target, write, changes, _errors(there, to))


def _partitions(source: Group, scope: Scope) -> list[TopicPartition]:
    """What is to be copied.

    Raises:
        NotFoundError: nothing is committed for something that is named.
    """
    partitions = copied_partitions(source, scope)
    topics = {topic for topic, _ in partitions}
    missing = [name for name in scope.topics if name not in topics]
    missing += [f"{at[0]}-{at[1]}" for at in scope.partitions if at not in partitions]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        raise NotFoundError(f"group `{source.group}` committed nothing for {names}")
    return partitions


def _errors(there: ClusterSnapshot, to: str) -> list[ItemError]:
    """Failures of the look that are not about the group that is put somewhere."""
    return [error for error in there.errors if error.target != to]


def _by_time(
    admin: "ClusterAdmin",
    target: "ClusterAdmin",
    there: ClusterSnapshot,
    source: Group,
    to: str,
    partitions: list[TopicPartition],
    options: GlobalOptions,
) -> tuple[list[Change], dict[str, Topic]]:
    """The plan for a group of another cluster, and the topics there."""
    from kgroups.core.kafka.librdkafka.record_times import record_times
    from kgroups.core.kafka.lookups.offsets_by_time import offsets_at_times

    free, changes = free_groups(there, [to], create=True)
    names = {name for name, _ in partitions}
    places, lost = _places(source, partitions, read_logs(admin, names))
    left_ms = round(1_000 * admin.ends().left_s)
    moments = record_times(admin.settings, places, left_ms) | lost
    logs = read_logs(target, names)
    times = {
        at: moment.time_ms
        for at, moment in moments.items()
        if moment.time_ms is not None and at[0] in logs and at[1] in logs[at[0]].partitions
    }
    found = offsets_at_times(target, times)
    ordered = {at: moments[at] for at in partitions}
    for group in free:
        changes += plan_copy_by_time(group, ordered, found, logs)
    return changes, logs


def _places(
    source: Group, partitions: list[TopicPartition], logs: Mapping[str, Topic]
) -> tuple[dict[TopicPartition, "Place"], dict[TopicPartition, Moment]]:
    """Where the group stands in each log, and the partitions whose logs cannot be asked."""
    from kgroups.core.kafka.librdkafka.record_times import Place

    places: dict[TopicPartition, Place] = {}
    lost: dict[TopicPartition, Moment] = {}
    for at in partitions:
        topic, commit = logs.get(at[0]), committed(source, at)
        log = None if topic is None else topic.partitions.get(at[1])
        if log is None or commit is None:
            lost[at] = Moment(error="UNKNOWN_TOPIC_OR_PARTITION")
        elif log.error is not None or log.log_start_offset is None or log.log_end_offset is None:
            lost[at] = Moment(error=log.error or "LEADER_NOT_AVAILABLE")
        else:
            places[at] = Place(commit.offset, log.log_start_offset, log.log_end_offset)
    return places, lost
