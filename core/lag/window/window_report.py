"""The lag report over collected captures: a folder and a window of time in, `top` rows out."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from kgroups.core.errors import ItemError, KgroupsError, NotFoundError, UsageError
from kgroups.core.lag import transforms
from kgroups.core.lag.captures.capture_window import Window, open_window, utc_time
from kgroups.core.lag.captures.delta_table import ActiveFile, utc_date
from kgroups.core.lag.captures.file_checks import whole_files
from kgroups.core.lag.captures.hour_table import LENGTHS
from kgroups.core.lag.captures.month_table import utc_month
from kgroups.core.lag.captures.old_layout import CapturedFile, find_captures, readable
from kgroups.core.lag.captures.spark_columns import MEMBERS, ROWS, TOPICS
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
    running,
    totals_of,
)
from kgroups.core.lag.report_rows import compared
from kgroups.core.lag.rosters import with_members
from kgroups.core.lag.rules import Isolation
from kgroups.core.lag.stores.places import Place, Store, is_of_store, store_failure
from kgroups.core.lag.window import hourly, trends
from kgroups.core.lag.window.capture_files import AnyFile, captures_changed, read_files
from kgroups.core.lag.window.points import SERIES, lives, with_steps
from kgroups.core.spark.plans.api import Column, DataFrame
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

# Beside the columns of each table: a directory, as `cluster` is.
DATE = StructField("date", StringType(), False)
CAPTURE = ("cluster", "captured_at_ms")


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
    tell = progress or (lambda _text: None)
    if isinstance(folder, Path):
        folder = folder.absolute()  # Spark's workers may run in another one
    window = open_window(folder, since_ms=since_ms, until_ms=until_ms, strict=strict)
    check_isolation(window, query.isolation)
    span_ms = (since_ms, until_ms)
    earlier = _earlier(folder, query, span_ms, strict=strict) if query.compare_ms else None
    windows = [window] if earlier is None else [window, earlier]
    with running(sized(session, windows, query), progress) as spark:
        try:
            return _report(spark, folder, windows, query, span_ms, tell, strict=strict)
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
    spark: SparkSession,
    folder: Place,
    windows: Sequence[Window],
    query: LagQuery,
    span_ms: tuple[int, int],
    tell: Progress,
    *,
    strict: bool,
) -> LagReport:
    """The report on these files; with two windows beside that on the second."""
    window = windows[0]
    rows, captures = (sum(sizes) for sizes in zip(*map(_size, windows), strict=True))
    tell(f"reading {rows:,} rows of {captures:,} captures")
    told = _told(spark, folder, window, query, span_ms)
    series = trends.with_history(told.now, told.figures, span_ms[1])
    if query.assignors or query.pictures:  # it is wanted more than once
        series = series.persist()
    rest = read_rest(spark, folder, window, query, strict=strict)
    lost = rest.broken
    if query.compare_ms:
        earlier_ms = (span_ms[0] - query.compare_ms, span_ms[1] - query.compare_ms)
        then = _told(spark, folder, windows[1], query, earlier_ms)
        before = trends.with_history(then.now, then.figures, earlier_ms[1])
    if query.assignors:
        fleet = None
        if query.compare_ms:
            was = read_rest(spark, folder, windows[1], query, strict=strict)
            fleet, lost = Fleet(was.members, was.topics, before), lost + was.broken
        facts = rest.members, rest.topics, series
        answer = planned_answer(*facts, query, tell, told.captures, before=fleet)
    else:
        keys = transforms.KEYS[query.by]
        report = _by_key(series, told.peaks, keys, window)
        if query.compare_ms:
            report = compared(report, _by_key(before, then.peaks, keys, windows[1]), keys)
        else:
            report = with_members(report, told.now, rest.members, query.by, keys)
        tell(f"computing lag by {query.by} over {rows:,} rows")
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
        figures: from `trends.series_figures`.
        peaks: from `transforms.peaks_by`, by the keys of the report.
        captures: for lag over time.
        lagged: what all of it was made of, which a store's rows stay in memory as.
    """

    now: DataFrame
    figures: DataFrame
    peaks: DataFrame
    captures: DataFrame
    lagged: DataFrame


