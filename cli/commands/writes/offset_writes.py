"""Commits are written, batch by batch, and read back until it is known what became of them."""

import gc
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Final

from kgroups.cli.commands.writes.batches import Answers, Units, in_batches
from kgroups.cli.commands.writes.prompts import about_changes
from kgroups.cli.commands.writes.vigil import verified, watched
from kgroups.cli.commands.writes.writing import Run, Write, explain, share_groups
from kgroups.cli.official.actions.deleting_offsets import status_table
from kgroups.cli.official.actions.resetting import reset_table
from kgroups.cli.official.words import exception_text
from kgroups.cli.output.escapes import for_stdout
from kgroups.cli.output.table import Column, Row
from kgroups.cli.usage import Texts, option
from kgroups.cli.write_files import default_undo_dir
from kgroups.core.errors import ItemError, KgroupsError, UsageError
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.doubts import WRITING
from kgroups.core.kafka.writes.commit_reads import read_until
from kgroups.core.kafka.writes.group_writes import write_and_read
from kgroups.core.offsets.change import Change, whole_groups
from kgroups.core.offsets.commit_rows import commit_rows
from kgroups.core.offsets.read_back import Held, ReadBack, as_wanted, settle
from kgroups.core.offsets.result import planned_of
from kgroups.core.offsets.undo import offset_of
from kgroups.core.offsets.write_file import Command
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Topic, TopicPartition

UndoDir = Annotated[
    Path | None, option("--undo-dir DIR", "Folder of the undo file (~/.local/state/kgroups).")
]
NoUndo = Annotated[bool, option("--no-undo", "Write no undo file.")]
AllTopics = Annotated[bool, option("--all-topics", "Every partition that the group committed.")]
Topics = Annotated[Texts, option("--topic TOPIC", "Topic, or partitions: orders:0,3-5.")]

COLUMNS: Final = (
    Column("group", "GROUP"),
    Column("topic", "TOPIC", quiet=(None,)),
    Column("partition", "PARTITION", right=True, quiet=(None,)),
    Column("action"),
    Column("old_offset", "OLD", right=True),
    Column("new_offset", "NEW", right=True),
    Column("lag_before", "LAG", right=True),
    Column("lag_after", "LAG-AFTER", right=True),
    Column("skipped_records", "SKIPS", right=True, quiet=(None, 0)),
    Column("read_again", "READS-AGAIN", right=True, quiet=(None, 0)),
    Column("clamped"),
)

Verify = Callable[[Sequence[Change]], list[Change]]


def offset_write(
    run: Run,
    command: Command,
    undo_dir: Path | None,
    topics: Mapping[str, Topic],
    *,
    row_by_row: bool = False,
    watch_ms: int = 0,
    verify: Verify | None = None,
    summary: Mapping[str, Any] | None = None,
    more: Callable[[Change], Mapping[str, Any]] = lambda _: {},
    shown: tuple[Column, ...] = (),
) -> Write[Change]:
    """A write of commits.

    Args:
        undo_dir: where the undo file goes; None for none.
        row_by_row: a partition that cannot be done does not hold the others back.
        watch_ms: for how long it is watched, after the write, whether somebody else commits.
        verify: looks again after the write; what has changed since has failed.
        summary: what else the report's summary says.
        more: what else documents say of a change.
        shown: the part of that which has columns.
    """
    ids = {name: topic.topic_id for name, topic in topics.items()}

    def apply(run: Run, changes: Sequence[Change]) -> list[Change]:
        applied = _apply(run, changes, ids)
        if watch_ms:
            applied = watched(run, applied, watch_ms)
        return applied if verify is None else verified(run, verify, applied)

    return Write(
        command=command,
        verb="change",
        item="partition",
        written="commits are written",
        columns=COLUMNS,
        shown=shown,
        row=lambda change: _row(command, change),
        question=lambda planned: about_changes(command, planned, share_groups(run.admin, planned)),
        apply=apply,
        saved_rows=commit_rows,
        is_in_place=_is_in_place,
        topic_ids=ids,
        undo_dir=undo_dir,
        is_blocking=lambda change: not row_by_row or change.topic is None,
        plain=lambda changes: plain_text(command, changes),
        summary=lambda changes: {**_totals(command, changes), **(summary or {})},
        more=more,
    )


def _totals(command: str, changes: Sequence[Change]) -> Mapping[str, int]:
    """Records that are skipped and read again, as far as that is known: of a deletion only in
    share groups.
    """
    moved = [change for change in changes if change.result in ("planned", "done")]
    if command == "delete-offsets" and not any(change.effects for change in moved):
        return {}
    return {
        "skipped_records": sum(change.skipped_records or 0 for change in moved),
        "read_again": sum(change.read_again or 0 for change in moved),
    }


