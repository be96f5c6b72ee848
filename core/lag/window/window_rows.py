"""The rows of a window: all captures in it, each once, and each cluster's newest."""

from functools import partial, reduce
from operator import or_
from typing import Any

import pyarrow as pa
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

# Rows of newest captures up to which Arrow picks them in the driver.
MOST_NEWEST = 1_000_000


def captures_with_lag(
    spark: Any, folder: Place, window: Window, query: LagQuery, span_ms: tuple[int, int]
) -> tuple[DataFrame, DataFrame]:
    """The captures of the window, each once, and of these each cluster's newest; with lag.

    What is made of the newest ones, which is most of a report, need not go through all others.
    """
    lag_of = partial(transforms.with_lag, uncommitted=query.uncommitted, isolation=query.isolation)
    few = is_few(window.rows, query)
    lagged = lag_of(captures_once(spark, folder, window, span_ms, few=few))
    if not window.is_clean or isinstance(folder, Store) or newest_count(window) > MOST_NEWEST:
        return lagged, newest(lagged, window)
    return lagged, lag_of(rows_of(spark, _newest_here(folder, window), ROWS))


def newest_count(window: Window) -> int:
    """About how many rows each cluster's newest captures have; exactly, but of the old layout."""
    captures = window.captures.select([*CAPTURE, "rows"]).to_pylist()
    last = {cluster: span.last_ms for cluster, span in window.spans.items()}
    counts = [own["rows"] for own in captures if own["captured_at_ms"] == last[own["cluster"]]]
    return sum(counts) if all(counts) else len(counts) * window.rows // len(captures)


def _newest_here(place: Place, window: Window) -> pa.Table:
    """The rows of each cluster's newest capture, read by Arrow."""
    parts = [rows_here(place / "rows", (), ROWS)]
    for cluster, (_first_ms, at_ms) in window.spans.items():
        days = (utc_date(at_ms), utc_month(at_ms))
        files = [file for file in window.files if file.cluster == cluster and file.date in days]
        parts.append(rows_here(place / "rows", files, ROWS, at_ms))
    return pa.concat_tables(parts)


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
