"""Captures that are old enough are rolled up by the hour, then by the day; months come beside.

A cluster and day at a time: its hours are one commit, which may be refused; then its captures go.
A run that dies between the two leaves captures that nobody looks at, and the next one removes them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.lag.captures.capture_files import whole_files
from kgroups.core.lag.captures.capture_window import must_be_folder
from kgroups.core.lag.captures.delta_log import opened
from kgroups.core.lag.captures.delta_table import (
    DATE,
    TIME,
    ActiveFile,
    Days,
    active_files,
    files_of,
    marks_in,
    replace_day,
    rows_in,
    schema_of,
    utc_date,
)
from kgroups.core.lag.captures.hour_table import (
    HOUR_MS,
    RolledHours,
    hour_files,
    hour_keys,
    hours_of_day,
    hours_schema,
    make_hours,
    merge_hours,
    read_hours,
    replace_hours,
)
from kgroups.core.lag.captures.month_table import (
    files_by_month,
    names_of,
    roll_up_files,
    utc_month,
    write_month,
)
from kgroups.core.lag.captures.pending import move
from kgroups.core.lag.captures.roll_up import day_of, rolled_up
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION, arrow_schema
from kgroups.core.lag.captures.upkeep import Upkeep
from kgroups.core.lag.stores.places import Place

# Rows of captures that are in memory together.
MOST_ROWS: Final = 2_000_000


def roll_up(folder: Place, *, before_ms: int) -> Iterator[Upkeep]:
    """Rolls up the days that are over at `before_ms`.

    A day stays as it is where a part of it was written by a newer kgroups or cannot be read (a
    report names it), or where somebody changes it meanwhile. What comes to an
    hour that is rolled up stays too, and is reported on by nobody.

    Raises:
        NotFoundError: there is no such folder.
        KgroupsError: a table cannot be read or written.
    """
    must_be_folder(folder)
    move(folder)
    days = Days(None, utc_date(before_ms))
    captured = active_files(folder, "captures", days)
    for cluster, date in sorted({(file.cluster, file.date) for file in captured}):
        if date < utc_date(before_ms):
            yield from _roll_up_day(folder, cluster, date)


def _roll_up_day(folder: Place, cluster: str, date: str) -> Iterator[Upkeep]:
    marks = marks_in(_day_of(active_files(folder, "captures"), cluster, date))
    rolled = hours_of_day(folder, cluster, date)
    if pc.max(marks["schema_version"]).as_py() > SCHEMA_VERSION:
        return
    hours = rolled.keys
    is_rolled = pc.is_in(marks[TIME], value_set=rolled.times)
    is_open = pa.array([key not in hours for key in hour_keys(marks)])
    new = marks.filter(is_open)
    if new.num_rows:
        files = _day_of(active_files(folder, "rows"), cluster, date)
        if whole_files(files)[1] or not _roll_up_hours(folder, rolled, new, files):
            return
        rows = pc.sum(new["rows"]).as_py()
        yield Upkeep("rows", cluster, date, "rolled_up", len(files), rows)
    _remove_captures(folder, cluster, date)
    late = pc.sum(pc.invert(pc.or_(is_rolled, is_open))).as_py()
    if late:
        yield Upkeep("captures", cluster, date, "late", 0, late)


def roll_up_days(folder: Place, *, before_ms: int) -> Iterator[Upkeep]:
    """Puts the hours of each day together that is over at `before_ms`.

    A day stays as it is where some of its captures are not rolled up, where its hours cannot be
    read, or where somebody changes it meanwhile.

    Raises:
        NotFoundError: there is no such folder.
        KgroupsError: a table cannot be read or written.
    """
    must_be_folder(folder)
    marks = read_hours(hour_files(folder, Days(None, utc_date(before_ms)))).marks
    hours = Counter(zip(marks["cluster"].to_pylist(), marks["date"].to_pylist(), strict=True))
    for (cluster, date), count in sorted(hours.items()):
        if count < 2 or date == utc_date(before_ms):
            continue
        captured = active_files(folder, "captures", Days(date, date))
        left = set(hour_keys(marks_in(_day_of(captured, cluster, date))))
        if not left <= hours_of_day(folder, cluster, date).keys:
            continue
        files, rows = merge_hours(folder, cluster, date, day_of)
        if files:
            yield Upkeep("hours", cluster, date, "rolled_up", files, rows)
            _remove_captures(folder, cluster, date)


def roll_up_months(folder: Place, *, before_ms: int) -> Iterator[Upkeep]:
    """Puts together each month that is over at `before_ms`; its hours and days stay.

    A month is made again where its hours or days have changed since. One of a single day is
    nothing that the day is not.

    Raises:
        NotFoundError: there is no such folder.
        KgroupsError: a table cannot be read or written.
    """
    must_be_folder(folder)
    files = roll_up_files(folder)
    marks = read_hours(files.months).marks
    marked = {(row["cluster"], row["date"]): row["by"] for row in marks.to_pylist()}
    for (cluster, month), own in sorted(files_by_month(files.hours).items()):
        is_over = month < utc_month(before_ms)
        is_known = marked.get((cluster, month)) == names_of(own)
        if not is_over or is_known or len({file.date for file in own}) == 1:
            continue
        done = write_month(folder, (cluster, month), own)
        if done:
            yield Upkeep("hours", cluster, month, "rolled_up", *done)


def _day_of(files: Iterable[ActiveFile], cluster: str, date: str) -> list[ActiveFile]:
    return [file for file in files if (file.cluster, file.date) == (cluster, date)]


def _roll_up_hours(
    folder: Place, rolled: RolledHours, new: pa.Table, files: Sequence[ActiveFile]
) -> bool:
    """Adds hours to those of their day; False where rows are missing or somebody was quicker."""
    cluster, date = new["cluster"][0].as_py(), new["date"][0].as_py()
    make_hours(folder)
    schema = hours_schema().append(DATE)
    added: list[pa.Table] = []
    for part in _parts(new):
        rows = _rows_of(files, part)
        if rows.num_rows < pc.sum(part["rows"]).as_py():
            return False
        of_row, of_mark = (pc.divide(table[TIME], HOUR_MS) for table in (rows, part))
        added += [
            rolled_up(rows.filter(pc.equal(of_row, hour)), part.filter(pc.equal(of_mark, hour)))
            for hour in pc.unique(of_mark)
        ]
    earlier = [
        batch.set_column(schema.get_field_index("kind"), "kind", pa.repeat(kind, len(batch)))
        for kind, own in rolled.files.items()
        for batch in rows_in(own, schema)
    ]
    batches = [batch for table in added for batch in table.select(schema.names).to_batches()]
    return replace_hours(folder, cluster, date, [*earlier, *batches])


def _parts(marks: pa.Table) -> Iterator[pa.Table]:
    """Captures of whole hours, of as many as fit into memory together."""
    marks = marks.sort_by(TIME)
    hours = pc.divide(marks[TIME], HOUR_MS)
    chosen: list[int] = []
    rows = 0
    counted = pa.table({"hour": hours, "rows": marks["rows"]}).group_by("hour")
    for row in counted.aggregate([("rows", "sum")]).sort_by("hour").to_pylist():
        if chosen and rows + row["rows_sum"] > MOST_ROWS:
            yield marks.filter(pc.is_in(hours, value_set=pa.array(chosen)))
            chosen, rows = [], 0
        chosen.append(row["hour"])
        rows += row["rows_sum"]
    yield marks.filter(pc.is_in(hours, value_set=pa.array(chosen)))


def _rows_of(files: Sequence[ActiveFile], marks: pa.Table) -> pa.Table:
    """The rows of these captures."""
    schema = arrow_schema("rows")
    times = marks[TIME].combine_chunks()
    first_ms, last_ms = pc.min(times).as_py(), pc.max(times).as_py()
    near = [file for file in files if file.last_ms >= first_ms and file.first_ms <= last_ms]
    batches = (
        batch.filter(pc.is_in(batch[TIME], value_set=times)) for batch in rows_in(near, schema)
    )
    return pa.Table.from_batches(batches, schema=schema)


def _remove_captures(folder: Place, cluster: str, date: str) -> None:
    """Removes what is rolled up; members and topics of the last capture of each hour stay.

    `captures` comes last: as long as it has something of a day, the next run looks at that day.
    """
    rolled = hours_of_day(folder, cluster, date)
    lasts = rolled.marks[TIME].combine_chunks()
    unneeded = rolled.times.filter(pc.invert(pc.is_in(rolled.times, value_set=lasts)))
    for table, gone in (
        ("rows", rolled.times),
        ("members", unneeded),
        ("topics", unneeded),
        ("captures", rolled.times),
    ):
        delta = opened(folder, table)
        files = [] if delta is None else _day_of(files_of(delta, folder / table), cluster, date)
        if delta is None or not pc.any(pc.is_in(_times_in(files), value_set=gone)).as_py():
            continue
        left = (
            batch.filter(pc.invert(pc.is_in(batch[TIME], value_set=gone)))
            for batch in rows_in(files, schema_of(delta))
        )
        if not replace_day(folder / table, delta, cluster, date, left):
            return


def _times_in(files: Sequence[ActiveFile]) -> pa.ChunkedArray:
    """The times of all rows of some files."""
    schema = pa.schema([pa.field(TIME, pa.int64(), False)])
    return pa.Table.from_batches(rows_in(files, schema), schema=schema)[TIME]
