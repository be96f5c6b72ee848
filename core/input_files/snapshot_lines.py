"""Snapshots as lines of JSON, plain or in a zstd file (`.jsonl.zst`): for clusters of any size.

The first line is the head, then comes a topic or a group a line, and the last line counts them, so
that a file which was cut off is noticed. Commits and the bounds of logs stand in columns, named as
the fields of `CommittedOffset` and `PartitionLog`: a tenth of the values of the JSON document.
Topics and groups are written one by one; reading holds the text, the snapshot, and the values of
one line. What would be longer than is read is not written.
"""

import io
import mmap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, NoReturn, TypeVar

import cramjam
import msgspec

from kgroups.core.errors import UsageError, shorten
from kgroups.core.group_item import broker_item, describe_item
from kgroups.core.input_files.document import MAX_INT64, Cursor, Document
from kgroups.core.input_files.files import MIB, decode, read_file, show_bytes
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group, PartitionLog, Topic
from kgroups.core.snapshot_parser import (
    SCHEMA,
    parse_snapshot,
    read_group,
    read_racks,
    read_topic_id,
)

SUFFIX: Final = ".jsonl.zst"
PLAIN_SUFFIX: Final = ".jsonl"
LINES_SCHEMA: Final = "kgroups.snapshot.lines/1"
EXPECTED: Final = "a snapshot as `kgroups snapshot save` writes it"

MAX_PACKED_BYTES: Final = 64 * MIB
MAX_BYTES: Final = 192 * MIB
MAX_LINE_BYTES: Final = 32 * MIB
MAX_COST: Final = 768 * MIB
_COSTS: Final = ((b"{", 208), (b"[", 80), (b",", 100))
"""Bytes of memory behind a sign, at most: of a group, of a list, of half a commit."""

CHUNK_BYTES: Final = MIB
PACKING_LEVEL: Final = 3
MAX_INT32: Final = 2**31 - 1

PARTITION: Final = "partition"

T = TypeVar("T")


def has_lines(path: Path) -> bool:
    """Whether a file of this name holds a snapshot as lines."""
    return path.name.lower().endswith((SUFFIX, PLAIN_SUFFIX))


def _is_packed(path: Path) -> bool:
    return not path.name.lower().endswith(PLAIN_SUFFIX)


class _Bounds:
    """What a file has held so far, of what one may hold.

    Args:
        fail: raises the error about what is too much.
    """

    def __init__(self, fail: Callable[[str], NoReturn]) -> None:
        self._fail = fail
        self._bytes = self._cost = 0

    def add(self, line: bytes) -> None:
        """Count one more line."""
        self._bytes += len(line)
        self._cost += sum(line.count(sign) * cost for sign, cost in _COSTS)
        if len(line) > MAX_LINE_BYTES:
            self._fail(f"a line is longer than {show_bytes(MAX_LINE_BYTES)}")
        if self._bytes > MAX_BYTES:
            self._fail(f"its text is longer than {show_bytes(MAX_BYTES)}")
        if self._cost > MAX_COST:
            self._fail("it has more values than kgroups reads")


def write_lines(
    file: BinaryIO, path: Path, snapshot: ClusterSnapshot, head: Mapping[str, Any]
) -> None:
    """Write a snapshot, a topic or a group at a time.

    Args:
        path: what the file will be called; its suffix says whether it is packed.
        head: the fields of the document that stand beside topics and groups.
    Raises:
        OSError: the file cannot be written.
        UsageError: it would be longer than is read back.
    """

    def fail(what: str) -> NoReturn:
        raise UsageError(f"the snapshot is too large to be read back: {what}")

    bounds = _Bounds(fail)

    def bounded() -> Iterator[bytes]:
        for line in _lines(snapshot, head):
            bounds.add(line)
            yield line

    if _is_packed(path):
        _pack(file, bounded())
    else:
        file.writelines(bounded())


def _pack(file: BinaryIO, lines: Iterator[bytes]) -> None:
    packer, held = cramjam.zstd.Compressor(PACKING_LEVEL), 0
    for line in lines:
        packer.compress(line)
        held += len(line)
        if held >= CHUNK_BYTES:
            file.write(bytes(packer.flush()))
            held = 0
    file.write(bytes(packer.finish()))


