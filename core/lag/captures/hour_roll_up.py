"""The captures of an hour rolled up: each series, and each key that a report may have, one row.

Pure: Arrow tables in, one out. What is said of an hour is exact: the last row of each series, how
far it went between its first and last, and the most lag of any capture.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.lag.captures.delta_table import TIME, dated
from kgroups.core.lag.captures.hour_table import (
    ENDS,
    LAGS,
    MARKS,
    MOVING,
    PEAKS,
    SERIES,
    hours_schema,
)
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION, arrow_schema
from kgroups.core.lag.lag_query import KEYS
from kgroups.core.lag.rules import (
    END_OF,
    LEADERLESS_ERRORS,
    MISSING_ERRORS,
    records_between,
)

Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
LEAST: Final = np.iinfo(np.int64).min
MOST: Final = np.iinfo(np.int64).max


class Known(NamedTuple):
    """Numbers, and whether each is known."""

    values: Longs
    is_known: Flags

    def array(self) -> pa.Array:
        """Null where it is not."""
        return pa.array(self.values, pa.int64(), mask=~self.is_known)


def rolled_up(rows: pa.Table, marks: pa.Table) -> pa.Table:
    """An hour of one cluster in `hour_table.hours_schema`, with `date`.

    Args:
        rows: of its captures, in `table_columns.ROWS`.
        marks: of its captures, in `delta_table.CAPTURES`; one at least.
    """
    times = pc.unique(marks[TIME]).sort()
    first_ms, last_ms = times[0].as_py(), times[-1].as_py()
    of_hour = {
        "cluster": marks["cluster"][0].as_py(),
        "hour_first_ms": first_ms,
        "hour_last_ms": last_ms,
    }
    parts = []
    if rows.num_rows:
        ordered = _ordered(rows)
        lags = lags_of(ordered.rows)
        parts.append(part(SERIES, of_hour, _series(ordered, lags)))
        for by, keys in KEYS.items():
            if by != "partition":
                peaks = {"by": by, TIME: last_ms} | _peaks(ordered, keys, lags)
                parts.append(part(PEAKS, of_hour, peaks))
    counts = {
        TIME: [last_ms],
        "times": [times.to_pylist()],
        "captures": len(times),
        "rows": sum(part.num_rows for part in parts[:1]),
        "unstable_rows": pc.sum(marks["unstable_rows"]).as_py(),
        "schema_version": SCHEMA_VERSION,
    }
    return dated(pa.concat_tables([part(MARKS, of_hour, counts), *parts]))


def part(kind: str, of_hour: Mapping[str, Any], columns: Mapping[str, Any]) -> pa.Table:
    """Rows of one kind; what is no column is the same in all of them, what is not there null."""
    values = {"kind": kind, **of_hour, **columns}
    count = next(len(value) for value in values.values() if isinstance(value, list | pa.Array))
    arrays = []
    for field in hours_schema():
        value = values.get(field.name)
        if isinstance(value, pa.Array):
            arrays.append(value.cast(field.type))
        elif isinstance(value, list):
            arrays.append(pa.array(value, field.type))
        else:
            arrays.append(pa.repeat(pa.scalar(value, field.type), count))
    return pa.Table.from_arrays(arrays, schema=hours_schema())


# --- series ------------------------------------------------------------------------------------


class _Ordered(NamedTuple):
    """Rows by series and time, each once.

    Args:
        series: the number of each row's series, from 0 on.
        at_ms: when it was captured.
    """

    rows: pa.Table
    series: Longs
    at_ms: Longs


def _ordered(rows: pa.Table) -> _Ordered:
    rows = rows.select(arrow_schema("rows").names).combine_chunks()
    series, at_ms = codes(rows, KEYS["partition"][1:]), longs(rows, TIME).values
    order = np.lexsort((at_ms, series))
    series, at_ms = series[order], at_ms[order]
    is_new = differs(series) | differs(at_ms)  # two captures may have the same time
    return _Ordered(rows.take(pa.array(order[is_new])), series[is_new], at_ms[is_new])


def codes(rows: pa.Table, names: Sequence[str]) -> Longs:
    """A number from 0 on for each combination of columns; null is a value of its own."""
    numbers = np.zeros(rows.num_rows, np.int64)
    for name in names:
        column = rows[name].combine_chunks()
        if pa.types.is_integer(column.type):
            own_values = longs(rows, name)
            own = np.unique(own_values.values * 2 + own_values.is_known, return_inverse=True)[1]
        else:
            coded = pc.dictionary_encode(column, null_encoding="encode").indices
            own = coded.to_numpy(zero_copy_only=False).astype(np.int64)
        numbers = np.unique(numbers * (own.max(initial=0) + 1) + own, return_inverse=True)[1]
    return numbers


def longs(rows: pa.Table, name: str) -> Known:
    column = rows[name].combine_chunks()
    values = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return Known(values, pc.is_valid(column).to_numpy(zero_copy_only=False))


def differs(values: npt.NDArray[Any]) -> Flags:
    """Whether each is another one than that before it."""
    return np.concatenate(([True], values[1:] != values[:-1]))


def _series(ordered: _Ordered, lags: Mapping[str, Known]) -> dict[str, Any]:
    """The columns of the series, in the order of their numbers."""
    rows, series, _at_ms = ordered
    is_last = np.concatenate((differs(series)[1:], [True]))
    newest = rows.filter(pa.array(is_last)).combine_chunks()
    count = int(is_last.sum())
    columns: dict[str, Any] = {name: newest[name].combine_chunks() for name in newest.column_names}
    columns.pop("cluster")
    columns["captures"] = pa.array(np.bincount(series, minlength=count), pa.int64())
    for name, column in MOVING.items():
        moving = longs(rows, column)
        if name == "committed":  # -1 is none
            moving = Known(moving.values, moving.is_known & (moving.values >= 0))
        columns |= _moves(name, moving, ordered, count)
    for name, lag in lags.items():
        columns[f"{name}_most"] = reduced(np.maximum, LEAST, lag, series, count).array()
        if f"{name}_least" in hours_schema().names:
            columns[f"{name}_least"] = reduced(np.minimum, MOST, lag, series, count).array()
            columns[f"{name}_sum"] = reduced(np.add, 0, lag, series, count).array()
            counts = np.bincount(series[lag.is_known], minlength=count)
            columns[f"{name}_known"] = pa.array(counts, pa.int64())
    return columns


def _moves(name: str, moving: Known, ordered: _Ordered, count: int) -> dict[str, pa.Array]:
    """From where to where something went, steps back not subtracted, and when it went back."""
    values, at_ms = moving.values[moving.is_known], ordered.at_ms[moving.is_known]
    series = ordered.series[moving.is_known]
    is_first = differs(series) if len(series) else np.zeros(0, bool)
    is_last = np.concatenate((is_first[1:], is_first[:1]))
    has = np.zeros(count, bool)
    has[series] = True
    steps = np.where(is_first, 0, values - np.concatenate((values[:1], values[:-1])))
    every = Known(np.maximum(steps, 0), np.ones(len(steps), bool))
    columns = {f"{name}_added": reduced(np.add, 0, every, series, count)}
    for what, chosen in (("first", is_first), ("last", is_last)):
        for suffix, source in (("", values), ("_ms", at_ms)):
            picked = np.zeros(count, np.int64)
            picked[series[chosen]] = source[chosen]
            columns[f"{name}_{what}{suffix}"] = Known(picked, has)
    if name in ENDS:
        columns[f"{name}_reset_ms"] = reduced(
            np.maximum, LEAST, Known(at_ms, steps < 0), series, count
        )
    return {column: values.array() for column, values in columns.items()}


def reduced(operation: Any, start: int, values: Known, numbers: Longs, count: int) -> Known:
    """The known values of each number, reduced to one."""
    results, has = np.full(count, start, np.int64), np.zeros(count, bool)
    operation.at(results, numbers[values.is_known], values.values[values.is_known])
    has[numbers[values.is_known]] = True
    return Known(np.where(has, results, 0), has)


# --- lag ---------------------------------------------------------------------------------------


def lags_of(rows: pa.Table, names: Collection[str] = tuple(LAGS)) -> dict[str, Known]:
    """Lag of each row by some names of `LAGS`: the rules of `rules.RULES` where it is measured."""
    error = rows["error"]
    is_shut = _is_among(error, MISSING_ERRORS) | _is_among(error, LEADERLESS_ERRORS)
    is_open = rows["commits_known"].to_numpy() & ~is_shut
    committed, start = longs(rows, "committed_offset"), longs(rows, "log_start_offset")
    log_end, told = longs(rows, END_OF["read_uncommitted"]), longs(rows, "lag_told")
    has_commit = committed.is_known & (committed.values >= 0)
    lags = {}
    for name in names:
        reading = LAGS[name]
        end = longs(rows, END_OF[reading.isolation])
        bounded = is_open & start.is_known & end.is_known
        lag = records_between(committed.values, start.values, end.values, np.maximum)
        left = np.maximum(told.values - (log_end.values - end.values), 0)
        lag = np.where(has_commit & told.is_known, np.minimum(lag, left), lag)
        is_known = bounded & has_commit & log_end.is_known
        if reading.uncommitted == "start":
            whole = records_between(start.values, start.values, end.values, np.maximum)
            lag = np.where(has_commit, lag, whole)
            is_known |= bounded & ~has_commit
        lags[name] = Known(lag, is_known)
    return lags


def _is_among(column: pa.ChunkedArray, names: frozenset[str]) -> Flags:
    flags: Flags = pc.is_in(column, value_set=pa.array(sorted(names))).to_numpy()
    return flags


# --- peaks -------------------------------------------------------------------------------------


def _peaks(ordered: _Ordered, keys: Sequence[str], lags: Mapping[str, Known]) -> dict[str, Any]:
    """The keys but the cluster, and the most lag of each in any capture."""
    rows = ordered.rows
    names = [key for key in keys if key != "cluster"]
    own = codes(rows, names)
    _, places = np.unique(own, return_index=True)
    shown = rows.select(names).take(pa.array(places)).combine_chunks()
    columns: dict[str, Any] = {name: shown[name].combine_chunks() for name in names}
    moments, of_moment = np.unique(ordered.at_ms, return_inverse=True)
    cells, of_row = np.unique(own * len(moments) + of_moment, return_inverse=True)
    of_cell, at_ms = cells // len(moments), moments[cells % len(moments)]
    count = len(places)
    for name, lag in lags.items():
        sums = reduced(np.add, 0, lag, of_row, len(cells))
        columns[f"{name}_most"] = reduced(np.maximum, LEAST, sums, of_cell, count).array()
        columns[f"partition_{name}_most"] = reduced(np.maximum, LEAST, lag, own, count).array()
        # The last of each key in this order is its most, the first time that it was.
        order = np.lexsort((-at_ms, sums.values, sums.is_known, of_cell))
        ends = order[np.concatenate((differs(of_cell[order])[1:], [True]))]
        columns[f"{name}_most_ms"] = Known(at_ms[ends], sums.is_known[ends]).array()
    return columns
