"""Snapshot files: a cluster's groups written down, and read back strictly.

A document (JSON, YAML) is the `kgroups.snapshot/1` envelope: groups as `describe` items (with what
a dry run needs besides), and beside them `topics` and `brokers`. Derived figures in it (lag,
counts) are for the reader's eye. A file of lines (`.jsonl`, packed as `.jsonl.zst`) has a head,
then a topic a line, then a group a line, without derived figures, and is written and read line by
line: for clusters of any size. What would be longer than is read back is not written.
"""

import dataclasses
import io
import json
import mmap
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import cramjam
import msgspec
import yaml

from kgroups.core.errors import UsageError, shorten
from kgroups.core.group_item import Item, describe_item, topic_item
from kgroups.core.input_files.document import (
    MAX_BYTES,
    Document,
    Syntax,
    read_document,
    show_path,
    syntax_of,
)
from kgroups.core.input_files.files import MIB, read_file, show_bytes, whole_file
from kgroups.core.input_files.json_text import MAX_JSON_COST, Step, json_cost
from kgroups.core.input_files.yaml_text import MAX_YAML_VALUES, count_values
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.snapshot import ClusterSnapshot, Group
from kgroups.core.snapshot_records import (
    ClusterRecord,
    GroupRecord,
    LinesHead,
    SnapshotRecord,
    group_of,
    group_record,
    snapshot_of,
)
from kgroups.core.snapshot_topics import TopicRecord, check_once, topic_of, topic_record
from kgroups.core.times import instant_of, timestamp

SCHEMA: Final = "kgroups.snapshot/1"
SUFFIX: Final = ".jsonl.zst"
PLAIN_SUFFIX: Final = ".jsonl"
# Facts of a partition that stand with its topic.
OF_TOPICS: Final = ("leader", "current_leader_epoch", "in_sync_replicas")
EXPECTED: Final = "a snapshot as `kgroups snapshot save` writes it"

MAX_PACKED_BYTES: Final = 64 * MIB
MAX_LINES_BYTES: Final = 192 * MIB
MAX_LINE_BYTES: Final = 32 * MIB
MAX_LINES_COST: Final = 768 * MIB
MOST_COMMITS: Final[dict[Syntax, int]] = {
    "json": MAX_BYTES["json"] // 250,
    "yaml": MAX_YAML_VALUES // 15,
}
"""No document holds more: each commit takes so many bytes or values at least."""

_CHUNK_BYTES: Final = MIB
_PACKING_LEVEL: Final = 3
_YAML_WIDTH: Final = 80
_DUMPER: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_PLACE: Final = re.compile(r" - at `(?:key in )?\$(.*)`$")
_STEP: Final = re.compile(r"\.([^.\[]+)|\[(\d+)\]|(\[\.\.\.\])")

R = TypeVar("R")


def has_lines(path: Path) -> bool:
    """Whether a file of this name holds a snapshot as lines."""
    return path.name.lower().endswith((SUFFIX, PLAIN_SUFFIX))


def _is_packed(path: Path) -> bool:
    return not path.name.lower().endswith(PLAIN_SUFFIX)


def read_snapshot(path: Path) -> ClusterSnapshot:
    """The snapshot in a file: JSON or, by its suffix, YAML or lines (`.jsonl`, `.jsonl.zst`).

    Raises:
        UsageError: unreadable, not well formed or not a snapshot; names file, line and place.
    """
    return _read_lines(path) if has_lines(path) else parse_snapshot(read_document(path))


def parse_snapshot(document: Document) -> ClusterSnapshot:
    """The snapshot that a parsed document holds.

    Raises:
        UsageError: it is not a snapshot; names file, line and place.
    """
    schema = document.value.get("schema") if isinstance(document.value, dict) else None
    if isinstance(schema, str) and schema != SCHEMA:
        document.root.child("schema", schema).fail(
            f"expected `{SCHEMA}`, found `{shorten(schema, 60)}`", hint=f"expected {EXPECTED}"
        )
    try:
        record = msgspec.convert(document.value, SnapshotRecord)
    except msgspec.ValidationError as error:
        what, path = _place_of(error)
        line = document.line_of(path)
        where = f"`{shorten(document.name)}`, line {line}" + (f", `{show_path(path)}`" * bool(path))
        raise UsageError(f"{where}: {what}", hint=f"expected {EXPECTED}") from error
    return snapshot_of(record, map(topic_of, record.topics), map(group_of, record.items))


