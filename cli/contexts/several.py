"""One question put to several contexts, and their answers as one report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import typer

from kgroups.cli.exits import Note, end_with, now_ms
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.params import GlobalOptions, given_options, within
from kgroups.cli.source import asked
from kgroups.cli.watching import watch
from kgroups.core.errors import ItemError, KgroupsError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin

FORMS: Final = ("table", "json", "jsonl", "csv", "yaml")
CONTEXT: Final = Column("context", "CONTEXT")


class _Answer(NamedTuple):
    context: str
    report: Report


class _Item(NamedTuple):
    answer: _Answer
    item: Any


def each_context(
    ctx: typer.Context, options: GlobalOptions, **alone: object
) -> tuple[GlobalOptions, ...]:
    """The options within each context, where several are given; else nothing.

    Args:
        alone: options that go with one context only, by name, as they are given.
    Raises:
        UsageError: one of these is given, or a form that is for one cluster.
    """
    if len(options.contexts) < 2:
        return ()
    for name, value in alone.items():
        if value:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} takes one context", hint="give a single --context")
    if options.output not in FORMS:
        hint = "one of " + ", ".join(FORMS)
        raise UsageError(f"`{options.output}` output takes one context", hint=hint)
    given = given_options(ctx)
    for name in ("bootstrap_server", "command_config"):
        if name in given:
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"several contexts and {flag} cannot be used together")
    return tuple(within(options, {*given, "output"}, context) for context in options.contexts)


def show_found(
    contexts: Sequence[GlobalOptions],
    printer: Printer,
    file: Path | None,
    every_ms: int | None,
    schema: str,
    look: Callable[[ClusterAdmin | None], Report],
) -> None:
    """Show what is found in each context, or, where several are not given, where the options say.

    Args:
        file: is looked at instead of a cluster.
        every_ms: refresh at this interval; None for a single look.
    Raises:
        SystemExit: something failed.
    """

    def look_in(options: GlobalOptions) -> Report:
        with asked(options, file) as admin:
            if every_ms is not None:
                watch(printer, every_ms, lambda: look(admin))
            return look(admin)

    found = look_in_each(contexts, schema, look_in) if contexts else look_in(printer.options)
    printer.show(found)
    end_with(found.errors)


def look_in_each(
    contexts: Sequence[GlobalOptions], schema: str, look: Callable[[GlobalOptions], Report]
) -> Report:
    """Answers to a question from each context: a failure of one does not hide the others.

    Raises:
        UsageError: a context cannot be understood.
    """
    answers: list[_Answer] = []
    lost: list[ItemError] = []
    notes: list[Note] = []
    for options in contexts:
        name = options.contexts[0].name
        try:
            report = look(options)
        except UsageError:
            raise
        except KgroupsError as error:
            lost.append(ItemError.of(name, error))
            continue
        answers.append(_Answer(name, report))
        notes += [
            Note(note.code, f"{name}: {note.message}", ": ".join(filter(None, (name, note.target))))
            for note in report.notes
        ]
    tells = all(answer.report.tells_notes for answer in answers)
    return replace(_combined(schema, answers, lost), notes=notes, tells_notes=tells)


def in_context(name: str, error: ItemError) -> ItemError:
    """The error with its context in its target."""
    return replace(error, target=f"{name}: {error.target}", message=error.message)


def _combined(schema: str, answers: Sequence[_Answer], lost: Sequence[ItemError]) -> Report:
    """The answers as one report, with the context in every row and item."""
    clusters = [
        {"context": answer.context, **(answer.report.cluster or {"id": None, "bootstrap": None})}
        for answer in answers
    ]
    return Report(
        schema,
        (_Item(answer, item) for answer in answers for item in answer.report.items),
        _views(answers),
        generated_at_ms=min((a.report.generated_at_ms for a in answers), default=now_ms()),
        errors=[
            *lost,
            *(in_context(a.context, error) for a in answers for error in a.report.errors),
        ],
        summary=lambda: _sum([answer.report.summary() for answer in answers]),
        extra={"clusters": clusters},
        document_of=_document,
    )


def _document(item: _Item) -> Item:
    return {"context": item.answer.context, **item.answer.report.document_of(item.item)}


def _views(answers: Sequence[_Answer]) -> Sequence[View]:
    if not answers:
        return (View("context", (CONTEXT,), lambda _: ()),)
    return [_view(number, view) for number, view in enumerate(answers[0].report.views)]


def _view(number: int, view: View) -> View:
    """A view with one column more."""

    def rows(item: _Item) -> Iterator[Row]:
        for row in item.answer.report.views[number].rows(item.item):
            yield (item.answer.context, *row)

    key = view.key
    by = None if key is None else lambda row: key(row[1:])
    inner = view.pick
    pick = None if inner is None else lambda row: (row[0], *inner(row[1:]))
    return View(view.name, (CONTEXT, *view.columns), rows, by, pick)


def _sum(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Summaries together: numbers are added, also within mappings; the rest is the first's."""
    total: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            before = total.get(name)
            if isinstance(value, Mapping):
                total[name] = _sum([before or {}, value])
            elif isinstance(value, int) and isinstance(before, int):
                total[name] = before + value
            else:
                total.setdefault(name, value)
    return total
