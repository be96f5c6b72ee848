"""What the writing commands share: consent, the undo file, applying, reading back, the report."""

import gc
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Self

import typer

from kgroups.cli.audit_log import tell
from kgroups.cli.commands.writes.applying import applied
from kgroups.cli.commands.writes.plan_saving import save_plan
from kgroups.cli.commands.writes.vigil import verified, watched
from kgroups.cli.exits import end_with
from kgroups.cli.interruption import Interruption, tell_interrupted
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.escapes import printable
from kgroups.cli.output.outlet import is_lost
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.short_ids import fitted
from kgroups.cli.output.table import Column, Row, View, grid_of, table_chunks
from kgroups.cli.params import GlobalOptions
from kgroups.cli.source import now_ms
from kgroups.cli.undo_file import add_outcome, default_undo_dir, save_undo
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ItemError, UsageError
from kgroups.core.offsets.change import Change, skip_planned
from kgroups.core.offsets.result import RESULTS
from kgroups.core.saved_plans.plan_rows import rows_of_changes
from kgroups.core.snapshot import ClusterSnapshot, Topic

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin

Execute = Annotated[
    bool, typer.Option("--yes", "-y", "--execute", help="Do not ask for confirmation.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and write nothing.")]
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="Continue if some cannot be changed.")
]
UndoDir = Annotated[
    Path | None,
    typer.Option(
        "--undo-dir", metavar="DIR", help="Folder of the undo file (~/.local/state/kgroups)."
    ),
]
NoUndo = Annotated[bool, typer.Option("--no-undo", help="Write no undo file.")]
Topics = Annotated[
    list[str] | None,
    typer.Option("--topic", metavar="TOPIC", help="Topic, or partitions: orders:0,3-5."),
]

COLUMNS: Final = (
    Column("group", "GROUP"),
    Column("topic", "TOPIC", quiet=(None,)),
    Column("partition", "PARTITION", right=True, quiet=(None,)),
    Column("action"),
    Column("old_offset", "OLD", right=True),
    Column("new_offset", "NEW", right=True),
    Column("lag_before", "LAG", right=True),
    Column("lag_after", "LAG-AFTER", right=True),
    Column("clamped"),
    Column("result", "RESULT"),
    Column("error", "ERROR", quiet=(None,)),
    Column("note", "NOTE", quiet=(None,)),
)
_FIELDS: Final = tuple(column.field for column in COLUMNS)


@dataclass(frozen=True, slots=True)
class Consent:
    """How far a command may go.

    Args:
        yes: without asking.
        dry_run: show the plan only.
        keep_going: do what can be done though some of it cannot.
        plan: file to save the plan to; None for none.
    """

    yes: bool
    dry_run: bool
    keep_going: bool = False
    plan: Path | None = None

    def check(self, options: GlobalOptions) -> None:
        """See that somebody can be asked, if that will be needed.

        Raises:
            UsageError: nobody can; a plan is to be saved, and carried out.
        """
        if self.plan is not None and not self.dry_run:
            raise UsageError("--plan requires --dry-run", hint="`kgroups apply FILE` applies it")
        if not (self.yes or self.dry_run or (sys.stdin.isatty() and not options.no_input)):
            without = "with --no-input" if options.no_input else "without a terminal"
            raise UsageError(
                f"cannot ask for confirmation {without}",
                hint="use --yes to skip the question, or --dry-run to see the plan",
            )


@dataclass(frozen=True, slots=True)
class OffsetWrite:
    """One command that changes commits.

    Args:
        action: its name, as in `action` and in the schema's name.
        consent: how far it may go.
        undo_dir: where the undo file goes; None for none.
        cluster: `id` and `bootstrap`.
        topic_ids: of the topics that are written to, as far as they are known.
        row_by_row: a partition that cannot be done does not hold the others back.
        watch_ms: for how long it is watched, after the write, whether somebody else commits.
        verify: looks again after the write; what has changed since has failed.
        summary: what else the report's summary says.
    """

    action: str
    consent: Consent
    undo_dir: Path | None
    cluster: Mapping[str, str | None]
    topic_ids: Mapping[str, str | None]
    row_by_row: bool = False
    watch_ms: int = 0
    verify: Callable[[Sequence[Change]], list[Change]] | None = None
    summary: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def on(
        cls,
        looked: ClusterSnapshot,
        action: str,
        consent: Consent,
        undo_dir: Path | None,
        topics: Mapping[str, Topic],
        *,
        row_by_row: bool = False,
        watch_ms: int = 0,
    ) -> Self:
        """The command on the cluster and the topics that were looked at."""
        where = {"id": looked.cluster_id, "bootstrap": looked.bootstrap}
        ids = {name: topic.topic_id for name, topic in topics.items()}
        return cls(action, consent, undo_dir, where, ids, row_by_row, watch_ms)

    def is_held_back(self, changes: Iterable[Change]) -> bool:
        """Whether something in the plan keeps the rest from being done."""
        return any(
            change.error is not None and not (self.row_by_row and change.topic is not None)
            for change in changes
        )


