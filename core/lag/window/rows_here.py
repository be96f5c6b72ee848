"""Captures and roll-ups of a window, read by Arrow: what Spark gets is a row a series.

A hundred captures of ten thousand series, or a year of their roll-ups, are a million rows. Spark
would need seconds to read them and to compile what it makes of them; of what is made here it gets
the newest row of each series, beside the figures of all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import LongType, StructField, StructType

from kgroups.core.lag.captures.capture_window import Window
from kgroups.core.lag.captures.delta_table import TIME
from kgroups.core.lag.captures.hour_roll_up import (
    Flags,
    Known,
    Longs,
    codes,
    differs,
    lags_of,
    longs,
)
from kgroups.core.lag.captures.hour_table import (
    DAY_MS,
    HOUR_MS,
    NO_FILES,
    PEAKS,
    SERIES,
    WITHIN,
    Reading,
    lag_of,
)
from kgroups.core.lag.captures.spark_columns import ROWS
from kgroups.core.lag.lag_query import KEYS, LagQuery
from kgroups.core.lag.rules import END_OF
from kgroups.core.lag.stores.places import Place, Store
from kgroups.core.lag.window.capture_files import AnyFile, rows_here
from kgroups.core.lag.window.hourly import HOUR_ROWS, MOVES
from kgroups.core.lag.window.series_here import FIGURES, Lives, figures_of, stretches
from kgroups.core.lag.window.trends import LEVELS
from kgroups.core.lag.window.window_rows import newest_count

# Rows that are read here: of roll-ups some 700 bytes of memory a row, of captures less.
MOST_ROWS: Final = 1_500_000
# What lag is made of.
FACTS: Final = (
    *("commits_known", "committed_offset", "committed_at_ms", "error"),
    *("log_start_offset", "log_end_offset", "last_stable_offset"),
)
OF_SERIES: Final = KEYS["partition"]
LINE: Final = (*KEYS["group"], TIME)
PEAK_OF: Final = ("lag_peak", "partition_lag_peak")

NEWEST_ROWS: Final = StructType([*ROWS.fields, *from_arrow_schema(FIGURES).fields])
"""The newest row of each series, and the figures of the series."""


class Here(NamedTuple):
    """What is made of a window's rows.

    Args:
        newest: rows of each cluster's newest capture, in `NEWEST_ROWS`.
        peaks: in `peak_rows` of the query.
        drawn: lag at some times by `LINE`, for charts; without rows where none are wanted.
    """

    newest: pa.Table
    peaks: pa.Table
    drawn: pa.Table


class _Read(NamedTuple):
    """Rows of a window, a series' together, its newest first.

    Args:
        rows: with `place`: which of all rows of all files it is.
        starts: the place here of each series' newest.
        lag: of each, as the query reads it.
        most: the most that lag was within it.
        is_rolled_up: whether it stands for several captures.
    """

    rows: pa.Table
    starts: Longs
    lag: Known
    most: Known
    is_rolled_up: Flags


def is_read_here(folder: Place, window: Window) -> bool:
    """Whether the rows of a window are so few and so near that they are read here."""
    return not isinstance(folder, Store) and window.rows <= MOST_ROWS


def asked_rows(folder: Place, window: Window) -> int:
    """How many rows of a window Spark gets."""
    if not is_read_here(folder, window):
        return window.rows
    return newest_count(window)


def peak_rows(query: LagQuery) -> StructType:
    """The keys of a report and `PEAK_OF`."""
    keys = [field for field in HOUR_ROWS if field.name in KEYS[query.by]]
    return StructType([*keys, *(StructField(name, LongType()) for name in PEAK_OF)])


def line_rows() -> StructType:
    """`LINE` and the lag then."""
    keys = [field for field in HOUR_ROWS if field.name in LINE]
    return StructType([*keys, StructField("lag", LongType())])


def read_here(folder: Place, window: Window, query: LagQuery, span_ms: tuple[int, int]) -> Here:
    """What a report is made of, from the files of a window.

    Args:
        span_ms: the window, both ends included.
    Raises:
        KgroupsError: a file is gone, or cannot be read.
    """
    hours = NO_FILES if window.hours is None else window.hours.files
    files: list[AnyFile] = [*window.files, *hours[SERIES]]
    found = _read(folder, files, window, query, span_ms)
    peaks = _inside(_rows(folder, hours[PEAKS], _peak_columns(query)), span_ms)
    figures = _figures(found, window, query)
    return Here(
        _newest(folder, files, found, figures, window),
        _peaks(found, figures, peaks, query),
        _drawn(found, peaks, query),
    )


# --- rows of files -----------------------------------------------------------------------------


def _rows(folder: Place, files: Sequence[AnyFile], names: Sequence[str]) -> pa.Table:
    schema = StructType([field for field in HOUR_ROWS if field.name in names])
    return rows_here(folder, files, schema)


def _read(
    folder: Place,
    files: Sequence[AnyFile],
    window: Window,
    query: LagQuery,
    span_ms: tuple[int, int],
) -> _Read:
    more = () if window.hours is None else _columns(query)
    rows = _rows(folder, files, [*KEYS[query.by], *OF_SERIES, TIME, *FACTS, *more])
    rows = _inside(rows.append_column("place", pa.array(np.arange(rows.num_rows))), span_ms)
    if not window.is_clean:
        rows = rows.filter(_are_known(rows, window))
    series, at_ms = codes(rows, OF_SERIES), longs(rows, TIME).values
    is_rolled_up = _rolled_up(rows, "captures").is_known
    order = np.lexsort((~is_rolled_up, -at_ms, series))
    series, at_ms = series[order], at_ms[order]
    is_first = differs(series) | differs(at_ms)  # two captures may have the same time
    rows = rows.take(pa.array(order[is_first])).combine_chunks()
    is_rolled_up = is_rolled_up[order][is_first]
    lags = lags_of(rows, _lag_names(query))
    lag = _as_asked(query, lags.__getitem__)
    most = _as_asked(query, lambda name: _rolled_up(rows, f"{name}_most"))
    starts = np.flatnonzero(differs(series[is_first]))
    return _Read(rows, starts, lag, _either(is_rolled_up, most, lag), is_rolled_up)


def _columns(query: LagQuery) -> Iterator[str]:
    """What roll-ups have beside the columns of captures."""
    yield from ("hour_first_ms", "hour_last_ms", "captures")
    for source in _sources(query).values():
        yield from (f"{source}_{what}" for what in WITHIN)
    yield f"{_sources(query)['end']}_reset_ms"
    yield from (f"{name}_most" for name in _lag_names(query))


def _peak_columns(query: LagQuery) -> list[str]:
    names = [f"{name}_most" for name in _lag_names(query)]
    more = [f"{name}_ms" for name in names] + [f"partition_{name}" for name in names]
    return [*KEYS[query.by], *LINE, "by", "hour_first_ms", "hour_last_ms", *names, *more]


def _sources(query: LagQuery) -> dict[str, str]:
    """What went on in a window, and what roll-ups call it."""
    end = "end" if query.isolation == "read_uncommitted" else "stable"
    return {name: end if name == "end" else name for name in MOVES}


def _inside(rows: pa.Table, span_ms: tuple[int, int]) -> pa.Table:
    """Those of which every capture is in the window."""
    first, last = (_bound(rows, name) for name in ("first", "last"))
    since_ms, until_ms = span_ms
    is_inside = pc.and_(pc.greater_equal(first, since_ms), pc.less_equal(last, until_ms))
    return rows if pc.all(is_inside).as_py() else rows.filter(is_inside)


def _bound(rows: pa.Table, name: str) -> pa.ChunkedArray:
    """The time of each capture; of a roll-up that of its first or last one."""
    of_hour = f"hour_{name}_ms"
    return pc.coalesce(rows[of_hour], rows[TIME]) if of_hour in rows.column_names else rows[TIME]


def _rolled_up(rows: pa.Table, name: str) -> Known:
    """A column of roll-ups; where there are none, nothing is known of any row."""
    if name in rows.column_names:
        return longs(rows, name)
    nothing = np.broadcast_to(np.int64(0), rows.num_rows)
    return Known(nothing, np.broadcast_to(np.False_, rows.num_rows))


def _are_known(rows: pa.Table, window: Window) -> pa.ChunkedArray:
    """Of each row whether it is rolled up, or of a capture that is there as a whole."""
    captures = window.captures
    found = pa.chunked_array([np.array(_rolled_up(rows, "captures").is_known)])
    for cluster in window.spans:
        times = captures.filter(pc.equal(captures["cluster"], cluster))[TIME].combine_chunks()
        own = pc.equal(rows["cluster"], cluster)
        found = pc.or_(found, pc.and_(own, pc.is_in(rows[TIME], value_set=times)))
    return found


# --- lag ---------------------------------------------------------------------------------------


def _lag_names(query: LagQuery) -> list[str]:
    """The readings that lag is made of, as the query asks for it."""
    names = [lag_of(Reading(query.isolation, policy)) for policy in (None, "start")]
    return names if query.uncommitted == "end" else [names[query.uncommitted == "start"]]


def _as_asked(query: LagQuery, reading: Callable[[str], Known]) -> Known:
    """What the query asks for, of columns by the names of readings: `hourly.most_lag`."""
    first, *others = map(reading, _lag_names(query))
    if not others:
        return first
    # 0 where something is read that has no commit.
    values = np.where(first.is_known, first.values, 0)
    return Known(values, first.is_known | others[0].is_known)


def _either(chosen: Flags, one: Known, other: Known) -> Known:
    """The one where it is chosen, else the other."""
    if not chosen.any():
        return other
    values = np.where(chosen, one.values, other.values)
    return Known(values, np.where(chosen, one.is_known, other.is_known))


# --- figures -----------------------------------------------------------------------------------


def _figures(found: _Read, window: Window, query: LagQuery) -> pa.Table:
    """A row a series, in the order of `starts`."""
    rows, is_rolled_up = found.rows, found.is_rolled_up
    if not rows.num_rows:
        return FIGURES.empty_table()
    t = longs(rows, TIME).values
    first_ms, last_ms = (_rolled_up(rows, f"hour_{name}_ms").values for name in ("first", "last"))
    level = np.full(rows.num_rows, LEVELS["monthly"])
    for name, length_ms in (("daily", DAY_MS), ("hourly", HOUR_MS)):
        level[first_ms // length_ms == last_ms // length_ms] = LEVELS[name]
    held = _rolled_up(rows, "captures").values
    committed = longs(rows, "committed_offset")
    now = {
        "end": longs(rows, END_OF[query.isolation]),
        "committed": Known(committed.values, committed.is_known & (committed.values >= 0)),
        "start": longs(rows, "log_start_offset"),
    }
    facts = {
        **now,
        "lag": found.lag,
        "most_lag": found.most,
        "committed_at": longs(rows, "committed_at_ms"),
        "end_reset_t": _rolled_up(rows, f"{_sources(query)['end']}_reset_ms"),
    }
    for name, source in _sources(query).items():
        facts[f"{name}_added"] = _rolled_up(rows, f"{source}_added")
        for place in ("first", "last"):
            own, own_t = (_rolled_up(rows, f"{source}_{place}{of}") for of in ("", "_ms"))
            facts[f"{name}_{place}"] = _either(is_rolled_up, own, now[name])
            seen = Known(t, now[name].is_known)
            facts[f"{name}_{place}_t"] = _either(is_rolled_up, own_t, seen)
    lives = Lives(
        found.starts,
        t,
        stretches(t, *_bounds(rows, window)),
        np.where(is_rolled_up, level, 0),
        np.where(is_rolled_up, held, 1),
        facts,
    )
    return figures_of(lives)


def _bounds(rows: pa.Table, window: Window) -> tuple[Longs, Longs]:
    """The first and the last time captured of each row's cluster."""
    coded = pc.dictionary_encode(rows["cluster"].combine_chunks())
    spans = [window.spans[name] for name in coded.dictionary.to_pylist()]
    places = coded.indices.to_numpy()
    first, last = (np.array(bounds, np.int64)[places] for bounds in zip(*spans, strict=True))
    return first, last


