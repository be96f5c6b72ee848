"""Points: of each series in each stretch of a window, its last capture.

Raw captures are thinned: the window is cut into at most `buckets` stretches, and of each series
(cluster, group, topic, partition) the last capture in a stretch is a *point*. Points are read out
of captures (`stretch_points.last_rows`) or aggregated from a DataFrame (`points_by_aggregation`);
all that follows looks at points, and no raw row is ever sorted. A series is one 64-bit number.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from kgroups.core.lag.captures.series_id import series_id
from kgroups.core.lag.lag_columns import known_lag
from kgroups.core.lag.rules import END_OF, Isolation

SERIES = ("cluster", "group", "topic", "partition")
BUCKETS = 60


def points_by_aggregation(
    rows: DataFrame, since_ms: int, until_ms: int, buckets: int = BUCKETS
) -> DataFrame:
    """The last capture of each series in each stretch of the window, by aggregation.

    Args:
        rows: captures in `capture_tables.ROWS`.
        since_ms, until_ms: the window, both ends included.
    Returns:
        `series`, `t` (ms), `committed`, `committed_at`, `start`, `end`, `lag`; null if not known.
    """
    width = stretch_ms(since_ms, until_ms, buckets)
    t = F.col("captured_at_ms")
    facts = ("committed", "committed_at", "start", "end")
    return with_known_lag(
        rows.where(t.between(since_ms, until_ms))
        .select(
            F.floor((t - F.lit(since_ms)) / F.lit(width)).cast("int").alias("bucket"),
            series_id().alias("series"),
            *point_columns(),
            F.col("committed_at_ms").alias("committed_at"),
        )
        .groupBy("series", "bucket")
        .agg(
            *(F.max_by(name, "t").alias(name) for name in facts),
            F.max("t").alias("t"),
        )
    )


def stretch_ms(since_ms: int, until_ms: int, buckets: int = BUCKETS) -> int:
    """How long the stretches are that a window is cut into."""
    return max((until_ms - since_ms) // buckets, 1)


def point_columns(isolation: Isolation = "read_uncommitted") -> list[Column]:
    """What a point says, of columns in `capture_tables.ROWS`; `end` is what lag is measured to."""
    committed = F.when(F.col("committed_offset") >= 0, F.col("committed_offset"))
    return [
        F.col("captured_at_ms").alias("t"),
        committed.alias("committed"),
        F.col("log_start_offset").alias("start"),
        F.col(END_OF[isolation]).alias("end"),
    ]


def points_from_last_rows(
    last_rows: DataFrame, isolation: Isolation = "read_uncommitted"
) -> DataFrame:
    """What `points_by_aggregation` gives, of `stretch_points.last_rows` for the same isolation.

    With `read_committed` the end of a log is its last stable offset throughout: records come in
    when a reader may have them, so rates and lag in seconds are of those too.
    """
    no_time = F.lit(None).cast("long").alias("committed_at")
    return with_known_lag(last_rows.select("series", *point_columns(isolation), no_time))


def with_known_lag(of_points: DataFrame) -> DataFrame:
    """Points with `lag`, null where a bound or the commit is not known."""
    lag = known_lag(F.col("committed"), F.col("start"), F.col("end"))
    return of_points.select(
        "series", "t", "committed", "committed_at", "start", "end", lag.alias("lag")
    )


def with_steps(of_points: DataFrame) -> DataFrame:
    """Points with what the point before said (`prev_`), the newest one, and their place.

    All of it in one order, from the newest point back: Spark sorts once, and no frame has to look
    at a row more than once.

    Returns:
        Also `prev_t`, `prev_committed`, `prev_start`, `prev_end`, `prev_lag`, the last that was
        known before; `now_committed` of the newest point; `best_from_here`: highest commit of
        this point and those after it; `age`: 1 for the newest point, 2 before it...
    """
    newest_first = Window.partitionBy("series").orderBy(F.desc("t"))
    from_here = newest_first.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # Of `lead` only SQL can say that it skips nulls.
    before = "lead({}) ignore nulls over (partition by series order by t desc)"
    known = {name: name for name in ("committed", "start", "end", "lag")}
    known["t"] = "case when end is not null then t end"
    return of_points.select(
        "*",
        *(F.expr(before.format(what)).alias(f"prev_{name}") for name, what in known.items()),
        F.first("committed").over(from_here).alias("now_committed"),
        F.max("committed").over(from_here).alias("best_from_here"),
        F.row_number().over(newest_first).alias("age"),
    )
