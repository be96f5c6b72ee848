"""Lag as DataFrame transforms: each takes DataFrames and gives one back, and starts nothing.

Only what Spark Connect has (no RDD, no context, no JVM), so that one code runs locally, on a
master and through Connect. No Python runs per row. Rows come in with `schemas.ROWS`.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kgroups.core.lag.arithmetic import (
    LEADERLESS_ERRORS,
    MISSING_ERRORS,
    Isolation,
    Uncommitted,
)

# What `--by` groups rows by. A member's rows carry its client and host along.
KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "group": ("cluster", "group"),
        "topic": ("cluster", "topic"),
        "partition": ("cluster", "group", "topic", "partition"),
        "member": ("cluster", "group", "member_id", "client_id", "host"),
        "client": ("cluster", "client_id"),
        "host": ("cluster", "host"),
    }
)

# Exact up to this many different values, then within a thousandth of the rank.
PERCENTILE_ACCURACY = 1000


def lag_columns(
    uncommitted: Uncommitted | None = None, isolation: Isolation = "read_uncommitted"
) -> dict[str, Column]:
    """`lag`, `lag_status` and `lost` of a row: `arithmetic.partition_lag` as columns.

    Comparisons with null are null, and `greatest` skips nulls: a bound that is not known must be
    ruled out before it is compared. No column refers to another: Spark would write the other's
    expression out at every mention, into a method too long for the JVM to compile.
    """
    start, log_end = F.col("log_start_offset"), F.col("log_end_offset")
    end = log_end if isolation == "read_uncommitted" else F.col("last_stable_offset")
    committed, error = F.col("committed_offset"), F.col("error")
    zero = F.lit(0).cast("long")
    gone = (*sorted(MISSING_ERRORS), *sorted(LEADERLESS_ERRORS))
    is_open = F.col("commits_known") & (error.isNull() | ~error.isin(*gone))
    has_commit = committed.isNotNull() & (committed >= 0)
    is_measured = start.isNotNull() & log_end.isNotNull() & end.isNotNull()
    is_known = is_open & has_commit & is_measured
    status = (
        F.when(error.isin(*sorted(MISSING_ERRORS)), "topic_missing")
        .when(error.isin(*sorted(LEADERLESS_ERRORS)), "leaderless")
        .when(~F.col("commits_known"), "unknown")
        .when(~has_commit, "no_commit")
        .when(~is_measured, "unknown")
        .when(committed < start, "below_log_start")
        .when(committed > log_end, "beyond_end")
        .otherwise("ok")
    )
    lag = F.when(is_known, F.greatest(end - F.greatest(committed, start), zero))
    if uncommitted is not None:
        assumed = F.greatest(end - start, zero) if uncommitted == "start" else zero
        is_bounded = start.isNotNull() & end.isNotNull()
        lag = lag.when(is_open & ~has_commit & is_bounded, assumed)
    lost = F.when(is_known, F.greatest(start - committed, zero))
    return {"lag_status": status, "lag": lag, "lost": lost}


def with_lag(
    rows: DataFrame,
    *,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> DataFrame:
    """Rows with `lag_status`, `lag` and `lost`."""
    return rows.withColumns(lag_columns(uncommitted, isolation))


def lag_by(lagged: DataFrame, keys: Sequence[str], *, percentiles: bool = True) -> DataFrame:
    """Lag for each value of `keys`.

    Args:
        lagged: from `with_lag`.
        percentiles: with `lag_p50` and `lag_p95`.
    Returns:
        The keys; `partitions` counted; `lag` (sum), `lag_max`, `lag_p50`, `lag_p95` and `lost`
        over the partitions where they are known, null where none is; `unknown_partitions`;
        `members` of a group, `groups` of a topic, client or host.
    """
    if set(keys) >= {"group", "topic", "partition"} or "member_id" in keys:
        counts = {}
    elif "group" in keys:
        # A distinct count beside percentiles makes Spark write every row twice; a set does not.
        counts = {"members": F.size(F.collect_set("member_id")).cast("long")}
    else:
        counts = {"groups": F.countDistinct("cluster", "group")}
    shares = {"lag_p50": 0.5, "lag_p95": 0.95} if percentiles else {}
    # fmt: off
    return lagged.groupBy(*keys).agg(
        *(count.alias(name) for name, count in counts.items()),
        F.count(F.lit(1)).alias("partitions"),
        F.sum("lag").alias("lag"),
        F.max("lag").alias("lag_max"),
        *(F.percentile_approx("lag", share, PERCENTILE_ACCURACY).alias(name)
          for name, share in shares.items()),
        F.sum("lost").alias("lost"),
        F.count_if(F.col("lag").isNull()).alias("unknown_partitions"),
    )
    # fmt: on


def totals(lagged: DataFrame) -> DataFrame:
    """One row over everything: groups, members, partitions, lag, lost, unknown.

    Counted by aggregating twice: distinct counts would multiply every row by their number.
    """
    sums = {"partitions": F.sum, "lag": F.sum, "lag_max": F.max, "lost": F.sum}
    sums["unknown_partitions"] = F.sum
    by_group = lag_by(lagged, ("cluster", "group"), percentiles=False)
    return by_group.agg(
        F.count(F.lit(1)).alias("groups"),
        F.coalesce(F.sum("members"), F.lit(0)).alias("members"),
        *(total(name).alias(name) for name, total in sums.items()),
    ).fillna(0, ["partitions", "unknown_partitions"])


def top_rows(report: DataFrame, sort: str, keys: Sequence[str], top: int) -> DataFrame:
    """The `top` rows with the most of `sort`, unknown last, ties by the keys."""
    order = [F.desc_nulls_last(sort), *(F.asc_nulls_last(key) for key in keys if key != sort)]
    return report.orderBy(*order).limit(top)
