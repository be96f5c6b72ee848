"""Months put together from their hours and days, beside these in the table `hours`.

    DIR/hours/cluster=<id>/date=2026-11/kind=monthmarks
                                        kind=monthseries
                                        kind=monthpeaks

A report over a long window reads a row a series and month instead of one a day. The mark of a month
says which files of `hours` it was made of: where that day has others by now, or captures that
are not rolled up, nobody reads the month.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final, NamedTuple

import pyarrow as pa

from kgroups.core.errors import ItemError
from kgroups.core.lag.captures.capture_files import whole_files
from kgroups.core.lag.captures.delta_log import opened
from kgroups.core.lag.captures.delta_table import (
    DATE,
    EVER,
    ActiveFile,
    Days,
    files_of,
    replace_day,
    rows_in,
    utc_date,
)
from kgroups.core.lag.captures.hour_table import (
    DAY_MS,
    HOUR_MS,
    HOURS,
    MARKS,
    NO_FILES,
    HourFiles,
    HourKey,
    RolledHours,
    by_kind,
    hours_of_month,
    hours_schema,
    read_hours,
)
from kgroups.core.lag.captures.roll_up import day_of
from kgroups.core.lag.stores.places import Place

PREFIX: Final = "month"
"""Of the kinds of rows of months."""
LEAST_MS: Final = 180 * DAY_MS
"""Windows that are shorter are read by the hour and day."""
BY_DAY: Final = 6
"""One part in so many at the end of a window is read by the hour and day: what verdicts look at."""
# Rows of days that are in memory together.
MOST_ROWS: Final = 1_000_000
MonthKey = tuple[str, str]
"""A cluster and a month: 2026-11."""


class RollUpFiles(NamedTuple):
    """The files of `hours`: those of hours and days, and those of months."""

    hours: HourFiles
    months: HourFiles


def roll_up_files(folder: Place, days: Days = EVER) -> RollUpFiles:
    """The files of some days, and of every month.

    Raises:
        KgroupsError: the log of the table cannot be read.
    """
    delta = opened(folder, HOURS)
    if delta is None:
        return RollUpFiles(NO_FILES, NO_FILES)
    files = files_of(delta, folder / HOURS)
    return RollUpFiles(
        by_kind([file for file in files if days.have(file.date)]), by_kind(files, PREFIX)
    )


# --- read --------------------------------------------------------------------------------------


def read_rolled(
    folder: Place,
    days: Days,
    open_hours: Set[HourKey],
    since_ms: int | None,
    until_ms: int | None,
) -> tuple[RolledHours, tuple[ItemError, ...]]:
    """The roll-ups of a window, each hour once, and those that cannot be read.

    Args:
        days: that the window has a part of.
        open_hours: of which there are captures that may not be rolled up.
        since_ms, until_ms: the window, both ends included.
    Raises:
        KgroupsError: the log of the table cannot be read.
    """
    files, months = roll_up_files(folder, days)
    chosen = read_hours(NO_FILES)
    if since_ms is not None and until_ms is not None and until_ms - since_ms >= LEAST_MS:
        hours = read_hours(_readable(months)[0])
        last_ms = until_ms - (until_ms - since_ms) // BY_DAY
        chosen = _usable(hours.inside(since_ms, last_ms), files, open_hours)
    instead = {(row["cluster"], row["date"]) for row in chosen.marks.to_pylist()}
    left, errors = _readable(
        {
            kind: [file for file in own if month_of_file(file) not in instead]
            for kind, own in files.items()
        }
    )
    return read_hours(left).together(chosen), errors


def _readable(files: HourFiles) -> tuple[HourFiles, tuple[ItemError, ...]]:
    """Those of clusters and dates of which every file is there, and what is wrong with others."""
    errors = whole_files([file for own in files.values() for file in own])[1]
    if not errors:
        return files, ()
    lost = {error.target for error in errors}
    every = (file for own in files.values() for file in own)
    dates = {(file.cluster, file.date) for file in every if file.path in lost}
    whole = {
        kind: [file for file in own if (file.cluster, file.date) not in dates]
        for kind, own in files.items()
    }
    return whole, errors


def _usable(months: RolledHours, files: HourFiles, open_hours: Set[HourKey]) -> RolledHours:
    """The months that say what the hours and days say that there are."""
    of_month = files_by_month(files)
    return months.only(
        {
            (row["cluster"], row["date"])
            for row in months.marks.to_pylist()
            if row["by"] == names_of(of_month.get((row["cluster"], row["date"]), ()))
            and not _has_open(row["cluster"], row["times"], open_hours)
        }
    )


def _has_open(cluster: str, times: Sequence[int], open_hours: Set[HourKey]) -> bool:
    """Whether there are captures of a month, of hours that it has nothing of."""
    month = hours_of_month(times[0] // HOUR_MS)
    open_hours_of = {hour for of, hour in open_hours if of == cluster and hour in month}
    return bool(open_hours_of) and not open_hours_of <= {at_ms // HOUR_MS for at_ms in times}


def month_of_file(file: ActiveFile) -> MonthKey:
    """The month that a file is of."""
    return file.cluster, file.date[: len("2026-11")]


def utc_month(at_ms: int) -> str:
    """The UTC month of a time, as the directories spell it."""
    return utc_date(at_ms)[: len("2026-11")]


def files_by_month(files: HourFiles) -> Mapping[MonthKey, Sequence[ActiveFile]]:
    """The files of hours and days of each month."""
    by_month: dict[MonthKey, list[ActiveFile]] = {}
    for own in files.values():
        for file in own:
            by_month.setdefault(month_of_file(file), []).append(file)
    return by_month


def names_of(files: Iterable[ActiveFile]) -> str:
    """Files as one short text: other files have another one."""
    names = sorted(file.path.rpartition("/")[2] for file in files)
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


# --- written -----------------------------------------------------------------------------------


def write_month(
    folder: Place, key: MonthKey, files: Sequence[ActiveFile]
) -> tuple[int, int] | None:
    """One commit with the month that hours and days make, in the place of what was there before.

    Args:
        files: every one of the month, of hours and days.
    Returns:
        How many files and rows were read; None where one cannot be read, or somebody was quicker.
    Raises:
        KgroupsError: it cannot be written.
    """
    delta = opened(folder, HOURS)
    if delta is None or whole_files(files)[1]:
        return None
    cluster, month = key
    rows = _month_of(files)
    content = rows.set_column(
        rows.schema.get_field_index("kind"),
        "kind",
        pa.array([PREFIX + kind for kind in rows["kind"].to_pylist()]),
    )
    made_of = [
        names_of(files) if kind == MARKS else by
        for kind, by in zip(rows["kind"].to_pylist(), rows["by"].to_pylist(), strict=True)
    ]
    place = content.schema.get_field_index("by")
    content = content.set_column(place, "by", pa.array(made_of, pa.string()))
    dated = content.append_column(DATE, pa.repeat(pa.scalar(month), content.num_rows))
    schema = hours_schema().append(DATE)
    batches = dated.cast(schema).to_batches()
    if not replace_day(folder / HOURS, delta, cluster, month, batches):
        return None
    return len(files), sum(file.rows for file in files)


def _month_of(files: Sequence[ActiveFile]) -> pa.Table:
    """The result of `day_of` over all of them, a day at a time: it takes its own results, too."""
    schema = hours_schema().append(DATE)
    names = hours_schema().names
    parts: list[pa.Table] = []
    for date in sorted({file.date for file in files}):
        own = [file for file in files if file.date == date]
        rows = pa.Table.from_batches(rows_in(own, schema), schema=schema).select(names)
        parts.append(rows)
        if sum(part.num_rows for part in parts) > MOST_ROWS:
            parts = [day_of(pa.concat_tables(parts)).select(names)]
    return day_of(pa.concat_tables(parts)).select(names)
