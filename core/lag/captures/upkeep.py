"""Captures kept in order: the small files of a day merged, what is not needed removed.

Merging is one transaction a day and table that replaces the day's rows by themselves: Delta finds
two that do so at once, and lets one of them through. (`optimize` of delta-rs 1.6 does not: of two
at once both commit, and every row is there twice.)
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.lag.captures.capture_window import must_be_folder
from kgroups.core.lag.captures.delta_log import opened
from kgroups.core.lag.captures.delta_table import (
    TABLES,
    ActiveFile,
    active_files,
    files_of,
    marks_in,
    replace_day,
    rows_in,
    schema_of,
    utc_date,
)
from kgroups.core.lag.captures.hour_table import HOURS, hours_of_day
from kgroups.core.lag.captures.pending import move
from kgroups.core.lag.stores.places import Place, failures_told

ACTIONS: Final = ("rolled_up", "late", "merged", "removed")


class Upkeep(NamedTuple):
    """The upkeep of a table of one cluster and date.

    Args:
        date: None where it is of all dates.
        action: rolled_up (by the hour), late (captures of hours that are rolled up: left out of
            reports), merged, or removed (files of versions long gone).
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
    move(folder)
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
    times = _times(folder, cluster, date) if is_over and table != "captures" else None
    delta = opened(folder, table)
    if delta is None:
        return
    files = [f for f in files_of(delta, folder / table) if (f.cluster, f.date) == (cluster, date)]
    batches = _finished(rows_in(files, schema_of(delta)), times)
    if replace_day(folder / table, delta, cluster, date, batches):
        yield Upkeep(table, cluster, date, "merged", len(files), sum(file.rows for file in files))


def _times(folder: Place, cluster: str, date: str) -> pa.Array:
    """When the captures of a cluster and date were taken, those that are rolled up too."""
    files = [f for f in active_files(folder, "captures") if (f.cluster, f.date) == (cluster, date)]
    rolled = hours_of_day(folder, cluster, date).times
    return pa.concat_arrays([marks_in(files)["captured_at_ms"].combine_chunks(), rolled])


def _finished(
    batches: Iterable[pa.RecordBatch], times: pa.Array | None
) -> Iterator[pa.RecordBatch]:
    """The rows of captures that are there as a whole; all where that is not known."""
    for batch in batches:
        if times is None:
            yield batch
        else:
            yield batch.filter(pc.is_in(batch["captured_at_ms"], value_set=times))


def _vacuum(folder: Place, table: str) -> Iterator[Upkeep]:
    """Removes files that no version of the last week needs."""
    delta = opened(folder, table)
    if delta is None:
        return
    with failures_told(folder / table):
        removed = delta.vacuum(dry_run=False, full=True)  # what runs that died have left, too
    if removed:
        yield Upkeep(table, None, None, "removed", len(removed), None)
