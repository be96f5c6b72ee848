"""What the charts of a report are drawn from: few rows, whatever the size of the data.

Each picture is a query that ends in a bounded number of rows: the groups with most lag, over at
most so many stretches of time, so many partitions, so many members.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from kgroups.core.spark.plans.api import DataFrame, Window
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import as_text

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


PICTURES: Final = tuple(each.name for each in fields(Pictures))


def picture_frames(series: DataFrame, rows: DataFrame | None = None) -> dict[str, DataFrame]:
    """What pictures are drawn from, by their names in `Pictures`.

    Args:
        series: one row a partition of a group, with `lag`, `lag_status` and, over a window,
            `verdict`.
        rows: the captures of the window with `lag`; None: there is but one.
    """
    over_time = {} if rows is None else {"over_time": lag_over_time(rows)}
    return over_time | {
        "partitions": lag_of_partitions(series),
        "members": lag_of_members(series),
        "verdicts": verdict_counts(series),
    }


def pictures_of(rows: Mapping[str, list[dict[str, Any]]]) -> Pictures:
    """The pictures of these rows."""
    return Pictures(**{name: rows[name] for name in PICTURES if name in rows})


def _top_groups(groups: DataFrame, count: int, by: str) -> DataFrame:
    """Cluster and name of the groups with most of a column."""
    return groups.orderBy(F.desc_nulls_last(by), *GROUP).limit(count).select(*GROUP)


@as_text
def lag_over_time(rows: DataFrame) -> DataFrame:
    """Lag of the groups with most in at most `LINE_POINTS` stretches of time: the last capture of
    each, and before it the one with most lag, so that no peak is lost.

    An incident that is over is still the line to show.
    """
    t = F.col("captured_at_ms")
    sums = rows.groupBy(*GROUP, "captured_at_ms").agg(F.sum("lag").alias("lag"))
    peaks = sums.groupBy(*GROUP).agg(F.max("lag").alias("lag_peak"))
    lines = _top_groups(peaks, LINE_GROUPS, "lag_peak")
    everything = Window.partitionBy(F.lit(0)).rowsBetween(
        Window.unboundedPreceding, Window.unboundedFollowing
    )
    first, last = F.min(t).over(everything), F.max(t).over(everything)
    width = F.greatest((last - first) / F.lit(LINE_POINTS - 1), F.lit(1.0))
    stretch = F.floor((t - first) / width).alias("stretch")
    of_stretch = Window.partitionBy(*GROUP, "stretch")
    last, most = F.max(t).over(of_stretch), F.max_by(t, "lag").over(of_stretch)
    return (
        sums.join(lines, list(GROUP), "left_semi")
        .select("*", stretch)
        .select(*GROUP, "lag", t.alias("at_ms"), ((t == last) | (t == most)).alias("is_shown"))
        .where(F.coalesce("is_shown", F.lit(False)))
        .orderBy(*GROUP, "at_ms")
        .select(*GROUP, "at_ms", "lag")
        .limit(2 * LINE_GROUPS * LINE_POINTS)
    )


@as_text
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
        .join(lanes, [*GROUP, "topic"])
        .orderBy(F.desc_nulls_last("lane_lag"), *GROUP, "topic", "partition")
        .select(*GROUP, "topic", "partition", "lag")
        .limit(HEAT_LANES * HEAT_PARTITIONS)
    )


@as_text
def lag_of_members(series: DataFrame) -> DataFrame:
    """Partitions and lag of the members of the groups with most, those with most; null: nobody's
    partitions.
    """
    sums = series.groupBy(*GROUP).agg(F.sum("lag").alias("lag"))
    shares = _top_groups(sums, SHARE_GROUPS, "lag")
    by_lag = Window.partitionBy(*GROUP).orderBy(F.desc_nulls_last("lag"), "member_id")
    return (
        series.join(shares, list(GROUP), "left_semi")
        .groupBy(*GROUP, "member_id", "client_id")
        .agg(F.count(F.lit(1)).alias("partitions"), F.sum("lag").alias("lag"))
        .withColumn("place", F.row_number().over(by_lag))
        .where(F.col("place") <= SHARE_MEMBERS)
        .orderBy(*GROUP, "place")
        .select(*GROUP, "member_id", "client_id", "partitions", "lag")
        .limit(SHARE_GROUPS * SHARE_MEMBERS)
    )


@as_text
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
