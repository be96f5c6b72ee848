"""Commits are written, batch by batch, and read back until it is known what became of them."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kgroups.cli.commands.writes.batches import in_batches
from kgroups.cli.commands.writes.refusals import explain_changes
from kgroups.cli.interruption import Interruption
from kgroups.cli.output.printer import Printer
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.offsets.change import Change, Key, apply_answers
from kgroups.core.offsets.read_back import Held, ReadBack, settle
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

    wanted = _wanted(changes)

    def parts(name: str) -> list[tuple[Key, str]]:
        return [((name, *at), f"{name} {at[0]}-{at[1]}") for at in wanted[name]]

    held: dict[str, Held | None] = {}  # each batch is read back while the next one is written
    before: list[str] = []

    def send(names: Sequence[str], until: "Deadline") -> Mapping[Key, ItemError | None]:
        batch = {name: wanted[name] for name in names}
        answers, read = write_and_read(admin, batch, before, until, topic_ids)
        held.update(read)
        before[:] = names
        return answers

    names, until = list(wanted), admin.ends().part(WRITING)
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


def _wanted(changes: Sequence[Change]) -> Wanted:
    """The new commits of the planned changes, by group."""
    wanted: Wanted = {}
    for change in changes:
        if change.result == "planned":
            group, topic, partition, _, new = change[:5]
            if topic is not None and partition is not None:
                wanted.setdefault(group, {})[topic, partition] = new
    return wanted
