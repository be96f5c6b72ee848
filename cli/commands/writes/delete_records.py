"""`kgroups delete-records`: let the oldest records of topics go."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgroups.cli.audit_log import tell
from kgroups.cli.commands.writes.lookups import committed_by, read_logs, resolved
from kgroups.cli.commands.writes.plan_saving import SavePlan, save_plan
from kgroups.cli.commands.writes.writing import (
    Consent,
    DryRun,
    Execute,
    KeepGoing,
    ask,
    count_results,
    files_of,
    preview,
)
from kgroups.cli.exits import end_with
from kgroups.cli.interruption import Interruption, not_waited_for
from kgroups.cli.official.layouts import RECORDS_BEGIN, RECORDS_DONE, record_line
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster_to_change, now_ms
from kgroups.cli.tree import WriteCommand
from kgroups.core.errors import (
    EXIT_CODE_INTERRUPTED,
    ItemError,
    KgroupsError,
    UsageError,
)
from kgroups.core.offsets.plan_file import parse_offsets, read_plan_text
from kgroups.core.offsets.record_deletions import (
    RecordDeletion,
    apply_deletions,
    plan_deletions,
    to_be_seen,
    verify_deletions,
)
from kgroups.core.offsets.reset import Known
from kgroups.core.offsets.scope import Scope, parse_scope
from kgroups.core.offsets.targets import Target, parse_target
from kgroups.core.saved_plans.plan_rows import rows_of_records
from kgroups.core.snapshot import Group, Topic, TopicPartition

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin

SCHEMA = "kgroups.delete-records/1"

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
  file:PATH             lines `topic,partition,offset`
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

COLUMNS = (
    Column("topic", "TOPIC"),
    Column("partition", "PARTITION", right=True),
    Column("action"),
    Column("old_start", "START", right=True),
    Column("new_start", "NEW-START", right=True),
    Column("log_end_offset", "LOG-END", right=True),
    Column("records_lost", "RECORDS-LOST", right=True),
    Column("clamped"),
    Column("result", "RESULT"),
    Column("error", "ERROR", quiet=(None,)),
    Column("note", "NOTE", quiet=(None,)),
)


def register(app: typer.Typer) -> None:
    """Add `delete-records` to the program."""
    app.command("delete-records", help=HELP, cls=WriteCommand)(delete_records)


def delete_records(
    ctx: typer.Context,
    topics: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC]...", help="Topics, or partitions: orders:0,3-5."),
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="TARGET", help="What to keep, see above.")
    ] = None,
    keep_going: KeepGoing = False,
    dry_run: DryRun = False,
    plan: SavePlan = None,
    yes: Execute = False,
) -> None:
    """`kgroups delete-records`."""
    options = options_of(ctx)
    printer = Printer(options)
    consent = Consent(yes=yes, dry_run=dry_run, keep_going=keep_going, plan=plan)
    scope = parse_scope(topics or ())
    target = target_of(before)
    given = _offsets_of_file(target)
    if not scope.names and target.kind != "file":
        raise UsageError("no topic given", hint="for example orders, or orders:0,3-5")
    consent.check(options)
    with cluster_to_change(options, dry_run=dry_run) as admin:
        looked = admin.coordinators([])
        where = {"id": looked.cluster_id, "bootstrap": admin.settings.bootstrap_servers}
        logs = read_logs(admin, scope.names or {topic for topic, _ in given})
        deletions = _plan(admin, printer, scope, target, given, logs)
        carry_out_deletions(printer, admin, consent, where, deletions, ids_of(logs))


def ids_of(logs: Mapping[str, Topic]) -> dict[str, str | None]:
    """The topics' ids, by name; None where one is not known."""
    return {name: topic.topic_id for name, topic in logs.items()}


def carry_out_deletions(
    printer: Printer,
    admin: "ClusterAdmin",
    consent: Consent,
    where: Mapping[str, str | None],
    deletions: Sequence[RecordDeletion],
    topic_ids: Mapping[str, str | None],
) -> None:
    """Preview, confirm, delete, look again, report, and end.

    Args:
        where: `id` and `bootstrap` of the cluster.
        topic_ids: for the plan that is saved.
    Raises:
        typer.Exit: something failed, or the user declined.
    """
    planned = [each for each in deletions if each.result == "planned"]
    blocked = any(each.error is not None for each in deletions)
    held_back = blocked and not consent.keep_going
    go = bool(planned) and not held_back
    agreed = go and not consent.dry_run and (consent.yes or _confirmed(printer, admin, planned))
    saved: Path | None = None
    if consent.plan is not None:
        rows, names = rows_of_records(planned), {each.topic for each in planned}
        ids = {name: topic_ids.get(name) for name in sorted(names)}
        saved = save_plan(
            *(printer, consent.plan, "delete-records", rows),
            cluster_id=where["id"],
            topic_ids=ids,
            blocked=held_back,
        )
    interruption = Interruption(admin)
    with interruption if agreed else nullcontext():
        if agreed:
            deletions = _applied(printer, admin, deletions, interruption)
        elif not consent.dry_run:
            deletions = [
                each._replace(result="skipped") if each.result == "planned" else each
                for each in deletions
            ]
        tell(each.result for each in deletions)
        errors = [each.error for each in deletions if each.error is not None]
        printer.show(_report(deletions, errors, where, files_of(consent, None, saved)))
    if not planned and not blocked:
        printer.note("no record to delete")
    elif blocked and planned and not go and not consent.dry_run:
        printer.note("nothing was deleted; use --keep-going to delete what can be")
    interruption.end()
    end_with(errors)
    if go and not consent.dry_run and not agreed:
        raise typer.Exit(EXIT_CODE_INTERRUPTED)