def _lines(snapshot: ClusterSnapshot, head: Mapping[str, Any]) -> Iterator[bytes]:
    yield _line({**head, "schema": LINES_SCHEMA, "brokers": [*map(broker_item, snapshot.brokers)]})
    for topic in snapshot.topics.values():
        logs = _columns(topic.partitions, PartitionLog())
        yield _line({"topic": topic.topic, "topic_id": topic.topic_id, "logs": logs})
    for group in snapshot.groups:
        item = describe_item(snapshot, group, None, ("members", "planning"))
        if group.offsets is not None:
            item["commits"] = {
                topic: _columns(commits, CommittedOffset(0))
                for topic, commits in group.offsets.items()
            }
        yield _line(item)
    yield _line({"groups": len(snapshot.groups), "topics": len(snapshot.topics)})


def _line(value: object) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _columns(
    rows: Mapping[int, CommittedOffset] | Mapping[int, PartitionLog],
    usual: CommittedOffset | PartitionLog,
) -> dict[str, Sequence[Any]]:
    """Rows by partition as a list for each field; without those that hold the usual value only."""
    fields = zip(usual._fields, zip(*rows.values(), strict=True), strict=False)
    columns: dict[str, Sequence[Any]] = {
        name: values
        for name, values in fields
        if name not in usual._field_defaults or set(values) != {usual._field_defaults[name]}
    }
    return {PARTITION: list(rows), **columns}


def read_lines(path: Path) -> ClusterSnapshot:
    """The snapshot in such a file.

    Raises:
        UsageError: unreadable, cut off, longer than any honest file, or not a snapshot; names file,
            line and place.
    """
    name = str(path)
    head: ClusterSnapshot | None = None
    groups: dict[str, Group] = {}
    topics: dict[str, Topic] = {}
    lines = _unpacked(path) if _is_packed(path) else _plain(path)
    for cursor in _cursors(lines, name):
        if head is None:
            head = _head(cursor)
            continue
        keys = cursor.value if isinstance(cursor.value, dict) else {}
        if "group" in keys:
            group = _group(cursor, keys.pop("commits", None))
            _add(groups, group.group, group, "group", cursor)
        elif "topic" in keys:
            topic = _topic(cursor)
            _add(topics, topic.topic, topic, "topic", cursor)
        else:
            _check_counts(cursor, len(groups), len(topics))
            return replace(head, groups=tuple(groups.values()), topics=topics)
    raise UsageError(
        f"`{shorten(name)}` is cut off: its last line is missing", hint=f"expected {EXPECTED}"
    )


def _plain(path: Path) -> Iterator[bytes]:
    """The lines of a file that is not packed."""
    yield from io.BytesIO(read_file(path, MAX_BYTES, EXPECTED))


def _unpacked(path: Path) -> Iterator[bytes]:
    """The lines of a packed file, which is unpacked into memory that is taken as it is filled."""
    shown = f"`{shorten(str(path))}`"
    data = read_file(path, MAX_PACKED_BYTES, EXPECTED)
    room = mmap.mmap(-1, MAX_BYTES)
    try:
        length = cramjam.zstd.decompress_into(data, room)
    except cramjam.DecompressionError as error:
        if "whole buffer" in str(error):
            what = f"{shown} is longer than {show_bytes(MAX_BYTES)}"
        else:
            what = f"{shown} is not a whole zstd file"
        raise UsageError(what, hint=f"expected {EXPECTED}") from error
    at = 0
    while at < length:
        end = room.find(b"\n", at, length) + 1 or length
        yield room[at : min(end, at + MAX_LINE_BYTES + 1)]  # so much is enough to be refused
        at = end


def _cursors(lines: Iterator[bytes], name: str) -> Iterator[Cursor]:
    """Each line as a value, with its place for messages."""
    shown = f"`{shorten(name)}`"

    def fail(what: str) -> NoReturn:
        raise UsageError(f"{shown} is too large: {what}", hint=f"expected {EXPECTED}")

    bounds = _Bounds(fail)
    for number, line in enumerate(lines, start=1):
        bounds.add(line)
        try:
            value = msgspec.json.decode(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{shown}, line {number}: not JSON: {error}",
                hint=f"expected {EXPECTED}",
            ) from error
        yield Document(name, decode(line, name, EXPECTED), "json", value, number).root