def _is_in_place(change: Change) -> bool:
    """Whether the commit is at the wanted offset already."""
    return change.topic is not None and offset_of(change.old) == offset_of(change.new)


def _row(command: str, change: Change) -> Row:
    group, topic, partition, old, new, before, after, *_ = change
    return (
        group,
        topic,
        partition,
        command,
        None if old is None else old.offset,
        None if new is None else new.offset,
        before,
        after,
        change.skipped_records,
        change.read_again,
        change.clamped,
    )


def plain_text(command: str, changes: Sequence[Change]) -> Iterable[str]:
    """The changes in the layout of Kafka's tool."""

    return forgotten_text(changes) if command == "delete-offsets" else reset_text(changes)


def undo_dir_of(directory: Path | None, *, no_undo: bool) -> Path | None:
    """Folder of the undo file; None for none.

    Raises:
        UsageError: a folder is named for no file.
    """
    if no_undo and directory is not None:
        raise UsageError("--no-undo and --undo-dir cannot be used together")
    if no_undo:
        return None
    return default_undo_dir() if directory is None else directory.expanduser()


def untold(
    looked: ClusterSnapshot, changes: Iterable[Change], *, may_be_absent: Container[str] = ()
) -> list[ItemError]:
    """Failures of the look about groups for which no change tells one.

    Args:
        may_be_absent: groups that are made where they are not there.
    """
    told = {change.error.target for change in changes if change.error is not None}
    return [
        error
        for error in looked.errors
        if error.target not in told
        and not (error.code == "GROUP_ID_NOT_FOUND" and error.target in may_be_absent)
    ]


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for cyclic garbage meanwhile: rows by the ten thousand are none, and stay."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.unfreeze()  # what stays is old now: nothing goes through it at once
            gc.enable()


def _apply(
    run: Run, changes: Sequence[Change], topic_ids: Mapping[str, str | None]
) -> list[Change]:
    """The changes as they are now, read back from the cluster unless Ctrl-C has ended that.

    Args:
        topic_ids: of the topics of the plan: those that have another id by now get no commit.
    """

    admin, interruption = run.admin, run.interruption
    held: dict[str, Held | None] = {}  # each batch is read back while the next one is written
    before: dict[str, dict[TopicPartition, CommittedOffset | None]] = {}

    def send(groups: Units[Change], until: Deadline) -> Answers:
        nonlocal before
        batch = {name: _wanted(own) for name, own in groups.items()}
        answers, read = write_and_read(admin, batch, list(before), until, topic_ids)
        held.update(
            (name, None if commits is None else as_wanted(commits, before[name]))
            for name, commits in read.items()
        )
        before = batch
        return whole_groups(answers, {name: len(own) for name, own in batch.items()})

    written = in_batches(
        run,
        changes,
        send,
        "writing",
        "groups",
        lambda change: change.group,
        until=admin.ends().part(WRITING),
        whole=lambda change: change.whole,
    )
    run.printer.progress("reading back")
    back = ReadBack(written)
    again = dict.fromkeys([*back.take(held), *back.left])
    with suppress(KgroupsError):
        interruption.look(lambda: read_until(admin, list(again), back.take), None)
    settled = settle(written, back.held)
    sent = {change.group for change in planned_of(changes)}
    return interruption.look(lambda: explain(admin, settled, sent), settled)


def _wanted(changes: Iterable[Change]) -> dict[TopicPartition, CommittedOffset | None]:
    """The new commits of these changes; made for one batch after the other, as they are many."""
    return {
        (topic, partition): new
        for _, topic, partition, _, new, *_ in changes
        if topic is not None and partition is not None
    }


def reset_text(changes: Iterable[Change]) -> Iterator[str]:
    """The table of a reset: where partitions are put, or stand already."""
    plans: dict[str, list[Change]] = {}
    for change in changes:
        plan = plans.setdefault(change.group, [])
        stays = change.new is not None and change.new == change.old
        if change.result in ("planned", "done") or (change.result == "skipped" and stays):
            plan.append(change)
    if plans:
        yield reset_table(plans)


def forgotten_text(changes: Sequence[Change]) -> Iterator[str]:
    """Headline and table for each group whose offsets were deleted; refused groups have none."""
    groups: dict[str, dict[TopicPartition, str | None]] = {}
    for change in changes:
        if change.topic is not None and change.partition is not None:
            error = None if change.error is None else exception_text(change.error.code)
            groups.setdefault(change.group, {})[change.topic, change.partition] = error
    planned = any(change.result == "planned" for change in changes)
    shown = for_stdout()
    for group, told in groups.items():
        if not planned and not any(told.values()):
            yield f"Request succeeded for deleting offsets from group {shown(group)}.\n"
        yield status_table(told, {}, well="Planned" if planned else "Successful")