def untold(
    looked: ClusterSnapshot, changes: Iterable[Change], *, may_be_absent: Container[str] = ()
) -> list[ItemError]:
    """Failures of the look about groups for which no change tells one.

    Args:
        may_be_absent: groups that are made where they are not there.
    """
    told = {change.error.target for change in changes if change.error is not None}
    return [
        error
        for error in looked.errors
        if error.target not in told
        and not (error.code == "GROUP_ID_NOT_FOUND" and error.target in may_be_absent)
    ]


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cyclic garbage meanwhile: rows by the ten thousand are none, and stay."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.unfreeze()  # what stays is old now: nothing goes through it at once
            gc.enable()


def undo_dir_of(directory: Path | None, *, no_undo: bool) -> Path | None:
    """Folder of the undo file; None for none.

    Raises:
        UsageError: a folder is named for no file.
    """
    if no_undo and directory is not None:
        raise UsageError("--no-undo and --undo-dir cannot be used together")
    if no_undo:
        return None
    if directory is not None:
        return directory.expanduser()
    return default_undo_dir()


def carry_out(
    printer: Printer,
    admin: "ClusterAdmin",
    write: OffsetWrite,
    changes: Sequence[Change],
    errors: Sequence[ItemError] = (),
    *,
    blocked: bool = False,
) -> None:
    """Preview, confirm, save what is replaced, apply, read back, report, and end.

    Args:
        printer: for all that is said.
        admin: the cluster.
        write: the command.
        changes: the plan.
        errors: of the look at the cluster.
        blocked: whether something that was asked for cannot be done, besides what the plan says.
    Raises:
        typer.Exit: something failed, or the user declined.
    """
    consent = write.consent
    planned = [change for change in changes if change.result == "planned"]
    blocked = blocked or write.is_held_back(changes)
    go = bool(planned) and not (blocked and not consent.keep_going)
    agreed = (
        go
        and not consent.dry_run
        and (consent.yes or _confirmed(printer, admin, write.action, changes))
    )
    undo: Path | None = None
    saved = _save_plan(printer, write, changes, blocked=blocked and not consent.keep_going)
    interruption = Interruption(admin, "this batch")
    with interruption if agreed else nullcontext():
        if agreed:
            undo = _save_undo(write, planned)
            if undo is not None:
                printer.note(f"undo file: {undo}", of_a_write=True)
            changes = applied(printer, admin, changes, write.topic_ids, interruption)
            if write.watch_ms:
                changes = watched(printer, admin, changes, interruption, write.watch_ms)
            if write.verify is not None:
                changes, failures = verified(printer, interruption, write.verify, changes)
                errors = [*errors, *failures]
        elif not consent.dry_run:
            changes = skip_planned(changes)
        tell((change.result for change in changes), undo)
        every_error = [*(change.error for change in changes if change.error is not None), *errors]
        printer.show(offsets_report(write, changes, every_error, undo, saved))
        if undo is not None and printer.is_unread:
            add_outcome(undo, count_results(change.result for change in changes))
    if not changes:
        printer.note("nothing to change")
    elif blocked and planned and not go and not consent.dry_run:
        printer.note("nothing was changed; use --keep-going to change what can be")
    done = sum(change.result == "done" for change in changes)
    if interruption.asked:
        unknown = sum(change.result == "unknown" for change in changes)
        tell_interrupted(done, len(planned), unknown, undo)
    if undo is not None and done < len(planned):
        printer.note(f"`kgroups reset-offsets --resume {undo}` finishes the rest", of_a_write=True)
    interruption.end()
    end_with(every_error)
    if go and not consent.dry_run and not agreed:
        raise typer.Exit(EXIT_CODE_INTERRUPTED)


