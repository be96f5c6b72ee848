"""Snapshot files: a cluster's groups written down, and read back strictly.

The file is the `kgroups.snapshot/1` envelope: groups as `describe` items (with what a dry run
needs besides), and beside them `topics` and `brokers`. Derived figures in it (lag, counts) are
for the reader's eye; reading takes the facts only.
"""

import datetime
import json
import os
from pathlib import Path
from typing import Any

import yaml

from kgroups.core.errors import ItemError, UsageError
from kgroups.core.group_item import Item, broker_item, describe_item, topic_item
from kgroups.core.input_files.document import read_document, syntax_of
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.snapshot import (
    ClusterSnapshot,
    Group,
)
from kgroups.core.snapshot_parser import SCHEMA, parse_snapshot

__all__ = [
    "SCHEMA",
    "describe_item",
    "parse_snapshot",
    "read_snapshot",
    "snapshot_document",
    "write_snapshot",
]


_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def read_snapshot(path: Path) -> ClusterSnapshot:
    """The snapshot in a file, JSON or (by its suffix) YAML.

    Raises:
        UsageError: unreadable, not well formed or not a snapshot; names file, line and place.
    """
    return parse_snapshot(read_document(path))


def write_snapshot(snapshot: ClusterSnapshot, path: Path) -> None:
    """Write a snapshot, as JSON or (by the suffix) YAML; whole or not at all.

    Raises:
        UsageError: the file cannot be written.
    """
    document = snapshot_document(snapshot)
    if syntax_of(path) == "yaml":
        text = yaml.dump(document, Dumper=_DUMPER, sort_keys=False, allow_unicode=True)
    else:
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    try:
        _write_whole(path, text.encode())
    except OSError as error:
        reason = error.strerror or "it cannot be written"
        raise UsageError(f"`{path}` cannot be written: {reason}", hint="check the path") from error


def _write_whole(path: Path, content: bytes) -> None:
    """Replace a regular file in one step; write to anything else (a pipe, a device) directly."""
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    target = path.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def snapshot_document(snapshot: ClusterSnapshot) -> Item:
    """The snapshot as the JSON document that its file holds."""
    return {
        "schema": SCHEMA,
        "cluster": {"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap},
        "generated_at": _timestamp(snapshot.captured_at_ms),
        "captured_at_ms": snapshot.captured_at_ms,
        "items": [_group_item(snapshot, group) for group in snapshot.groups],
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
