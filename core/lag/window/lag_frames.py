"""Lag for people who live in Spark: frames of captures in, a frame of figures out, no command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pyspark.sql import SparkSession

from kgroups.core.errors import UsageError
from kgroups.core.lag import transforms
from kgroups.core.lag.captures.capture_window import Span, open_window
from kgroups.core.lag.captures.spark_columns import ROWS
from kgroups.core.lag.report_rows import collect_rows
from kgroups.core.lag.rosters import with_members
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.lag.stores.places import Place, Store
from kgroups.core.lag.window import trends
from kgroups.core.lag.window.points import SERIES, lives, with_steps
from kgroups.core.lag.window.window_rows import captures_once
from kgroups.core.spark.plans.api import DataFrame
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import as_text, asked

LAST_MS: Final = (1 << 63) - 1


def read_captures(
    spark: SparkSession,
    place: Place,
    *,
    since_ms: int | None = None,
    until_ms: int | None = None,
) -> DataFrame:
    """The captures of a folder or store as a frame, each once.

    Args:
        place: a path, or what `places.parse_place` makes of a URI.
        since_ms, until_ms: both included; None: without end.
    Returns:
        `table_columns.ROWS`: a row for each partition that a group reads or has committed, and
        capture. Which captures there are is asked now; the rows are read when they are needed.
    Raises:
        NotFoundError: no captures in the window.
        KgroupsError: a table cannot be read.
    """
    place = place if isinstance(place, Store) else Path(place).absolute()
    window = open_window(place, since_ms=since_ms, until_ms=until_ms)
    span_ms = (since_ms or 0, LAST_MS if until_ms is None else until_ms)
    return asked(captures_once(spark, place, window, span_ms).select(*ROWS.fieldNames()))


@as_text
def lag_report(
    captures: DataFrame,
    *,
    by: str = "group",
    members: DataFrame | None = None,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> DataFrame:
    """What `kgroups lag report --captures` computes, of any frame of captures.

    The window is what the frame holds: filter `captured_at_ms` before. Finding each cluster's
    first and last capture is a query that runs at once; the report runs when it is needed.

    Args:
        captures: in `table_columns.ROWS`, each capture once; of one time or of many.
        by: `group`, `topic`, `partition`, `member`, `client`, `host` or `assignor`.
        members: of each cluster's newest capture, in `table_columns.MEMBERS`: adds `members`,
            `idle_members` and `skew`.
        uncommitted, isolation: as in `transforms.with_lag`.
    Returns:
        The keys of the grouping and the figures of `trends.history_by`, a row each, unordered.
    Raises:
        UsageError: there is no such grouping.
    """
    if by not in transforms.KEYS:
        raise UsageError(
            f"a lag report cannot be by `{by}`", hint="one of " + ", ".join(transforms.KEYS)
        )
    keys = transforms.KEYS[by]
    lagged = transforms.with_lag(captures, uncommitted=uncommitted, isolation=isolation)
    spans = spans_of(captures)
    now = newest(lagged, spans)
    figures = trends.series_figures(with_steps(lives(lagged, spans, isolation)))
    until_ms = max((span.last_ms for span in spans.values()), default=0)
    series = trends.with_history(now, figures, until_ms)
    report = trends.history_by(series, transforms.peaks_by(lagged, keys), keys)
    return report if members is None else with_members(report, series, members, by, keys)


@as_text
def spans_of(captures: DataFrame) -> dict[str, Span]:
    """Each cluster's first and last capture: a query that runs now."""
    found = captures.groupBy("cluster").agg(
        F.min("captured_at_ms").alias("first_ms"), F.max("captured_at_ms").alias("last_ms")
    )
    return {row["cluster"]: Span(row["first_ms"], row["last_ms"]) for row in collect_rows(found)}


@as_text
def newest(captures: DataFrame, spans: Mapping[str, Span]) -> DataFrame:
    """The rows of each cluster's newest capture, one a series."""
    is_newest: Any = F.lit(False)
    for cluster, span in spans.items():
        is_last = F.col("captured_at_ms") == span.last_ms
        is_newest = is_newest | ((F.col("cluster") == cluster) & is_last)
    return captures.where(is_newest).dropDuplicates(list(SERIES))
