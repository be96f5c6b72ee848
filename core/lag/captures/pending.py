"""Captures that are not in the tables yet: a file each in `_pending`, moved into them together.

A commit is two files a table, however few its rows. So a collector that goes on keeps its captures
here, and moves them every few minutes; whoever reads moves them first. A capture is on disk, whole,
once it is kept. A move that dies is done again, and leaves out what is in a table already.
"""

import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pyarrow as pa

from kgroups.core.errors import KgroupsError
from kgroups.core.lag.captures.capture_files import broken_file
from kgroups.core.lag.captures.delta_table import (
    DATE,
    TABLES,
    TIME,
    Days,
    active_files,
    append,
    rows_in,
)
from kgroups.core.lag.stores.held_tables import HeldTables
from kgroups.core.lag.stores.places import Place

FOLDER: Final = "_pending"
NAME: Final = re.compile(r"\d{20}-[0-9a-f]{16}\.arrow")
MOST: Final = 30
"""Captures are moved when there are so many, or so many bytes, or when one is so old."""
MOST_BYTES: Final = 16 << 20
LONGEST_MS: Final = 300_000
WAIT_S: Final = 30.0
POLL_S: Final = 0.02
# In this order into the tables: the row that says that a capture is there comes last.
ORDER: Final = ("topics", "members", "rows", "captures")
KEY: Final = pa.schema([pa.field("cluster", pa.string()), pa.field(TIME, pa.int64())])
Key = tuple[str, int]
"""The key of a capture: a cluster and a time."""

assert {*ORDER} == {*TABLES}


def keep(folder: Path, content: Mapping[str, pa.Table], at_ms: int) -> None:
    """Writes a capture to a file of its own; once this returns nothing that ends us loses it.

    Args:
        content: of each table, with `date`.
        at_ms: time of the capture.
    Raises:
        KgroupsError: it cannot be written; nothing of it is there.
    """
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    for table in ORDER:
        with pa.ipc.new_stream(sink, content[table].schema, options=options) as writer:
            writer.write_table(content[table])
    place = folder / FOLDER
    name = f"{at_ms:020}-{secrets.token_hex(8)}.arrow"
    hidden = place / f".{name}"
    try:
        place.mkdir(exist_ok=True)
        with _locked(place, fcntl.LOCK_SH):
            try:
                with hidden.open("xb") as file:
                    file.write(sink.getvalue())
                    file.flush()
                    os.fsync(file.fileno())
                hidden.rename(place / name)
            finally:
                hidden.unlink(missing_ok=True)
    except OSError as exc:
        raise KgroupsError(
            f"captures were not written to `{folder}`: {exc.strerror}",
            hint="free some space or choose another folder",
            code="NOT_WRITTEN",
        ) from exc


def is_due(folder: Path, now_ms: int) -> bool:
    """Whether what is kept is to be moved."""
    files = _files(folder / FOLDER)
    is_old = bool(files) and now_ms - int(files[0].name[:20]) >= LONGEST_MS
    try:
        return is_old or len(files) >= MOST or sum(f.stat().st_size for f in files) >= MOST_BYTES
    except FileNotFoundError:  # somebody moves them just now
        return False


def move(folder: Place, held: HeldTables | None = None) -> None:
    """Moves what is kept into the tables; where we may not write it stays.

    Args:
        held: as in `append`.
    Raises:
        KgroupsError: a file cannot be read, or a table not be written; the files are still there.
    """
    place = folder / FOLDER
    if isinstance(place, Path) and _files(place) and os.access(place, os.W_OK):
        with suppress(PermissionError), _locked(place, fcntl.LOCK_EX):
            files = _files(place)
            captures = [_read(file) for file in files]
            for table in ORDER:
                content = _new(folder, table, [capture[table] for capture in captures])
                if content:
                    whole = pa.concat_tables(content, promote_options="default")
                    append(folder, table, whole, held)
            for file in (*files, *place.glob(".*.arrow")):  # those of writers that were killed
                file.unlink()


def _files(place: Path) -> list[Path]:
    """The captures that are kept, the oldest first."""
    return sorted(
        path for path in place.glob("*.arrow") if NAME.fullmatch(path.name) and path.is_file()
    )


def _read(file: Path) -> dict[str, pa.Table]:
    try:
        source = pa.BufferReader(file.read_bytes())
        return {table: pa.ipc.open_stream(source).read_all() for table in ORDER}
    except (OSError, pa.ArrowException) as exc:
        raise broken_file(str(file), exc) from exc


def _new(folder: Place, table: str, content: Sequence[pa.Table]) -> list[pa.Table]:
    """Captures not in a table yet: a move that died has left some there, and two may be equal."""
    keyed = {_keys(rows)[0]: rows for rows in content if rows.num_rows}
    if not keyed:
        return []
    dates = [rows[DATE.name][0].as_py() for rows in keyed.values()]
    near = [
        file
        for file in active_files(folder, table, Days(min(dates), max(dates)))
        if any(file.cluster == of and file.first_ms <= t <= file.last_ms for of, t in keyed)
    ]
    stored = {key for batch in rows_in(near, KEY) for key in _keys(batch)}
    return [rows for key, rows in keyed.items() if key not in stored]


def _keys(rows: pa.Table | pa.RecordBatch) -> list[Key]:
    """The capture of each row."""
    return list(zip(*(rows[name].to_pylist() for name in KEY.names), strict=True))


@contextmanager
def _locked(place: Path, how: int) -> Iterator[None]:
    """Holds the lock of the folder: shared by those who keep captures, for one who moves them.

    Raises:
        KgroupsError: another process holds it for too long.
    """
    deadline = time.monotonic() + WAIT_S
    with (place / ".lock").open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, how | fcntl.LOCK_NB)
                break
            except BlockingIOError as exc:
                if time.monotonic() > deadline:
                    raise KgroupsError(
                        f"another process has been writing to `{place}` for {WAIT_S:g} s",
                        hint="find out what it waits for",
                        code="CAPTURES_LOCKED",
                    ) from exc
                time.sleep(POLL_S)
        yield
