"""`kgroups apply`: apply a saved plan, as it was reviewed, or not at all."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from kgroups.cli.commands.writes.delete import (
    carry_out_deletion,
    committed_groups,
    looked_at,
)
from kgroups.cli.commands.writes.delete_records import carry_out_deletions, ids_of, readers_of
from kgroups.cli.commands.writes.lookups import free_groups, read_logs, warn_of_unknown_ids
from kgroups.cli.commands.writes.plan_saving import load_plan
from kgroups.cli.commands.writes.remove_members import Removal, carry_out_removals
from kgroups.cli.commands.writes.writing import (
    Consent,
    DryRun,
    Execute,
    KeepGoing,
    NoUndo,
    OffsetWrite,
    UndoDir,
    carry_out,
    uncollected,
    undo_dir_of,
    untold,
)
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.core.deletion import Deletion
from kgroups.core.errors import UsageError
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.undo_rows import ReplacedRows
from kgroups.core.saved_plans.drift import (
    DRIFTS,
    Drift,
    changes_now,
    deletions_now,
    records_now,
    refusal,
    removals_now,
)
from kgroups.core.saved_plans.plan_rows import PlannedDeletion, PlannedRecords, PlannedRemoval
from kgroups.core.saved_plans.saved_plan import SavedPlan

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin

HELP = """Apply a saved plan: exactly what was reviewed, or nothing.

`--dry-run --plan FILE` saves the plan of reset-offsets, copy-offsets,
delete-offsets, delete, delete-records or remove-members with what it found:
the cluster, the topics' ids, committed offsets, groups, log starts, members.
If any of that has changed since, nothing is written (exit code 4), unless
--drift accept writes the plan anyway or --drift skip leaves out what changed.
Rows of a topic that was deleted or recreated are never written. Rows that are
already in place are skipped, so the same plan finishes an interrupted run.

A plan for another cluster is refused (exit code 4), and so is a file that was
edited (2); its checksum detects edits and is not a signature. Confirmation,
undo file, results and output are those of the command that made the plan.

EXAMPLES
  kgroups reset-offsets billing --to 2h --all-topics --dry-run --plan p.json
  kgroups apply p.json
  kgroups apply p.json --dry-run
  kgroups apply p.json --drift skip --yes --output json
