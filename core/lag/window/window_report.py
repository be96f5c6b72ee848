"""The lag report over collected captures: a folder and a window of time in, `top` rows out."""

import dataclasses
import re
from collections.abc import Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any, NamedTuple, cast

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from kgroups.core.errors import ItemError, KgroupsError, UsageError
from kgroups.core.lag import transforms
from kgroups.core.lag.captures.capture_files import (
    CapturedFile,
    Window,
    find_captures,
    folders_of,
    looks,
    open_window,
    readable,
    utc_date,
    utc_time,
)
from kgroups.core.lag.captures.capture_tables import MEMBERS, ROWS, TOPICS
from kgroups.core.lag.captures.stretch_points import last_rows
from kgroups.core.lag.report import (
    LagQuery,
    LagReport,
    check_query,
    drawn,
    planned_answer,
    running,
    totals_of,
)
from kgroups.core.lag.report_rows import answer_rows, collect_rows, failed_rows
from kgroups.core.lag.rosters import with_members
from kgroups.core.lag.rules import Isolation
from kgroups.core.lag.window import trends
from kgroups.core.lag.window.points import SERIES, points_from_last_rows, stretch_ms, with_steps
from kgroups.core.spark.session import SPARK_ERRORS, Progress, SessionOptions

# Captures above which the optimising compiler pays, as sizes of Parquet files: 10 million rows.
LARGE_BYTES = 40_000_000
# What Spark, or our reader in its tasks, says of a file that went away after it was listed.
MERGED_AWAY = re.compile("FILE_NOT_EXIST|PATH_NOT_FOUND|FileNotFound|does not exist")

TABLE_SCHEMAS = {"members": MEMBERS, "topics": TOPICS}
# What tells rows of one capture apart: a file may be there twice.
IDENTITY = ("cluster", "group", "member_id", "topic")

# With `date`, which is a directory; `cluster` is one too.
COLLECTED_ROWS = StructType([*ROWS.fields, StructField("date", StringType(), False)])


