"""The only printer: a report as table, JSON, JSON lines, CSV, YAML or plain text on stdout.

stdout is data and nothing else; progress, notes and errors go to stderr. Nothing here builds the
whole text of a document: items are written as they come.
"""

import csv
import json
import os
import sys
import time
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from kgroups.cli.exits import (
    DOCUMENTS,
    TOLD,
    Note,
    show_error,
    show_item_errors,
    write_document,
    write_failure,
)
from kgroups.cli.output.blocks import show_blocks
from kgroups.cli.output.envelope import Report, envelope_head, envelope_tail, error_items
from kgroups.cli.output.escapes import for_stdout, no_formula, printable, visible, visible_json
from kgroups.cli.output.group_metrics import report_metrics
from kgroups.cli.output.outlet import check_place, is_lost, outlet_of, write_whole
from kgroups.cli.output.outlet import write_text as write_text
from kgroups.cli.output.query import Query, parse_query
from kgroups.cli.output.table import cell_text, fitted, grid_of, live_lines, write_grid
from kgroups.cli.params import OWN_FORMS, GlobalOptions, one_of
from kgroups.core.errors import UnprintedError, UsageError

# Longer tables are not laid out by Rich, which does some thousand cells a second.
RICH_ROWS: Final = 200


class Printer:
    """Writes reports in the form that the options ask for.

    Args:
        own_forms: those of the forms that only some commands have.
        textfile: where figures for Prometheus go; None: to stdout.
    Raises:
        UsageError: one of these is asked for, and the command does not have it; `--query` is not
            JMESPath, or there is no document to ask.
    """

    def __init__(
        self,
        options: GlobalOptions,
        *,
        own_forms: Container[str] = (),
        textfile: Path | None = None,
    ) -> None:
        if options.output in OWN_FORMS and options.output not in own_forms:
            raise UsageError(
                f"`{options.output}` output is available for {OWN_FORMS[options.output]} only",
                hint=one_of(options.formats),
            )
        if options.output == "plain" and "plain" not in options.formats:
            raise UsageError(
                "`plain` is not available here: Kafka's tool has no layout for it",
                hint=one_of(options.formats),
            )
        if textfile is not None:
            if options.output != "openmetrics":
                raise UsageError("--textfile requires --output openmetrics")
            check_place(textfile)
        self.options = options
        self._textfile = textfile
        self._waiting = False
        self._query = _query_of(options)

    def show(self, report: Report) -> None:
        """Write a report to stdout; where its form has no place for errors, those to stderr.

        Raises:
            UsageError: CSV of a report with several kinds of rows; plain text of one that
                Kafka's tool does not have.
        """
        form = self.options.output
        if form == "csv" and len(report.views) != 1:
            kinds = ", ".join(view.name for view in report.views)
            raise UsageError(
                f"CSV can hold only one kind of row, and this has several: {kinds}",
                hint="choose one view, or use --output json",
            )
        if form == "plain" and report.plain is None:
            raise UsageError(
                "`plain` is not available here: Kafka's tool has no layout for it",
                hint="use --output table or json",
            )
        write: dict[str, Callable[[Report], None]] = {
            "table": self._table,
            "json": self._json,
            "jsonl": self._jsonl,
            "csv": self._csv,
            "yaml": self._yaml,
            "plain": self._plain,
        }
        if form in report.forms:
            self.head(visible(report.forms[form]()))
        elif form == "openmetrics":
            self._metrics(report)
        elif self._query is not None:
            self._answer(self._query, report)
        else:
            items = _at_once(report.items) if report.is_live else report.items
            write[form](replace(report, items=items))
        sys.stdout.flush()
        if not report.is_live:
            show_item_errors(report.errors)
        if report.tells_notes:
            self.tell(report.notes)

    def show_value(self, value: Any) -> None:
        """Write a document that is no report: indented where a person may read it.

        Raises:
            UsageError: the form has rows, and this has none.
        """
        form = self.options.output
        if form not in (*DOCUMENTS, "table"):
            raise UsageError(
                f"`{form}` is not available here: this is one document",
                hint="use --output json or yaml",
            )
        if self._query is not None:
            self._value(self._query.answer(_json_text(value)), form)
        elif form in ("table", "json"):
            self.head(visible(json.dumps(value, indent=2, ensure_ascii=False) + "\n"))
        else:
            self._value(value, form)
        sys.stdout.flush()

    def show_line(self, report: Report) -> None:
        """Write a report as one JSON document on one line."""
        text = _json_text(_document(report))
        if self._query is not None:
            text = _json_text(self._query.answer(text))
        self.head(text + "\n")

    def head(self, text: str) -> None:
        """Write text to stdout as it is."""
        self._write(text)
        sys.stdout.flush()

    @property
    def is_unread(self) -> bool:
        """Whether something has not arrived on stdout: nobody reads it, or there is no room."""
        return is_lost(sys.stdout)

    def rest(self, seconds: float) -> None:
        """Let the time pass, or come back at once when whoever reads stdout goes."""
        outlet = outlet_of(sys.stdout)
        if outlet is None:
            time.sleep(seconds)
        else:
            outlet.wait(seconds * 1_000)

    @property
    def has_progress(self) -> bool:
        """Whether there is a line on a terminal for what is being waited for."""
        if self.options.quiet or not sys.stderr.isatty():
            return False
        return os.environ.get("TERM") != "dumb"

    def progress(self, text: str) -> None:
        """Say on a terminal what is being waited for; the next output wipes it."""
        if self.has_progress:
            sys.stderr.write(f"\r\x1b[K{printable(text)}")
            sys.stderr.flush()
            self._waiting = True

    def waiting(self, text: str) -> None:
        """Say what takes long, on a terminal or not: a log should tell it too."""
        if sys.stderr.isatty():
            self.progress(text)
        elif not self.options.quiet:
            sys.stderr.write(f"{printable(text)}\n")
            sys.stderr.flush()

    def wipe(self) -> None:
        """Take the progress line away."""
        if self._waiting:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._waiting = False

    def note(
        self, code: str, message: str, target: str | None = None, *, of_a_write: bool = False
    ) -> None:
        """Say something that is neither data nor an error, before the report that has it too."""
        note = Note(code, message, target, of_a_write)
        TOLD.notes.append(note)
        self.tell([note])

    def tell(self, notes: Iterable[Note]) -> None:
        """Say notes on stderr.

        Who has closed stdout has seen enough, and is told no more, unless it is of a write; who
        wants quiet likewise.
        """
        outlet = outlet_of(sys.stdout)
        is_gone = outlet is not None and outlet.reader_is_gone
        for note in notes:
            if note.of_a_write or not (self.options.quiet or is_gone):
                self.wipe()
                sys.stderr.write(f"note: {printable(note.message)}\n")
                sys.stderr.flush()

    def _begin(self) -> Callable[[str], object]:
        self.wipe()
        return sys.stdout.write

    def _table(self, report: Report) -> None:
        if report.is_live:
            (view,) = report.views
            for line in live_lines(view.columns, (r for i in report.items for r in view.rows(i))):
                self._begin()(line)
            return
        items = list(report.items) if len(report.views) > 1 else report.items
        write = self._begin()
        separator = ""
        for view in report.views:
            rows = view.each_row(items)
            if view.block is not None:
                if blocks := list(map(view.block, rows)):
                    write(separator)
                    separator = "\n"
                    show_blocks(blocks, no_color=self.options.no_color)
                continue
            grid = grid_of(view.columns, rows, verbose=self.options.verbose)
            if not grid.height:
                continue
            write(separator)
            separator = "\n"
            if not self.options.verbose:
                grid = fitted(grid, sys.stdout)
            if grid.height <= RICH_ROWS and sys.stdout.isatty():
                from kgroups.cli.output.terminal import print_grid  # Rich is slow to import

                verbose = self.options.verbose
                left_out = print_grid(grid, no_color=self.options.no_color, whole=verbose)
                if left_out:
                    text = f"no room for {', '.join(left_out)}; --verbose or --fields shows them"
                    self.note("COLUMNS_LEFT_OUT", text)
            else:
                write_grid(grid)

    def _json(self, report: Report) -> None:
        items = report.documents
        first = next(items, None)  # a failure before the first item leaves stdout untouched
        begin = _json_text(envelope_head(report))[:-1] + ',"items":['
        if first is not None:
            begin += "\n" + _json_text(first)

        def end(failure: BaseException | None) -> str:
            tail = _json_text(envelope_tail(report, failure))
            return ("]," if first is None else "\n],") + tail[1:] + "\n"

        self.wipe()
        write_document(begin, (",\n" + _json_text(item) for item in items), end)

    def _write(self, text: str) -> None:
        write = self._begin()
        TOLD.is_begun = True
        write(text)

    def _answer(self, query: Query, report: Report) -> None:
        """Write what a query gives for the document; failures of items go before its own."""
        document = _json_text(_document(report))
        try:
            value = query.answer(document)
        except UnprintedError as error:
            if not report.errors:
                raise
            show_error(error)
            write_failure(error, error_items(report.errors))
        else:
            self._value(value, self.options.output)

    def _value(self, value: Any, form: str) -> None:
        """Write what a query came to; a list an element a line."""
        if form == "yaml":
            from kgroups.cli.output.yaml_text import yaml_text as dump  # only this form needs YAML

            self._write(dump(value).removesuffix("...\n"))
        elif not isinstance(value, list) or not value:
            self._write("" if form == "jsonl" and value == [] else _json_text(value) + "\n")
        elif form == "jsonl":
            for element in value:
                self._write(_json_text(element) + "\n")
        else:
            self._write("[\n" + ",\n".join(map(_json_text, value)) + "\n]\n")

    def _jsonl(self, report: Report) -> None:
        write = self._begin()
        for item in report.documents:
            write(_json_text(item) + "\n")
        if report.ended is not None or report.errors:
            write_failure(report.ended, error_items(report.errors))

    def _csv(self, report: Report) -> None:
        view = report.views[0]
        rows = view.each_row(report.items)
        shown, cell = for_stdout(), _safe_cell if self.options.csv_safe else cell_text
        self._begin()
        writer = csv.writer(_Lines(), lineterminator="\r\n")
        writer.writerow([column.field for column in view.columns])
        writer.writerows([shown(cell(value)) for value in row] for row in rows)

    def _plain(self, report: Report) -> None:
        write = self._begin()
        for text in report.plain() if report.plain is not None else ():
            write(visible(text))

    def _metrics(self, report: Report) -> None:
        text = report_metrics(report)
        if self._textfile is None:
            self.head(visible(text))
        else:
            self.wipe()
            write_whole(self._textfile, text, "the figures")

    def _yaml(self, report: Report) -> None:
        from kgroups.cli.output.yaml_text import yaml_text as dump  # only this form needs YAML

        items = report.documents
        first = next(items, None)
        begin = dump(envelope_head(report)) + "items:"
        begin += " []\n" if first is None else "\n" + dump([first])
        more = (dump([item]) for item in items)
        self.wipe()
        write_document(begin, more, lambda failure: dump(envelope_tail(report, failure)))


