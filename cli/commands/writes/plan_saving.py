"""`--plan FILE`: what a dry run would do, saved for `kgroups apply`."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from kgroups.cli.output.envelope import timestamp
from kgroups.cli.output.printer import Printer
from kgroups.cli.source import now_ms
from kgroups.cli.undo_file import read_rows, write_new
from kgroups.core.errors import UsageError
from kgroups.core.saved_plans.plan_rows import Row
from kgroups.core.saved_plans.saved_plan import SavedPlan, plan_lines, read_plan

SavePlan = Annotated[
    Path | None,
    typer.Option(
        "--plan", metavar="FILE", help="With --dry-run: save the plan for `kgroups apply`."
    ),
]


def save_plan(
    printer: Printer,
    path: Path,
    command: str,
    rows: Sequence[Row],
    *,
    cluster_id: str | None,
    topic_ids: Mapping[str, str | None] | None = None,
    blocked: bool = False,
) -> Path | None:
    """Write a plan, and say so; None where nothing would be done as something cannot be.

    Args:
        path: of the file; one that is there is replaced as a whole.
        blocked: whether the plan would not be carried out.
    Raises:
        UsageError: the file cannot be written.
    """
    if blocked:
        printer.note("no plan was saved; use --keep-going to plan what can be done")
        return None
    ids = {name: known for name, known in (topic_ids or {}).items() if known is not None}
    plan = SavedPlan(command, cluster_id, timestamp(now_ms()), rows, ids)
    try:
        file = path.expanduser()
        beside = file.with_name(f".{file.name}.{os.getpid()}.new")
        try:
            write_new(beside, plan_lines(plan))
            beside.replace(file)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"the plan `{path}` cannot be written: {why}") from error
    printer.note(f"plan saved: `kgroups apply {path}` applies it", of_a_write=True)
    return file


def load_plan(path: Path) -> SavedPlan:
    """What a saved plan says.

    Raises:
        UsageError: it cannot be read, is no saved plan, or was edited since.
    """
    return read_rows(path, "a saved plan", read_plan)