def lag_report_over(
    folder: Path,
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
        folder: where `collect` put them; where Spark runs elsewhere, it must see the same path.
        since_ms, until_ms: the window, both ends included.
        strict: a capture that cannot be read is a failure instead of one of `errors`.
    Raises:
        NotFoundError: no captures in the window.
        UsageError: as in `lag_report`; the window is empty; `strict` and a broken capture; last
            stable offsets are asked for, and some captures of the window do not hold them.
    """
    query = query or LagQuery()
    check_query(query)
    if since_ms >= until_ms:
        raise UsageError("the time window is empty", hint="--since must be before --until")
    tell = progress or (lambda _text: None)
    window = open_window(folder, since_ms=since_ms, until_ms=until_ms, strict=strict)
    check_isolation(window, query.isolation)
    with running(sized(session, window), progress) as spark:
        for _ in looks():
            try:
                return _report(
                    spark, folder, window, query, (since_ms, until_ms), tell, strict=strict
                )
            except FileNotFoundError:
                pass
            except SPARK_ERRORS as exc:
                if not MERGED_AWAY.search(str(exc)):
                    raise
            tell("reading again, because captures were merged")
            window = open_window(folder, since_ms=since_ms, until_ms=until_ms, strict=strict)
            check_isolation(window, query.isolation)
        raise KgroupsError(
            f"the files in `{folder}` keep changing",
            hint="try again when `lag compact` has finished",
        )


def check_isolation(window: Window, isolation: Isolation) -> None:
    """Fails on a window that cannot be measured to last stable offsets.

    Raises:
        UsageError: some of its captures do not hold them; says from when on they do.
    """
    lacking = [file for file in window.files if not file.has_stable]
    if isolation == "read_uncommitted" or not lacking:
        return
    last_ms = max(file.last_ms for file in lacking)
    hint = "leave out `--isolation`; `kgroups lag collect` stores these offsets from now on"
    if any(file.last_ms > last_ms for file in window.files):
        hint = f"later captures hold them: `--since {utc_time(last_ms + 1)}`"
    raise UsageError(
        "`--isolation read_committed` needs last stable offsets, which "
        f"{len(lacking)} of {len(window.files)} files of captures in the window do not hold",
        hint=hint,
    )


def _report(
    spark: SparkSession,
    folder: Path,
    window: Window,
    query: LagQuery,
    span_ms: tuple[int, int],
    tell: Progress,
    *,
    strict: bool,
) -> LagReport:
    """The report on these files."""
    since_ms, until_ms = span_ms
    tell(f"reading {window.rows:,} rows in {len(window.files):,} files of captures")
    rows = read_rows(spark, folder, window)
    now = newest(rows, window, until_ms, query)
    width_ms = stretch_ms(since_ms, until_ms)
    isolation = query.isolation
    last = last_rows(spark, window.files, since_ms, until_ms, width_ms, isolation)
    points = points_from_last_rows(last, isolation)
    series = history_of(points, now, until_ms)
    if query.assignors or query.pictures:  # several queries want it
        series = series.persist()
    window_rows = rows.where(F.col("captured_at_ms").between(since_ms, until_ms))
    lagged = transforms.with_lag(window_rows, uncommitted=query.uncommitted, isolation=isolation)
    rest = read_rest(spark, folder, since_ms, until_ms, strict=strict)
    if query.assignors:
        answer = planned_answer(rest.members, rest.topics, series, query, tell, lagged)
    else:
        keys = transforms.KEYS[query.by]
        by_key = trends.history_by(series, keys)
        report = with_members(by_key, series, rest.members, query.by, keys)
        tell(f"computing lag by {query.by} over {window.rows:,} rows")
        items = answer_rows(report, query, query.sort or "lag", keys)
        failed = failed_rows(report, query, query.sort or "lag", keys)
        tell("computing totals")
        summary = totals_of(now, rest.members)
        pictures = drawn(query, tell, series, lagged)
        answer = LagReport(items, report.schema, summary, failed, pictures)
    series.unpersist()
    times = {"since_ms": since_ms, "until_ms": until_ms, "files": len(window.files)}
    return dataclasses.replace(
        answer,
        summary=answer.summary | times,
        errors=(*answer.errors, *window.broken, *rest.broken),
    )


class Rest(NamedTuple):
    """What a dry run needs beside rows: the newest members and topics; files left out."""

    members: DataFrame
    topics: DataFrame
    broken: tuple[ItemError, ...]


def read_rest(spark: Any, folder: Path, since_ms: int, until_ms: int, *, strict: bool) -> Rest:
    """Members and topics of each cluster's newest capture in the window, each once.

    A capture's rows are written last, so where they are its members and topics are too.

    Raises:
        UsageError: `strict`, and a file cannot be read.
    """
    frames: dict[str, DataFrame] = {}
    broken: tuple[ItemError, ...] = ()
    for table, schema in TABLE_SCHEMAS.items():
        files = find_captures(folder, table, since_ms=since_ms, until_ms=until_ms)
        good, errors = readable(_of_last_day(files), strict=strict)
        broken += errors
        frames[table] = _newest_once(spark, folder / table, good, schema, until_ms)
    return Rest(frames["members"], frames["topics"], broken)


def _of_last_day(files: Sequence[CapturedFile]) -> list[CapturedFile]:
    """The files of each cluster's last day."""
    days: dict[str, str] = {}
    for file in files:
        days[file.cluster] = max(file.date, days.get(file.cluster, ""))
    return [file for file in files if file.date == days[file.cluster]]


def _newest_once(
    spark: Any, base: Path, files: Sequence[CapturedFile], schema: StructType, until_ms: int
) -> DataFrame:
    """The rows of each cluster's newest capture in some files of one table."""
    if not files:
        # From a list it would be a job of Python workers that have nothing to do.
        empty = to_arrow_schema(schema).empty_table()
        return cast("DataFrame", spark.createDataFrame(empty, schema))
    reader = spark.read.schema(schema).option("basePath", str(base))
    rows: DataFrame = reader.parquet(*(str(file.path) for file in files))
    inside = rows.where(F.col("captured_at_ms") <= until_ms).select(*schema.fieldNames())
    last = inside.groupBy("cluster").agg(F.max("captured_at_ms").alias("captured_at_ms"))
    newest_rows = inside.join(F.broadcast(last), ["cluster", "captured_at_ms"], "left_semi")
    return newest_rows.dropDuplicates([n for n in IDENTITY if n in schema.fieldNames()])


def sized(
    session: SparkSession | SessionOptions | None, window: Window
) -> SparkSession | SessionOptions | None:
    """Session options fit for the size of the window; a running session is left as it is."""
    if session is not None and not isinstance(session, SessionOptions):
        return session
    options = session or SessionOptions()
    size = sum(file.path.stat().st_size for file in window.files)
    if size <= LARGE_BYTES:
        return options
    return dataclasses.replace(options, large=True)


def read_rows(spark: Any, folder: Path, window: Window) -> DataFrame:
    """The window's rows: by directory, or by file where a broken one must be left out."""
    if window.broken:
        paths = [str(file.path) for file in window.files]
    else:
        paths = list(folders_of(window.files))
    reader = spark.read.schema(COLLECTED_ROWS).option("basePath", str(folder / "rows"))
    frame: DataFrame = reader.parquet(*paths)
    return frame


def newest(rows: DataFrame, window: Window, until_ms: int, query: LagQuery) -> DataFrame:
    """Rows of each cluster's newest capture in the window, with lag, one a series."""
    last = newest_times(rows, window, until_ms)
    is_newest: Column = reduce(
        or_,
        (
            (F.col("cluster") == cluster)
            & (F.col("date") == utc_date(at_ms))
            & (F.col("captured_at_ms") == at_ms)
            for cluster, at_ms in last.items()
        ),
        F.lit(False),
    )
    one_each = rows.where(is_newest).dropDuplicates(list(SERIES))
    return transforms.with_lag(one_each, uncommitted=query.uncommitted, isolation=query.isolation)


def newest_times(rows: DataFrame, window: Window, until_ms: int) -> dict[str, int]:
    """Cluster to the time of its newest capture in the window.

    The names of the files tell; where a merged file reaches beyond the window, Spark looks
    (an answer of one row a cluster).
    """
    if all(file.last_ms <= until_ms for file in window.files):
        return window.last_ms
    newest_of = F.max("captured_at_ms").alias("at_ms")
    inside = rows.where(F.col("captured_at_ms") <= until_ms)
    found = collect_rows(inside.groupBy("cluster").agg(newest_of))
    return {row["cluster"]: row["at_ms"] for row in found}


def history_of(points: DataFrame, now: DataFrame, until_ms: int) -> DataFrame:
    """What the window says about each series of the newest capture."""
    figures = trends.series_figures(with_steps(points))
    return trends.with_history(now, figures, until_ms)
