"""The audit log: one line of JSON for each command that wrote to a cluster, appended at its end."""

import json
import os
import pwd
import socket
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kgroups.cli.exits import now_ms, write_lines
from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.times import timestamp

NO_AUDIT: Final = "KGROUPS_NO_AUDIT"


@dataclass(slots=True)
class WriteRecord:
    """Facts so far about a command that may write.

    Args:
        context: name of the context in force; None without one.
        reason: as the user gave it.
        results: how many items have which result.
    """

    context: str | None
    reason: str | None
    results: Counter[str] = field(default_factory=Counter)
    undo_file: str | None = None


_OPEN: list[WriteRecord] = []


def audit_path() -> Path | None:
    """Where the log is: in the user's state folder; None if `KGROUPS_NO_AUDIT` wants none."""
    if os.environ.get(NO_AUDIT):
        return None
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "kgroups" / "audit.jsonl"


@contextmanager
def audited(
    admin: ClusterAdmin, context: str | None = None, reason: str | None = None
) -> Iterator[None]:
    """A line in the log when the block ends, if something was sent that changes the cluster.

    Args:
        context: name of the context in force.
        reason: as the user gave it.
    """
    record = WriteRecord(context, reason)
    _OPEN.append(record)
    ended_by: BaseException | None = None
    try:
        yield
    except BaseException as error:
        ended_by = error
        raise
    finally:
        _OPEN.remove(record)
        if admin.has_written:
            _append(admin, record, ended_by)


def tell(results: Iterable[str], undo: Path | None = None, *, reason: str | None = None) -> None:
    """Say what became of the items of the write that is under way.

    Args:
        reason: why, where the command has an option of its own for that.
    """
    for record in _OPEN[-1:]:
        record.results.update(results)
        record.undo_file = record.undo_file if undo is None else str(undo)
        record.reason = reason or record.reason


def outcome_of(results: Mapping[str, int], ended_by: BaseException | None) -> str:
    """In a word, what a command came to: done, partial, failed, unknown or interrupted."""
    if not sum(results.values()):
        return "interrupted" if isinstance(ended_by, KeyboardInterrupt) else "unknown"
    if results.get("unknown"):
        return "unknown"
    if not results.get("done"):
        return "failed"
    whole = results["done"] == sum(results.values()) - results.get("skipped", 0)
    return "done" if whole and not isinstance(ended_by, KeyboardInterrupt) else "partial"


def _append(admin: ClusterAdmin, record: WriteRecord, ended_by: BaseException | None) -> None:
    path = audit_path()
    if path is None:
        return
    cluster_id = admin.known_id
    if cluster_id is None:
        with suppress(KgroupsError):
            cluster_id = admin.cluster_id()
    line = {
        "at": timestamp(now_ms()),
        "user": _user(),
        "host": socket.gethostname(),
        "cluster": {"id": cluster_id, "bootstrap": admin.settings.bootstrap_servers},
        "context": record.context,
        "command": sys.argv[1:],
        "reason": record.reason,
        "undo_file": record.undo_file,
        "results": dict(record.results),
        "outcome": outcome_of(record.results, ended_by),
    }
    data = (json.dumps(line) + "\n").encode()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A pipe that nobody reads must not hold us up; what is appended at once stays together.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        write_lines([f"warning: the audit log `{path}` cannot be written: {why}"], ())


def _user() -> str:
    with suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return str(os.getuid())


def read_audit(path: Path) -> tuple[list[dict[str, Any]], list[int]]:
    """The lines of the log, oldest first, and the numbers of those that are none.

    Raises:
        OSError: it cannot be read.
    """
    lines: list[dict[str, Any]] = []
    broken: list[int] = []
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, text in enumerate(file, 1):
            try:
                line = json.loads(text)
            except (ValueError, RecursionError):
                line = None
            if isinstance(line, dict) and line.keys() == _FIELDS:
                lines.append(line)
            elif text.strip():
                broken.append(number)
    return lines, broken


_FIELDS: Final = frozenset(
    {
        "at",
        "user",
        "host",
        "cluster",
        "context",
        "command",
        "reason",
        "undo_file",
        "results",
        "outcome",
    }
)