"""


def register(app: typer.Typer) -> None:
    """Add `apply` to the program."""
    app.command("apply", help=HELP, cls=WriteCommand)(apply)


class _Applied(NamedTuple):
    """A plan on its way: what it is applied to, and how far it may go."""

    printer: Printer
    admin: "ClusterAdmin"
    consent: Consent
    plan: SavedPlan
    drift: Drift
    undo_dir: Path | None

    @property
    def where(self) -> Mapping[str, str | None]:
        """`id` and `bootstrap` of the cluster."""
        bootstrap = self.admin.settings.bootstrap_servers
        return {"id": self.plan.cluster_id, "bootstrap": bootstrap}


def apply(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="PLAN", help="File that --plan saved.")],
    drift: Annotated[
        str,
        typer.Option(
            "--drift",
            metavar="HOW",
            help="If something changed since: refuse, accept, skip.",
        ),
    ] = "refuse",
    undo_dir: UndoDir = None,
    no_undo: NoUndo = False,
    keep_going: KeepGoing = False,
    dry_run: DryRun = False,
    yes: Execute = False,
) -> None:
    """`kgroups apply`."""
    options = options_of(ctx)
    printer = Printer(options)
    consent = Consent(yes=yes, dry_run=dry_run, keep_going=keep_going)
    folder = undo_dir_of(undo_dir, no_undo=no_undo)
    how = _parse_drift(drift)
    with uncollected():
        plan = load_plan(file)
    consent.check(options)
    with uncollected(), cluster_to_change(options, dry_run=dry_run) as admin:
        plan.check_cluster(admin.coordinators([]).cluster_id)
        _APPLY[plan.command](_Applied(printer, admin, consent, plan, how, folder))


def _parse_drift(text: str) -> Drift:
    """What is to be done with what has changed.

    Raises:
        UsageError: no such thing.
    """
    for name in DRIFTS:
        if text.lower() == name:
            return name
    raise UsageError(f"`{text}` is not a way to treat drift", hint="one of " + ", ".join(DRIFTS))


def _apply_commits(applied: _Applied) -> None:
    printer, admin, consent, plan, drift, folder = applied
    rows = {row.group: row for row in plan.rows if isinstance(row, ReplacedRows)}
    names = list(rows)
    looked = admin.snapshot(names, log_offsets=False, progress=printer.progress)
    free, changes = free_groups(looked, names, create=True)
    topics = read_logs(admin, {topic for own in rows.values() for topic in own.topics})
    if drift == "skip":
        changes = [_left_out(change) for change in changes]
    for group in free:
        changes += changes_now(group, rows[group.group], topics, plan.topic_ids, drift)
    warn_of_unknown_ids(printer, "the plan", topics, plan.topic_ids)
    write = OffsetWrite.on(looked, plan.command, consent, folder, topics)
    carry_out(printer, admin, write, changes, untold(looked, changes, may_be_absent=rows))


def _left_out(change: Change) -> Change:
    """A group that got members since: left out."""
    if change.error is None or change.error.code != "NON_EMPTY_GROUP":
        return change
    return change._replace(result="skipped", note=change.error.message, error=None)


def _apply_deletion(applied: _Applied) -> None:
    printer, admin, consent, plan, drift, _ = applied
    rows = {row.group: row for row in plan.rows if isinstance(row, PlannedDeletion)}
    listing = admin.list_groups()
    deletions = looked_at(admin, listing, list(rows))
    planned = [each.group for each in deletions if each.result == "planned"]
    groups = committed_groups(admin, planned, printer)
    found = []
    deletions, drifts = deletions_now(deletions, rows, groups)
    for each in deletions:
        text = drifts.get(each.group)
        if drift == "skip" and each.error is not None and each.error.code == "NON_EMPTY_GROUP":
            text = each.error.message
        if text is None:
            found.append(each)
        elif drift == "refuse":
            error = refusal(each.group, "OFFSET_MOVED", text)
            found.append(Deletion(each.group, each.state, "refused", error))
        else:
            _tell(printer, each.group, text, drift)
            skipped = Deletion(each.group, each.state, "skipped")
            found.append(each if drift == "accept" else skipped)
    carry_out_deletion(printer, admin, consent, applied.where, found, listing.errors)


def _apply_records(applied: _Applied) -> None:
    printer, admin, consent, plan, drift, _ = applied
    rows = [row for row in plan.rows if isinstance(row, PlannedRecords)]
    logs = read_logs(admin, {row.topic for row in rows})
    warn_of_unknown_ids(printer, "the plan", logs, plan.topic_ids)
    readers = readers_of(admin, printer) if rows else ()
    deletions = records_now(rows, logs, plan.topic_ids, readers, drift)
    carry_out_deletions(printer, admin, consent, applied.where, deletions, ids_of(logs))


def _apply_removals(applied: _Applied) -> None:
    printer, admin, consent, plan, drift, _ = applied
    rows = [row for row in plan.rows if isinstance(row, PlannedRemoval)]
    if not rows:
        carry_out_removals(printer, admin, consent, applied.where, "", [], "")
        return
    group, reason = rows[0].group, rows[0].reason
    looked = admin.snapshot([group], offsets=False, log_offsets=False)
    if not any(error.code == "GROUP_ID_NOT_FOUND" for error in looked.errors):
        looked.needed(group)
    removals = []
    for now in removals_now(rows, looked.group(group)):
        removal = Removal(now.member, now.result)
        if now.drift is not None and drift == "refuse":
            error = refusal(now.member.member_id, "FENCED_INSTANCE_ID", now.drift)
            removal = Removal(now.member, "refused", error)
        elif now.drift is not None:
            _tell(printer, now.member.member_id, now.drift, drift)
            removal = Removal(now.member, "planned" if drift == "accept" else "skipped")
        removals.append(removal)
    carry_out_removals(printer, admin, consent, applied.where, group, removals, reason)


def _tell(printer: Printer, target: str, text: str, drift: Drift) -> None:
    """Say what has changed, where nothing fails for it."""
    then = "written anyway" if drift == "accept" else "left out"
    printer.note(f"`{target}`: {text}; {then}", of_a_write=True)


_APPLY: Final[Mapping[str, Callable[[_Applied], None]]] = {
    "reset-offsets": _apply_commits,
    "copy-offsets": _apply_commits,
    "delete-offsets": _apply_commits,
    "delete": _apply_deletion,
    "delete-records": _apply_records,
    "remove-members": _apply_removals,
}
