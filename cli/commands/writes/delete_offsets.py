"""`kgroups delete-offsets`: delete committed offsets."""

import typer

from kgroups.cli.choosing import GroupNames, Regex, choice_of, chosen
from kgroups.cli.commands.writes.lookups import free_groups, read_logs
from kgroups.cli.commands.writes.offset_writes import (
    AllTopics,
    NoUndo,
    Topics,
    UndoDir,
    offset_write,
    undo_dir_of,
    untold,
)
from kgroups.cli.commands.writes.prompts import Consent, DryRun, Execute, KeepGoing, SavePlan
from kgroups.cli.commands.writes.share_effects import with_effects
from kgroups.cli.commands.writes.writing import Run, carry_out
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster_to_change
from kgroups.cli.tree import WriteCommand
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.offsets.deletions import plan_commit_deletions
from kgroups.core.offsets.reset import committed_partitions
from kgroups.core.offsets.scope import parse_scope

HELP = """Delete committed offsets.

Checks every group first: if one subscribes to the topic, does not exist, or
has committed nothing there, nothing is deleted, unless --keep-going is given.
Shows the plan and asks for confirmation unless --yes (or --execute) is given;
without a terminal and without --yes it does nothing (exit code 2). Saves the
deleted offsets to an undo file first, which `kgroups reset-offsets --undo
FILE` restores, and reads back the result.

The offsets of a share group are deleted by topic, with what it acknowledged
beyond them: it restarts from its `share.auto.offset.reset`. SKIPS counts the
unread records before that, READS-AGAIN those that are delivered again.

RESULTS, one per partition
  planned  would be deleted (--dry-run)
  done     is deleted, and reads back so
  refused  the group has members              exit code 4
  failed   not found (5), refused by the broker, or overwritten since
  skipped  nothing committed, others could not be deleted, or you declined
  unknown  no answer within --timeout, so it may or may not be done (3)

EXAMPLES
  kgroups delete-offsets billing --topic orders
  kgroups delete-offsets billing --topic orders:0,3-5 --yes
  kgroups delete-offsets billing --all-topics --dry-run
"""
COMMAND = WriteCommand


def delete_offsets(
    ctx: typer.Context,
    groups: GroupNames = None,
    regex: Regex = None,
    topic: Topics = None,
    all_topics: AllTopics = False,
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
    choice = choice_of(groups, regex)
    if bool(topic) == all_topics:
        raise UsageError(
            "expected either --topic or --all-topics",
            hint="use --topic orders:0,3-5 or --all-topics",
        )
    scope = None if all_topics else parse_scope(topic or ())
    with cluster_to_change(options, dry_run=dry_run) as admin:
        names, strangers = chosen(admin, choice)
        looked = admin.snapshot(names, log_offsets=False, progress=printer.progress)
        free, changes = free_groups(looked, names)
        held = {name for group in free for name, _ in committed_partitions(group)}
        topics = read_logs(admin, held if scope is None else scope.names)
        for group in free:
            own = plan_commit_deletions(group, scope, topics)
            refused = any(change.error is not None for change in own)
            there = {(change.topic or "", change.partition or 0) for change in own if change.old}
            missing = [] if scope is None or refused else scope.missing(there)
            if missing and not keep_going:
                what = ", ".join(f"`{name}`" for name in missing)
                raise NotFoundError(
                    f"group `{group.group}` committed nothing for {what}",
                    hint="`kgroups describe GROUP` shows its commits",
                )
            changes += own
        run = Run(printer, admin, consent, looked.cluster_id)
        changes = with_effects(run, looked, changes, topics)
        write = offset_write(run, "delete-offsets", folder, topics)
        errors = [*strangers, *untold(looked, changes)]
        carry_out(run, write, changes, errors, blocked=bool(strangers))