def _query_of(options: GlobalOptions) -> Query | None:
    if options.query is None:
        return None
    if options.output not in DOCUMENTS:
        raise UsageError(
            f"--query requires a JSON document, and the output is `{options.output}`",
            hint="add --output json (or jsonl, yaml)",
        )
    return parse_query(options.query)


def _document(report: Report) -> dict[str, Any]:
    """The whole document, where it has to be in memory at once."""
    items = list(report.documents)
    return {**envelope_head(report), "items": items, **envelope_tail(report)}


def _at_once(items: Iterable[Any]) -> Iterator[Any]:
    """The items, each on its way to the reader before the next one is asked for."""
    for item in items:
        yield item
        sys.stdout.flush()


class _Lines:
    """Rows of CSV on stdout, which end as lines of text do.

    csv quotes a return within a cell only where it ends rows too; readers take a bare one for the
    end of a row.
    """

    def write(self, row: str, /) -> int:
        """Write one row."""
        return sys.stdout.write(row.removesuffix("\r\n") + "\n")


def _safe_cell(value: object) -> str:
    """The text of a cell that no spreadsheet takes for a formula."""
    return no_formula(value, cell_text(value))


def _json_text(value: object) -> str:
    """JSON on one line.

    msgspec is many times as fast as the standard library, but refuses what is no Unicode (half a
    surrogate pair in a member's name).
    """
    try:
        return visible_json(msgspec.json.encode(value).decode())
    except UnicodeEncodeError:
        encoder = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
        return visible_json(encoder.encode(value))
