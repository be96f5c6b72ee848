"""Undo files and saved plans: what a write replaces, or would do, as text and back."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Literal, NamedTuple

import msgspec
from msgspec import Raw, Struct

from kgroups.core.errors import RefusedError, UsageError
from kgroups.core.offsets.commit_rows import CommitRows, GroupCommits, read_commits
from kgroups.core.offsets.row_file import (
    AnyRow,
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
from kgroups.core.snapshot import GroupType
from kgroups.core.uuids import parse_uuid

Schema = Literal["kgroups.undo/3", "kgroups.saved-plan/2"]
UNDO: Final[Schema] = "kgroups.undo/3"
PLAN: Final[Schema] = "kgroups.saved-plan/2"

Command = Literal[
    "reset-offsets",
    "copy-offsets",
    "delete-offsets",
    "delete",
    "delete-records",
    "remove-members",
    "config",
]


class _Kind(NamedTuple):
    """The words for a file that cannot be read as one, and for one that cannot be written."""

    name: str
    source: str
    too_long: str
    hint: str


KINDS: Final[Mapping[Schema, _Kind]] = {
    UNDO: _Kind(
        "an undo file",
        "`reset-offsets` prints the path of the file it writes",
        "the undo file could not be read back; nothing was changed",
        "change fewer groups at a time",
    ),
    PLAN: _Kind(
        "a saved plan",
        "`--dry-run --plan FILE` saves one",
        "the plan is too large to be read back",
        "plan fewer groups at a time",
    ),
}


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


class ChangedSetting(Row, omit_defaults=False):
    """A configuration of a group that is to be changed: its own value before and after."""

    group: Name
    setting: Name
    old: Text | None
    new: Text | None

    def __post_init__(self) -> None:
        check_texts([self.group, self.setting, self.old or "", self.new or ""])


class Document(Struct, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One of these files.

    Args:
        command: that wrote, or would write.
        topic_ids: of the topics of the rows; None where one is not known.
        checksum: of a plan: over the head and the rows, whatever the layout of the JSON.
        outcome: of an undo file: what became of the write, where that could not be printed.
    """

    schema: Schema
    command: Command
    cluster_id: Name | None
    created_at: Name
    topic_ids: dict[str, str | None]
    share_groups: list[Name] = []
    rows: list[Raw]
    checksum: str | None = None
    outcome: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Contents of such a file.

    Args:
        cluster_id: of the cluster that was, or would be, written to; None if it has none.
        commits: by group, where it is about commits or groups; each partition of a group once.
        records: where it is about records.
        removals: where it is about members.
        settings: where it is about configurations.
        topic_ids: of the topics; those that are not known are absent.
        types: of those of the groups that are share groups.
    """

    command: Command
    cluster_id: str | None
    commits: Mapping[str, CommitRows] = field(default_factory=dict)
    records: Sequence[PlannedRecords] = ()
    removals: Sequence[PlannedRemoval] = ()
    settings: Sequence[ChangedSetting] = ()
    topics: set[str] = field(default_factory=set)
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, GroupType] = field(default_factory=dict)

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
    def __init__(self, document: Document) -> None:
        head: tuple[object, ...] = (document.command, document.cluster_id, document.created_at)
        head += (document.topic_ids, *filter(None, [document.share_groups]))
        self._sum = hashlib.sha256(msgspec.json.encode(head))

    def over(self, rows: Iterable[AnyRow]) -> Iterator[AnyRow]:
        """The same rows, taken in."""
        for row in rows:
            self._sum.update(msgspec.json.encode(row))
            yield row

    @property
    def text(self) -> str:
        """Checksum, as it stands in the file."""
        return f"sha256:{self._sum.hexdigest()}"


def file_lines(document: Document, rows: Iterable[Row]) -> Iterator[bytes]:
    """A file, a row a line; of commits, a group a line.

    Args:
        document: without rows.
        rows: all of the kind of the command; made while they are written.
    Raises:
        UnicodeEncodeError: a name is no Unicode.
        UsageError: it would be longer than any file that is read.
    """
    checksum = _Checksum(document) if document.schema == PLAN else None
    try:
        yield from document_lines(document, rows if checksum is None else checksum.over(rows))
    except WrongFile as error:
        kind = KINDS[document.schema]
        raise UsageError(kind.too_long, hint=kind.hint) from error
    yield b"]}\n" if checksum is None else f'],"checksum":"{checksum.text}"}}\n'.encode()


def with_outcome(text: bytes, outcome: Mapping[str, Any]) -> bytes:
    """An undo file with what became of its write, for who could not be told it otherwise.

    Args:
        text: of the file, as `file_lines` made it.
        outcome: `at`, and how many changes had which result.
    """
    return text.rstrip()[:-1] + b',"outcome":' + msgspec.json.encode(outcome) + b"}\n"


def read_file(file: BinaryIO, where: str, schema: Schema) -> WriteFile:
    """Contents of a file.

    Args:
        file: from its start; it can be wound back.
    Raises:
        UsageError: it is none, or longer than any; a plan was edited since.
    """
    kind = KINDS[schema]
    try:
        return _read(file, schema)
    except WrongFile as wrong:
        raise UsageError(f"`{where}` is not {kind.name}: {wrong}", hint=kind.source) from wrong


def _read(file: BinaryIO, schema: Schema) -> WriteFile:
    document = read_document(file, Document)
    if document.schema != schema:
        raise WrongFile(f"its `schema` is `{document.schema}`")
    checksum = _Checksum(document)
    commits: dict[str, CommitRows] = {}
    topics: set[str] = set()
    records: list[PlannedRecords] = []
    removals: list[PlannedRemoval] = []
    settings: list[ChangedSetting] = []
    match document.command:
        case "delete-records":
            records += checksum.over(read_rows(document.rows, PlannedRecords))
            _check_once((row.topic, row.partition) for row in records)
        case "remove-members":
            removals += checksum.over(read_rows(document.rows, PlannedRemoval))
            _check_once((row.group, row.member_id) for row in removals)
        case "config":
            settings += checksum.over(read_rows(document.rows, ChangedSetting))
            _check_once((row.group, row.setting) for row in settings)
        case _:
            rows = checksum.over(read_rows(document.rows, GroupCommits))
            commits, topics = read_commits(document.rows, rows)
    if schema == PLAN and document.checksum != checksum.text:
        raise WrongFile("it was changed since it was saved: its checksum does not match")
    ids = _known_ids(document.topic_ids)
    return WriteFile(
        document.command,
        document.cluster_id,
        commits,
        records,
        removals,
        settings,
        topics,
        ids,
        dict.fromkeys(document.share_groups, "share"),
    )


def _known_ids(topic_ids: Mapping[str, str | None]) -> dict[str, str]:
    """The ids that are known, by topic.

    Raises:
        WrongFile: one of them is no id.
    """
    try:
        return {name: parse_uuid(text) for name, text in topic_ids.items() if text}
    except ValueError as error:
        raise WrongFile("one of its `topic_ids` is not a topic id") from error


def _check_once(keys: Iterable[object]) -> None:
    """See that nothing is there twice.

    Raises:
        WrongFile: something is.
    """
    seen = list(keys)
    if len(set(seen)) < len(seen):
        raise WrongFile("a row is there twice")
