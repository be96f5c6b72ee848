"""The life of each series in a window: its captures with their neighbours, and its points.

A series (cluster, group, topic, partition) is one 64-bit number. Rates, ages and peaks are made of
every capture. A trend and a verdict say how things went, and would follow every twitch of captures
a second apart: they are made of *points*. The time captured is cut into `BUCKETS` stretches, and of
each series the last capture in a stretch is a point.
"""

from collections.abc import Mapping, Sequence

from kgroups.core.lag.captures.capture_window import Span
from kgroups.core.lag.captures.series_id import series_id
from kgroups.core.lag.rules import END_OF, Isolation
from kgroups.core.spark.plans.api import Column, DataFrame, Window
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import as_text

SERIES = ("cluster", "group", "topic", "partition")
BUCKETS = 60
# Points that a verdict looks at.
VERDICT_POINTS = 10


@as_text
def lives(
    lagged: DataFrame,
    spans: Mapping[str, Span],
    isolation: Isolation = "read_uncommitted",
    buckets: int = BUCKETS,
    more: Sequence[Column] = (),
) -> DataFrame:
    """Each capture of each series, as `with_steps` takes them.

    With `read_committed` the end of a log is its last stable offset throughout: records come in
    when a reader may have them, so rates and lag in seconds are of those too.

    Args:
        lagged: captures in `table_columns.ROWS`, with lag, each once.
        spans: the time captured of each cluster, which is cut into stretches.
        more: further columns, such as `hourly.WITHIN`.
    Returns:
        `series`, `t` (ms), `stretch`, `committed`, `committed_at`, `start`, `end`, `lag`; null if
        not known.
    """
    committed = F.when(F.col("committed_offset") >= 0, F.col("committed_offset"))
    return lagged.select(
        series_id().alias("series"),
        F.col("captured_at_ms").alias("t"),
        _stretch(spans, buckets).alias("stretch"),
        committed.alias("committed"),
        F.col("committed_at_ms").alias("committed_at"),
        F.col("log_start_offset").alias("start"),
        F.col(END_OF[isolation]).alias("end"),
        "lag",
        *more,
    )


def _stretch(spans: Mapping[str, Span], buckets: int) -> Column:
    """The number of the stretch that a capture lies in."""
    firsts, widths = (
        F.create_map(*(F.lit(part) for pair in pairs for part in pair))
        for pairs in (
            [(cluster, span.first_ms) for cluster, span in spans.items()],
            [(c, max((s.last_ms - s.first_ms) // buckets, 1)) for c, s in spans.items()],
        )
    )
    passed = F.col("captured_at_ms") - firsts[F.col("cluster")]
    return F.floor(passed / widths[F.col("cluster")])


@as_text
def with_steps(captures: DataFrame, *, hourly: bool = False) -> DataFrame:
    """Captures with what was known before, and the points among them.

    All of it in one order, from the newest capture back: Spark sorts once, and no frame has to look
    at a row more than once.

    Args:
        captures: from `lives`.
        hourly: whether there are hours among them, with `hourly.WITHIN`.
    Returns:
        Also `prev_t`, `prev_committed`, `prev_start`, `prev_end`: the last that was known before;
        `now_committed` of the newest capture; `is_point`; and `is_recent` of the newest
        `VERDICT_POINTS` points. Among these: `point_committed` and `point_lag`, null elsewhere;
        `before_committed` and `before_lag`, the last known of the points before; and
        `best_from_here`, the highest commit of this point and those after it.
    """
    newest_first = Window.partitionBy("series").orderBy(F.desc("t"))
    from_here = newest_first.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    # Of `lead` only SQL can say that it skips nulls.
    before = "lead({}) ignore nulls over (partition by series order by t desc)"
    known = {name: f"{name}_last" if hourly else name for name in ("committed", "start", "end")}
    known["t"] = "end_last_t" if hourly else "case when end is not null then t end"
    stepped = captures.select(
        "*",
        *(F.expr(before.format(what)).alias(f"prev_{name}") for name, what in known.items()),
        F.first("committed").over(from_here).alias("now_committed"),
        F.coalesce(F.lag("stretch").over(newest_first) != F.col("stretch"), F.lit(True)).alias(
            "is_point"
        ),
    )
    place = F.count_if("is_point").over(from_here)
    recent = stepped.withColumn("is_recent", F.col("is_point") & (place <= VERDICT_POINTS))
    at_points = recent.withColumns(
        {f"point_{name}": F.when(F.col("is_recent"), F.col(name)) for name in ("committed", "lag")}
    )
    return at_points.select(
        "*",
        *(
            F.expr(before.format(f"point_{name}")).alias(f"before_{name}")
            for name in ("committed", "lag")
        ),
        F.max("point_committed").over(from_here).alias("best_from_here"),
    )