def _confirmed(
    printer: Printer, admin: "ClusterAdmin", action: str, changes: Sequence[Change]
) -> bool:
    """Whether the user agrees to what is planned, having seen what is left out as well."""
    printer.wipe()
    preview(COLUMNS, [_row(action, change) for change in changes if change.result != "skipped"])
    planned = [change for change in changes if change.result == "planned"]
    groups = len({change.group for change in planned})
    what = f"{len(planned)} partition{'s' * (len(planned) != 1)}"
    of = f"{groups} group{'s' * (groups != 1)}"
    return ask(admin, f"{action}: {what} of {of}?")


def preview(columns: Sequence[Column], rows: Sequence[Row]) -> None:
    """Show the plan on stderr, as a table."""
    for chunk in table_chunks(fitted(grid_of(columns, rows), sys.stderr)):
        sys.stderr.write(chunk)
    sys.stderr.flush()


def ask(admin: "ClusterAdmin", question: str) -> bool:
    """Whether the user says yes; the time that takes is not counted.

    Raises:
        UsageError: the question cannot be seen, as stderr is closed or full.
    """
    if is_lost(sys.stderr):
        raise UsageError("cannot ask for confirmation: stderr is closed")
    with admin.ends().stopped():
        return typer.confirm(printable(question), err=True)


def _save_plan(
    printer: Printer, write: OffsetWrite, changes: Sequence[Change], *, blocked: bool
) -> Path | None:
    """Save what is planned, if that is asked for."""
    if write.consent.plan is None:
        return None
    names = dict.fromkeys(change.topic for change in changes if change.result == "planned")
    return save_plan(
        printer,
        write.consent.plan,
        write.action,
        rows_of_changes(changes),
        cluster_id=write.cluster["id"],
        topic_ids={name: write.topic_ids.get(name) for name in names if name is not None},
        blocked=blocked,
    )


def files_of(consent: Consent, undo: Path | None, saved: Path | None) -> dict[str, str | None]:
    """The files of a command, for its summary."""
    files = {"undo_file": undo} | ({} if consent.plan is None else {"plan_file": saved})
    return {name: None if path is None else str(path) for name, path in files.items()}


def _save_undo(write: OffsetWrite, planned: Sequence[Change]) -> Path | None:
    """Write what is about to be replaced; on disk before this returns.

    Raises:
        UsageError: the file cannot be written, so nothing else is.
    """
    if write.undo_dir is None:
        return None
    return save_undo(
        write.undo_dir,
        planned,
        cluster_id=write.cluster["id"],
        topic_ids=write.topic_ids,
        hint="use --undo-dir for another folder, or --no-undo",
    )


def offsets_report(
    write: OffsetWrite,
    changes: Sequence[Change],
    errors: Sequence[ItemError],
    undo: Path | None,
    saved: Path | None = None,
) -> Report:
    """What became of each partition."""
    counts = count_results(change.result for change in changes)
    return Report(
        schema=f"kgroups.{write.action}/1",
        cluster=write.cluster,
        generated_at_ms=now_ms(),
        items=changes,
        views=(View("partition", COLUMNS, lambda change: (_row(write.action, change),)),),
        errors=errors,
        summary=lambda: {**counts, **files_of(write.consent, undo, saved), **write.summary},
        plain=lambda: plain_text(write.action, changes),
        document_of=lambda change: dict(zip(_FIELDS, _row(write.action, change), strict=True)),
    )


def plain_text(action: str, changes: Sequence[Change]) -> Iterable[str]:
    """The changes in the layout of Kafka's tool."""
    from kgroups.cli.official.plain import forgotten_text, reset_text  # only when asked for

    return forgotten_text(changes) if action == "delete-offsets" else reset_text(changes)


def count_results(results: Iterable[str]) -> dict[str, int]:
    """How often each result is there."""
    found = list(results)
    return {result: found.count(result) for result in RESULTS}


def _row(action: str, change: Change) -> Row:
    """One change in the order of the columns."""
    group, topic, partition, old, new, before, after, _, clamped, note, result, error = change
    return (
        group,
        topic,
        partition,
        action,
        None if old is None else old.offset,
        None if new is None else new.offset,
        before,
        after,
        clamped,
        result,
        None if error is None else error.code,
        note,
    )
