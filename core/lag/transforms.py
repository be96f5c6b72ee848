"""Lag as DataFrame transforms: each takes DataFrames and gives one back, and starts nothing.

Only what Spark Connect has (no RDD, no context, no JVM), so that one code runs locally, on a
master and through Connect. No Python runs per row. Rows come in with `table_columns.ROWS`.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from types import MappingProxyType

from kgroups.core.lag.lag_columns import lag_columns
from kgroups.core.lag.lag_query import KEYS as KEYS
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.spark.plans.api import Column, DataFrame
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import as_text

# Exact up to this many different values, then within a thousandth of the rank.
PERCENTILE_ACCURACY = 1000
PERCENTILES: Mapping[str, float] = MappingProxyType(
    {"lag_p50": 0.5, "lag_p95": 0.95, "lag_p99": 0.99}
)


@as_text
def with_lag(
    rows: DataFrame,
    *,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> DataFrame:
    """Rows with `lag_status`, `lag`, `lost` and `is_stale`."""
    return rows.withColumns(lag_columns(uncommitted, isolation))


@as_text
def lag_by(
    lagged: DataFrame, keys: Sequence[str], *, percentiles: bool = True, times: bool = False
) -> DataFrame:
    """Lag for each value of `keys`.

    Args:
        lagged: from `with_lag`.
        percentiles: with `PERCENTILES`.
        times: with lag in seconds, as far as record times are known.
    Returns:
        The keys; `partitions` counted; `lag` (sum), `lag_max`, percentiles and `lost` over the
        partitions where they are known, null where none is; `unknown_partitions`;
        `stale_partitions`, whose commits nobody will move; `groups` where keys are not of one.
    """
    counts = [] if "group" in keys else [F.countDistinct("cluster", "group").alias("groups")]
    if times:
        lagged = with_record_ages(lagged)
    # fmt: off
    report = lagged.groupBy(*keys).agg(
        *counts,
        F.count(F.lit(1)).alias("partitions"),
        F.sum("lag").alias("lag"),
        F.max("lag").alias("lag_max"),
        *((lag_percentiles(),) if percentiles else ()),
        F.sum("lost").alias("lost"),
        F.count_if(F.col("lag").isNull()).alias("unknown_partitions"),
        F.count_if("is_stale").alias("stale_partitions"),
        *(worst_seconds() if times else ()),
    )
    # fmt: on
    return split_percentiles(report) if percentiles else report


@as_text
def peaks_by(lagged: DataFrame, keys: Sequence[str]) -> DataFrame:
    """The most that there was in any capture.

    Args:
        lagged: captures of the window with lag, each once.
    Returns:
        The keys; `lag_peak`: the most of what `lag` was; `partition_lag_peak`: of one partition.
    """
    then = lagged.groupBy(*keys, "captured_at_ms").agg(
        F.sum("lag").alias("lag"), F.max("lag").alias("partition_lag")
    )
    return then.groupBy(*keys).agg(
        F.max("lag").alias("lag_peak"), F.max("partition_lag").alias("partition_lag_peak")
    )


def lag_percentiles() -> Column:
    """Percentiles of lag over the partitions where it is known, all from one summary of it."""
    shares = list(PERCENTILES.values())
    return F.percentile_approx("lag", shares, PERCENTILE_ACCURACY).alias("lag_percentiles")


@as_text
def split_percentiles(report: DataFrame) -> DataFrame:
    """A report with `PERCENTILES` where `lag_percentiles` was."""
    shares = [F.col("lag_percentiles")[i].alias(name) for i, name in enumerate(PERCENTILES)]
    place = report.columns.index("lag_percentiles")
    return report.select(*report.columns[:place], *shares, *report.columns[place + 1 :])


def worst_seconds() -> list[Column]:
    """The greatest lag in seconds among rows, with its method and confidence.

    Null where a row lags and its age is not known: it may be older than all others.
    """
    lags, seconds = F.col("lag") > 0, F.col("lag_seconds")
    all_known = F.count_if(lags & seconds.isNull()) == 0
    # Rows at the head count only where none lags.
    worst = F.when(lags, seconds).otherwise(seconds - F.lit(1.0))
    return [
        F.when(all_known, F.max_by(name, worst)).alias(name)
        for name in ("lag_seconds", "lag_seconds_method", "lag_seconds_confidence")
    ]


def record_age() -> Column:
    """Seconds since a row's next record was written, at the time of its capture.

    Null where it was not asked, and below log start: there the oldest unread record is gone. A
    producer's clock may run ahead of ours; nothing is younger than nothing.
    """
    age_ms = F.col("captured_at_ms") - F.col("next_record_at_ms")
    is_there = age_ms.isNotNull() & (F.col("lag_status") == "ok")
    return F.when(is_there, F.greatest(age_ms, F.lit(0)) / F.lit(1000.0))


@as_text
def with_record_ages(lagged: DataFrame) -> DataFrame:
    """Rows with `lag_seconds`, its method and confidence, as far as record times tell them."""
    age, is_done = record_age(), F.col("lag") == 0
    is_known = is_done | age.isNotNull()
    return lagged.withColumns(
        {
            "lag_seconds": F.when(is_done, F.lit(0.0)).otherwise(age),
            "lag_seconds_method": F.when(is_done, "at_head").when(age.isNotNull(), "record"),
            "lag_seconds_confidence": F.when(is_known, "high"),
        }
    )


@as_text
def join_by(left: DataFrame, right: DataFrame, keys: Sequence[str], how: str) -> DataFrame:
    """Both frames side by side where their keys are equal; an unknown key equals another."""
    figures = [name for name in right.columns if name not in keys]
    others = right.select(*(F.col(key).alias(f"_{key}") for key in keys), *figures)
    matches = [F.col(key).eqNullSafe(F.col(f"_{key}")) for key in keys]
    joined = left.join(others, reduce(and_, matches), how)
    names = [name for name in left.columns if name not in keys]
    return joined.select(*(F.coalesce(k, f"_{k}").alias(k) for k in keys), *names, *figures)


@as_text
def totals(lagged: DataFrame) -> DataFrame:
    """One row over everything: groups, partitions, lag, lost, unknown.

    Counted by aggregating twice: distinct counts would multiply every row by their number.
    """
    sums = {"partitions": F.sum, "lag": F.sum, "lag_max": F.max, "lost": F.sum}
    sums["unknown_partitions"] = F.sum
    by_group = lag_by(lagged, ("cluster", "group"), percentiles=False)
    counts = ("partitions", "unknown_partitions")
    return by_group.agg(
        F.count(F.lit(1)).alias("groups"),
        *(
            (F.coalesce(total(name), F.lit(0)) if name in counts else total(name)).alias(name)
            for name, total in sums.items()
        ),
    )


@as_text
def top_rows(report: DataFrame, sort: str, keys: Sequence[str], top: int) -> DataFrame:
    """The `top` rows with the most of `sort`, unknown last, ties by the keys."""
    order = [F.desc_nulls_last(sort), *(F.asc_nulls_last(key) for key in keys if key != sort)]
    return report.orderBy(*order).limit(top)
