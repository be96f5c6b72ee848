"""`kgroups delete-records`: let the oldest records of topics go."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from kgroups.cli.commands.writes.batches import Answers, Units, in_batches, look_again
from kgroups.cli.commands.writes.lookups import committed_by, read_logs, resolved
from kgroups.cli.commands.writes.prompts import (
    Consent,
    DryRun,
    Execute,
    KeepGoing,
    SavePlan,
    about_records,
)
from kgroups.cli.commands.writes.writing import Run, Write, carry_out
from kgroups.cli.exits import now_ms
from kgroups.cli.official.layouts import RECORDS_BEGIN, RECORDS_DONE, record_line
from kgroups.cli.official.records import BadFile, offsets_of
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Row
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.cli.usage import Text, Texts, argument, option
from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.input_files.json_text import check_json_cost, parse_json
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.doubts import Doubts
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at
from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
from kgroups.core.kafka.reads.log_bounds import led_only
from kgroups.core.kafka.writes.record_deletion import delete_records as send_deletions
from kgroups.core.offsets.plan_file import parse_offsets, read_plan_text
from kgroups.core.offsets.record_deletions import (
    RecordDeletion,
    plan_deletions,
    verify_deletions,
)
from kgroups.core.offsets.reset import Known
from kgroups.core.offsets.scope import Scope, parse_scope
from kgroups.core.offsets.targets import Target, parse_target
from kgroups.core.offsets.write_file import PlannedRecords
from kgroups.core.snapshot import Group, Topic, TopicPartition

HELP = """Delete the oldest records of topics. This cannot be undone.

The plan shows how many records each partition would lose, and which groups
have not read them yet. If a partition cannot be truncated, nothing is
deleted, unless --keep-going is given. Asks for confirmation unless --yes (or
--execute) is given; without a terminal and without --yes it does nothing
(exit code 2). Reads the logs again afterwards. With --offset-json-file,
options are those of kafka-delete-records.sh.

RECORDS TO KEEP (--before)
  1500                  records from this offset on
  latest                none: deletes every record
  +100, -100            all but the first hundred; the last hundred
  2026-11-21T06:00:00Z  records that are not older; needs a zone
  7d, 1h30m, PT2H       records of the last 7 days
  group:NAME            what a group has not read yet
  file:PATH             lines `topic,partition,offset`, or the JSON file of
                        kafka-delete-records.sh
An offset beyond the log end is clamped, and the row says so.

RESULTS, one per partition
  planned  would lose records (--dry-run)
  done     lost them, and the log starts where it should
  failed   not found (5), or the broker did not do it
  skipped  nothing to delete, others could not be, or you declined
  unknown  no answer within --timeout, so it may or may not be done (3)

EXAMPLES
  kgroups delete-records orders --before 7d --dry-run
  kgroups delete-records orders:0,3-5 audit --before latest --yes
  kgroups delete-records orders --before group:billing
