"""`-o plain` of our own writes: the layouts of Kafka's tool."""

from collections.abc import Iterable, Iterator, Sequence

from kgroups.cli.official.actions.deleting_offsets import status_table
from kgroups.cli.official.actions.resetting import reset_table
from kgroups.cli.official.words import exception_text
from kgroups.cli.output.escapes import for_stdout
from kgroups.core.offsets.change import Change
from kgroups.core.snapshot import TopicPartition


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
