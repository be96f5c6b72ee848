"""The lag report over collected captures: a folder and a window of time in, `top` rows out."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from kgroups.core.errors import ItemError, KgroupsError, NotFoundError, UsageError
from kgroups.core.lag import transforms
from kgroups.core.lag.captures.capture_window import Window, open_window, utc_time
from kgroups.core.lag.captures.delta_table import ActiveFile
from kgroups.core.lag.captures.file_checks import whole_files
from kgroups.core.lag.captures.hour_table import LENGTHS
from kgroups.core.lag.captures.old_layout import CapturedFile, find_captures, readable
from kgroups.core.lag.captures.spark_columns import MEMBERS, TOPICS
from kgroups.core.lag.fleet.as_planned import Fleet
from kgroups.core.lag.report import (
    LagQuery,
    LagReport,
    answered,
    check_query,
    drawn,
    is_few,
    kind_of,
    planned_answer,
    totals_of,
)
from kgroups.core.lag.report_rows import compared
from kgroups.core.lag.rosters import with_members
from kgroups.core.lag.rules import Isolation
from kgroups.core.lag.stores.places import Place, Store, is_of_store, store_failure
from kgroups.core.lag.window import hourly, trends
from kgroups.core.lag.window.capture_files import (
    AnyFile,
    captures_changed,
    read_files,
)
from kgroups.core.lag.window.points import lives, with_steps
from kgroups.core.lag.window.rows_here import (
    NEWEST_ROWS,
    asked_rows,
    is_read_here,
    line_rows,
    peak_rows,
    read_here,
)
from kgroups.core.lag.window.window_rows import captures_with_lag, dated, is_newest, newest
from kgroups.core.spark.late_session import LateSession, running
from kgroups.core.spark.plans.api import DataFrame
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.session import SPARK_ERRORS, Progress, SessionOptions

# Captures above which the optimising compiler pays, as sizes of Parquet files: 10 million rows.
LARGE_BYTES = 40_000_000
# What Spark says of a file that its workers do not find.
NOT_FOUND = re.compile("FILE_NOT_EXIST|PATH_NOT_FOUND|FileNotFound|does not exist")

# The file that it names.
NAMED_FILE = re.compile(r"(?:file:)?(/[^\s`'\"]+\.parquet)")

TABLE_SCHEMAS = {"members": MEMBERS, "topics": TOPICS}
# What tells rows of one capture apart: a file may be there twice.
IDENTITY = ("cluster", "group", "member_id", "topic")


def lag_report_over(
    folder: Place,
    query: LagQuery | None = None,
    *,
    since_ms: int,
    until_ms: int,
    strict: bool = False,
    session: SparkSession | SessionOptions | None = None,
    progress: Progress | None = None,
) -> LagReport:
    """Lag now and over a window of time, from collected captures.

    Lag "now" is that of the newest capture of each cluster in the window.

    Args:
        folder: where `collect` put them; where Spark runs elsewhere, it must see the same path, or
            reach the store.
        since_ms, until_ms: the window, both ends included.
        query: with `compare_ms` also of the window that lies so long before: the columns of
            `report_columns.compared_columns`, those that got worst first.
        strict: a capture that cannot be read is a failure instead of one of `errors`.
    Raises:
        NotFoundError: no captures in the window, or in that before it.
        UsageError: as in `lag_report`; the window is empty; `strict` and a broken capture; last
            stable offsets are asked for, and some captures of the window do not hold them.
    """
    query = query or LagQuery()
    check_query(query, "captures")
    if since_ms >= until_ms:
        raise UsageError("the time window is empty", hint="--since must be before --until")
    if isinstance(folder, Path):
        folder = folder.absolute()  # Spark's workers may run in another one
    window = open_window(folder, since_ms=since_ms, until_ms=until_ms, strict=strict)
    check_isolation(window, query.isolation)
    span_ms = (since_ms, until_ms)
    earlier = _earlier(folder, query, span_ms, strict=strict) if query.compare_ms else None
    windows = [window] if earlier is None else [window, earlier]
    with running(sized(session, folder, windows, query), progress) as spark:
        try:
            return _report(spark, folder, windows, query, span_ms, strict=strict)
        except SPARK_ERRORS as exc:
            if isinstance(folder, Store) and is_of_store(str(exc)):
                raise store_failure(folder, exc) from exc
            if not NOT_FOUND.search(str(exc)):
                raise
            if any(Path(path).exists() for path in NAMED_FILE.findall(str(exc))):
                raise KgroupsError(
                    f"Spark's workers do not find the captures in `{folder}`",
                    hint="put them where every worker sees them under the same path",
                    code="CAPTURES_NOT_SEEN",
                ) from exc
            raise captures_changed(folder) from exc


def _earlier(folder: Place, query: LagQuery, span_ms: tuple[int, int], *, strict: bool) -> Window:
    """The window that another one is compared with.

    Raises:
        NotFoundError: nothing was captured then.
        UsageError: as in `lag_report_over`.
    """
    since_ms, until_ms = (at_ms - query.compare_ms for at_ms in span_ms)
    try:
        earlier = open_window(folder, since_ms=since_ms, until_ms=until_ms, strict=strict)
    except NotFoundError as exc:
        span = f"from {utc_time(since_ms)} to {utc_time(until_ms)}"
        raise NotFoundError(
            f"nothing to compare with: no captures {span} in `{folder}`", hint=exc.hint
        ) from exc
    check_isolation(earlier, query.isolation)
    return earlier


def check_isolation(window: Window, isolation: Isolation) -> None:
    """Fails on a window that cannot be measured to last stable offsets.

    Raises:
        UsageError: some of its captures do not hold them; says from when on they do.
    """
    captures = window.captures
    lacking = captures.filter(pc.greater(captures["unstable_rows"], 0))
    if isolation == "read_uncommitted" or not lacking.num_rows:
        return
    last_ms = pc.max(lacking["captured_at_ms"]).as_py()
    hint = "leave out `--isolation`; `kgroups lag collect` stores these offsets from now on"
    if pc.max(captures["captured_at_ms"]).as_py() > last_ms:
        hint = f"later captures hold them: `--since {utc_time(last_ms + 1)}`"
    raise UsageError(
        "`--isolation read_committed` requires last stable offsets, which "
        f"{lacking.num_rows} of {captures.num_rows} captures in the window do not have",
        hint=hint,
    )


def _report(
    spark: LateSession,
    folder: Place,
    windows: Sequence[Window],
    query: LagQuery,
    span_ms: tuple[int, int],
    *,
    strict: bool,
) -> LagReport:
    """The report on these files; with two windows beside that on the second."""
    window = windows[0]
    rows, captures = (sum(sizes) for sizes in zip(*map(_size, windows), strict=True))
    spark.tell(f"reading {rows:,} rows of {captures:,} captures")
    told = _told(spark, folder, window, query, span_ms)
    series = told.series
    if query.assignors or query.pictures:  # it is wanted more than once
        series = series.persist()
    rest = read_rest(spark, folder, window, query, strict=strict)
    lost = rest.broken
    if query.compare_ms:
        earlier_ms = (span_ms[0] - query.compare_ms, span_ms[1] - query.compare_ms)
        then = _told(spark, folder, windows[1], query, earlier_ms)
        before = then.series
    if query.assignors:
        fleet = None
        if query.compare_ms:
            was = read_rest(spark, folder, windows[1], query, strict=strict)
            fleet, lost = Fleet(was.members, was.topics, before), lost + was.broken
        facts = rest.members, rest.topics, series
        answer = planned_answer(*facts, query, spark.tell, told.captures, before=fleet)
    else:
        keys = transforms.KEYS[query.by]
        report = _by_key(series, told.peaks, keys, window)
        if query.compare_ms:
            report = compared(report, _by_key(before, then.peaks, keys, windows[1]), keys)
        else:
            report = with_members(report, told.now, rest.members, query.by, keys)
        spark.tell(f"computing lag by {query.by} over {rows:,} rows")
        sort = query.sort or ("lag_change" if query.compare_ms else "lag")
        others = totals_of(told.now, rest.members), drawn(query, series, told.captures)
        answer = answered(report, query, sort, keys, *others)
    series.unpersist()
    told.lagged.unpersist()
    times: dict[str, Any] = dict(zip(("since_ms", "until_ms"), span_ms, strict=True))
    times["files"] = sum(each.file_count for each in windows)
    if query.compare_ms:
        times["compare_ms"] = query.compare_ms
    broken = dict.fromkeys(error for each in windows for error in each.broken)
    return dataclasses.replace(
        answer,
        summary=answer.summary | times | _hours_told(windows),
        errors=(*answer.errors, *broken, *dict.fromkeys(lost)),
    )


def _size(window: Window) -> tuple[int, int]:
    return window.rows, window.captures.num_rows


def _by_key(series: DataFrame, peaks: DataFrame, keys: Sequence[str], window: Window) -> DataFrame:
    """The figures of a window by its keys, and which of them are of the ends of hours or days."""
    if window.hours is not None:
        return trends.history_by(series, peaks, keys, hourly=True)
    nothing = F.lit(None).cast("string")
    return trends.history_by(series, peaks, keys).withColumns(dict.fromkeys(trends.LEVELS, nothing))


class _Told(NamedTuple):
    """What the captures of a window say.

    Args:
        now: rows of each cluster's newest capture, with lag.
        series: from `trends.with_history`.
        peaks: from `transforms.peaks_by`, by the keys of the report.
        captures: for lag over time.
        lagged: what all of it was made of, which a store's rows stay in memory as.
    """

    now: DataFrame
    series: DataFrame
    peaks: DataFrame
    captures: DataFrame
    lagged: DataFrame


def _told(
    spark: Any, folder: Place, window: Window, query: LagQuery, span_ms: tuple[int, int]
) -> _Told:
    if is_read_here(folder, window):
        return _told_here(spark, folder, window, query, span_ms)
    lagged, now = captures_with_lag(spark, folder, window, query, span_ms)
    if isinstance(folder, Store):  # else every query would fetch the files again
        lagged = lagged.persist()
    keys = transforms.KEYS.get(query.by, ())  # of planned assignors there are other ones
    if window.hours is None:
        figures = trends.series_figures(with_steps(lives(lagged, window.spans, query.isolation)))
        series = trends.with_history(now, figures, span_ms[1])
        return _Told(now, series, transforms.peaks_by(lagged, keys), lagged, lagged)
    hours = hourly.read_hours(spark, folder, window, query, span_ms)
    both = [
        lives(frame, window.spans, query.isolation, more=tuple(within(query)))
        for frame, within in ((lagged, hourly.of_captures), (hours.rows, hourly.of_hours))
    ]
    stepped = with_steps(both[0].unionByName(both[1]), hourly=True)
    now = now.unionByName(newest(hours.rows, window).select(now.columns))
    figures = trends.series_figures(stepped, hourly=True)
    return _Told(
        now,
        trends.with_history(now, figures, span_ms[1]),
        hourly.peaks_by(lagged, hours, query),
        hourly.drawn_captures(lagged, hours, query),
        lagged,
    )


def _told_here(
    spark: LateSession, folder: Place, window: Window, query: LagQuery, span_ms: tuple[int, int]
) -> _Told:
    """The same of rows that are read here, while Spark starts."""
    aside = ThreadPoolExecutor(1)
    found = aside.submit(read_here, folder, window, query, span_ms)
    aside.shutdown(wait=False)
    few = is_few(asked_rows(folder, window), query)

    def given(name: str, schema: StructType) -> DataFrame:
        def rows() -> pa.Table:
            return getattr(found.result(), name)

        return cast("DataFrame", spark.rows(rows, schema, few=few))

    now = transforms.with_lag(
        given("newest", NEWEST_ROWS), uncommitted=query.uncommitted, isolation=query.isolation
    )
    series = trends.history_of(now, span_ms[1])
    peaks, drawn_rows = given("peaks", peak_rows(query)), given("drawn", line_rows())
    return _Told(now, series, peaks, drawn_rows, now)


def _hours_told(windows: Sequence[Window]) -> dict[str, int | None]:
    """How many hours, days and months of the windows are rolled up, and until when."""
    hours = [each.hours.by_length() for each in windows if each.hours is not None]
    told: dict[str, int | None] = {}
    for name in LENGTHS:
        times = [at_ms for own in hours for at_ms in own[name]]
        told |= {name: len(times), f"{name}_until_ms": max(times, default=None)}
    return told


class Rest(NamedTuple):
    """What a dry run needs beside rows: the newest members and topics; files left out."""

    members: DataFrame
    topics: DataFrame
    broken: tuple[ItemError, ...]


def read_rest(spark: Any, folder: Place, window: Window, query: LagQuery, *, strict: bool) -> Rest:
    """Members and topics of each cluster's newest capture in the window, each once.

    Raises:
        UsageError: `strict`, and a file cannot be read.
    """
    frames: dict[str, DataFrame] = {}
    broken: tuple[ItemError, ...] = ()
    few = is_few(asked_rows(folder, window), query)
    last = {cluster: span.last_ms for cluster, span in window.spans.items()}
    for table, schema in TABLE_SCHEMAS.items():
        newest_files = [file for file in window.facts[table] if _has(file, last)]
        in_table, lost = whole_files(newest_files)
        old, errors = readable([file for file in find_captures(folder, table) if _has(file, last)])
        errors += lost
        if errors and strict:
            raise UsageError(
                f"capture `{errors[0].target}` cannot be read: {errors[0].message}",
                hint="delete it, or leave out --strict to report without it",
            )
        broken += errors
        files: list[AnyFile] = [*in_table, *old]
        shape = dated(schema) if files else schema
        rows = read_files(spark, folder / table, files, shape, few=few)
        frames[table] = _newest_once(rows, schema, window) if files else rows
    return Rest(frames["members"], frames["topics"], broken)


def _has(file: ActiveFile | CapturedFile, last: Mapping[str, int]) -> bool:
    """Whether a file may have the newest capture of its cluster."""
    return file.cluster in last and file.first_ms <= last[file.cluster] <= file.last_ms


def _newest_once(rows: DataFrame, schema: StructType, window: Window) -> DataFrame:
    """Those of each cluster's newest capture, each once."""
    newest_rows = rows.where(is_newest(window)).select(*schema.fieldNames())
    return newest_rows.dropDuplicates([n for n in IDENTITY if n in schema.fieldNames()])


def sized(
    session: SparkSession | SessionOptions | None,
    folder: Place,
    windows: Sequence[Window],
    query: LagQuery,
) -> SparkSession | SessionOptions | None:
    """Session options fit for the size of the windows; a running session is left as it is."""
    if session is not None and not isinstance(session, SessionOptions):
        return session
    options = dataclasses.replace(session or SessionOptions(), kind=kind_of("captures", query))
    if is_few(sum(asked_rows(folder, window) for window in windows), query):
        return dataclasses.replace(options, small=True)
    size = sum(window.size for window in windows if not is_read_here(folder, window))
    return dataclasses.replace(options, large=size > LARGE_BYTES)
