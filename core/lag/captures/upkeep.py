"""Captures kept in order: the small files of a day merged, what is not needed removed.

Merging is one transaction a day and table that replaces the day's rows by themselves: Delta finds
two that do so at once, and lets one of them through. (`optimize` of delta-rs 1.6 does not: of two
at once both commit, and every row is there twice.)
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgroups.core.errors import ItemError, UsageError
from kgroups.core.lag.captures.capture_window import must_be_folder
from kgroups.core.lag.captures.delta_log import opened
from kgroups.core.lag.captures.delta_table import (
    FACTS,
    TABLES,
    ActiveFile,
    active_files,
    append,
    dated,
    files_of,
    marks_in,
    marks_of,
    replace_day,
    rows_in,
    schema_of,
    utc_date,
)
from kgroups.core.lag.captures.hour_table import HOURS, hours_of_day
from kgroups.core.lag.captures.old_layout import CapturedFile, find_captures, readable
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.stores.places import Place, Store, failures_told

ACTIONS: Final = ("converted", "rolled_up", "late", "merged", "removed")


class Upkeep(NamedTuple):
    """What was done to a table of one cluster and date.

    Args:
        date: None where it is of all dates.
        action: converted (from the old layout), rolled_up (by the hour), late (captures of hours
            that are rolled up: left out of reports), merged, or removed (files of versions long
            gone).
        files: how many went into it.
        rows: how many they had; None where that is not known. Of late captures, these.
    """

    table: str
    cluster: str | None
    date: str | None
    action: str
    files: int
    rows: int | None


# --- merging -----------------------------------------------------------------------------------


def compact(folder: Place, *, before_ms: int | None = None, at_least: int = 2) -> Iterator[Upkeep]:
    """Merges the small files of each day into one; then removes files that no version needs.

    Rows of a capture that was never finished go on the way.

    Args:
        before_ms: leave days alone that are not over at this time; None: merge every day.
        at_least: leave a day alone that has fewer files.
    Raises:
        NotFoundError: there is no such folder.
        KgroupsError: a table cannot be read or written.
    """
    must_be_folder(folder)
    for table in TABLES:
        days: dict[tuple[str, str], list[ActiveFile]] = {}
        for file in active_files(folder, table):
            days.setdefault((file.cluster, file.date), []).append(file)
        for (cluster, date), files in days.items():
            is_over = before_ms is None or date < utc_date(before_ms)
            if is_over and len(files) >= at_least:
                yield from _merge(folder, table, cluster, date, is_over=before_ms is not None)
    for table in (*TABLES, HOURS):
        yield from _vacuum(folder, table)


def _merge(
    folder: Place, table: str, cluster: str, date: str, *, is_over: bool
) -> Iterator[Upkeep]:
    """Merges one day; nothing where another run has done it, or somebody has added to it."""
    known = _times(folder, cluster, date) if is_over and table != "captures" else None
    delta = opened(folder, table)
    if delta is None:
        return
    files = [f for f in files_of(delta, folder / table) if (f.cluster, f.date) == (cluster, date)]
    batches = _finished(rows_in(files, schema_of(delta)), known)
    if replace_day(folder / table, delta, cluster, date, batches):
        yield Upkeep(table, cluster, date, "merged", len(files), sum(file.rows for file in files))


def _times(folder: Place, cluster: str, date: str) -> pa.Array:
    """When the captures of a cluster and date were taken, those that are rolled up too."""
    files = [f for f in active_files(folder, "captures") if (f.cluster, f.date) == (cluster, date)]
    rolled = hours_of_day(folder, cluster, date).times
    return pa.concat_arrays([marks_in(files)["captured_at_ms"].combine_chunks(), rolled])


def _finished(
    batches: Iterable[pa.RecordBatch], known: pa.Array | None
) -> Iterator[pa.RecordBatch]:
    """The rows of captures that are there as a whole; all where that is not known."""
    for batch in batches:
        if known is None:
            yield batch
        else:
            yield batch.filter(pc.is_in(batch["captured_at_ms"], value_set=known))


def _vacuum(folder: Place, table: str) -> Iterator[Upkeep]:
    """Removes files that no version of the last week needs."""
    delta = opened(folder, table)
    if delta is None:
        return
    # What died runs left is found by looking at all files, those of the old layout among them.
    has_old = bool(find_captures(folder, table))
    with failures_told(folder / table):
        removed = delta.vacuum(dry_run=False, full=not has_old)
    if removed:
        yield Upkeep(table, None, None, "removed", len(removed), None)


# --- the old layout ----------------------------------------------------------------------------


def upgrade(
    folder: Place, tell: Callable[[ItemError], object] = lambda _error: None
) -> Iterator[Upkeep]:
    """Moves captures of the old layout into the tables, a cluster and date at a time.

    Files go when what they had is in the tables, so a run that dies loses nothing, and the next
    one goes on where it ended.

    Args:
        tell: told of each file that cannot be read; it stays as it is.
    Raises:
        NotFoundError: there is no such folder.
        UsageError: it is a store.
        KgroupsError: a table cannot be read or written.
    """
    if isinstance(folder, Store):
        raise UsageError(
            "captures of the old layout are in local folders only",
            hint="leave out --upgrade",
        )
    must_be_folder(folder)
    for table in FACTS:
        for error in readable(find_captures(folder, table))[1]:
            tell(error)
    days: dict[tuple[str, str], list[CapturedFile]] = {}
    for file in readable(find_captures(folder))[0]:
        days.setdefault((file.cluster, file.date), []).append(file)
    for (cluster, date), files in days.items():
        yield from _convert(folder, cluster, date, files)
    for table in ("members", "topics"):  # of captures that were never finished
        for file in readable(find_captures(folder, table))[0]:
            file.path.unlink(missing_ok=True)


def _convert(folder: Place, cluster: str, date: str, files: list[CapturedFile]) -> Iterator[Upkeep]:
    """Moves one day."""
    done = set(_times(folder, cluster, date).to_pylist())
    left = {at_ms for file in files for at_ms in file.times} - done
    for table in ("topics", "members", "rows"):
        every = readable(find_captures(folder, table))[0]
        old = [file for file in every if (file.cluster, file.date) == (cluster, date)]
        content = _rows_of(old, table, left)
        if content.num_rows:
            append(folder, table, content)
        if table == "rows" and left:
            append(folder, "captures", marks_of(content, cluster, left))
        yield Upkeep(table, cluster, date, "converted", len(old), content.num_rows)
    for table in ("rows", "members", "topics"):
        for file in readable(find_captures(folder, table))[0]:
            if (file.cluster, file.date) == (cluster, date):
                file.path.unlink(missing_ok=True)


def _rows_of(files: Iterable[CapturedFile], table: str, times: set[int]) -> pa.Table:
    """The rows of these captures, each once: a merge that died left some twice."""
    schema = arrow_schema(table)
    wanted, parts = set(times), [schema.empty_table()]
    for file in sorted(files, key=lambda file: -len(file.times)):
        here = wanted.intersection(file.times)
        if here:
            content = pq.ParquetFile(file.path).read()
            content = content.filter(pc.is_in(content["captured_at_ms"], pa.array(sorted(here))))
            arrays = [_cast(content, field, file.cluster) for field in schema]
            parts.append(pa.Table.from_arrays(arrays, schema=schema))
            wanted -= here
    return dated(pa.concat_tables(parts))


def _cast(content: pa.Table, field: pa.Field, cluster: str) -> pa.Array | pa.ChunkedArray:
    if field.name == "cluster":
        return pa.repeat(pa.scalar(cluster), content.num_rows)
    if field.name not in content.column_names:
        return pa.nulls(content.num_rows, field.type)
    return content[field.name].cast(field.type)
