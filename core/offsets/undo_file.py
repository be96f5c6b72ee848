"""The undo file: what a write replaces, as text, and back. It holds commits and no settings."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Literal

import msgspec

from kgroups.core.errors import UsageError
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.commit_rows import CommitRows, GroupCommits, commit_rows, read_commits
from kgroups.core.offsets.row_file import (
    Document,
    WrongFile,
    document_lines,
    read_document,
    read_rows,
)

Schema = Literal["kgroups.undo/3"]
SCHEMA: Final[Schema] = "kgroups.undo/3"


class UndoDocument(Document, kw_only=True):
    """An undo file.

    Args:
        outcome: what became of the write, where that could not be printed.
    """

    schema: Schema
    rows: list[msgspec.Raw]
    outcome: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Undo:
    """What an undo file holds.

    Args:
        cluster_id: of the cluster that was written to; None if it has none.
        rows: by group; each partition of a group once.
        topics: of the rows.
        topic_ids: of the topics that were written to; those that are not known are absent.
    """

    cluster_id: str | None
    rows: Mapping[str, CommitRows]
    topics: set[str]
    topic_ids: Mapping[str, str]


def undo_lines(
    changes: Iterable[Change],
    *,
    cluster_id: str | None,
    topic_ids: Mapping[str, str | None],
    created_at: str,
) -> Iterator[bytes]:
    """The undo file of the planned changes, a group a line.

    Args:
        changes: those that are not planned are left out.
        cluster_id: of the cluster.
        topic_ids: of its topics, as far as they are known.
        created_at: the time, as text.
    Raises:
        UnicodeEncodeError: a name is no Unicode.
        UsageError: it would be longer than any file that is read.
    """
    planned = [change for change in changes if change.result == "planned"]
    names = dict.fromkeys(change.topic for change in planned if change.topic is not None)
    ids = {name: topic_ids.get(name) for name in names}
    head = UndoDocument(
        schema=SCHEMA, cluster_id=cluster_id, created_at=created_at, topic_ids=ids, rows=[]
    )
    try:
        yield from document_lines(head, commit_rows(planned))
    except WrongFile as error:
        raise UsageError(
            f"an undo file of {len(planned):,} partitions could not be read back;"
            " nothing was changed",
            hint="change fewer groups at a time",
        ) from error
    yield b"]}\n"


def with_outcome(text: bytes, outcome: Mapping[str, Any]) -> bytes:
    """The undo file with what became of its write, for who could not be told it otherwise.

    Args:
        text: of the file, as `undo_lines` made it.
        outcome: `at`, and how many changes had which result.
    """
    return text.rstrip()[:-1] + b', "outcome": ' + msgspec.json.encode(outcome) + b"}\n"


def read_undo(file: BinaryIO, where: str) -> Undo:
    """What an undo file says.

    Args:
        file: from its start; it can be wound back.
        where: its name, for messages.
    Raises:
        UsageError: it is not an undo file, or longer than any.
    """
    try:
        document = read_document(file, UndoDocument)
        rows, topics = read_commits(document.rows, read_rows(document.rows, GroupCommits))
        return Undo(document.cluster_id, rows, topics, document.known_ids)
    except WrongFile as wrong:
        raise UsageError(
            f"`{where}` is not an undo file: {wrong}",
            hint="`reset-offsets` prints the path of the file it writes",
        ) from wrong