def _told(
    spark: Any, folder: Place, window: Window, query: LagQuery, span_ms: tuple[int, int]
) -> _Told:
    lagged = captures_with_lag(spark, folder, window, query, span_ms)
    if isinstance(folder, Store):  # else every query would fetch the files again
        lagged = lagged.persist()
    keys = transforms.KEYS.get(query.by, ())  # of planned assignors there are other ones
    now = newest(lagged, window)
    if window.hours is None:
        figures = trends.series_figures(with_steps(lives(lagged, window.spans, query.isolation)))
        return _Told(now, figures, transforms.peaks_by(lagged, keys), lagged, lagged)
    hours = hourly.read_hours(spark, folder, window, query, span_ms)
    both = [
        lives(frame, window.spans, query.isolation, more=tuple(within(query)))
        for frame, within in ((lagged, hourly.of_captures), (hours.rows, hourly.of_hours))
    ]
    stepped = with_steps(both[0].unionByName(both[1]), hourly=True)
    return _Told(
        now.unionByName(newest(hours.rows, window).select(now.columns)),
        trends.series_figures(stepped, hourly=True),
        hourly.peaks_by(lagged, hours, query),
        hourly.drawn_captures(lagged, hours, query),
        lagged,
    )


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
        rows = read_files(spark, folder / table, files, shape, few=is_few(window.rows, query))
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
    session: SparkSession | SessionOptions | None, windows: Sequence[Window], query: LagQuery
) -> SparkSession | SessionOptions | None:
    """Session options fit for the size of the windows; a running session is left as it is."""
    if session is not None and not isinstance(session, SessionOptions):
        return session
    options = dataclasses.replace(session or SessionOptions(), kind=kind_of("captures", query))
    if is_few(sum(window.rows for window in windows), query):
        return dataclasses.replace(options, small=True)
    size = sum(window.size for window in windows)
    return dataclasses.replace(options, large=size > LARGE_BYTES)


def captures_with_lag(
    spark: Any, folder: Place, window: Window, query: LagQuery, span_ms: tuple[int, int]
) -> DataFrame:
    """The captures of the window, each once, with lag."""
    few = is_few(window.rows, query)
    rows = captures_once(spark, folder, window, span_ms, few=few)
    return transforms.with_lag(rows, uncommitted=query.uncommitted, isolation=query.isolation)


def captures_once(
    spark: Any, folder: Place, window: Window, span_ms: tuple[int, int], *, few: bool = False
) -> DataFrame:
    """The captures of the window, each once.

    Args:
        few: as in `read_files`.
    """
    rows = read_files(spark, folder / "rows", window.files, dated(ROWS), few=few)
    rows = rows.where(F.col("captured_at_ms").between(*span_ms))
    if not window.is_clean:
        captures = spark.createDataFrame(window.captures.select(list(CAPTURE)))
        known = captures.coalesce(1) if few else captures
        rows = rows.join(known, list(CAPTURE), "left_semi")
        rows = rows.dropDuplicates([*SERIES, "captured_at_ms"])
    return rows


def newest(lagged: DataFrame, window: Window) -> DataFrame:
    """Rows of each cluster's newest capture in the window, one a series."""
    rows = lagged.where(is_newest(window))
    return rows if window.is_clean else rows.dropDuplicates(list(SERIES))


def dated(schema: StructType) -> StructType:
    """A table's columns with `date`."""
    return StructType([*schema.fields, DATE])


def is_newest(window: Window) -> Column:
    """Whether a row is of its cluster's newest capture; the files' directories are asked first."""
    return reduce(
        or_,
        (
            (F.col("cluster") == cluster)
            & F.col("date").isin(utc_date(span.last_ms), utc_month(span.last_ms))
            & (F.col("captured_at_ms") == span.last_ms)
            for cluster, span in window.spans.items()
        ),
        F.lit(False),
    )
