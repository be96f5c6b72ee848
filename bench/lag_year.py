"""A year of captures rolled up by the day and month, for the benchmark of reports over roll-ups."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.lag_captures import CACHE, PARTITIONS, START_MS
from bench.stage import say
from kgroups.core.lag.captures.delta_table import CAPTURES, append, dated
from kgroups.core.lag.captures.hour_table import (
    HOUR_MS,
    HOURS,
    MOVING,
    SERIES,
    hours_schema,
    make_hours,
)
from kgroups.core.lag.captures.hour_table import (
    PARTITIONS as FOLDERS,
)
from kgroups.core.lag.captures.retention import roll_up_months
from kgroups.core.lag.captures.roll_up import rolled_up
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION, arrow_schema

DAY_MS: Final = 24 * HOUR_MS
FIRST_MS: Final = START_MS - START_MS % DAY_MS
# Of each day, its first capture and its last.
STEPS_MS: Final = (0, DAY_MS - HOUR_MS)
DAYS_A_COMMIT: Final = 73
RECORDS_A_DAY: Final = 24_000


def lag_of(number: int) -> int:
    """The lag of a series, all year."""
    return 1_000 + number % 97


def days_of(series: int, days: int) -> Path:
    """A folder with so many days of `series` partitions, each day rolled up."""
    folder = CACHE / f"days-{series}x{days}"
    if not folder.is_dir():
        say(f"making {series * days:,} rows of days")
        CACHE.mkdir(parents=True, exist_ok=True)
        hidden = Path(tempfile.mkdtemp(dir=CACHE, prefix=".unfinished-"))
        _write(hidden, series, days)
        try:
            hidden.rename(folder)
        except OSError:  # another run was faster
            shutil.rmtree(hidden)
    return folder


def _write(folder: Path, series: int, days: int) -> None:
    """The first day is rolled up by the product, the others are the same, moved on; then months."""
    marks = dated(CAPTURES.empty_table())
    append(folder, "captures", marks)
    append(folder, "rows", dated(arrow_schema("rows").empty_table()))
    make_hours(folder)
    first = _first_day(series)
    for start in range(0, days, DAYS_A_COMMIT):
        several = [_moved(first, day) for day in range(start, min(start + DAYS_A_COMMIT, days))]
        content = dated(pa.concat_tables(several))
        append(folder, HOURS, content, partitions=FOLDERS)
    for step in roll_up_months(folder, before_ms=FIRST_MS + days * DAY_MS):
        say(f"rolled up {step.date}: {step.rows:,} rows")


def _first_day(series: int) -> pa.Table:
    number = np.arange(series)
    schema = arrow_schema("rows")
    captures = []
    for at_ms in STEPS_MS:
        start = 1_000_000 + number + RECORDS_A_DAY * at_ms // DAY_MS
        end = start + 50_000
        known = {
            "captured_at_ms": pa.repeat(FIRST_MS + at_ms, series),
            "cluster": pa.repeat("bench", series),
            "group": pa.array([f"group-{n // PARTITIONS:06}" for n in number]),
            "group_type": pa.repeat("classic", series),
            "topic": pa.array([f"topic-{n // PARTITIONS % 200:03}" for n in number]),
            "partition": pa.array((number % PARTITIONS).astype(np.int32)),
            "commits_known": pa.repeat(True, series),
            "committed_offset": pa.array(end - np.array([lag_of(n) for n in range(series)])),
            "log_start_offset": pa.array(start),
            "log_end_offset": pa.array(end),
            "member_id": pa.array([f"member-{n // 4:07}" for n in number]),
        }
        arrays = [
            known[field.name].cast(field.type)
            if field.name in known
            else pa.nulls(series, field.type)
            for field in schema
        ]
        captures.append(pa.Table.from_arrays(arrays, schema=schema))
    marks = pa.table(
        {
            "captured_at_ms": [FIRST_MS + at_ms for at_ms in STEPS_MS],
            "cluster": ["bench"] * len(STEPS_MS),
            "rows": [series] * len(STEPS_MS),
            "unstable_rows": [series] * len(STEPS_MS),
            "schema_version": [SCHEMA_VERSION] * len(STEPS_MS),
        }
    )
    return rolled_up(pa.concat_tables(captures), marks).select(hours_schema().names)


def _moved(first: pa.Table, day: int) -> pa.Table:
    """The same day, so many later, with the records of the days between."""
    is_series = pc.equal(first["kind"], SERIES)
    offsets = {
        *MOVING.values(),
        *(f"{name}_{what}" for name in MOVING for what in ("first", "last")),
    }

    def columns() -> Iterator[Any]:
        for name, column in zip(first.column_names, first.columns, strict=True):
            if name == "times":
                flat = pc.add(pc.list_flatten(column.combine_chunks()), day * DAY_MS)
                offsets_of = column.combine_chunks().offsets
                moved = pa.ListArray.from_arrays(
                    offsets_of, flat, mask=pc.is_null(column).combine_chunks()
                )
                yield moved.cast(hours_schema().field(name).type)
            elif name == "captured_at_ms" or name.endswith("_ms"):
                yield pc.add(column, day * DAY_MS)
            elif name in offsets:
                yield pc.if_else(is_series, pc.add(column, day * RECORDS_A_DAY), column)
            else:
                yield column

    return pa.Table.from_arrays(list(columns()), schema=first.schema)
