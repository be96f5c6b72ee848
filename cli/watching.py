"""`--watch`: refreshes a view and marks what changed."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

from kgroups.cli.exits import TOLD, end_of, show_item_errors, write_failure
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View, cell_text
from kgroups.cli.params import MAX_TIMEOUT_MS
from kgroups.cli.signals import be_quiet, told_to_end
from kgroups.cli.usage import Text, option
from kgroups.core.difference import Difference, differences
from kgroups.core.errors import ItemError, KgroupsError, UsageError, exit_code_of
from kgroups.core.times import parse_duration_ms, timestamp

Watch = Annotated[Text, option("--watch SECONDS", "Refresh at this interval: 2 (seconds), 500ms.")]

COLUMNS: Final = (
    Column("group", "GROUP"),
    Column("topic", "TOPIC", quiet=(None,)),
    Column("partition", "PARTITION", right=True, quiet=(None,)),
    Column("member_id", "MEMBER-ID", quiet=(None,), is_member=True),
    Column("what", "CHANGED"),
    Column("before", "BEFORE", right=True),
    Column("now", "NOW", right=True),
)
SHOWN: Final = 40
FORMS: Final = ("table", "json", "jsonl")
_CLEAR: Final = "\x1b[H\x1b[2J"


def interval_ms(text: str, output: str, file: Path | None) -> int:
    """Milliseconds of `2`, `0.5`, `2s` or `500ms`.

    Raises:
        UsageError: not such a text, a form that cannot be repeated, or a file that is looked at.
    """
    if file is not None:
        raise UsageError(
            "--watch and --from cannot be used together", hint="leave out --watch or --from"
        )
    if output not in FORMS:
        raise UsageError(
            f"--watch does not support --output {output}", hint="use --output table or json"
        )
    return round(parse_duration_ms(text, least_ms=1, most_ms=MAX_TIMEOUT_MS))


def watch(printer: Printer, every_ms: int, look: Callable[[], Report]) -> None:
    """Look and show until Ctrl-C, or until nobody reads any more.

    A table is drawn over the one before on a terminal; JSON is one document a line and look. A
    cluster that does not answer is told on stderr, and asked again.

    Raises:
        SystemExit: always, with the exit code of the last look.
    """
    code = 0
    before: list[Item] | None = None
    try:
        while not printer.is_unread:
            began = time.monotonic()
            TOLD.notes.clear()
            try:
                report = look()
                items = list(report.items)
                documents = [report.document_of(item) for item in items]
            except KgroupsError as error:
                printer.wipe()
                TOLD.is_begun = False  # each look has a document of its own
                code = end_of(error)
            else:
                changes = None if before is None else differences(before, documents)
                _show(printer, report, items, changes)
                before, code = documents, exit_code_of(tuple(report.errors))
            printer.rest(max(0.0, every_ms / 1_000 - (time.monotonic() - began)))
    except KeyboardInterrupt as interrupt:
        be_quiet()
        printer.wipe()
        if told_to_end():
            raise
        if not TOLD.is_begun:
            write_failure(interrupt)
    raise SystemExit(code)


def _show(
    printer: Printer, look: Report, items: list[Item], changes: list[Difference] | None
) -> None:
    report = replace(look, items=items)
    if printer.options.output != "table":
        changed = None if changes is None else [change._asdict() for change in changes]
        printer.show_line(replace(report, extra={**report.extra, "changes": changed}))
        return
    at = timestamp(report.generated_at_ms)
    printer.head(f"{_CLEAR if sys.stdout.isatty() else ''}{at}\n")
    errors: Sequence[ItemError] = report.errors
    printer.show(replace(report, errors=(), notes=()))
    if changes:
        printer.head(f"\n{len(changes):,} changed since the last refresh\n")
        rows = [_row(change) for change in changes[:SHOWN]]
        printer.show(
            replace(
                report,
                items=[{}],
                views=(View("change", COLUMNS, lambda _: rows),),
                errors=(),
                notes=(),
            )
        )
    printer.head("\n")
    show_item_errors(errors)
    printer.tell(report.notes)


def _row(change: Difference) -> Row:
    *place, before, now = change
    return (*place, _cell(before), _cell(now))


def _cell(value: Any) -> Any:
    """A value that a set can hold, as the table looks for columns without any."""
    return value if value is None or isinstance(value, str | int) else cell_text(value)
