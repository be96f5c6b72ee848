"""Captures merged: the small files of a day become one."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kgroups.core.errors import ItemError
from kgroups.core.lag.captures.capture_files import (
    ROW_GROUP,
    TABLES,
    CapturedFile,
    find_captures,
    readable,
    utc_date,
    write_tables,
)

if TYPE_CHECKING:
    import pyarrow as pa


class Compacted(NamedTuple):
    """What `compact` did in one directory: files before, the one after, rows in it."""

    path: Path
    files: int
    rows: int


def compact(
    folder: Path,
    *,
    before_ms: int | None = None,
    at_least: int = 2,
    tell: Callable[[ItemError], object] = lambda _error: None,
) -> Iterator[Compacted]:
    """Merges the small files of each day into one.

    The merged file appears before the small ones go, so a run that dies loses nothing. Files list
    their captures, so a report that sees one twice counts it once.

    Files that hold last stable offsets and files that do not become two, so that a window with
    only the former can be told by its files.

    Args:
        before_ms: leave days alone that are not over at this time; None: merge every day.
        at_least: leave a directory alone that has fewer files.
        tell: told of each file that cannot be read; it stays as it is.
    """
    for table in TABLES:
        days: dict[Path, list[CapturedFile]] = {}
        for file in find_captures(folder, table):
            days.setdefault(file.path.parent, []).append(file)
        for files in days.values():
            if before_ms is not None and files[0].date >= utc_date(before_ms):
                continue
            with contextlib.suppress(FileNotFoundError):  # another run merges this directory
                usable, broken = readable(files)
                for error in broken:
                    tell(error)
                for alike in _alike(usable) if table == "rows" else [usable]:
                    if len(alike) >= at_least:
                        yield _merge(folder, table, alike)


def _alike(files: Sequence[CapturedFile]) -> list[Sequence[CapturedFile]]:
    """Files without last stable offsets, and those with them."""
    return [[file for file in files if file.has_stable is with_them] for with_them in (False, True)]


def _merge(folder: Path, table: str, files: Sequence[CapturedFile]) -> Compacted:
    """Writes what is in these files of one directory to one, then removes them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.unify_schemas([pq.read_schema(file.path) for file in files])
    times = sorted({at_ms for file in files for at_ms in file.times})
    contents = _in_row_groups(schema, files)
    cluster, has_stable = files[0].cluster, files[0].has_stable
    path = write_tables(folder, table, schema, contents, cluster, times, has_stable=has_stable)
    rows = pq.read_metadata(path).num_rows
    for file in files:
        file.path.unlink(missing_ok=True)
    return Compacted(path, len(files), rows)


def _in_row_groups(schema: "pa.Schema", files: Iterable[CapturedFile]) -> "Iterator[pa.Table]":
    """The rows of files in order, as many at a time as go into a row group; never all at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    held = schema.empty_table()
    for file in files:
        with pq.ParquetFile(file.path) as source:
            for batch in source.iter_batches(ROW_GROUP):
                # A column that this file is too old for becomes null.
                more = pa.Table.from_batches([batch])
                held = pa.concat_tables([held, more], promote_options="default")
                if held.num_rows >= ROW_GROUP:
                    yield held.slice(0, ROW_GROUP)
                    held = held.slice(ROW_GROUP)
    yield held