def target_of(text: str | None) -> Target:
    """What is to stay.

    Raises:
        UsageError: nothing is said, or a target that means nothing here.
    """
    if text is None:
        raise UsageError(
            "no --before given", hint="use --before 7d, --before 1500, --before latest, …"
        )
    target = parse_target(text, now_ms())
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
    given = parse_offsets(read_plan_text(path), str(path))
    if set(given) != {None}:
        raise UsageError(
            f"`{path}` has a group column, and records have no group",
            hint="expected lines of `topic,partition,offset`",
        )
    return given[None]


def _plan(
    admin: "ClusterAdmin",
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
    from kgroups.core.kafka.lookups.offsets_by_time import offsets_at
    from kgroups.core.kafka.reads.log_bounds import led_only

    partitions = resolved(scope, logs) if scope.names else sorted(given)
    if scope.names and given:
        partitions = [at for at in partitions if at in given]
    readers = readers_of(admin, printer)
    if target.kind == "group":
        looked = admin.snapshot([target.name], members=False, log_offsets=False)
        given = committed_by(looked, target.name)
    at_time = offsets_at(admin, led_only(logs), target.number) if target.kind == "time" else {}
    return plan_deletions(partitions, target, Known(logs, at_time, given), readers)


def readers_of(admin: "ClusterAdmin", printer: Printer) -> Sequence[Group]:
    """Every group with its commits; none where they may not be asked for."""
    try:
        return admin.snapshot(members=False, log_offsets=False, progress=printer.progress).groups
    except KgroupsError:
        printer.note("cannot determine which groups have not read these records")
        return ()


def _confirmed(printer: Printer, admin: "ClusterAdmin", planned: Sequence[RecordDeletion]) -> bool:
    printer.wipe()
    preview(COLUMNS, [_row(_item(each)) for each in planned])
    lost = sum(each.records_lost or 0 for each in planned)
    what = f"{len(planned)} partition{'s' * (len(planned) != 1)}"
    return ask(admin, f"Delete {lost:,} records of {what}? This cannot be undone.")


def _applied(
    printer: Printer,
    admin: "ClusterAdmin",
    deletions: Sequence[RecordDeletion],
    interruption: Interruption,
) -> list[RecordDeletion]:
    """The plan with the brokers' answers, and with what the logs look like afterwards."""
    from kgroups.core.kafka.deadline import Attempts
    from kgroups.core.kafka.doubts import Doubts
    from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
    from kgroups.core.kafka.writes.record_deletion import delete_records as send

    wanted = {
        each.at: each.new_start
        for each in deletions
        if each.result == "planned" and each.new_start is not None
    }
    printer.progress(f"deleting records of {len(wanted):,} partitions")
    doubts: Doubts[TopicPartition] = Doubts()
    answers: dict[TopicPartition, ItemError | None]
    try:
        found = interruption.send(lambda: send(admin, wanted, doubts))
        if found is None:
            answers = {at: not_waited_for(f"{at[0]}-{at[1]}") for at in wanted}
        else:
            answers = {
                at: doubts.error(at, f"{at[0]}-{at[1]}", outcome)
                if isinstance(outcome, str)
                else None
                for at, outcome in found.items()
            }
    except KgroupsError as error:
        answers = {
            (topic, number): ItemError.of(f"{topic}-{number}", error) for topic, number in wanted
        }
    written = apply_deletions(deletions, answers)
    checked = [verify_deletions(written, None)]

    def look() -> None:
        for _ in Attempts(admin.ends(), whole=True):
            names = to_be_seen(written, checked[-1])
            if not names:
                break
            with suppress(KgroupsError):
                checked.append(verify_deletions(written, topics_with_bounds(admin, names).topics))

    interruption.look(look, None)
    return checked[-1]


def _report(
    deletions: Sequence[RecordDeletion],
    errors: Sequence[ItemError],
    where: Mapping[str, str | None],
    files: Mapping[str, str | None],
) -> Report:
    counts = count_results(each.result for each in deletions)
    lost = sum(each.records_lost or 0 for each in deletions if each.result in ("planned", "done"))
    return Report(
        schema=SCHEMA,
        cluster=where,
        generated_at_ms=now_ms(),
        items=[_item(each) for each in deletions],
        views=(View("partition", COLUMNS, lambda item: [_row(item)]),),
        errors=errors,
        summary=lambda: {**counts, **files, "records_lost": lost},
        plain=lambda: _plain(deletions),
    )


def _plain(deletions: Sequence[RecordDeletion]) -> Iterator[str]:
    """The lines of Kafka's tool; of a plan, those of the partitions alone."""
    if any(each.result == "done" for each in deletions):
        yield RECORDS_BEGIN + RECORDS_DONE
    for each in deletions:
        if each.result in ("planned", "done") and each.new_start is not None:
            yield record_line(each.at, each.new_start)


def _item(each: RecordDeletion) -> Item:
    return {
        "topic": each.topic,
        "partition": each.partition,
        "action": "delete-records",
        "old_start": each.old_start,
        "new_start": each.new_start,
        "log_end_offset": each.end,
        "records_lost": each.records_lost,
        "clamped": each.clamped,
        "result": each.result,
        "error": None if each.error is None else each.error.code,
        "note": each.note,
    }


def _row(item: Item) -> Row:
    return tuple(item[column.field] for column in COLUMNS)
