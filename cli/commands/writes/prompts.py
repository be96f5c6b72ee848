"""Prompts before a write, and how far a command may go without asking."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from kgroups.cli.output.escapes import printable
from kgroups.cli.output.outlet import is_lost
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Row, fitted, grid_of, table_chunks
from kgroups.cli.usage import option
from kgroups.core.errors import UsageError, counted
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.deletions import Deletion, Removal
from kgroups.core.offsets.record_deletions import RecordDeletion

Execute = Annotated[bool, option("--yes -y --execute", "Do not ask for confirmation.")]
DryRun = Annotated[bool, option("--dry-run", "Show the plan and write nothing.")]
KeepGoing = Annotated[bool, option("--keep-going", "Continue if some cannot be changed.")]
SavePlan = Annotated[
    Path | None, option("--plan FILE", "With --dry-run: save the plan for `kgroups apply`.")
]


@dataclass(frozen=True, slots=True)
class Consent:
    """How far a command may go.

    Args:
        keep_going: do what can be done though some of it cannot.
    """

    yes: bool
    dry_run: bool
    keep_going: bool = False
    plan: Path | None = None

    def __post_init__(self) -> None:
        """See that the options go together.

        Raises:
            UsageError: a plan is to be saved, and carried out.
        """
        if self.plan is not None and not self.dry_run:
            raise UsageError("--plan requires --dry-run", hint="`kgroups apply FILE` applies it")


def confirmed(
    printer: Printer,
    admin: ClusterAdmin,
    columns: Sequence[Column],
    rows: Sequence[Row],
    question: str,
) -> bool:
    """Whether the user agrees to a plan, which is shown on stderr; the time is not counted.

    Raises:
        UsageError: nobody can be asked, or see the question, as stderr is closed or full.
    """
    if printer.options.no_input or not sys.stdin.isatty():
        without = "with --no-input" if printer.options.no_input else "without a terminal"
        raise UsageError(
            f"cannot ask for confirmation {without}",
            hint="use --yes to skip the question, or --dry-run to see the plan",
        )
    printer.wipe()
    for chunk in table_chunks(fitted(grid_of(columns, rows), sys.stderr)):
        sys.stderr.write(chunk)
    sys.stderr.flush()
    if is_lost(sys.stderr):
        raise UsageError("cannot ask for confirmation: stderr is closed")
    with admin.ends().stopped():
        return typer.confirm(printable(question), err=True)


_VERBS: Final = {
    "reset-offsets": "Reset",
    "copy-offsets": "Copy",
    "delete-offsets": "Delete",
}


def about_changes(command: str, planned: Sequence[Change], shared: Sequence[str]) -> str:
    """`Reset offsets of 3 partitions in 1 group? This skips 959 unread records.`

    Args:
        shared: those of the groups that are share groups.
    """
    groups = counted(len({change.group for change in planned}), "group")
    verb = _VERBS[command]
    skipped = sum(change.skipped_records or 0 for change in planned)
    again = sum(change.read_again or 0 for change in planned)
    effects = [f"skips {counted(skipped, 'unread record')}"] if skipped else []
    effects += [f"reads {counted(again, 'record')} again"] if again else []
    lost = " Share groups forget what they acknowledged beyond the offsets." if shared else ""
    effect = f" This {' and '.join(effects)}." if effects else ""
    return f"{verb} offsets of {counted(len(planned), 'partition')} in {groups}?{effect}{lost}"


def about_groups(planned: Sequence[Deletion]) -> str:
    """`Delete 3 groups and their committed offsets?`"""
    their = "its" if len(planned) == 1 else "their"
    return f"Delete {counted(len(planned), 'group')} and {their} committed offsets?"


def about_records(planned: Sequence[RecordDeletion]) -> str:
    """`Delete 30 records of 2 partitions? This cannot be undone.`"""
    lost = sum(deletion.deleted_records or 0 for deletion in planned)
    where = counted(len(planned), "partition")
    return f"Delete {counted(lost, 'record')} of {where}? This cannot be undone."


def about_members(planned: Sequence[Removal]) -> str:
    """`Remove 2 members of `billing`?`"""
    return f"Remove {counted(len(planned), 'member')} of `{planned[0].group}`?"
