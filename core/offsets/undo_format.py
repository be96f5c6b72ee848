"""The undo file: what a write replaces, as text, and back. It holds commits and no settings.

A file is made by whoever holds it, so nothing in it is believed before it was looked at.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, NamedTuple

from kgroups.core.errors import UsageError
from kgroups.core.input_files.row_lines import (
    MAX_INT32,
    RowFile,
    WrongFile,
    check_keys,
    is_count,
    is_name,
    shown,
    topic_ids_of,
)
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.targets import MAX_OFFSET
from kgroups.core.snapshot import CommittedOffset

SCHEMA: Final = "kgroups.undo/2"
SCHEMA_1: Final = "kgroups.undo/1"
"""Without topic ids; read, and not written any more."""

_HEAD: Final = frozenset({"schema", "cluster_id", "created_at"})
_TAIL: Final = frozenset({"outcome"})
_FIELDS: Final = (
    "group",
    "topic",
    "partition",
    "offset",
    "leader_epoch",
    "metadata",
    "new_offset",
)
_KEYS: Final = frozenset(_FIELDS)
_OF_NEW: Final = frozenset({"new_leader_epoch", "new_metadata"})
"""Fields of rows whose new commit has more than an offset: an undo's, or a copy's."""


class Replaced(NamedTuple):
    """One commit that was to be replaced.

    Args:
        old: what stood there; None if nothing did.
        new: what was to stand there; None if the commit was to be deleted.
    """

    group: str
    topic: str
    partition: int
    old: CommittedOffset | None
    new: CommittedOffset | None


@dataclass(frozen=True, slots=True)
class Undo:
    """What an undo file holds.

    Args:
        cluster_id: of the cluster that was written to; None if it has none.
        rows: by group; each partition of a group once.
        topic_ids: of the topics that were written to; those that are not known are absent.
    """

    cluster_id: str | None
    rows: Mapping[str, Sequence[Replaced]]
    topic_ids: Mapping[str, str]

    @property
    def topics(self) -> set[str]:
        """Every topic of the rows."""
        return {row.topic for rows in self.rows.values() for row in rows}


def undo_lines(
    changes: Iterable[Change],
    *,
    cluster_id: str | None,
    topic_ids: Mapping[str, str | None],
    created_at: str,
) -> Iterator[str]:
    """The undo file of the planned changes, a row a line.

    Args:
        changes: those that are not planned are left out.
        cluster_id: of the cluster.
        topic_ids: of its topics, as far as they are known.
        created_at: the time, as text.
    """
    planned = [change for change in changes if change.result == "planned"]
    names = dict.fromkeys(change.topic for change in planned if change.topic is not None)
    head = {
        "schema": SCHEMA,
        "cluster_id": cluster_id,
        "created_at": created_at,
        "topic_ids": {name: topic_ids.get(name) for name in names},
    }
    yield f'{json.dumps(head, ensure_ascii=False)[:-1]}, "rows": [\n'
    start = end = ""
    last: tuple[str, str | None] | None = None
    for group, topic, partition, old, new, *_ in planned:
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
        more = "" if new is None or new[1:3] == (None, "") else _more_of(new)
        yield f'{end}{start}, "partition": {partition}, {held}, "new_offset": {put}{more}}}'
        end = ",\n"
    yield "\n]}\n"


def _more_of(new: CommittedOffset) -> str:
    """The fields of a new commit beside its offset."""
    more = {"new_leader_epoch": new.leader_epoch, "new_metadata": new.metadata}
    return f", {json.dumps(more, ensure_ascii=False)[1:-1]}"


def with_outcome(text: str, outcome: Mapping[str, Any]) -> str:
    """The undo file with what became of its write, for who could not be told it otherwise.

    Args:
        text: of the file, as `undo_lines` made it.
        outcome: `at`, and how many changes had which result.
    """
    return f'{text.rstrip()[:-1]}, "outcome": {json.dumps(outcome)}}}\n'


def read_undo(file: BinaryIO, where: str) -> Undo:
    """What an undo file says.

    Args:
        file: from its start; it can be wound back.
        where: its name, for messages.
    Raises:
        UsageError: it is not an undo file, or longer than any.
    """
    try:
        return _read(file)
    except WrongFile as wrong:
        raise UsageError(
            f"`{where}` is not an undo file: {wrong}",
            hint="`reset-offsets` prints the path of the file it writes",
        ) from wrong


def _read(file: BinaryIO) -> Undo:
    parts = RowFile(file, _TAIL)
    ids = _topic_ids(parts.head)
    rows = _by_group(parts.rows())
    check_keys(parts.tail, _TAIL & parts.tail.keys())
    if not isinstance(parts.tail.get("outcome", {}), dict):
        raise WrongFile(f"its `outcome` is {shown(parts.tail['outcome'])}")
    return Undo(parts.head["cluster_id"], rows, ids)


def _topic_ids(head: Mapping[str, Any]) -> dict[str, str]:
    """The topic ids of a head that is right."""
    schema = head.get("schema")
    if schema not in (SCHEMA, SCHEMA_1):
        raise WrongFile(f"its `schema` is {shown(schema)}")
    check_keys(head, _HEAD | {"topic_ids"} if schema == SCHEMA else _HEAD)
    for name, optional in (("cluster_id", True), ("created_at", False)):
        if not (is_name(head[name]) or (optional and head[name] is None)):
            raise WrongFile(f"its `{name}` is {shown(head[name])}")
    return topic_ids_of(head.get("topic_ids", {}))


def _by_group(rows: Iterable[Any]) -> dict[str, list[Replaced]]:
    """The rows that are right, by group, each partition once."""
    names: dict[str, str] = {}  # one object for each name: rows are many, names are few
    found: dict[str, list[Replaced]] = {}
    for number, row in enumerate(rows, 1):
        one = _replaced(row, number, names)
        found.setdefault(one.group, []).append(one)
    for group, own in found.items():
        if len({(row.topic, row.partition) for row in own}) < len(own):
            raise WrongFile(f"it has a partition of group {shown(group)} twice")
    return found


def _replaced(row: Any, number: int, names: dict[str, str]) -> Replaced:
    if type(row) is not dict or (row.keys() != _KEYS and row.keys() != _KEYS | _OF_NEW):
        raise WrongFile(f"row {number} does not have the fields {', '.join(_FIELDS)}")
    group, topic, partition, offset, epoch, memo, new = map(row.__getitem__, _FIELDS)
    new_epoch, new_memo = row.get("new_leader_epoch"), row.get("new_metadata", "")
    if not (
        is_name(group)
        and is_name(topic)
        and is_count(partition, MAX_INT32)
        and (offset is None or is_count(offset, MAX_OFFSET))
        and (epoch is None or is_count(epoch, MAX_INT32))
        and (memo == "" or is_name(memo))
        and (new is None or is_count(new, MAX_OFFSET))
        and (new_epoch is None or is_count(new_epoch, MAX_INT32))
        and (new_memo == "" or is_name(new_memo))
    ):
        raise WrongFile(f"row {number} is {shown(row)}")
    old = None if offset is None else CommittedOffset(offset, epoch, names.setdefault(memo, memo))
    group, topic = names.setdefault(group, group), names.setdefault(topic, topic)
    put = None
    if new is not None:
        put = CommittedOffset(new, new_epoch, names.setdefault(new_memo, new_memo))
    return Replaced(group, topic, partition, old, put)