def _newest(
    folder: Place, files: Sequence[AnyFile], found: _Read, figures: pa.Table, window: Window
) -> pa.Table:
    """The newest rows with all columns, and their figures."""
    newest = found.rows.select(["cluster", TIME, "place"]).take(pa.array(found.starts))
    last = pa.array([window.spans[name].last_ms for name in newest["cluster"].to_pylist()])
    shown = newest.append_column("number", pa.array(np.arange(newest.num_rows)))
    shown = shown.filter(pc.equal(newest[TIME], last)).sort_by("place")
    places, parts, first = longs(shown, "place").values, [], 0
    for file in files:
        own = places[(places >= first) & (places < first + file.rows)]
        if len(own):
            parts.append(rows_here(folder, [file], ROWS).take(pa.array(own - first)))
        first += file.rows
    rows = pa.concat_tables(parts) if parts else rows_here(folder, [], ROWS)
    beside = figures.take(shown["number"].combine_chunks())
    for name in FIGURES.names:
        rows = rows.append_column(FIGURES.field(name), beside[name])
    return rows


def _peaks(found: _Read, figures: pa.Table, peaks: pa.Table, query: LagQuery) -> pa.Table:
    """The most that there was in any capture: `hourly.peaks_by`."""
    keys = KEYS[query.by]
    if query.by == "partition":
        most = found.rows.select(keys).take(pa.array(found.starts))
        for name in PEAK_OF:
            most = most.append_column(name, figures["lag_peak"])
        return most
    captures = found.rows.append_column("lag", found.lag.array())
    captures = captures.filter(pa.array(~found.is_rolled_up))
    then = captures.group_by([*keys, TIME]).aggregate([("lag", "sum"), ("lag", "max")])
    own = peaks.filter(pc.equal(peaks["by"], query.by))
    named = {
        "lag_peak": _as_asked(query, partial(_named, own, "{}_most")),
        "partition_lag_peak": _as_asked(query, partial(_named, own, "partition_{}_most")),
    }
    rolled = own.select(keys)
    for name, known in named.items():
        rolled = rolled.append_column(name, known.array())
    both = pa.concat_tables(
        [then.select([*keys, "lag_sum", "lag_max"]).rename_columns([*keys, *PEAK_OF]), rolled]
    )
    most = both.group_by(list(keys)).aggregate([(name, "max") for name in PEAK_OF])
    return most.select([*keys, *(f"{name}_max" for name in PEAK_OF)]).rename_columns(
        [*keys, *PEAK_OF]
    )


def _named(rows: pa.Table, pattern: str, name: str) -> Known:
    return longs(rows, pattern.format(name))


def _drawn(found: _Read, peaks: pa.Table, query: LagQuery) -> pa.Table:
    """Captures for lag over time, each group's sum: `hourly.drawn_captures`."""
    rows = found.rows.append_column("lag", found.lag.array())
    if not query.pictures:
        return rows.select([*LINE, "lag"]).slice(0, 0)
    last = _bound(rows, "last")
    sums = rows.filter(pc.equal(rows[TIME], last)).group_by(list(LINE)).aggregate([("lag", "sum")])
    sums = sums.select([*LINE, "lag_sum"]).rename_columns([*LINE, "lag"])
    of_groups = peaks.filter(pc.equal(peaks["by"], "group"))
    at = longs(of_groups, f"{_lag_names(query)[0]}_most_ms")
    most = _as_asked(query, partial(_named, of_groups, "{}_most"))
    shown = of_groups.select(KEYS["group"])
    shown = shown.append_column(sums.field(TIME), at.array()).append_column("lag", most.array())
    is_within = at.is_known & (at.values < longs(of_groups, "hour_last_ms").values)
    return pa.concat_tables([sums, shown.filter(pa.array(is_within))])
