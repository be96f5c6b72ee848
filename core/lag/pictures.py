"""What the charts of a report are drawn from: few rows, whatever the size of the data.

Each picture is a query that ends in a bounded number of rows: the groups with most lag, over at
most so many stretches of time, so many partitions, so many members.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from kgroups.core.lag.transforms import peaks_by

# How much a person takes in: groups as lines, lanes of a heat map, groups with members' shares.
LINE_GROUPS = 8
LINE_POINTS = 60
HEAT_LANES = 20
HEAT_PARTITIONS = 100
SHARE_GROUPS = 12
SHARE_MEMBERS = 30

GROUP = ("cluster", "group")
NOT_KNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Pictures:
    """Rows of each chart; an empty list is a chart that there is nothing for.

    Args:
        over_time: `group`, `at_ms`, `lag`: of the groups with most lag at any time.
        partitions: `group`, `topic`, `partition`, `lag`: of the topics of groups with most lag.
        members: `group`, `member_id`, `client_id`, `partitions`, `lag`: of the groups with most.
        verdicts: `verdict` or, without a window of time, `lag_status`; `partitions` and `groups`
            that have it.
    """

    over_time: list[dict[str, Any]] = field(default_factory=list)
    partitions: list[dict[str, Any]] = field(default_factory=list)
    members: list[dict[str, Any]] = field(default_factory=list)
    verdicts: list[dict[str, Any]] = field(default_factory=list)


def take_pictures(series: DataFrame, rows: DataFrame | None = None) -> Pictures:
    """The pictures of a report.

    Args:
        series: one row a partition of a group, with `lag`, `lag_status` and, over a window,
            `verdict`.
        rows: the captures of the window with `lag`; None: there is but one.
    """
    over_time: list[dict[str, Any]] = []
    if rows is not None:
        # An incident that is over is still the line to show.
        lines = _top_groups(peaks_by(rows, GROUP), LINE_GROUPS, "lag_peak")
        over_time = _bring(lag_over_time(rows, lines)) if lines else []
    shares = _worst_groups(series, SHARE_GROUPS, "lag")
    return Pictures(
        over_time=over_time,
        partitions=_bring(lag_of_partitions(series)),
        members=_bring(lag_of_members(series, shares)) if shares else [],
        verdicts=_bring(verdict_counts(series)),
    )


def _bring(bounded: DataFrame) -> list[dict[str, Any]]:
    """The rows of a picture, which its query has bounded."""
    return [row.asDict() for row in bounded.collect()]


def _worst_groups(series: DataFrame, count: int, by: str) -> list[dict[str, Any]]:
    """Cluster and name of the groups with most of a column, the most first."""
    return _top_groups(series.groupBy(*GROUP).agg(F.sum(by).alias(by)), count, by)


def _top_groups(groups: DataFrame, count: int, by: str) -> list[dict[str, Any]]:
    """The same of figures by group."""
    ordered = groups.orderBy(F.desc_nulls_last(by), *GROUP).limit(count)
    return _bring(ordered.select(*GROUP))


def _is_one_of(groups: Sequence[dict[str, Any]]) -> Column:
    """Whether a row is of one of these groups; the reader of the files can ask this too."""
    return reduce(
        or_,
        ((F.col("cluster") == g["cluster"]) & (F.col("group") == g["group"]) for g in groups),
        F.lit(False),
    )


def lag_over_time(rows: DataFrame, groups: Sequence[dict[str, Any]]) -> DataFrame:
    """Lag of groups in at most `LINE_POINTS` stretches of time: the last capture of each, and
    before it the one with most lag, so that no peak is lost.
    """
    t = F.col("captured_at_ms")
    sums = (
        rows.where(_is_one_of(groups))
        .groupBy(*GROUP, "captured_at_ms")
        .agg(F.sum("lag").alias("lag"))
    )
    everything = Window.partitionBy(F.lit(0)).rowsBetween(
        Window.unboundedPreceding, Window.unboundedFollowing
    )
    first, last = F.min(t).over(everything), F.max(t).over(everything)
    width = F.greatest((last - first) / F.lit(LINE_POINTS - 1), F.lit(1.0))
    stretch = F.floor((t - first) / width).alias("stretch")
    of_stretch = Window.partitionBy(*GROUP, "stretch")
    last, most = F.max(t).over(of_stretch), F.max_by(t, "lag").over(of_stretch)
    return (
        sums.select("*", stretch)
        .select(*GROUP, "lag", t.alias("at_ms"), ((t == last) | (t == most)).alias("is_shown"))
        .where(F.coalesce("is_shown", F.lit(False)))
        .orderBy(*GROUP, "at_ms")
        .select(*GROUP, "at_ms", "lag")
        .limit(2 * LINE_GROUPS * LINE_POINTS)
    )


def lag_of_partitions(series: DataFrame) -> DataFrame:
    """Lag by partition of the topics of groups with most lag, the first partitions of each."""
    lanes = (
        series.groupBy(*GROUP, "topic")
        .agg(F.sum("lag").alias("lane_lag"))
        .orderBy(F.desc_nulls_last("lane_lag"), *GROUP, "topic")
        .limit(HEAT_LANES)
    )
    return (
        series.where(F.col("partition") < HEAT_PARTITIONS)
        .join(F.broadcast(lanes), [*GROUP, "topic"])
        .orderBy(F.desc_nulls_last("lane_lag"), *GROUP, "topic", "partition")
        .select(*GROUP, "topic", "partition", "lag")
        .limit(HEAT_LANES * HEAT_PARTITIONS)
    )


def lag_of_members(series: DataFrame, groups: Sequence[dict[str, Any]]) -> DataFrame:
    """Partitions and lag of the members of groups, those with most; null: nobody's partitions."""
    by_lag = Window.partitionBy(*GROUP).orderBy(F.desc_nulls_last("lag"), "member_id")
    return (
        series.where(_is_one_of(groups))
        .groupBy(*GROUP, "member_id", "client_id")
        .agg(F.count(F.lit(1)).alias("partitions"), F.sum("lag").alias("lag"))
        .withColumn("place", F.row_number().over(by_lag))
        .where(F.col("place") <= SHARE_MEMBERS)
        .orderBy(*GROUP, "place")
        .select(*GROUP, "member_id", "client_id", "partitions", "lag")
        .limit(SHARE_GROUPS * SHARE_MEMBERS)
    )


def verdict_counts(series: DataFrame) -> DataFrame:
    """How many partitions and groups have each verdict; without a window, each lag status."""
    name = "verdict" if "verdict" in series.columns else "lag_status"
    verdict = F.coalesce(F.col(name), F.lit(NOT_KNOWN)).alias(name)
    return (
        series.groupBy(verdict)
        .agg(
            F.count(F.lit(1)).alias("partitions"),
            F.countDistinct(*GROUP).alias("groups"),
        )
        .orderBy(F.desc("partitions"), name)
        .limit(20)
    )
