"""`kgroups apply`: apply a saved plan, as it was reviewed, or not at all."""

from pathlib import Path
from typing import Annotated

import typer

from kgroups.cli.commands.writes.delete import committed_groups, deletion_write, looked_at
from kgroups.cli.commands.writes.delete_records import readers_of, records_write
from kgroups.cli.commands.writes.group_config import settings_write, validated
from kgroups.cli.commands.writes.lookups import free_groups, read_logs, warn_of_unknown_ids
from kgroups.cli.commands.writes.offset_writes import (
    NoUndo,
    UndoDir,
    offset_write,
    uncollected,
    undo_dir_of,
    untold,
)
from kgroups.cli.commands.writes.prompts import Consent, DryRun, Execute, KeepGoing
from kgroups.cli.commands.writes.remove_members import removal_write
from kgroups.cli.commands.writes.share_effects import with_effects
from kgroups.cli.commands.writes.writing import Run, carry_out
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.cli.usage import argument, option
from kgroups.cli.write_files import load
from kgroups.core.errors import UsageError
from kgroups.core.kafka.lookups.group_settings import group_settings
from kgroups.core.offsets.drift import (
    DRIFTS,
    Drift,
    changes_now,
    deletions_now,
    left_out,
    records_now,
    removals_now,
)
from kgroups.core.offsets.group_settings import SettingChange, settings_now
from kgroups.core.offsets.result import planned_of
from kgroups.core.offsets.write_file import PLAN, WriteFile

HELP = """Apply a saved plan: exactly what was reviewed, or nothing.

`--dry-run --plan FILE` saves the plan of reset-offsets, copy-offsets,
delete-offsets, delete, delete-records, remove-members or config with what it
found: the cluster, the topics' ids, committed offsets, groups, log starts,
members, configurations.
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
COMMAND = WriteCommand


def apply(
    ctx: typer.Context,
    file: Annotated[Path, argument("PLAN", "File that --plan saved.")],
    drift: Annotated[
        str, option("--drift HOW", "If something changed since: refuse, accept, skip.")
    ] = "refuse",
    undo_dir: UndoDir = None,
    no_undo: NoUndo = False,
    keep_going: KeepGoing = False,
    dry_run: DryRun = False,
    yes: Execute = False,
) -> None:
    options = options_of(ctx)
    consent = Consent(yes=yes, dry_run=dry_run, keep_going=keep_going)
    folder = undo_dir_of(undo_dir, no_undo=no_undo)
    how = _parse_drift(drift)
    with uncollected():
        plan = load(file, PLAN)
    with uncollected(), cluster_to_change(options, dry_run=dry_run) as admin:
        run = Run(Printer(options), admin, consent, admin.cluster_id())
        plan.check_cluster(run.cluster_id)
        match plan.command:
            case "delete":
                _apply_deletion(run, plan, how)
            case "delete-records":
                _apply_records(run, plan, how)
            case "remove-members":
                _apply_removals(run, plan, how)
            case "config":
                _apply_settings(run, plan, how, folder)
            case _:
                _apply_commits(run, plan, how, folder)


def _parse_drift(text: str) -> Drift:
    """Choice of what to do with what has changed.

    Raises:
        UsageError: no such thing.
    """
    for name in DRIFTS:
        if text.lower() == name:
            return name
    raise UsageError(f"`{text}` is not a way to treat drift", hint="one of " + ", ".join(DRIFTS))


def _apply_commits(run: Run, plan: WriteFile, drift: Drift, undo_dir: Path | None) -> None:
    names = list(plan.commits)
    run.admin.types.update(plan.types)
    looked = run.admin.snapshot(names, log_offsets=False, progress=run.printer.progress)
    free, refused = free_groups(looked, names, create=True, types=plan.types)
    topics = read_logs(run.admin, plan.topics)
    changes = left_out(refused, drift)
    for group in free:
        changes += changes_now(group, plan.commits[group.group], topics, plan.topic_ids, drift)
    changes = with_effects(run, looked, changes, topics)
    warn_of_unknown_ids(run.printer, "the plan", topics, plan.topic_ids)
    write = offset_write(run, plan.command, undo_dir, topics)
    carry_out(run, write, changes, untold(looked, changes, may_be_absent=plan.commits))


def _apply_deletion(run: Run, plan: WriteFile, drift: Drift) -> None:
    listing = run.admin.list_groups()
    planned = looked_at(run.admin, listing, list(plan.commits))
    groups = committed_groups(run, [deletion.group for deletion in planned_of(planned)])
    deletions = deletions_now(planned, plan.commits, groups, drift)
    carry_out(run, deletion_write(run), deletions, listing.errors)


def _apply_records(run: Run, plan: WriteFile, drift: Drift) -> None:
    logs = read_logs(run.admin, {row.topic for row in plan.records})
    warn_of_unknown_ids(run.printer, "the plan", logs, plan.topic_ids)
    readers = readers_of(run.admin, run.printer) if plan.records else ()
    deletions = records_now(plan.records, logs, plan.topic_ids, readers, drift)
    carry_out(run, records_write(logs), deletions)


def _apply_settings(run: Run, plan: WriteFile, drift: Drift, undo_dir: Path | None) -> None:
    changes: list[SettingChange] = []
    if plan.settings:
        changes = settings_now(
            plan.settings, group_settings(run.admin, plan.settings[0].group), drift
        )
    carry_out(run, settings_write(undo_dir), validated(run.admin, changes))


def _apply_removals(run: Run, plan: WriteFile, drift: Drift) -> None:
    if not plan.removals:
        carry_out(run, removal_write(""), [])
        return
    group, reason = plan.removals[0].group, plan.removals[0].reason
    looked = run.admin.snapshot([group], offsets=False, log_offsets=False)
    if not any(error.code == "GROUP_ID_NOT_FOUND" for error in looked.errors):
        looked.needed(group)
    carry_out(run, removal_write(reason), removals_now(plan.removals, looked.group(group), drift))
