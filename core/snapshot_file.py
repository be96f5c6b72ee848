"""Snapshot files: a cluster's groups written down, and read back strictly.

The file is the `kgroups.snapshot/1` envelope: groups as `describe` items (with what a dry run
needs besides), and beside them `topics` and `brokers`. Derived figures in it (lag, counts) are
for the reader's eye; reading takes the facts only.
"""

import contextlib
import datetime
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import yaml

from kgroups.core.errors import ItemError, UsageError
from kgroups.core.group_item import Item, broker_item, describe_item, topic_item
from kgroups.core.input_files.document import MAX_BYTES, Syntax, read_document, syntax_of
from kgroups.core.input_files.json_text import MAX_JSON_COST, json_cost
from kgroups.core.input_files.snapshot_lines import SUFFIX, has_lines, read_lines, write_lines
from kgroups.core.input_files.yaml_blocks import YamlWriter
from kgroups.core.input_files.yaml_text import MAX_YAML_VALUES, count_values
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.snapshot import (
    ClusterSnapshot,
    Group,
)
from kgroups.core.snapshot_parser import SCHEMA, parse_snapshot

__all__ = [
    "SCHEMA",
    "describe_item",
    "document_rest",
    "parse_snapshot",
    "read_snapshot",
    "snapshot_document",
    "snapshot_items",
    "write_snapshot",
]


MOST_COMMITS: Final[Mapping[Syntax, int]] = {
    "json": MAX_BYTES["json"] // 250,
    "yaml": MAX_YAML_VALUES // 15,
}
"""More than these are in no file that can be read: each has so many bytes or values at least."""

_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_YAML_WIDTH: Final = 80


def read_snapshot(path: Path) -> ClusterSnapshot:
    """The snapshot in a file: JSON or, by its suffix, YAML or lines (`.jsonl`, `.jsonl.zst`).

    Raises:
        UsageError: unreadable, not well formed or not a snapshot; names file, line and place.
    """
    return read_lines(path) if has_lines(path) else parse_snapshot(read_document(path))


def write_snapshot(snapshot: ClusterSnapshot, path: Path) -> None:
    """Write a snapshot as JSON or, by the suffix, as YAML or lines; whole or not at all.

    Raises:
        UsageError: the file cannot be written, or would be too long to be read back.
    """
    try:
        with whole_file(path) as file:
            if has_lines(path):
                write_lines(file, path, snapshot, _head(snapshot))
            else:
                file.write(_text_of(snapshot, path))
    except OSError as error:
        reason = error.strerror or "it cannot be written"
        raise UsageError(f"`{path}` cannot be written: {reason}", hint="check the path") from error


def _text_of(snapshot: ClusterSnapshot, path: Path) -> bytes:
    """The text of a file in JSON or YAML, which our own reader takes back."""
    syntax = syntax_of(path)
    commits = sum(len(each) for group in snapshot.groups for each in (group.offsets or {}).values())
    if commits > MOST_COMMITS[syntax]:
        raise _too_large(path, syntax)
    document = snapshot_document(snapshot)
    if syntax == "yaml":
        if count_values(document) > MAX_YAML_VALUES:
            raise _too_large(path, syntax)
        text = YamlWriter(_DUMPER, _YAML_WIDTH).text(document)
    else:
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    data = text.encode()
    if len(data) > MAX_BYTES[syntax] or (syntax == "json" and json_cost(data) > MAX_JSON_COST):
        raise _too_large(path, syntax)
    return data


def _too_large(path: Path, syntax: str) -> UsageError:
    return UsageError(
        f"`{path}` would be too long to be read back as {syntax.upper()}",
        hint=f"save it as `{path.with_suffix('')}{SUFFIX}`",
    )


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of a regular one in one step, when it is written to its end.

    Anything else (a pipe, a device) is written to directly.

    Raises:
        OSError: it cannot be written.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            yield file
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _head(snapshot: ClusterSnapshot) -> Item:
    """What stands beside groups, topics and brokers."""
    return {
        "cluster": {"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap},
        "generated_at": _timestamp(snapshot.captured_at_ms),
        "captured_at_ms": snapshot.captured_at_ms,
        "errors": [_error_item(error) for error in snapshot.errors],
    }


def snapshot_document(snapshot: ClusterSnapshot) -> Item:
    """The snapshot as the JSON document that its file holds."""
    rest = document_rest(snapshot)
    head = ("schema", "cluster", "generated_at", "captured_at_ms")
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
        "generated_at": _timestamp(snapshot.captured_at_ms),
        "captured_at_ms": snapshot.captured_at_ms,
        "topics": [topic_item(topic) for topic in snapshot.topics.values()],
        "brokers": [broker_item(broker) for broker in snapshot.brokers],
        "errors": [_error_item(error) for error in snapshot.errors],
        "summary": {
            "groups": len(snapshot.groups),
            "topics": len(snapshot.topics),
            "partitions": sum(len(topic.partitions) for topic in snapshot.topics.values()),
        },
    }


def _group_item(snapshot: ClusterSnapshot, group: Group) -> Item:
    known = group.offsets is not None
    rows = offset_rows(snapshot, group) if known else None
    item = describe_item(snapshot, group, rows, ("members", "offsets", "planning"))
    for row in item["offsets"] or ():
        commit = (group.offsets or {}).get(row["topic"], {}).get(row["partition"])
        if commit is not None and commit.committed_at_ms is not None:
            row["committed_at_ms"] = commit.committed_at_ms
    return item


def _timestamp(time_ms: int) -> str:
    moment = datetime.datetime.fromtimestamp(time_ms / 1000, datetime.UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _error_item(error: ItemError) -> Item:
    return {
        "target": error.target,
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "exit_code": error.exit_code,
    }