def _place_of(error: msgspec.ValidationError) -> tuple[str, tuple[Step, ...]]:
    """The complaint of msgspec, and the path to it, as far as it is known."""
    text = str(error)
    place = _PLACE.search(text)
    path: list[Step] = []
    for name, index, free in _STEP.findall(place[1] if place else ""):
        if free:
            break
        path.append(int(index) if index else name)
    what = shorten(_PLACE.sub("", text))
    return what[0].lower() + what[1:], tuple(path)


def _read_lines(path: Path) -> ClusterSnapshot:
    """The snapshot in a file of lines."""
    lines = _Lines(path)
    head = lines.take(LinesHead)
    topics = [topic_of(lines.take(TopicRecord)) for _ in range(head.topics)]
    groups = [group_of(lines.take(GroupRecord)) for _ in range(head.groups)]
    lines.end()
    try:
        check_once("topic", (topic.topic for topic in topics))
        check_once("group", (group.group for group in groups))
    except ValueError as error:
        raise UsageError(f"{lines.shown}: {error}", hint=f"expected {EXPECTED}") from error
    return snapshot_of(head, topics, groups)


class _Lines:
    """The lines of a file, within bounds.

    Attributes:
        shown: the file's name for messages.
    """

    def __init__(self, path: Path) -> None:
        self.shown = f"`{shorten(str(path))}`"
        lines = _unpacked(path) if _is_packed(path) else _plain(path)
        self._lines = enumerate(_bounded(lines, f"{self.shown} is too large"), 1)

    def take(self, kind: type[R]) -> R:
        """The next line.

        Raises:
            UsageError: there is none, or it holds something else; names file and line.
        """
        number, line = next(self._lines, (0, b""))
        if not number:
            raise UsageError(f"{self.shown} is cut off", hint=f"expected {EXPECTED}")
        try:
            return msgspec.json.decode(line, type=kind)
        except (ValueError, RecursionError) as error:
            where = f"{self.shown}, line {number}"
            raise UsageError(
                f"{where}: {shorten(str(error))}", hint=f"expected {EXPECTED}"
            ) from error

    def end(self) -> None:
        """See that no line is left.

        Raises:
            UsageError: there is one.
        """
        number, _ = next(self._lines, (0, b""))
        if number:
            raise UsageError(
                f"{self.shown}, line {number}: more lines than the first one says",
                hint=f"expected {EXPECTED}",
            )


def _plain(path: Path) -> Iterator[bytes]:
    """The lines of a file that is not packed."""
    yield from io.BytesIO(read_file(path, MAX_LINES_BYTES, EXPECTED))


def _unpacked(path: Path) -> Iterator[bytes]:
    """The lines of a packed file, which is unpacked into memory that is taken as it is filled."""
    shown = f"`{shorten(str(path))}`"
    data = read_file(path, MAX_PACKED_BYTES, EXPECTED)
    room = mmap.mmap(-1, MAX_LINES_BYTES)
    try:
        length = cramjam.zstd.decompress_into(data, room)
    except cramjam.DecompressionError as error:
        if "whole buffer" in str(error):
            what = f"{shown} is longer than {show_bytes(MAX_LINES_BYTES)}"
        else:
            what = f"{shown} is not a whole zstd file"
        raise UsageError(what, hint=f"expected {EXPECTED}") from error
    at = 0
    while at < length:
        end = room.find(b"\n", at, length) + 1 or length
        yield room[at : min(end, at + MAX_LINE_BYTES + 1)]  # so much is enough to be refused
        at = end


def _bounded(lines: Iterable[bytes], too_large: str) -> Iterator[bytes]:
    """The lines, as long as a file of them is read.

    Args:
        too_large: begins the message when they become too many.
    Raises:
        UsageError: they do.
    """
    size = cost = 0
    for line in lines:
        size += len(line)
        cost += json_cost(line)
        if len(line) > MAX_LINE_BYTES:
            raise UsageError(f"{too_large}: a line is longer than {show_bytes(MAX_LINE_BYTES)}")
        if size > MAX_LINES_BYTES:
            raise UsageError(f"{too_large}: its text is longer than {show_bytes(MAX_LINES_BYTES)}")
        if cost > MAX_LINES_COST:
            raise UsageError(f"{too_large}: it has more values than kgroups reads")
        yield line


def write_snapshot(snapshot: ClusterSnapshot, path: Path) -> None:
    """Write a snapshot as JSON or, by the suffix, as YAML or lines; whole or not at all.

    Raises:
        UsageError: the file cannot be written, or would be too long to be read back.
    """
    try:
        with whole_file(path) as file:
            if has_lines(path):
                lines = _bounded(_lines(snapshot), "the snapshot is too large to be read back")
                file.writelines(_packed(lines) if _is_packed(path) else lines)
            else:
                file.write(_text_of(snapshot, path))
    except OSError as error:
        reason = error.strerror or "it cannot be written"
        raise UsageError(f"`{path}` cannot be written: {reason}", hint="check the path") from error


