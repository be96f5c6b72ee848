"""The lag report over collected captures: a folder and a window of time in, `top` rows out."""

import dataclasses
import re
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.lag import over, transforms
from kgroups.core.lag.collected import LOOKS, Window, folders_of, open_window, utc_date
from kgroups.core.lag.report import LagQuery, LagReport, answer_rows, collect_rows, running
from kgroups.core.lag.schemas import ROWS
from kgroups.core.lag.session import Progress, SessionOptions

# Captures above which the optimising compiler pays, as sizes of Parquet files: 10 million rows.
LARGE_BYTES = 40_000_000
LARGE_MEMORY = "3g"
# What Spark says of a file or directory that went away after it was listed.
MERGED_AWAY = re.compile("FILE_NOT_EXIST|PATH_NOT_FOUND|FileNotFoundException|does not exist")

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
        UsageError: as in `lag_report`; the window is empty; `strict` and a broken capture.
    """
    query = query or LagQuery()
    if query.assignors:
        raise UsageError(
            "planned assignments are not reported over a window of time",
            hint="leave out --over to plan the groups as they are now",
        )
    if query.by not in transforms.KEYS:
        raise UsageError(
            f"a lag report cannot be by `{query.by}`", hint="one of " + ", ".join(transforms.KEYS)
        )
    if since_ms >= until_ms:
        raise UsageError("the window of time is empty", hint="--since must be before --until")
    tell = progress or (lambda _text: None)
    window = open_window(folder, since_ms=since_ms, until_ms=until_ms, strict=strict)
    with running(sized(session, window), progress) as spark:
        for _ in range(LOOKS):
            try:
                return _report(spark, folder, window, query, (since_ms, until_ms), tell)
            except PySparkException as exc:
                if not MERGED_AWAY.search(str(exc)):
                    raise
            tell("reading again: captures were merged meanwhile")
            window = open_window(folder, since_ms=since_ms, until_ms=until_ms, strict=strict)
        raise KgroupsError(
            f"the files in `{folder}` keep changing", hint="try again when `lag compact` is through"
        )


def _report(
    spark: SparkSession,
    folder: Path,
    window: Window,
    query: LagQuery,
    span_ms: tuple[int, int],
    tell: Progress,
) -> LagReport:
    """The report on these files."""
    since_ms, until_ms = span_ms
    tell(f"reading {len(window.files):,} files of captures")
    rows = read_rows(spark, folder, window)
    now = newest(rows, window, until_ms, query)
    series = history_of(rows, now, since_ms, until_ms)
    keys = transforms.KEYS[query.by]
    report = over.history_by(series, keys)
    tell(f"computing lag by {query.by} over {len(window.files):,} files")
    items = answer_rows(report, query, query.sort or "lag", keys)
    tell("computing totals")
    (summary,) = collect_rows(transforms.totals(now))
    summary |= {"since_ms": since_ms, "until_ms": until_ms, "files": len(window.files)}
    return LagReport(items, tuple(report.columns), summary, window.broken)


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
    return dataclasses.replace(options, large=True, memory=LARGE_MEMORY)


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
    one_each = rows.where(is_newest).dropDuplicates(list(over.SERIES))
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


def history_of(rows: DataFrame, now: DataFrame, since_ms: int, until_ms: int) -> DataFrame:
    """What the window says about each series of the newest capture."""
    points = over.points(rows, since_ms, until_ms)
    figures = over.series_figures(over.with_steps(points))
    return over.with_history(now, figures, until_ms)
