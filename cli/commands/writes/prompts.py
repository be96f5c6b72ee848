"""What is asked before a write, and how far a command may go without asking."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from kgroups.cli.output.escapes import printable
from kgroups.cli.output.outlet import is_lost
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Row, fitted, grid_of, table_chunks
from kgroups.cli.params import GlobalOptions
from kgroups.core.errors import UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.deletions import Deletion, Removal
from kgroups.core.offsets.record_deletions import RecordDeletion

Execute = Annotated[
    bool, typer.Option("--yes", "-y", "--execute", help="Do not ask for confirmation.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and write nothing.")]
KeepGoing = Annotated[
    bool, typer.Option("--keep-going", help="Continue if some cannot be changed.")
]
SavePlan = Annotated[
    Path | None,
    typer.Option(
        "--plan", metavar="FILE", help="With --dry-run: save the plan for `kgroups apply`."
    ),
]


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


def confirmed(
    printer: Printer,
    admin: ClusterAdmin,
    columns: Sequence[Column],
    rows: Sequence[Row],
    question: str,
) -> bool:
    """Whether the user agrees to a plan, which is shown on stderr; the time is not counted.

    Raises:
        UsageError: the question cannot be seen, as stderr is closed or full.
    """
    printer.wipe()
    for chunk in table_chunks(fitted(grid_of(columns, rows), sys.stderr)):
        sys.stderr.write(chunk)
    sys.stderr.flush()
    if is_lost(sys.stderr):
        raise UsageError("cannot ask for confirmation: stderr is closed")
    with admin.ends().stopped():
        return typer.confirm(printable(question), err=True)


def about_changes(command: str, planned: Sequence[Change]) -> str:
    """`reset-offsets: 3 partitions of 1 group?`"""
    groups = len({change.group for change in planned})
    return f"{command}: {_count(planned, 'partition')} of {groups} group{'s' * (groups != 1)}?"


def about_groups(planned: Sequence[Deletion]) -> str:
    """`Delete 3 groups and their committed offsets?`"""
    return f"Delete {_count(planned, 'group')} and {_their(planned)} committed offsets?"


def about_records(planned: Sequence[RecordDeletion]) -> str:
    """`Delete 30 records of 2 partitions? This cannot be undone.`"""
    lost = sum(deletion.records_lost or 0 for deletion in planned)
    return f"Delete {lost:,} records of {_count(planned, 'partition')}? This cannot be undone."


def about_members(planned: Sequence[Removal]) -> str:
    """`Remove 2 members of `billing`?`"""
    return f"Remove {_count(planned, 'member')} of `{planned[0].group}`?"


def _count(items: Sequence[object], noun: str) -> str:
    return f"{len(items)} {noun}{'s' * (len(items) != 1)}"


def _their(items: Sequence[object]) -> str:
    return "its" if len(items) == 1 else "their"
