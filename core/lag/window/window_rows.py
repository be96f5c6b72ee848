"""The rows of a window: all captures in it, each once, and each cluster's newest."""

from functools import partial, reduce
from operator import or_
from typing import Any

import pyarrow.compute as pc
from pyspark.sql.types import StringType, StructField, StructType

from kgroups.core.lag import transforms
from kgroups.core.lag.captures.capture_window import Window
from kgroups.core.lag.captures.delta_table import utc_date
from kgroups.core.lag.captures.month_table import utc_month
from kgroups.core.lag.captures.spark_columns import ROWS
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.report import is_few
from kgroups.core.lag.stores.places import Place, Store
from kgroups.core.lag.window.capture_files import read_files, rows_here, rows_of
from kgroups.core.lag.window.points import SERIES
from kgroups.core.spark.plans.api import Column, DataFrame
from kgroups.core.spark.plans.api import functions as F

# Beside the columns of each table: a directory, as `cluster` is.
DATE = StructField("date", StringType(), False)
CAPTURE = ("cluster", "captured_at_ms")

_BOUNDS = (pc.greater_equal, pc.less_equal)


def captures_with_lag(
    spark: Any, folder: Place, window: Window, query: LagQuery, span_ms: tuple[int, int]
) -> tuple[DataFrame, DataFrame]:
    """The captures of the window, each once, and of these each cluster's newest; with lag.

    What is made of the newest ones, which is most of a report, need not go through all others.
    """
    lag_of = partial(transforms.with_lag, uncommitted=query.uncommitted, isolation=query.isolation)
    few = is_few(window.rows, query)
    if not few or not window.is_clean or isinstance(folder, Store):
        lagged = lag_of(captures_once(spark, folder, window, span_ms, few=few))
        return lagged, newest(lagged, window)
    rows = rows_here(folder / "rows", window.files, dated(ROWS))
    times = rows["captured_at_ms"]
    inside = pc.and_(*(compare(times, t) for compare, t in zip(_BOUNDS, span_ms, strict=True)))
    rows = rows.filter(inside)
    last = reduce(
        pc.or_,
        (
            pc.and_(pc.equal(rows["cluster"], cluster), pc.equal(rows["captured_at_ms"], at_ms))
            for cluster, (_first_ms, at_ms) in window.spans.items()
        ),
    )
    every, newest_rows = (rows_of(spark, table, dated(ROWS)) for table in (rows, rows.filter(last)))
    return lag_of(every), lag_of(newest_rows)


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