"""
COMMAND = WriteCommand
OFFSET_JSON = '`{"partitions": [{"topic": "orders", "partition": 0, "offset": 5}]}`'

COLUMNS = (
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("action"),
    Column("old_start", "START", right=True),
    Column("new_start", "NEW-START", right=True),
    Column("log_end_offset", "LOG-END", right=True),
    Column("deleted_records", "DELETED", right=True),
    Column("clamped"),
)


def delete_records(
    ctx: typer.Context,
    topics: Annotated[Texts, argument("[TOPIC]...", "Topics, or partitions: orders:0,3-5.")] = None,
    before: Annotated[Text, option("--before TARGET", "What to keep, see above.")] = None,
    keep_going: KeepGoing = False,
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Execute = False,
) -> None:
    options = options_of(ctx)
    printer = Printer(options)
    consent = Consent(yes=yes, dry_run=dry_run, keep_going=keep_going, plan=plan)
    scope = parse_scope(topics or ())
    target = target_of(before)
    given = _offsets_of_file(target)
    if not scope.names and target.kind != "file":
        raise UsageError("no topic given", hint="for example orders, or orders:0,3-5")
    with cluster_to_change(options, dry_run=dry_run) as admin:
        run = Run(printer, admin, consent, admin.cluster_id())
        logs = read_logs(admin, scope.names or {topic for topic, _ in given})
        deletions = _plan(admin, printer, scope, target, given, logs)
        carry_out(run, records_write(logs), deletions)


def records_write(topics: Mapping[str, Topic]) -> Write[RecordDeletion]:
    """A deletion of records."""
    return Write(
        command="delete-records",
        verb="delete",
        item="partition",
        written="partitions have lost their records",
        columns=COLUMNS,
        row=_row,
        question=about_records,
        apply=_apply,
        saved_rows=_saved_rows,
        is_in_place=lambda deletion: deletion.note is None,
        topic_ids={name: topic.topic_id for name, topic in topics.items()},
        plain=_plain,
        summary=_summary,
    )


USE: Final = "use --before 7d, --before 1500, --before latest, …"


def target_of(text: str | None) -> Target:
    """Target that the text spells: the first record that stays.

    Raises:
        UsageError: nothing is said, or a target that means nothing here.
    """
    if text is None:
        raise UsageError("no --before given", hint=USE)
    target = parse_target(text, now_ms(), USE)
    if target.kind in ("current", "earliest"):
        raise UsageError(f"before `{text}` there is nothing to delete")
    return target


def _offsets_of_file(target: Target) -> dict[TopicPartition, int]:
    """Offsets of the file that the target names; empty for other targets.

    Raises:
        UsageError: it cannot be read, or has lines with groups.
    """
    if target.kind != "file":
        return {}
    path = Path(target.name).expanduser()
    text = read_plan_text(path)
    if text.lstrip().startswith("{"):
        try:
            check_json_cost(text.encode(), str(path))
            parse_json(text, str(path), twice=True)
        except UsageError as error:  # it has the line
            raise UsageError(error.message, hint=f"expected {OFFSET_JSON}") from error
        try:
            return offsets_of(text)
        except BadFile as error:
            raise UsageError(f"`{path}`: {error.message}") from error
    given = parse_offsets(text, str(path))
    if set(given) != {None}:
        raise UsageError(
            f"`{path}` has a group column, and records have no group",
            hint="expected lines of `topic,partition,offset`",
        )
    return given[None]


def _plan(
    admin: ClusterAdmin,
    printer: Printer,
    scope: Scope,
    target: Target,
    given: Mapping[TopicPartition, int],
    logs: Mapping[str, Topic],
) -> list[RecordDeletion]:
    """The plan.

    Raises:
        NotFoundError: a topic or partition does not exist; the group committed nothing.
    """

    partitions = resolved(scope, logs) if scope.names else sorted(given)
    if scope.names and given:
        partitions = [at for at in partitions if at in given]
    readers = readers_of(admin, printer)
    if target.kind == "group":
        looked = admin.snapshot([target.name], members=False, log_offsets=False)
        given = committed_by(looked, target.name)
    at_time = offsets_at(admin, led_only(logs), target.number) if target.kind == "time" else {}
    return plan_deletions(partitions, target, Known(logs, at_time, given), readers)


def readers_of(admin: ClusterAdmin, printer: Printer) -> Sequence[Group]:
    """Every group with its commits; none where they may not be asked for."""
    try:
        return admin.snapshot(members=False, log_offsets=False, progress=printer.progress).groups
    except KgroupsError:
        text = "cannot determine which groups have not read these records"
        printer.note("READERS_UNKNOWN", text)
        return ()


def _apply(run: Run, deletions: Sequence[RecordDeletion]) -> list[RecordDeletion]:
    doubts: Doubts[TopicPartition] = Doubts()

    def send(partitions: Units[RecordDeletion], _until: Deadline) -> Answers:
        sent = [deletion for own in partitions.values() for deletion in own]
        wanted = {deletion.key: deletion.new_start or 0 for deletion in sent}
        outcomes = send_deletions(run.admin, wanted, doubts)
        return {
            at: doubts.error(at, f"{at[0]}-{at[1]}", outcome) if isinstance(outcome, str) else None
            for at, outcome in outcomes.items()
        }

    written = in_batches(
        run,
        deletions,
        send,
        "deleting records",
        "partitions",
        lambda deletion: deletion.target,
        size=len(deletions),
    )
    names = {deletion.topic for deletion in written if deletion.result in ("done", "unknown")}

    def look() -> list[RecordDeletion]:
        return verify_deletions(written, topics_with_bounds(run.admin, names).topics)

    unseen = verify_deletions(written, None)
    return look_again(run, written, look, unseen)


def _saved_rows(planned: Sequence[RecordDeletion]) -> Iterator[PlannedRecords]:
    for topic, partition, old_start, new_start, end, *_ in planned:
        if old_start is not None and new_start is not None and end is not None:
            yield PlannedRecords(topic, partition, old_start, new_start, end)


def _summary(deletions: Sequence[RecordDeletion]) -> Mapping[str, int]:
    lost = [d.deleted_records or 0 for d in deletions if d.result in ("planned", "done")]
    return {"deleted_records": sum(lost)}


def _plain(deletions: Sequence[RecordDeletion]) -> Iterator[str]:
    """The lines of Kafka's tool; of a plan, those of the partitions alone."""
    if any(deletion.result == "done" for deletion in deletions):
        yield RECORDS_BEGIN + RECORDS_DONE
    for deletion in deletions:
        if deletion.result in ("planned", "done") and deletion.new_start is not None:
            yield record_line(deletion.key, deletion.new_start)


def _row(deletion: RecordDeletion) -> Row:
    return (
        deletion.topic,
        deletion.partition,
        "delete-records",
        deletion.old_start,
        deletion.new_start,
        deletion.end,
        deletion.deleted_records,
        deletion.clamped,
    )
