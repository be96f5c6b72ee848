"""Captures rolled up by the hour, and hours by the day: a row a series and a row a key of reports.

Pure: Arrow tables in, one out. There is one way to put rows together (`_series`, `_peaks`): a row
of a capture is an hour that has one capture. What is said of an hour is exact: the last row of each
series, how far it went between its first and last, and the most lag of any capture. A day is in the
same columns and as exact; only what follows captures one by one sees less of it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache, partial
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
SERIES_KEYS: Final = KEYS["partition"][1:]


class Known(NamedTuple):
    """Numbers, and whether each is known."""

    values: Longs
    is_known: Flags

    def array(self) -> pa.Array:
        """Null where it is not."""
        return pa.array(self.values, pa.int64(), mask=~self.is_known)


Numbers = Callable[[str], Known]
"""The numbers of rows that are put together, by the name of a column of `hours_schema`."""


def rolled_up(rows: pa.Table, marks: pa.Table) -> pa.Table:
    """An hour of one cluster in `hour_table.hours_schema`, with `date`.

    Args:
        rows: of its captures, in `table_columns.ROWS`.
        marks: of its captures, in `delta_table.CAPTURES`; one at least.
    """
    times = pc.unique(marks[TIME]).sort()
    of_hour = {
        "cluster": marks["cluster"][0].as_py(),
        "hour_first_ms": times[0].as_py(),
        "hour_last_ms": times[-1].as_py(),
    }
    parts = []
    if rows.num_rows:
        ordered = _ordered(rows)
        lags = lags_of(ordered.rows)
        numbers = _of_captures(ordered, lags)
        parts.append(_part(SERIES, of_hour, _series(ordered.rows, ordered.series, numbers)))
        for by, keys in KEYS.items():
            if by != "partition":
                peaks = {"by": by} | _peaks(*_moments(ordered, _own(keys), lags))
                parts.append(_part(PEAKS, of_hour, peaks))
    return _with_mark(of_hour, times.to_pylist(), len(times), marks, parts)


def day_of(hours: pa.Table) -> pa.Table:
    """A day of one cluster in `hour_table.hours_schema`, with `date`.

    Args:
        hours: all rows of its hours, in the same columns; one mark at least.
    """
    marks = _of_kind(hours, MARKS)
    of_day = {
        "cluster": marks["cluster"][0].as_py(),
        "hour_first_ms": pc.min(marks["hour_first_ms"]).as_py(),
        "hour_last_ms": pc.max(marks[TIME]).as_py(),
    }
    parts = []
    series = _of_kind(hours, SERIES)
    if series.num_rows:
        own = codes(series, SERIES_KEYS)
        order = np.argsort(own, kind="stable")  # by time within
        series, own = series.take(pa.array(order)), own[order]
        parts.append(_part(SERIES, of_day, _series(series, own, partial(longs, series))))
    peaks = _of_kind(hours, PEAKS)
    for by in pc.unique(peaks["by"]).to_pylist():
        of_by = peaks.filter(pc.equal(peaks["by"], by)).combine_chunks()
        keys = of_by.select(_own(KEYS[by]))
        most = _peaks(keys, codes(keys, keys.column_names), partial(longs, of_by))
        parts.append(_part(PEAKS, of_day, {"by": by} | most))
    times = pc.list_flatten(marks["times"].combine_chunks()).to_pylist()
    return _with_mark(of_day, times, pc.sum(marks["captures"]).as_py(), marks, parts)


def _of_kind(hours: pa.Table, kind: str) -> pa.Table:
    """Rows of one kind, by time."""
    return hours.filter(pc.equal(hours["kind"], kind)).sort_by(TIME).combine_chunks()


def _own(keys: Sequence[str]) -> list[str]:
    """The keys within a cluster."""
    return [key for key in keys if key != "cluster"]


def _with_mark(
    of_all: Mapping[str, Any],
    times: Sequence[int],
    captures: int,
    marks: pa.Table,
    parts: Sequence[pa.Table],
) -> pa.Table:
    """The parts, series first, and the mark that says what they are of."""
    counts = {
        TIME: [of_all["hour_last_ms"]],
        "times": [times],
        "captures": captures,
        "rows": sum(part.num_rows for part in parts if part["kind"][0].as_py() == SERIES),
        "unstable_rows": pc.sum(marks["unstable_rows"]).as_py(),
        "schema_version": SCHEMA_VERSION,
    }
    return dated(pa.concat_tables([_part(MARKS, of_all, counts), *parts]))


def _part(kind: str, of_all: Mapping[str, Any], columns: Mapping[str, Any]) -> pa.Table:
    """Rows of one kind; what is no column is the same in all of them, what is not there null."""
    values = {"kind": kind, TIME: of_all["hour_last_ms"], **of_all, **columns}
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


# --- numbers -----------------------------------------------------------------------------------


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
    """A column of whole numbers; 0 where it is null."""
    column = rows[name].combine_chunks()
    values = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return Known(values, pc.is_valid(column).to_numpy(zero_copy_only=False))


def differs(values: npt.NDArray[Any]) -> Flags:
    """Whether each is another one than that before it."""
    return np.concatenate(([True], values[1:] != values[:-1]))


def reduced(operation: Any, start: int, values: Known, numbers: Longs, count: int) -> Known:
    """The known values of each number, reduced to one."""
    results, has = np.full(count, start, np.int64), np.zeros(count, bool)
    operation.at(results, numbers[values.is_known], values.values[values.is_known])
    has[numbers[values.is_known]] = True
    return Known(np.where(has, results, 0), has)


# --- captures ----------------------------------------------------------------------------------


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
    series, at_ms = codes(rows, SERIES_KEYS), longs(rows, TIME).values
    order = np.lexsort((at_ms, series))
    series, at_ms = series[order], at_ms[order]
    is_new = differs(series) | differs(at_ms)  # two captures may have the same time
    return _Ordered(rows.take(pa.array(order[is_new])), series[is_new], at_ms[is_new])


def _of_captures(ordered: _Ordered, lags: Mapping[str, Known]) -> Numbers:
    """What an hour would say that has one capture, a row each."""
    rows, _series, at_ms = ordered
    every, no_longs = np.ones(len(at_ms), bool), np.zeros(len(at_ms), np.int64)

    @lru_cache(maxsize=1)
    def moving(name: str) -> Known:
        place = longs(rows, MOVING[name])
        if name == "committed":  # -1 is none
            return Known(place.values, place.is_known & (place.values >= 0))
        return place

    def numbers(column: str) -> Known:
        name, _, what = column.rpartition("_")
        if name in lags:
            lag = lags[name]
            return Known(lag.is_known.astype(np.int64), every) if what == "known" else lag
        name, _, what = column.partition("_")
        if name == "captures":
            return Known(no_longs + 1, every)
        if what == "reset_ms":
            return Known(no_longs, ~every)
        values, is_known = moving(name)
        return Known(
            {"first": values, "last": values, "added": no_longs}.get(what, at_ms), is_known
        )

    return numbers


def _moments(
    ordered: _Ordered, names: Sequence[str], lags: Mapping[str, Known]
) -> tuple[pa.Table, Longs, Numbers]:
    """Each key in each capture that has it, as `_peaks` takes them: the sums of its lag."""
    of_key = codes(ordered.rows, names)
    moments, of_moment = np.unique(ordered.at_ms, return_inverse=True)
    cells, places, of_row = np.unique(
        of_key * len(moments) + of_moment, return_index=True, return_inverse=True
    )
    at_ms = moments[cells % len(moments)]

    def numbers(column: str) -> Known:
        is_time = column.endswith("_ms")
        name = column.removesuffix("_ms").removesuffix("_most")
        if name.startswith("partition_"):
            lag = lags[name.removeprefix("partition_")]
            return reduced(np.maximum, LEAST, lag, of_row, len(cells))
        sums = reduced(np.add, 0, lags[name], of_row, len(cells))
        return Known(at_ms, sums.is_known) if is_time else sums

    keys = ordered.rows.select(names).take(pa.array(places))
    return keys, cells // len(moments), numbers


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


# --- put together ------------------------------------------------------------------------------


def _series(rows: pa.Table, own: Longs, numbers: Numbers) -> dict[str, Any]:
    """The columns of the series.

    Args:
        rows: by series and time, with the columns of `table_columns.ROWS`.
        own: the number of each row's series, from 0 on.
    """
    is_last = np.concatenate((differs(own)[1:], [True]))
    count = int(is_last.sum())
    newest = rows.filter(pa.array(is_last)).combine_chunks()
    columns: dict[str, Any] = {
        name: newest[name].combine_chunks()
        for name in arrow_schema("rows").names
        if name != "cluster"
    }

    def together(operation: Any, start: int, *names: str) -> None:
        for name in names:
            columns[name] = reduced(operation, start, numbers(name), own, count).array()

    together(np.add, 0, "captures")
    for name in MOVING:
        columns |= _moves(name, numbers, own, count)
    for name in LAGS:
        together(np.maximum, LEAST, f"{name}_most")
        if f"{name}_least" in hours_schema().names:
            together(np.minimum, MOST, f"{name}_least")
            together(np.add, 0, f"{name}_sum", f"{name}_known")
    return columns


def _moves(name: str, numbers: Numbers, own: Longs, count: int) -> dict[str, pa.Array]:
    """From where to where something went, within rows and from one to the next of its series.

    Steps back are not subtracted; of an end it is told when it last went back.
    """
    first = numbers(f"{name}_first")
    is_known = first.is_known
    series = own[is_known]
    has = np.zeros(count, bool)
    has[series] = True

    def known(what: str) -> Longs:
        return numbers(f"{name}_{what}").values[is_known]

    is_first = differs(series) if len(series) else np.zeros(0, bool)
    is_last = np.concatenate((is_first[1:], is_first[:1]))
    last = known("last")
    steps = np.where(is_first, 0, known("first") - np.concatenate((last[:1], last[:-1])))
    ahead = Known(np.maximum(steps, 0) + known("added"), np.ones(len(steps), bool))
    columns = {f"{name}_added": reduced(np.add, 0, ahead, series, count)}
    for what, chosen in (("first", is_first), ("last", is_last)):
        for column in (what, f"{what}_ms"):
            picked = np.zeros(count, np.int64)
            picked[series[chosen]] = known(column)[chosen]
            columns[f"{name}_{column}"] = Known(picked, has)
    if name in ENDS:
        within, is_back = numbers(f"{name}_reset_ms"), steps < 0
        times = np.concatenate((within.values[within.is_known], known("first_ms")[is_back]))
        of_times = np.concatenate((own[within.is_known], series[is_back]))
        back = Known(times, np.ones(len(times), bool))
        columns[f"{name}_reset_ms"] = reduced(np.maximum, LEAST, back, of_times, count)
    return {column: values.array() for column, values in columns.items()}


def _peaks(keys: pa.Table, own: Longs, numbers: Numbers) -> dict[str, Any]:
    """The keys, each once, and the most lag of each in any capture.

    Args:
        own: the number of each row's key, from 0 on.
    """
    _, places = np.unique(own, return_index=True)
    shown = keys.take(pa.array(places)).combine_chunks()
    columns: dict[str, Any] = {name: shown[name].combine_chunks() for name in shown.column_names}
    for name in LAGS:
        lag, at_ms = numbers(f"{name}_most"), numbers(f"{name}_most_ms")
        # The last of each key in this order is its most, the first time that it was.
        order = np.lexsort((-at_ms.values, lag.values, lag.is_known, own))
        ends = order[np.concatenate((differs(own[order])[1:], [True]))]
        columns[f"{name}_most"] = Known(lag.values[ends], lag.is_known[ends]).array()
        columns[f"{name}_most_ms"] = Known(at_ms.values[ends], at_ms.is_known[ends]).array()
        most = reduced(np.maximum, LEAST, numbers(f"partition_{name}_most"), own, len(places))
        columns[f"partition_{name}_most"] = most.array()
    return columns