def _head(cursor: Cursor) -> ClusterSnapshot:
    """The facts that stand beside topics and groups."""
    if not isinstance(cursor.value, dict) or cursor.value.get("schema") != LINES_SCHEMA:
        cursor.fail(
            f"expected a head with the schema `{LINES_SCHEMA}`", hint=f"expected {EXPECTED}"
        )
    value = {**cursor.value, "schema": SCHEMA, "items": [], "topics": []}
    return parse_snapshot(replace(cursor.document, value=value))


def _group(cursor: Cursor, commits: object) -> Group:
    group = read_group(cursor)
    if commits is None:
        return group
    return replace(
        group,
        offsets={
            topic: _rows(columns, _COMMIT_READERS, CommittedOffset)
            for topic, columns in cursor.child("commits", commits).entries()
        },
    )


def _topic(cursor: Cursor) -> Topic:
    fields = cursor.fields(("topic", "logs"), ("topic_id",))
    return Topic(
        topic=fields["topic"].text(),
        partitions=_rows(fields["logs"], _LOG_READERS, PartitionLog),
        topic_id=fields.optional("topic_id", read_topic_id),
    )


def _add(into: dict[str, T], name: str, value: T, kind: str, cursor: Cursor) -> None:
    if name in into:
        cursor.fail(f"the {kind} `{shorten(name)}` appears twice in this file")
    into[name] = value


def _check_counts(cursor: Cursor, groups: int, topics: int) -> None:
    fields = cursor.fields(("groups", "topics"))
    for key, found in (("groups", groups), ("topics", topics)):
        if fields[key].integer() != found:
            fields[key].fail(f"this many are expected, and {found} are in the file")


class _Reader(NamedTuple):
    """How the values of a column are read.

    Args:
        read: one value, with a complaint that names its place.
        kinds: types that need no such look: numbers within the bounds, texts, nothing.
        least: of a number; most of them have no more than 64 bits.
    """

    read: Callable[[Cursor], object]
    kinds: frozenset[type]
    least: int = -MAX_INT64 - 1
    most: int = MAX_INT64

    def values(self, column: Cursor, length: int) -> Sequence[Any]:
        """The column's values.

        Raises:
            UsageError: not so many, or one that cannot be.
        """
        values = column.value
        if not isinstance(values, list) or len(values) != length:
            column.fail(f"expected a list of {length} values, as there are partitions")
        numbers = [value for value in values if type(value) is int]
        if self.kinds.issuperset(map(type, values)) and (
            not numbers or self.least <= min(numbers) <= max(numbers) <= self.most
        ):
            return values
        return [self.read(item) for item in column.items()]


def _maybe(read: Callable[[Cursor], T]) -> Callable[[Cursor], T | None]:
    return lambda cursor: None if cursor.value is None else read(cursor)


NOTHING = type(None)
_PARTITION: Final = _Reader(lambda c: c.integer(0, MAX_INT32), frozenset({int}), 0, MAX_INT32)
_BOUND: Final = _Reader(_maybe(lambda c: c.integer(0)), frozenset({int, NOTHING}), 0)
_NUMBER: Final = _Reader(_maybe(Cursor.integer), frozenset({int, NOTHING}))
_COMMIT_READERS: Final = {
    "offset": _Reader(Cursor.integer, frozenset({int})),
    "leader_epoch": _NUMBER,
    "metadata": _Reader(Cursor.text, frozenset({str})),
    "committed_at_ms": _NUMBER,
}
_LOG_READERS: Final = {
    "log_start_offset": _BOUND,
    "log_end_offset": _BOUND,
    "last_stable_offset": _BOUND,
    "leader": _NUMBER,
    "racks": _Reader(read_racks, frozenset()),
    "error": _Reader(_maybe(Cursor.text), frozenset({str, NOTHING})),
}


def _rows(
    cursor: Cursor, readers: Mapping[str, _Reader], kind: type[CommittedOffset] | type[PartitionLog]
) -> dict[int, Any]:
    """Columns as rows by partition."""
    required = [PARTITION, *([] if kind is PartitionLog else ["offset"])]
    fields = cursor.fields(required, readers)
    partitions = fields[PARTITION]
    length = len(partitions.value) if isinstance(partitions.value, list) else 0
    numbers = _PARTITION.values(partitions, length)
    if len(set(numbers)) < length:
        partitions.fail("a partition appears twice in this list")
    columns = [
        reader.values(fields[name], length)
        if name in fields.values
        else repeat(kind._field_defaults[name], length)
        for name, reader in readers.items()
    ]
    return dict(zip(numbers, map(kind, *columns), strict=True))
