"""The undo file: what a write replaces, as text, and back. It holds commits and no settings."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from kgroups.core.errors import UsageError
from kgroups.core.offsets.change import Change, lag_at
from kgroups.core.offsets.reset import committed
from kgroups.core.offsets.scope import not_there
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic

SCHEMA: Final = "kgroups.undo/1"


@dataclass(frozen=True, slots=True)
class Replaced:
    """One commit that was to be replaced.

    Args:
        old: what stood there; None if nothing did.
        new_offset: what was to stand there; None if the commit was to be deleted.
    """

    group: str
    topic: str
    partition: int
    old: CommittedOffset | None
    new_offset: int | None


@dataclass(frozen=True, slots=True)
class Undo:
    """What an undo file holds.

    Args:
        cluster_id: of the cluster that was written to; None if it has none.
    """

    cluster_id: str | None
    rows: tuple[Replaced, ...]


def undo_text(changes: Iterable[Change], *, cluster_id: str | None, created_at: str) -> str:
    """The undo file of the planned changes, a row a line.

    Args:
        changes: those that are not planned are left out.
        cluster_id: of the cluster.
        created_at: the time, as text.
    """
    rows: list[str] = []
    start = ""
    last: tuple[str, str | None] | None = None
    for group, topic, partition, old, new, *_, result, _ in changes:
        if result != "planned":
            continue
        if (group, topic) != last:  # tens of thousands of rows share a few names
            last = (group, topic)
            start = json.dumps({"group": group, "topic": topic}, ensure_ascii=False)[:-1]
        put = "null" if new is None else new[0]
        held = '"offset": null, "leader_epoch": null, "metadata": ""'
        if old is not None:
            offset, epoch, memo, _ = old
            said = json.dumps(memo, ensure_ascii=False) if memo else '""'
            known = "null" if epoch is None else epoch
            held = f'"offset": {offset}, "leader_epoch": {known}, "metadata": {said}'
        rows.append(f'{start}, "partition": {partition}, {held}, "new_offset": {put}}}')
    head = json.dumps({"schema": SCHEMA, "cluster_id": cluster_id, "created_at": created_at})
    body = ",\n".join(rows)
    return f'{head[:-1]}, "rows": [\n{body}\n]}}\n'


def with_outcome(text: str, outcome: Mapping[str, Any]) -> str:
    """The undo file with what became of its write, for who could not be told it otherwise.

    Args:
        text: of the file, as `undo_text` made it.
        outcome: `at`, and how many changes had which result.
    """
    return f'{text.rstrip()[:-1]}, "outcome": {json.dumps(outcome)}}}\n'


def parse_undo(text: str, where: str) -> Undo:
    """What an undo file says.

    Args:
        text: of the file.
        where: its name, for messages.
    Raises:
        UsageError: the text is no undo file.
    """
    try:
        document = json.loads(text)
        if document["schema"] != SCHEMA:
            raise UsageError(f"{where} is no undo file: it says `{document['schema']}`")
        rows = tuple(_replaced(row) for row in document["rows"])
        return Undo(_optional(document["cluster_id"], str), rows)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{where} is no undo file", hint="`reset-offsets` prints the path of the one it wrote"
        ) from error


def _replaced(row: dict[str, Any]) -> Replaced:
    offset = _optional(row["offset"], int)
    old = None
    if offset is not None:
        epoch = _optional(row["leader_epoch"], int)
        old = CommittedOffset(offset, epoch, _typed(row["metadata"], str))
    return Replaced(
        _typed(row["group"], str),
        _typed(row["topic"], str),
        _typed(row["partition"], int),
        old,
        _optional(row["new_offset"], int),
    )


def _typed(value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(value)
    return value


def _optional(value: Any, kind: type) -> Any:
    return None if value is None else _typed(value, kind)


def plan_undo(group: Group, rows: Iterable[Replaced], topics: Mapping[str, Topic]) -> list[Change]:
    """A change for each row of a group: back to what stood there, even outside the log.

    Args:
        group: without members, its commits known.
        rows: of this group.
        topics: with the bounds of their logs.
    """
    return [
        _change(group, row, row.old, topics, f"moved since: {row.new_offset} was written")
        if offset_of(committed(group, (row.topic, row.partition))) != row.new_offset
        else _change(group, row, row.old, topics, None)
        for row in rows
    ]


def plan_resume(
    group: Group, rows: Iterable[Replaced], topics: Mapping[str, Topic]
) -> list[Change]:
    """A change for each row of a group: what the file said would be written, where it was not.

    Args:
        group: without members, its commits known.
        rows: of this group.
        topics: with the bounds of their logs.
    """
    changes = []
    for row in rows:
        now = offset_of(committed(group, (row.topic, row.partition)))
        was = offset_of(row.old)
        note = None if now == was else f"moved since: {was} stood there"
        new = None if row.new_offset is None else CommittedOffset(row.new_offset)
        changes.append(_change(group, row, new, topics, note))
    return changes


def offset_of(commit: CommittedOffset | None) -> int | None:
    """The offset of a commit; None for none."""
    return None if commit is None else commit.offset


def _change(
    group: Group,
    row: Replaced,
    new: CommittedOffset | None,
    topics: Mapping[str, Topic],
    note: str | None,
) -> Change:
    """From what stands there now to `new`, with a note if it is neither of what the file knows."""
    now = committed(group, (row.topic, row.partition))
    topic = topics.get(row.topic)
    log: PartitionLog | None = None if topic is None else topic.partitions.get(row.partition)
    change = Change(
        group.group,
        row.topic,
        row.partition,
        old=now,
        new=new,
        lag_before=lag_at(offset_of(now), log),
        lag_after=lag_at(offset_of(new), log),
    )
    if offset_of(now) == offset_of(new):
        return change._replace(result="skipped")
    if log is None:
        return change.failed(replace(not_there(""), target=change.target))
    return change._replace(note=note)
