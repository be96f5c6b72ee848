"""The one way of a write: preview, confirm, save what is replaced, apply, look again, report."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import typer

from kgroups.cli.audit_log import tell
from kgroups.cli.commands.writes.internal_topics import (
    Topics,
    delete_with,
    topics_of,
    topics_question,
)
from kgroups.cli.commands.writes.prompts import Consent, confirmed
from kgroups.cli.exits import TOLD, Note, end_with, write_lines
from kgroups.cli.interruption import Interruption, interrupted_text
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Row, View
from kgroups.cli.write_files import add_outcome, save_plan, save_undo
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ItemError, KgroupsError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.offsets.change import members_text
from kgroups.core.offsets.result import RESULTS, Item, WriteItem, planned_of, skip_planned
from kgroups.core.offsets.row_file import Row as FileRow
from kgroups.core.offsets.write_file import Command


@dataclass(slots=True)
class Run:
    """Context of a command that writes.

    Args:
        consent: how far it may go.
    Attributes:
        interruption: is told of Ctrl-C while the plan is applied.
        failures: what has failed besides items.
    """

    printer: Printer
    admin: ClusterAdmin
    consent: Consent
    cluster_id: str | None
    interruption: Interruption = field(init=False)
    failures: list[ItemError] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.interruption = Interruption(self.admin, "this batch")

    @property
    def cluster(self) -> Mapping[str, str | None]:
        """`id` and `bootstrap`."""
        return {"id": self.cluster_id, "bootstrap": self.admin.settings.bootstrap_servers}


OUTCOME: Final = (Column("result", "RESULT"), Column("error", "ERROR", quiet=(None,)))
NOTE: Final = Column("note", "NOTE", quiet=(None,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Write(Generic[Item]):
    """Parts that differ between the commands that write.

    Args:
        command: its name, as in `action` and in the schema's name.
        verb: what it does: `delete`.
        item: what one of its items is: `group`.
        written: of many: `groups are deleted`.
        columns: of an item, before what became of it; `row` has its cells.
        question: asked about the planned items.
        apply: applies the planned items: all items with what became of them.
        saved_rows: items as rows of a saved plan.
        is_in_place: whether an item that is skipped is as wanted already: a saved plan holds it
            too, so that `apply` sees whether it has changed since.
        topic_ids: of the topics that are written to, as far as they are known.
        undo_dir: where what the planned items replace is saved; None for nowhere.
        is_blocking: whether an item that has failed holds the others back.
        plain: the items in the layout of Kafka's tool.
        reason: for the audit log, where the command has an option of its own for that.
        is_resumable: whether `reset-offsets --resume` takes its undo file, which holds commits.
        summary: what the report's summary says of the items besides the counts.
        more: what documents say of an item besides the columns.
        shown: the part of `more` that has columns, before the note.
        internal_topics: of streams groups, that are deleted when their items are done; None where
            that was not asked for.
    """

    command: Command | Literal["transactions.abort"]
    verb: str
    item: str
    written: str
    columns: tuple[Column, ...]
    row: Callable[[Item], Row]
    question: Callable[[Sequence[Item]], str]
    apply: Callable[[Run, Sequence[Item]], list[Item]]
    saved_rows: Callable[[Sequence[Item]], Iterable[FileRow]] = lambda _: ()
    topic_ids: Mapping[str, str | None] = field(default_factory=dict)
    is_in_place: Callable[[Item], bool] = lambda _: False
    undo_dir: Path | None = None
    is_blocking: Callable[[Item], bool] = lambda _: True
    plain: Callable[[Sequence[Item]], Iterable[str]] | None = None
    reason: str | None = None
    is_resumable: bool = True
    summary: Callable[[Sequence[Item]], Mapping[str, Any]] = lambda _: {}
    more: Callable[[Item], Mapping[str, Any]] = lambda _: {}
    shown: tuple[Column, ...] = ()
    internal_topics: Topics | None = None

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """The columns, with those of what became of an item."""
        return (*self.columns, *OUTCOME, *self.shown, NOTE)

    def cells(self, item: Item) -> Row:
        """An item in the order of `all_columns`."""
        code = None if item.error is None else item.error.code
        more = self.more(item)
        shown = (more.get(column.field) for column in self.shown)
        return (*self.row(item), item.result, code, *shown, item.note)


def carry_out(
    run: Run,
    write: Write[Item],
    items: Sequence[Item],
    errors: Sequence[ItemError] = (),
    *,
    blocked: bool = False,
) -> None:
    """Preview, confirm, save what is replaced, apply, report, and end.

    Args:
        blocked: whether something that was asked for cannot be done, besides what the plan says.
    Raises:
        typer.Exit: the user declined, or interrupted it.
        SystemExit: something failed.
    """
    printer, consent = run.printer, run.consent
    planned = planned_of(items)
    blocked = blocked or any(item.error is not None and write.is_blocking(item) for item in items)
    held_back = blocked and not consent.keep_going
    wanted = bool(planned or write.internal_topics) and not held_back and not consent.dry_run
    agreed = wanted and (consent.yes or _confirmed(run, write, items, planned))
    plan = None if consent.plan is None else _saved_plan(run, write, items, held_back)
    undo: Path | None = None
    interruption = run.interruption
    with interruption if agreed else nullcontext():
        if agreed:
            undo = _saved_undo(run, write, planned)
            write, items = _applied(run, write, items)
            errors = [*errors, *run.failures]
        elif not consent.dry_run:
            items = skip_planned(items)
        tell((item.result for item in items), undo, reason=write.reason)
        counts = count_results(item.result for item in items)
        own = (item.error for item in items if item.error is not None)
        errors = [*dict.fromkeys(own), *errors]  # one for a whole group may stand in each row
        files = {"undo_file": undo} | ({} if consent.plan is None else {"plan_file": plan})
        done, unknown = counts["done"], counts["unknown"]
        cut = interrupted_text(write.written, done, len(planned), unknown, undo)
        ended = None
        if interruption.asked:
            ended = KgroupsError(cut, code="INTERRUPTED")
        elif wanted and not agreed:
            ended = KgroupsError("the confirmation was declined", code="DECLINED")
        notes: list[Note] = []
        if not planned and not blocked and not write.internal_topics:
            notes.append(Note("NOTHING_TO_DO", f"nothing to {write.verb}"))
        elif planned and held_back and not consent.dry_run:
            text = f"nothing was {write.verb}d; use --keep-going to {write.verb} what can be"
            notes.append(Note("NOTHING_DONE", text))
        if undo is not None and write.is_resumable and done < len(planned):
            text = f"`kgroups reset-offsets --resume {undo}` finishes the rest"
            notes.append(Note("RESUMABLE", text, str(undo), of_a_write=True))
        report = _report(run, write, items, errors, counts, files)
        printer.show(replace(report, ended=ended, notes=notes, tells_notes=False))
        if undo is not None and printer.is_unread:
            add_outcome(undo, counts)
    if interruption.asked:
        write_lines([cut], [])
    printer.tell(notes)
    interruption.end()
    end_with(errors)
    if wanted and not agreed:
        raise typer.Exit(EXIT_CODE_INTERRUPTED)


def _saved_undo(run: Run, write: Write[Item], planned: Sequence[Item]) -> Path | None:
    """The file with what is about to be replaced; None where none is wanted."""
    if write.undo_dir is None:
        return None
    assert write.command != "transactions.abort", "it saves nothing"
    shared = share_groups(run.admin, planned) if write.is_resumable else []
    note_lost_acknowledgements(run, shared)
    topics = (getattr(item, "topic", None) for item in planned)
    names = dict.fromkeys(name for name in topics if name is not None)
    path = save_undo(
        write.undo_dir,
        write.command,
        write.saved_rows(planned),
        cluster_id=run.cluster_id,
        topic_ids={name: write.topic_ids.get(name) for name in names},
        share_groups=shared,
        hint="use --undo-dir for another folder, or --no-undo",
    )
    run.printer.note("UNDO_FILE", f"undo file: {path}", str(path), of_a_write=True)
    return path


def _applied(
    run: Run, write: Write[Item], items: Sequence[Item]
) -> tuple[Write[Item], Sequence[Item]]:
    """The write with the topics that it has deleted, and its items."""
    items = write.apply(run, items)
    if not write.internal_topics or run.interruption.asked:
        return write, items
    deleted, failures = delete_with(run.admin, write.internal_topics, items)
    run.failures += failures
    return _with_deleted(write, deleted), items


def _with_deleted(write: Write[Item], topics: Sequence[str]) -> Write[Item]:
    """The write, whose summary has the topics that were deleted."""
    summary = write.summary
    return replace(write, summary=lambda items: {**summary(items), "deleted_topics": topics})


def with_internal_topics(
    write: Write[Item],
    run: Run,
    items: Sequence[WriteItem],
    named: Sequence[str] | None,
    every: bool,
) -> Write[Item]:
    """The write, which deletes internal topics of its streams groups too, where that is asked for.

    Raises:
        RefusedError: a named topic is not one.
        UsageError: the options do not go together.
    """
    if not named and not every:
        return write
    if run.consent.plan is not None:
        raise UsageError("a saved plan cannot delete internal topics")
    groups = sorted({getattr(item, "group", "") for item in items if item.error is None})
    topics = topics_of(run.printer, run.admin, groups, named, every=every)
    return replace(_with_deleted(write, []), internal_topics=topics)


def _confirmed(
    run: Run, write: Write[Item], items: Sequence[Item], planned: Sequence[Item]
) -> bool:
    rows = [write.cells(item) for item in items if item.result != "skipped"]
    question = write.question(planned) + topics_question(write.internal_topics or {})
    return confirmed(run.printer, run.admin, write.all_columns, rows, question)


def _saved_plan(
    run: Run, write: Write[Item], items: Sequence[Item], held_back: bool
) -> Path | None:
    """The file of the plan; None where nothing would be done as something cannot be."""
    if held_back:
        text = "no plan was saved; use --keep-going to plan what can be done"
        run.printer.note("NO_PLAN_SAVED", text)
        return None
    assert run.consent.plan is not None, "asked for"
    assert write.command != "transactions.abort", "it saves none"
    kept = [
        item
        for item in items
        if item.result == "planned" or (item.result == "skipped" and write.is_in_place(item))
    ]
    path = save_plan(
        run.consent.plan,
        write.command,
        write.saved_rows(kept),
        cluster_id=run.cluster_id,
        topic_ids=write.topic_ids,
        share_groups=share_groups(run.admin, kept),
    )
    text = f"plan saved: `kgroups apply {path}` applies it"
    run.printer.note("PLAN_SAVED", text, str(path), of_a_write=True)
    return path


def note_lost_acknowledgements(run: Run, groups: Sequence[str]) -> None:
    """Say what no undo file brings back of share groups, where there are some; once a command."""
    if groups and all(note.code != "ACKNOWLEDGEMENTS_LOST" for note in TOLD.notes):
        text = "undo restores only the start offsets of share groups, no acknowledgements"
        run.printer.note("ACKNOWLEDGEMENTS_LOST", text, of_a_write=True)


def share_groups(admin: ClusterAdmin, items: Iterable[WriteItem]) -> list[str]:
    """Those of the groups of items that are share groups."""
    names = dict.fromkeys(getattr(item, "group", "") for item in items) if admin.types else ()
    return [name for name in names if admin.types.get(name) == "share"]


def _report(
    run: Run,
    write: Write[Item],
    items: Sequence[Item],
    errors: Sequence[ItemError],
    counts: Mapping[str, int],
    files: Mapping[str, Path | None],
) -> Report:
    fields = [column.field for column in write.all_columns]
    paths = {name: None if path is None else str(path) for name, path in files.items()}
    plain = write.plain
    return Report(
        f"kgroups.{write.command}/1",
        items,
        (View(write.item, write.all_columns, lambda item: (write.cells(item),)),),
        cluster=run.cluster,
        errors=errors,
        summary=lambda: {**counts, **paths, **write.summary(items)},
        plain=None if plain is None else lambda: plain(items),
        document_of=lambda item: {
            **dict(zip(fields, write.cells(item), strict=True)),
            **write.more(item),
        },
    )


def count_results(results: Iterable[str]) -> dict[str, int]:
    """How often each result is there."""
    listed = list(results)
    return {result: listed.count(result) for result in RESULTS}


LOOKED_UP: Final = 200
CODES: Final = frozenset(
    {"NON_EMPTY_GROUP", "UNKNOWN_MEMBER_ID", "GROUP_SUBSCRIBED_TO_TOPIC", "REBALANCE_IN_PROGRESS"}
)


class _OfGroup(WriteItem, Protocol):
    @property
    def group(self) -> str:
        """The group that is written to."""


GroupItem = TypeVar("GroupItem", bound=_OfGroup)


def explain(
    admin: ClusterAdmin, items: Sequence[GroupItem], groups: Container[str]
) -> list[GroupItem]:
    """The items, where a refusal by the broker names the members that are alive.

    Args:
        groups: whose members are looked up.
    """
    members = _members_of(
        admin,
        (
            item.group
            for item in items
            if item.error is not None and item.error.code in CODES and item.group in groups
        ),
    )
    explained = []
    for item in items:
        text, error = members.get(item.group), item.error
        if text and error is not None and error.code in CODES and text not in error.message:
            item = item._replace(error=replace(error, message=f"{error.message}: {text}"))
        explained.append(item)
    return explained


def _members_of(admin: ClusterAdmin, groups: Iterable[str]) -> dict[str, str]:
    """`2 members: app-1 on /10.0.0.5, …` of each group that has some now, of the first few."""
    names = list(dict.fromkeys(groups))[:LOOKED_UP]
    if not names:
        return {}
    try:
        looked = admin.snapshot(names, offsets=False, log_offsets=False)
    except KgroupsError:
        return {}
    return {group.group: members_text(group.members) for group in looked.groups if group.members}
