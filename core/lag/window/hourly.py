"""Hours, days and months that are rolled up, among the captures of a window.

Each stands for its last capture, with what was within it: how far a log and its readers went, and
the most lag. So rates, peaks and lag are exact; what follows captures one by one (lag in seconds
between two of them, trend, verdict) is of their ends, and said to be.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pyspark.sql.pandas.types import from_arrow_schema

from kgroups.core.lag import transforms
from kgroups.core.lag.captures.capture_window import Window
from kgroups.core.lag.captures.delta_table import DATE
from kgroups.core.lag.captures.hour_table import (
    DAY_MS,
    HOUR_MS,
    HOURS,
    PEAKS,
    SERIES,
    Reading,
    hours_schema,
    lag_of,
)
from kgroups.core.lag.lag_query import KEYS, LagQuery
from kgroups.core.lag.report import is_few
from kgroups.core.lag.rules import END_OF
from kgroups.core.lag.stores.places import Place
from kgroups.core.lag.window.capture_files import read_files
from kgroups.core.lag.window.trends import LEVELS
from kgroups.core.spark.plans.api import Column, DataFrame
from kgroups.core.spark.plans.api import functions as F

HOUR_ROWS = from_arrow_schema(hours_schema().append(DATE))
# What `rows` call it, and the hours: what went on within an hour.
MOVES = ("end", "committed", "start")


class Hours(NamedTuple):
    """The hours of a window.

    Args:
        rows: the newest of each series and hour, with lag, as captures have them; and `WITHIN`.
        peaks: the most lag of each hour and key, in `hour_table.hours_schema`.
    """

    rows: DataFrame
    peaks: DataFrame


def read_hours(
    spark: Any, folder: Place, window: Window, query: LagQuery, span_ms: tuple[int, int]
) -> Hours:
    """The hours of which every capture is in the window."""
    assert window.hours is not None
    frames = []
    for kind in (SERIES, PEAKS):
        files = window.hours.files[kind]
        few = is_few(sum(file.rows for file in files), query)
        rows = read_files(spark, folder / HOURS, files, HOUR_ROWS, few=few, wide=True)
        frames.append(rows.where(_is_inside(span_ms)))
    rows, peaks = frames
    lagged = transforms.with_lag(rows, uncommitted=query.uncommitted, isolation=query.isolation)
    return Hours(lagged, peaks)


def _is_inside(span_ms: tuple[int, int]) -> Column:
    since_ms, until_ms = span_ms
    return (F.col("hour_first_ms") >= since_ms) & (F.col("hour_last_ms") <= until_ms)


def of_captures(query: LagQuery) -> Iterator[Column]:
    """`WITHIN` of a capture: it is all that there is."""
    t = F.col("captured_at_ms")
    columns = {
        "end": F.col(END_OF[query.isolation]),
        "committed": F.when(F.col("committed_offset") >= 0, F.col("committed_offset")),
        "start": F.col("log_start_offset"),
    }
    yield F.lit(0).alias("level")
    yield F.lit(1).cast("long").alias("held")
    yield F.col("lag").alias("most_lag")
    yield F.lit(None).cast("long").alias("end_reset_t")
    for name, column in columns.items():
        yield F.lit(0).cast("long").alias(f"{name}_added")
        for place in ("first", "last"):
            yield column.alias(f"{name}_{place}")
            yield F.when(column.isNotNull(), t).alias(f"{name}_{place}_t")


def of_hours(query: LagQuery) -> Iterator[Column]:
    """`WITHIN` of an hour."""
    end = "end" if query.isolation == "read_uncommitted" else "stable"

    def is_within(length_ms: int) -> Column:
        first, last = (
            F.floor(F.col(f"hour_{name}_ms") / F.lit(length_ms)) for name in ("first", "last")
        )
        return first == last

    level = F.when(is_within(HOUR_MS), LEVELS["hourly"]).when(is_within(DAY_MS), LEVELS["daily"])
    yield level.otherwise(LEVELS["monthly"]).alias("level")
    yield F.col("captures").alias("held")
    yield most_lag(query).alias("most_lag")
    yield F.col(f"{end}_reset_ms").alias("end_reset_t")
    for name in MOVES:
        source = end if name == "end" else name
        yield F.col(f"{source}_added").alias(f"{name}_added")
        for place in ("first", "last"):
            yield F.col(f"{source}_{place}").alias(f"{name}_{place}")
            yield F.col(f"{source}_{place}_ms").alias(f"{name}_{place}_t")


def most_lag(query: LagQuery, name: str = "{}_most") -> Column:
    """The most lag, as the query reads it.

    Args:
        name: of the column, from that of the lag.
    """
    from_start, none = (
        F.col(name.format(lag_of(Reading(query.isolation, policy)))) for policy in ("start", None)
    )
    if query.uncommitted == "start":
        return from_start
    if query.uncommitted == "end":  # 0 where something is read that has no commit
        return F.coalesce(none, F.when(from_start.isNotNull(), F.lit(0).cast("long")))
    return none


def peaks_by(lagged: DataFrame, hours: Hours, query: LagQuery) -> DataFrame:
    """`transforms.peaks_by` of captures and hours together."""
    keys = KEYS[query.by]
    if query.by == "partition":
        most = hours.rows.select(
            *keys,
            most_lag(query).alias("lag_peak"),
            most_lag(query).alias("partition_lag_peak"),
        )
    else:
        most = hours.peaks.where(F.col("by") == query.by).select(
            *keys,
            most_lag(query).alias("lag_peak"),
            most_lag(query, "partition_{}_most").alias("partition_lag_peak"),
        )
    peaks = transforms.peaks_by(lagged, keys).unionByName(most)
    return peaks.groupBy(*keys).agg(
        *(F.max(name).alias(name) for name in ("lag_peak", "partition_lag_peak"))
    )


def drawn_captures(lagged: DataFrame, hours: Hours, query: LagQuery) -> DataFrame:
    """Captures for lag over time: those that there are, and each hour's last and its peak."""
    columns: Sequence[str] = (*KEYS["group"], "captured_at_ms", "lag")
    last = hours.rows.where(F.col("captured_at_ms") == F.col("hour_last_ms"))
    # 0 is at no time: it is where there is no commit.
    read = replace(query, uncommitted=None) if query.uncommitted == "end" else query
    at_ms = most_lag(read, "{}_most_ms")
    peaks = hours.peaks.where((F.col("by") == "group") & (at_ms < F.col("hour_last_ms"))).select(
        *KEYS["group"], at_ms.alias("captured_at_ms"), most_lag(query).alias("lag")
    )
    return lagged.select(*columns).unionByName(last.select(*columns)).unionByName(peaks)
