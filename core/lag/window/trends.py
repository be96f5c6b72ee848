"""Lag over a window of time, from many captures: rates, lag in seconds, trend, verdict.

All of it follows from the lives of series (`points`); names come back at the end, from the newest
capture.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from kgroups.core.lag.captures.series_id import series_id
from kgroups.core.lag.report_columns import OVER_TIME
from kgroups.core.lag.transforms import (
    join_by,
    lag_percentiles,
    record_age,
    split_percentiles,
    worst_seconds,
)
from kgroups.core.spark.plans.api import Column, DataFrame, Window
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import as_text

# The fewest points that Burrow's rules need: fewer say nothing.
FEWEST_POINTS = 3
# Lag that changed by less than these shares of what was produced and of its peak is steady.
STEADY_OF_PRODUCED = 0.05
STEADY_OF_PEAK = 0.1

# What each rule says, from harmless to bad: of several partitions the last in this order is told.
# One that lags and of which too little is known outweighs those that are well.
VERDICTS: Mapping[str, str | None] = MappingProxyType(
    {
        "lag_unknown": None,
        "no_lag": "OK",
        "was_at_head": "OK",
        "progresses": "OK",
        "too_few_captures": None,
        "lag_never_falls": "WARN",
        "commits_stopped": "STOP",
        "offset_stands_still": "STALL",
        "offset_went_back": "REWIND",
    }
)


# What a figure is made of, besides single captures (0).
LEVELS: Mapping[str, int] = MappingProxyType({"hourly": 1, "daily": 2, "monthly": 3})
# What goes on, and the records by which it did.
MOVED: Mapping[str, str] = MappingProxyType(
    {"end": "produced", "committed": "consumed", "start": "expired"}
)


_WEIGHTS = tuple((name, weight) for weight, name in enumerate(VERDICTS))


@as_text
def series_figures(stepped: DataFrame, *, hourly: bool = False) -> DataFrame:
    """One row a series with the sums that everything else is made of.

    Args:
        stepped: from `points.with_steps`.
        hourly: whether there are hours among the captures, with `hourly.WITHIN`.
    Returns:
        `series`, `captures`, `points`, `last_t`; records `produced`, `consumed`, `expired` in the
        window and the milliseconds between the first and last capture that knew each
        (`end_ms`, `committed_ms`, `start_ms`); `lag_peak` of any capture, `lag_first` and
        `lag_last` of the points; `caught_at`: when the log's end was where the commit is now,
        interpolated; `reset_t`: the last time that the log's end went back (the topic was recreated
        or truncated); the facts that `rule_column` reads; with hours also what these were made of:
        `trend_level`, `verdict_level`, `age_level` (`LEVELS`).
    """
    end, t, point_lag = F.col("end"), F.col("t"), F.col("point_lag")
    now_committed, prev_end, prev_t = F.col("now_committed"), F.col("prev_end"), F.col("prev_t")
    passes = (prev_end <= now_committed) & (now_committed < end)
    crossing = prev_t + (now_committed - prev_end) * (t - prev_t) / (end - prev_end)
    went_back = F.col("point_committed") < F.col("before_committed")
    recovered = F.col("best_from_here") >= F.col("before_committed")
    at_known_point = F.when(F.col("is_point") & F.col("lag").isNotNull(), t)
    return stepped.groupBy("series").agg(
        *(_sums_of_hours() if hourly else _sums()),
        F.count_if("is_point").alias("points"),
        F.max("t").alias("last_t"),
        F.min_by("lag", at_known_point).alias("lag_first"),
        F.max_by("lag", at_known_point).alias("lag_last"),
        F.max_by(F.when(passes, crossing), F.when(passes, t)).alias("caught_at"),
        F.max(F.when(passes, prev_t)).alias("passed_t"),
        # What Burrow's rules ask.
        F.count("point_committed").alias("commits"),
        F.min("point_committed").alias("committed_min"),
        F.max("point_committed").alias("committed_max"),
        F.min(F.when(F.col("is_recent"), end)).alias("end_min"),
        F.min(point_lag).alias("lag_min"),
        F.count_if(point_lag < F.col("before_lag")).alias("lag_drops"),
        F.min_by(~recovered, F.when(went_back, t)).alias("is_rewound"),
        F.min(F.when(F.col("is_recent"), F.col("committed_at"))).alias("first_commit_at"),
        F.max("committed_at").alias("last_commit_at"),
        F.count(point_lag).alias("lags"),
        *(_hourly_figures(passes) if hourly else ()),
    )


def _sums() -> Iterator[Column]:
    """Of captures."""
    end, t = F.col("end"), F.col("t")
    yield F.count(F.lit(1)).alias("captures")
    yield F.max("lag").alias("lag_peak")
    yield F.max(F.when(end < F.col("prev_end"), t)).alias("reset_t")
    for name, moved in MOVED.items():
        ahead = F.greatest(F.col(name) - F.col(f"prev_{name}"), F.lit(0))
        known_t = F.when(F.col(name).isNotNull(), t)
        yield F.sum(ahead).alias(moved)
        yield (F.max(known_t) - F.min(known_t)).alias(f"{name}_ms")


def _sums_of_hours() -> Iterator[Column]:
    """The same where some rows are hours: what went on within them, and since the one before."""
    yield F.sum("held").alias("captures")
    yield F.max("most_lag").alias("lag_peak")
    went_back = F.when(F.col("end_first") < F.col("prev_end"), F.col("end_first_t"))
    yield F.max(F.greatest("end_reset_t", went_back)).alias("reset_t")
    for name, moved in MOVED.items():
        ahead = F.greatest(F.col(f"{name}_first") - F.col(f"prev_{name}"), F.lit(0))
        yield F.sum(ahead + F.coalesce(f"{name}_added", F.lit(0))).alias(moved)
        known_ms = F.max(f"{name}_last_t") - F.min(f"{name}_first_t")
        yield known_ms.alias(f"{name}_ms")


def _hourly_figures(passes: Column) -> Iterator[Column]:
    """Which figures are made of what was at the end of an hour or day."""
    level = F.col("level")
    yield F.max(level).alias("trend_level")
    yield F.max(F.when(F.col("is_recent"), level)).alias("verdict_level")
    yield F.max_by(level, F.when(passes, F.col("t"))).alias("age_level")


@as_text
def with_history(now: DataFrame, figures: DataFrame, until_ms: int) -> DataFrame:
    """The newest rows, each with what the window says about its series.

    Args:
        now: rows of the newest capture, from `transforms.with_lag`, one a series.
        figures: from `series_figures`.
    Returns:
        `now`'s columns and `rate_in`, `rate_out` (records a second); `lag_seconds`,
        `lag_seconds_method` (at_head, record, interpolated, rate), `lag_seconds_confidence`
        (high, low); `catch_up_seconds`; `trend`; `verdict`, `verdict_rule`;
        `retention_seconds_left`.
    """
    joined = now.withColumn("series", series_id()).join(figures, "series", "left")
    return history_of(joined, until_ms)


@as_text
def history_of(joined: DataFrame, until_ms: int) -> DataFrame:
    """`with_history` of rows that have the figures of their series beside them."""
    rated = joined.withColumns(
        {
            "rate_in": per_second("produced", "end_ms"),
            "rate_out": per_second("consumed", "committed_ms"),
            "rate_expired": per_second("expired", "start_ms"),
            "is_stale": F.col("is_stale") | _stood_still(),
        }
    )
    return rated.withColumns(
        {
            "lag_seconds_method": method_column(),
            "catch_up_seconds": catch_up_column(),
            "trend": trend_column(),
            "verdict_rule": rule_column(until_ms),
            "retention_seconds_left": retention_column(),
        }
    ).withColumns(seconds_columns() | verdict_columns())


def _stood_still() -> Column:
    """Whether nobody is assigned a partition, and its commit stood still while records came."""
    stood = F.col("member_id").isNull() & (F.col("committed_offset") >= 0)
    moved = (F.col("produced") > 0) & (F.col("consumed") == 0)
    return F.coalesce(stood & moved & (F.col("captures") > 1), F.lit(False))


def per_second(records: str, ms: str) -> Column:
    """Records a second; null without time between two points."""
    return F.when(F.col(ms) > 0, F.col(records) * F.lit(1000.0) / F.col(ms))


def method_column() -> Column:
    """How it is known how old the oldest unread record is: when the log's end was at the commit.

    Where the record itself was asked when it was written, that is the answer. Inside the window
    the history of end offsets says it; a commit that is older than the window is reached by
    dividing lag by the rate at which records came in, which is a guess and marked so. A flat
    stretch counts from its end: the reader was at the head until the next record.
    """
    lag, caught_at = F.col("lag"), F.col("caught_at")
    is_trusted = F.col("reset_t").isNull() | (F.col("passed_t") >= F.col("reset_t"))
    is_seen = (lag > 0) & caught_at.isNotNull() & is_trusted & (F.col("lag_status") == "ok")
    # Below log start the next record is gone, and with it its age.
    is_guessed = (lag > 0) & (F.col("rate_in") > 0) & (F.col("lag_status") != "below_log_start")
    return (
        F.when(lag == 0, "at_head")
        .when(record_age().isNotNull(), "record")
        .when(is_seen, "interpolated")
        .when(is_guessed, "rate")
    )


def seconds_columns() -> dict[str, Column]:
    """How old the oldest unread record is by `lag_seconds_method`, and how sure that is."""
    method = F.col("lag_seconds_method")
    seconds = (
        F.when(method == "at_head", F.lit(0.0))
        .when(method == "record", record_age())
        .when(method == "interpolated", (F.col("last_t") - F.col("caught_at")) / F.lit(1000.0))
        .when(method == "rate", F.col("lag") / F.col("rate_in"))
    )
    confidence = F.when(method == "rate", "low").when(method.isNotNull(), "high")
    return {"lag_seconds": seconds, "lag_seconds_confidence": confidence}


def catch_up_column(gained: Column | None = None) -> Column:
    """Seconds until the lag is gone at the rates of the window; null if it never is.

    Args:
        gained: records a second by which the readers come closer to the head.
    """
    gained = F.col("rate_out") - F.col("rate_in") if gained is None else gained
    return F.when(F.col("lag") == 0, F.lit(0.0)).when(gained > 0, F.col("lag") / gained)


def trend_column() -> Column:
    """growing, steady or draining; null without two points.

    Little is what is little beside `lag_peak`, or beside what was produced.
    """
    change = F.col("lag_last") - F.col("lag_first")
    slack = F.greatest(
        F.lit(1.0),
        F.lit(STEADY_OF_PRODUCED) * F.coalesce("produced", F.lit(0)),
        F.lit(STEADY_OF_PEAK) * F.col("lag_peak"),
    )
    return F.when(
        (F.col("points") > 1) & change.isNotNull(),
        F.when(change > slack, "growing").when(change < -slack, "draining").otherwise("steady"),
    )


def rule_column(until_ms: int) -> Column:
    """The rule of Burrow's that decides on the last points.

    Burrow watches commits; captures see where they stand, so a reader that commits the same
    offset again and one that has stopped look alike unless commit times are known. Without them
    STOP is given only where nobody is assigned the partition.
    """
    lag = F.col("lag")
    is_flat = F.col("committed_min") == F.col("committed_max")
    was_never_at_head = F.col("end_min") > F.col("committed_offset")
    quiet_ms = F.lit(until_ms) - F.col("last_commit_at")
    busy_ms = F.col("last_commit_at") - F.col("first_commit_at")
    is_silent = F.when(F.col("last_commit_at").isNotNull(), quiet_ms > busy_ms).otherwise(
        is_flat & F.col("member_id").isNull()
    )
    rules = {
        "lag_unknown": lag.isNull(),
        "no_lag": lag == 0,
        "too_few_captures": F.coalesce("commits", F.lit(0)) < FEWEST_POINTS,
        "commits_stopped": is_silent & was_never_at_head,
        "offset_went_back": F.col("is_rewound"),
        "was_at_head": F.col("lag_min") == 0,
        "offset_stands_still": is_flat,
        "lag_never_falls": (F.col("lag_drops") == 0) & (F.col("lags") > 1),
    }
    (first, holds), *others = rules.items()
    rule = F.when(holds, first)
    for name, holds in others:
        rule = rule.when(holds, name)
    return rule.otherwise("progresses")


def verdict_columns() -> dict[str, Column]:
    """What `verdict_rule` says, and how bad it is."""
    rule = F.col("verdict_rule")
    said: dict[str, list[str]] = {}
    for name, verdict in VERDICTS.items():
        if verdict is not None:
            said.setdefault(verdict, []).append(name)
    (first, names), *others = said.items()
    verdict_of = F.when(rule.isin(*names), first)
    for verdict, names in others:
        verdict_of = verdict_of.when(rule.isin(*names), verdict)
    weights = F.create_map(*(F.lit(each) for pair in _WEIGHTS for each in pair))
    return {"verdict": verdict_of, "verdict_weight": weights[rule]}


def retention_column() -> Column:
    """Seconds until log start reaches the commit, as fast as it moved; null if it stands.

    Null too where nothing is known to be unread, or nothing is committed that could be lost.
    """
    left = F.col("committed_offset") - F.col("log_start_offset")
    is_at_stake = (F.col("lag") > 0) & (F.col("committed_offset") >= 0) & left.isNotNull()
    return F.when(
        is_at_stake & (F.col("rate_expired") > 0),
        F.greatest(left, F.lit(0)) / F.col("rate_expired"),
    )


@as_text
def history_by(
    series: DataFrame, peaks: DataFrame, keys: Sequence[str], *, hourly: bool = False
) -> DataFrame:
    """Figures by `keys`.

    Rates and lag add up (a topic's `rate_in` once, however many groups read it); times and the
    verdict are those of the worst partition; catching up is worked out from what all readers
    together gain. A lagging partition whose age or rates are not known leaves lag in seconds or
    catching up unknown.

    Args:
        series: from `with_history`.
        peaks: from `transforms.peaks_by`, by the same keys.
        hourly: whether the figures tell which of them are of the ends of hours or days; then also
            `hourly` and `daily`, their names.
    """
    gain = F.col("rate_out") - F.col("rate_in")
    lags = F.col("lag") > 0
    # fmt: off
    summed = _with_inflow(series, keys).groupBy(*keys).agg(
        F.count(F.lit(1)).alias("partitions"),
        F.sum("lag").alias("lag"),
        F.max("lag").alias("lag_max"),
        lag_percentiles(),
        F.sum("lost").alias("lost"),
        F.count_if(F.col("lag").isNull()).alias("unknown_partitions"),
        F.count_if("is_stale").alias("stale_partitions"),
        F.sum("inflow").alias("rate_in"),
        F.sum("rate_out").alias("rate_out"),
        F.when(F.count_if(lags & gain.isNull()) == 0, F.sum(gain)).alias("gained"),
        *worst_seconds(),
        F.max("points").alias("points"),
        F.sum("lag_first").alias("lag_first"),
        F.sum("lag_last").alias("lag_last"),
        F.sum("produced").alias("produced"),
        *(F.max_by(name, "verdict_weight").alias(name) for name in ("verdict", "verdict_rule")),
        F.min("retention_seconds_left").alias("retention_seconds_left"),
        *(are_hourly() if hourly else ()),
    )
    # fmt: on
    figures = join_by(summed, peaks, keys, "left").withColumns(
        {"catch_up_seconds": catch_up_column(F.col("gained")), "trend": trend_column()}
    )
    names = [named_at(level).alias(name) for name, level in LEVELS.items()] if hourly else []
    return split_percentiles(figures).select(*keys, *OVER_TIME, *names)


def are_hourly() -> Iterator[Column]:
    """Of some series together, which figures are of the ends of hours or days."""
    is_aged = (F.col("lag") > 0) & (F.col("lag_seconds_method") == "interpolated")
    is_judged = ~F.col("verdict_rule").isin("lag_unknown", "no_lag")
    yield F.max(F.when(is_aged, F.col("age_level"))).alias("age_level")
    yield F.max("trend_level").alias("trend_level")
    yield F.max(F.when(is_judged, F.col("verdict_level"))).alias("verdict_level")


def named_at(level: int) -> Column:
    """The names of the figures of a level; null where there are none."""
    names = F.concat_ws(
        ",",
        F.when((F.col("age_level") == level) & F.col("lag_seconds").isNotNull(), "lag_seconds"),
        F.when((F.col("trend_level") == level) & F.col("trend").isNotNull(), "trend"),
        F.when(F.col("verdict_level") == level, "verdict"),
    )
    return F.nullif(names, F.lit(""))


def _with_inflow(series: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Adds `inflow`: a partition's `rate_in` once among its key's rows.

    Readers of a partition have seen the same log; the one that was there longest saw most of it.
    """
    if "group" in keys:
        return series.withColumn("inflow", F.col("rate_in"))
    seen_ms = F.when(F.col("rate_in").isNotNull(), F.col("end_ms"))
    longest_first = Window.partitionBy(*{*keys, "cluster", "topic", "partition"}).orderBy(
        F.desc_nulls_last(seen_ms), F.desc_nulls_last("rate_in")
    )
    is_first = F.row_number().over(longest_first) == 1
    return series.withColumn("inflow", F.when(is_first, F.col("rate_in")))
