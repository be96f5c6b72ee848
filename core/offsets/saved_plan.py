"""A saved plan as text, and back: the cluster, the topics' ids, the rows, and a checksum of all."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Final, Literal

import msgspec

from kgroups.core.errors import RefusedError, UsageError
from kgroups.core.offsets.commit_rows import CommitRows, GroupCommits, read_commits
from kgroups.core.offsets.row_file import (
    AnyRow,
    Document,
    Name,
    Number,
    Offset,
    Row,
    Text,
    WrongFile,
    check_texts,
    document_lines,
    read_document,
    read_rows,
)

Schema = Literal["kgroups.saved-plan/2"]
SCHEMA: Final[Schema] = "kgroups.saved-plan/2"
Command = Literal[
    "reset-offsets",
    "copy-offsets",
    "delete-offsets",
    "delete",
    "delete-records",
    "remove-members",
]


class PlannedRecords(Row):
    """The oldest records of a partition, which are to go: those below `new_start`."""

    topic: Name
    partition: Number
    old_start: Offset
    new_start: Offset
    log_end_offset: Offset


class PlannedRemoval(Row, omit_defaults=False):
    """A member that is to be removed, as it was then."""

    group: Name
    member_id: Name
    instance_id: Name | None
    client_id: Text
    host: Text
    reason: Text

    def __post_init__(self) -> None:
        check_texts([self.group, self.member_id, self.instance_id or ""])


class PlanDocument(Document, kw_only=True):
    """A saved plan.

    Args:
        command: its name.
        checksum: over the head and the rows, whatever the layout of the JSON.
    """

    schema: Schema
    command: Command
    rows: list[msgspec.Raw]
    checksum: str | None = None


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """What a command would do, and what it found there.

    Args:
        command: its name.
        cluster_id: of the cluster that would be written to; None if it has none.
        commits: by group, where the command is about commits or groups.
        records: where it is about records.
        removals: where it is about members.
        topics: of the commits.
        topic_ids: of the topics; those that are not known are absent.
    """

    command: Command
    cluster_id: str | None
    commits: Mapping[str, CommitRows] = field(default_factory=dict)
    records: Sequence[PlannedRecords] = ()
    removals: Sequence[PlannedRemoval] = ()
    topics: set[str] = field(default_factory=set)
    topic_ids: Mapping[str, str] = field(default_factory=dict)

    def check_cluster(self, cluster_id: str | None) -> None:
        """See that this is the cluster that the plan is for.

        Raises:
            RefusedError: it is another one.
        """
        if cluster_id != self.cluster_id:
            raise RefusedError(
                f"the plan is for cluster `{self.cluster_id}`, this is `{cluster_id}`",
                hint="name the cluster that it was made on with -b",
                code="CLUSTER_MISMATCH",
            )


class _Checksum:
    def __init__(self, document: PlanDocument) -> None:
        head = (document.command, document.cluster_id, document.created_at, document.topic_ids)
        self._sum = hashlib.sha256(msgspec.json.encode(head))

    def over(self, rows: Iterable[AnyRow]) -> Iterator[AnyRow]:
        """The same rows, taken in."""
        for row in rows:
            self._sum.update(msgspec.json.encode(row))
            yield row

    @property
    def text(self) -> str:
        """What stands in the file."""
        return f"sha256:{self._sum.hexdigest()}"


def plan_lines(
    command: Command,
    rows: Iterable[Row],
    *,
    cluster_id: str | None,
    topic_ids: Mapping[str, str | None],
    created_at: str,
) -> Iterator[bytes]:
    """The file of a plan, a row a line; of commits, a group a line.

    Args:
        rows: all of the kind of the command.
        topic_ids: of their topics, as far as they are known.
        created_at: the time, as text.
    Raises:
        UnicodeEncodeError: a name is no Unicode.
        UsageError: it would be longer than any file that is read.
    """
    head = PlanDocument(
        schema=SCHEMA,
        command=command,
        cluster_id=cluster_id,
        created_at=created_at,
        topic_ids=dict(topic_ids),
        rows=[],
    )
    checksum = _Checksum(head)
    try:
        yield from document_lines(head, checksum.over(rows))
    except WrongFile as error:
        raise UsageError(
            "the plan is too large to be read back", hint="plan fewer groups at a time"
        ) from error
    yield f'], "checksum": "{checksum.text}"}}\n'.encode()


def read_plan(file: BinaryIO, where: str) -> SavedPlan:
    """What a saved plan says.

    Args:
        file: from its start; it can be wound back.
        where: its name, for messages.
    Raises:
        UsageError: it is no saved plan, or was edited since.
    """
    try:
        return _read(file)
    except WrongFile as wrong:
        raise UsageError(
            f"`{where}` is not a saved plan: {wrong}",
            hint="`--dry-run --plan FILE` saves one",
        ) from wrong


def _read(file: BinaryIO) -> SavedPlan:
    document = read_document(file, PlanDocument)
    checksum = _Checksum(document)
    commits: dict[str, CommitRows] = {}
    topics: set[str] = set()
    records: list[PlannedRecords] = []
    removals: list[PlannedRemoval] = []
    match document.command:
        case "delete-records":
            records += checksum.over(read_rows(document.rows, PlannedRecords))
            _check_once((row.topic, row.partition) for row in records)
        case "remove-members":
            removals += checksum.over(read_rows(document.rows, PlannedRemoval))
            _check_once((row.group, row.member_id) for row in removals)
        case _:
            rows = checksum.over(read_rows(document.rows, GroupCommits))
            commits, topics = read_commits(document.rows, rows)
    if document.checksum != checksum.text:
        raise WrongFile("it was changed since it was saved: its checksum does not match")
    return SavedPlan(
        document.command,
        document.cluster_id,
        commits,
        records,
        removals,
        topics,
        document.known_ids,
    )


def _check_once(keys: Iterable[object]) -> None:
    """See that nothing is there twice.

    Raises:
        WrongFile: something is.
    """
    seen = list(keys)
    if len(set(seen)) < len(seen):
        raise WrongFile("a row is there twice")
