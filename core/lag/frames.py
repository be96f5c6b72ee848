"""Lag for people who live in Spark: frames of captures in, a frame of figures out, no command."""

from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kgroups.core.errors import UsageError
from kgroups.core.lag.answer import with_members
from kgroups.core.lag.captures.capture_window import Span, open_window
from kgroups.core.lag.engines import Given
from kgroups.core.lag.lag_query import KEYS, LagQuery
from kgroups.core.lag.questions import Questions
from kgroups.core.lag.report import lagged_of
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.lag.spark_engine import Spark
from kgroups.core.lag.stores.places import Place, Store
from kgroups.core.lag.window.window_figures import FACTS, asking, by_key, figures_of, once

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
        `table_columns.ROWS`: a row for each partition of a topic that a group reads or has
        committed, and capture. Which captures there are is asked now; the rows are read when
        they are needed.
    Raises:
        NotFoundError: no captures in the window.
        KgroupsError: a table cannot be read.
    """
    place = place if isinstance(place, Store) else Path(place).absolute()
    window = open_window(place, since_ms=since_ms, until_ms=until_ms)
    until_ms = LAST_MS if until_ms is None else until_ms
    engine = Spark(spark)
    questions = asking(engine, LagQuery(), until_ms, since_ms=since_ms or 0)
    captures = once(questions, place, window, few=False)
    inside = "SELECT * FROM {captures} WHERE captured_at_ms BETWEEN :since_ms AND :until_ms"
    return engine.frame(questions.put(inside, captures=captures)).select(*FACTS)


def with_lag(
    captures: DataFrame,
    *,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> DataFrame:
    """Rows in `table_columns.ROWS` with `lag_status`, `lag`, `lost` and `is_stale`.

    Args:
        uncommitted, isolation: as in `group_lag.offset_rows`.
    """
    engine = Spark(captures.sparkSession)
    query = LagQuery(uncommitted=uncommitted, isolation=isolation)
    lagged = lagged_of(Questions.of(engine, query, ()), Given(captures), FACTS)
    return engine.frame(lagged).drop("rolled", "end_offset")


def lag_report(
    captures: DataFrame,
    *,
    by: str = "group",
    members: DataFrame | None = None,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> DataFrame:
    """The figures of `kgroups lag report --captures`, of any frame of captures.

    The window is what the frame holds: filter `captured_at_ms` before. Finding each cluster's
    first and last capture is a query that runs at once; the report runs when it is needed.

    Args:
        captures: in `table_columns.ROWS`, each capture once; of one time or of many.
        by: `group`, `topic`, `partition`, `member`, `client`, `host` or `assignor`.
        members: of each cluster's newest capture, in `table_columns.MEMBERS`: adds `members`,
            `idle_members` and `skew`.
        uncommitted, isolation: as in `group_lag.offset_rows`.
    Returns:
        The keys of the grouping and its figures, a row each, unordered.
    Raises:
        UsageError: there is no such grouping.
    """
    if by not in KEYS:
        raise UsageError(f"a lag report cannot be by `{by}`", hint="one of " + ", ".join(KEYS))
    engine = Spark(captures.sparkSession)
    spans = _spans_of(captures)
    until_ms = max((span.last_ms for span in spans.values()), default=0)
    query = LagQuery(by=by, uncommitted=uncommitted, isolation=isolation)
    questions = asking(engine, query, until_ms)
    figures = figures_of(questions, Given(captures.select(*FACTS)), spans)
    report = by_key(questions, figures)
    if members is not None:
        loads = questions.ask("loads", lagged=figures.newest, members=Given(members))
        report = with_members(questions, report, by, loads)
    hidden = ("key", "groups", "age_level", "trend_level", "verdict_level", "hourly", "daily")
    return engine.frame(report).drop(*hidden, "monthly")


def _spans_of(captures: DataFrame) -> dict[str, Span]:
    """Each cluster's first and last capture: a query that runs now."""
    spans = captures.groupBy("cluster").agg(
        F.min("captured_at_ms").alias("first_ms"), F.max("captured_at_ms").alias("last_ms")
    )
    return {row["cluster"]: Span(row["first_ms"], row["last_ms"]) for row in spans.collect()}