def _lines(snapshot: ClusterSnapshot) -> Iterator[bytes]:
    head = LinesHead(
        schema="kgroups.snapshot.lines/1",
        cluster=ClusterRecord(snapshot.cluster_id, snapshot.bootstrap),
        generated_at=instant_of(snapshot.captured_at_ms),
        brokers=list(snapshot.brokers),
        errors=list(snapshot.errors),
        topics=len(snapshot.topics),
        groups=len(snapshot.groups),
    )
    encode = msgspec.json.Encoder().encode
    yield encode(head) + b"\n"
    for topic in snapshot.topics.values():
        yield encode(topic_record(topic)) + b"\n"
    for group in snapshot.groups:
        yield encode(group_record(group)) + b"\n"


def _packed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines as a zstd file, piece by piece."""
    packer, held = cramjam.zstd.Compressor(_PACKING_LEVEL), 0
    for line in lines:
        packer.compress(line)
        held += len(line)
        if held >= _CHUNK_BYTES:
            yield bytes(packer.flush())
            held = 0
    yield bytes(packer.finish())


def _text_of(snapshot: ClusterSnapshot, path: Path) -> bytes:
    """The text of a document, which our own reader takes back."""
    syntax = syntax_of(path)
    commits = sum(len(c) for group in snapshot.groups for c in (group.offsets or {}).values())
    if commits > MOST_COMMITS[syntax]:
        raise _too_large(path, syntax)
    document = snapshot_document(snapshot)
    if syntax == "yaml":
        if count_values(document) > MAX_YAML_VALUES:
            raise _too_large(path, syntax)
        text = "".join(_yaml_parts(document))
    else:
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    data: bytes = text.encode()
    if len(data) > MAX_BYTES[syntax] or (syntax == "json" and json_cost(data) > MAX_JSON_COST):
        raise _too_large(path, syntax)
    return data


def _yaml_parts(document: Item) -> Iterator[str]:
    """The document as YAML, an item at a time: PyYAML takes a kilobyte for each value."""
    for key, value in document.items():
        if isinstance(value, list) and value:
            yield f"{key}:\n"
            yield from (_yaml([item]) for item in value)
        else:
            yield _yaml({key: value})


def _yaml(value: object) -> str:
    text: str = yaml.dump(
        value, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=_YAML_WIDTH
    )
    return text


def _too_large(path: Path, syntax: str) -> UsageError:
    return UsageError(
        f"`{path}` would be too long to be read back as {syntax.upper()}",
        hint=f"save it as `{path.with_suffix('')}{SUFFIX}`",
    )


def snapshot_document(snapshot: ClusterSnapshot) -> Item:
    """The snapshot as the JSON document that its file holds."""
    rest = document_rest(snapshot)
    head = ("schema", "cluster", "generated_at")
    first = {key: rest.pop(key) for key in head}
    return {**first, "items": list(snapshot_items(snapshot)), **rest}


def snapshot_items(snapshot: ClusterSnapshot) -> Iterator[Item]:
    """The items of the document, made one by one."""
    return (_group_item(snapshot, group) for group in snapshot.groups)


def document_rest(snapshot: ClusterSnapshot) -> Item:
    """The document without its items."""
    return {
        "schema": SCHEMA,
        "cluster": {"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap},
        "generated_at": timestamp(snapshot.captured_at_ms),
        "topics": [topic_item(topic) for topic in snapshot.topics.values()],
        "brokers": [dataclasses.asdict(broker) for broker in snapshot.brokers],
        "errors": [dataclasses.asdict(error) for error in snapshot.errors],
        "summary": {
            "groups": len(snapshot.groups),
            "topics": len(snapshot.topics),
            "partitions": sum(len(topic.partitions) for topic in snapshot.topics.values()),
        },
    }


def _group_item(snapshot: ClusterSnapshot, group: Group) -> Item:
    rows = None if group.offsets is None else offset_rows(snapshot, group)
    item = describe_item(snapshot, group, rows, ("members", "offsets", "planning"))
    for row in item["offsets"] or ():
        for name in OF_TOPICS:
            del row[name]
        commit = (group.offsets or {}).get(row["topic"], {}).get(row["partition"])
        if commit is not None and commit.committed_at_ms is not None:
            row["committed_at"] = timestamp(commit.committed_at_ms)
    return item
