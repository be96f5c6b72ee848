"""The undo file: what a write replaces, as text, and back. It holds commits and no settings.

A file is made by whoever holds it, so nothing in it is believed before it was looked at.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, BinaryIO, Final

from kgroups.core.errors import UsageError
from kgroups.core.imports.orjson_import import orjson
from kgroups.core.input_files.row_lines import (
    MAX_BYTES,
    RowFile,
    WrongFile,
    check_keys,
    is_name,
    shown,
    topic_ids_of,
)
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.undo_rows import (
    Bounds,
    ReplacedRows,
    in_columns,
    rows_by_commit,
    rows_by_group,
    sizes_of,
)

SCHEMA: Final = "kgroups.undo/3"
SCHEMA_2: Final = "kgroups.undo/2"
"""A commit a row, where now a row is a group, with its commits in columns."""
SCHEMA_1: Final = "kgroups.undo/1"
"""Without topic ids. Both are read, and not written any more."""

_HEAD: Final = frozenset({"schema", "cluster_id", "created_at"})
_TAIL: Final = frozenset({"outcome"})
OUTCOME_BYTES: Final = 1_000
"""Room behind the rows for what `with_outcome` adds."""


@dataclass(frozen=True, slots=True)
class Undo:
    """What an undo file holds.

    Args:
        cluster_id: of the cluster that was written to; None if it has none.
        rows: by group; each partition of a group once.
        topic_ids: of the topics that were written to; those that are not known are absent.
    """

    cluster_id: str | None
    rows: Mapping[str, ReplacedRows]
    topic_ids: Mapping[str, str]

    @property
    def topics(self) -> set[str]:
        """Every topic of the rows."""
        return {topic for rows in self.rows.values() for topic in rows.topics}


def undo_lines(
    changes: Iterable[Change],
    *,
    cluster_id: str | None,
    topic_ids: Mapping[str, str | None],
    created_at: str,
) -> Iterator[str]:
    """The undo file of the planned changes, a group a line.

    Args:
        changes: those that are not planned are left out.
        cluster_id: of the cluster.
        topic_ids: of its topics, as far as they are known.
        created_at: the time, as text.
    Raises:
        UsageError: it would be longer than any file that is read.
        TypeError: a name is no Unicode.
    """
    planned = [change for change in changes if change.result == "planned"]
    names = dict.fromkeys(change.topic for change in planned if change.topic is not None)
    head = {
        "schema": SCHEMA,
        "cluster_id": cluster_id,
        "created_at": created_at,
        "topic_ids": {name: topic_ids.get(name) for name in names},
    }
    text = f'{json.dumps(head, ensure_ascii=False)[:-1]}, "rows": [\n'
    yield text
    end, bounds, size = "", Bounds(), len(text.encode(errors="replace"))
    for group, own in groupby(planned, itemgetter(0)):
        for commits in in_columns(own):
            row = orjson.dumps({"group": group, "commits": commits})
            size += len(row) + len(end)
            if not bounds.hold(map(sizes_of, commits.values())) or size + OUTCOME_BYTES > MAX_BYTES:
                raise UsageError(
                    f"an undo file of {len(planned):,} partitions could not be read back;"
                    " nothing was changed",
                    hint="change fewer groups at a time",
                )
            yield end + row.decode()
            end = ",\n"
    yield "\n]}\n"


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
    read = rows_by_group if parts.head["schema"] == SCHEMA else rows_by_commit
    rows = read(parts.rows())
    check_keys(parts.tail, _TAIL & parts.tail.keys())
    if not isinstance(parts.tail.get("outcome", {}), dict):
        raise WrongFile(f"its `outcome` is {shown(parts.tail['outcome'])}")
    return Undo(parts.head["cluster_id"], rows, ids)


def _topic_ids(head: Mapping[str, Any]) -> dict[str, str]:
    """The topic ids of a head that is right."""
    schema = head.get("schema")
    if schema not in (SCHEMA, SCHEMA_2, SCHEMA_1):
        raise WrongFile(f"its `schema` is {shown(schema)}")
    check_keys(head, _HEAD if schema == SCHEMA_1 else _HEAD | {"topic_ids"})
    for name, optional in (("cluster_id", True), ("created_at", False)):
        if not (is_name(head[name]) or (optional and head[name] is None)):
            raise WrongFile(f"its `{name}` is {shown(head[name])}")
    return topic_ids_of(head.get("topic_ids", {}))
