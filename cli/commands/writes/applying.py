"""Commits are written, batch by batch, and read back until it is known what became of them."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kgroups.cli.commands.writes.batches import in_batches
from kgroups.cli.commands.writes.refusals import explain_changes
from kgroups.cli.interruption import Interruption
from kgroups.cli.output.printer import Printer
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.offsets.change import Change, Key, apply_answers, whole_groups
from kgroups.core.offsets.read_back import Held, ReadBack, as_wanted, settle
from kgroups.core.snapshot import CommittedOffset, TopicPartition

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin
    from kgroups.core.kafka.deadline import Deadline

Wanted = dict[str, dict[TopicPartition, CommittedOffset | None]]


def applied(
    printer: Printer,
    admin: "ClusterAdmin",
    changes: Sequence[Change],
    topic_ids: Mapping[str, str | None],
    interruption: Interruption,
) -> list[Change]:
    """The changes as they are now, read back from the cluster unless Ctrl-C has ended that.

    Args:
        printer: told how far it is.
        admin: the cluster.
        changes: the plan.
        topic_ids: of the topics of the plan: those that have another id by now get no commit.
        interruption: Ctrl-C ends it after a batch.
    """
    from kgroups.core.kafka.doubts import WRITING
    from kgroups.core.kafka.writes.commit_reads import read_until
    from kgroups.core.kafka.writes.group_writes import write_and_read

    planned = _planned(changes)

    def parts(name: str) -> list[tuple[Key, str]]:
        return [((name, *at), f"{name} {at[0]}-{at[1]}") for at in _wanted(planned[name])]

    held: dict[str, Held | None] = {}  # each batch is read back while the next one is written
    before: Wanted = {}

    def send(names: Sequence[str], until: "Deadline") -> Mapping[Key, ItemError | None]:
        nonlocal before
        batch = {name: _wanted(planned[name]) for name in names}
        answers, read = write_and_read(admin, batch, list(before), until, topic_ids)
        held.update(
            (name, None if commits is None else as_wanted(commits, before[name]))
            for name, commits in read.items()
        )
        before = batch
        return whole_groups(answers, {name: len(own) for name, own in batch.items()})

    names, until = list(planned), admin.ends().part(WRITING)
    progress = in_batches(printer, interruption, "writing", "groups", names, send, parts, until)
    if interruption.asked:
        left = set(names[progress.sent :])
        changes = [
            change._replace(result="skipped")
            if change.group in left and change.result == "planned"
            else change
            for change in changes
        ]
    written = apply_answers(changes, progress.answers)
    printer.progress("reading back")
    back = ReadBack(written)
    again = dict.fromkeys([*back.take(held), *back.left])
    with suppress(KgroupsError):
        interruption.look(lambda: read_until(admin, list(again), back.take), None)
    settled = settle(written, back.held)
    return interruption.look(lambda: explain_changes(admin, settled), settled)


def _planned(changes: Iterable[Change]) -> dict[str, list[Change]]:
    """The planned changes by group."""
    planned: dict[str, list[Change]] = {}
    for change in changes:
        if change.result == "planned" and change.topic is not None:
            planned.setdefault(change.group, []).append(change)
    return planned


def _wanted(changes: Iterable[Change]) -> dict[TopicPartition, CommittedOffset | None]:
    """The new commits of these changes; made for one batch after the other, as they are many."""
    return {
        (topic, partition): new
        for _, topic, partition, _, new, *_ in changes
        if topic is not None and partition is not None
    }
