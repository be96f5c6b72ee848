"""The lag history: what groups committed and when, out of `__consumer_offsets` itself.

It works on a cluster that nobody collected. The log knows every commit since its last compaction,
with its time, but not where the partitions ended then: lag is that of now, and rates in are
unknown. What commit times give, captures cannot: the age of the last commit, and Burrow's
rule that tells a reader that stopped from one that stands still.
"""

from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kgroups.core.errors import ItemError, UsageError
from kgroups.core.lag import over, transforms
from kgroups.core.lag.commits import CommitLog, read_commits
from kgroups.core.lag.report import LagQuery, LagReport, answer_rows, collect_rows, running
from kgroups.core.lag.schemas import ROWS, capture_tables, cluster_name
from kgroups.core.lag.session import Progress, SessionOptions
from kgroups.core.snapshot import ClusterSnapshot

KINDS = ("commit", "tombstone", "other", "broken")

# A history is told in finer steps than a report: commits come in bursts.
BUCKETS = 600


def lag_history(
    snapshot: ClusterSnapshot,
    log: CommitLog,
    query: LagQuery | None = None,
    *,
    since_ms: int,
    until_ms: int,
    session: SparkSession | SessionOptions | None = None,
    progress: Progress | None = None,
) -> LagReport:
    """Commits of a window of time, with lag now.

    Args:
        snapshot: the groups as they are now, with offsets and log offsets.
        log: the same cluster's commit log; it travels to Spark's tasks.
        since_ms, until_ms: commits outside are left out.
    Returns:
        Columns of `over.history_by`, `commits` and `commit_age_seconds`. `summary` also has the
        `records` of the log by kind; `errors` name records that could not be read, `top` at most.
    Raises:
        UsageError: as in `lag_report`.
        ClusterError: the topic cannot be read.
    """
    query = query or LagQuery()
    if query.assignors or query.by not in transforms.KEYS:
        raise UsageError(
            f"a lag history cannot be by `{'assignor' if query.assignors else query.by}`",
            hint="one of " + ", ".join(transforms.KEYS),
        )
    if since_ms >= until_ms:
        raise UsageError("the window of time is empty", hint="--since must be before --until")
    tell = progress or (lambda _text: None)
    tables = capture_tables([replace(snapshot, captured_at_ms=until_ms)])
    if session is None or isinstance(session, SessionOptions):
        session = replace(session or SessionOptions(), small=True)
    with running(session, progress) as spark:
        commits = read_commits(spark, log).persist()
        try:
            rows = spark.createDataFrame(tables.rows, schema=ROWS)
            now = transforms.with_lag(
                rows, uncommitted=query.uncommitted, isolation=query.isolation
            )
            keys = transforms.KEYS[query.by]
            captures = as_captures(commits, cluster_name(snapshot)).where(
                F.col("captured_at_ms") >= since_ms
            )
            report = history_by(captures, rows, now, keys, since_ms, until_ms)
            tell("reading commits out of __consumer_offsets")
            items = answer_rows(report, query, query.sort or "lag", keys)
            tell("computing totals")
            (summary,) = collect_rows(transforms.totals(now))
            summary |= {"since_ms": since_ms, "until_ms": until_ms}
            summary["records"] = counts_by_kind(commits)
            errors = broken_records(commits, query.top) if summary["records"]["broken"] else ()
        finally:
            commits.unpersist()
    return LagReport(items, tuple(report.columns), summary, errors)


def as_captures(commits: DataFrame, cluster: str) -> DataFrame:
    """Commits and tombstones as rows of captures that know no log: the time is the commit's."""
    known: dict[str, Any] = {
        "captured_at_ms": F.coalesce("committed_at_ms", "at_ms"),
        "cluster": F.lit(cluster),
        "commits_known": F.lit(True),
    }
    columns = []
    for field in ROWS.fields:
        column = known.get(field.name)
        if column is None:
            has = field.name in commits.columns
            column = F.col(field.name) if has else F.lit(None).cast(field.dataType)
        columns.append(column.alias(field.name))
    return commits.where(F.col("kind").isin("commit", "tombstone")).select(*columns)


def history_by(
    captures: DataFrame,
    rows: DataFrame,
    now: DataFrame,
    keys: tuple[str, ...],
    since_ms: int,
    until_ms: int,
) -> DataFrame:
    """Figures by `keys`, with the number of commits and the age of the last one."""
    known = captures.where(F.col("captured_at_ms") < until_ms).unionByName(rows)
    points = over.points(known, since_ms, until_ms, BUCKETS, commit_times=True)
    figures = over.series_figures(over.with_steps(points))
    counted = captures.groupBy(over.series_id().alias("series")).agg(
        F.count("committed_offset").alias("commits_seen")
    )
    series = over.with_history(now, figures, until_ms).join(counted, "series", "left")
    ages = series.groupBy(*keys).agg(
        F.coalesce(F.sum("commits_seen"), F.lit(0)).alias("commits"),
        ((F.lit(until_ms) - F.max("last_commit_at")) / F.lit(1000.0)).alias("commit_age_seconds"),
    )
    matches = [F.col(f"by.{key}").eqNullSafe(F.col(f"age.{key}")) for key in keys]
    condition = matches[0]
    for match in matches[1:]:
        condition &= match
    figures_by = over.history_by(series, keys)
    joined = figures_by.alias("by").join(ages.alias("age"), condition, "left")
    return joined.select("by.*", "age.commits", "age.commit_age_seconds")


def counts_by_kind(commits: DataFrame) -> dict[str, int]:
    """Records of the log by kind; 0 where there are none."""
    found = collect_rows(commits.groupBy("kind").agg(F.count(F.lit(1)).alias("n")))
    return dict.fromkeys(KINDS, 0) | {row["kind"]: row["n"] for row in found}


def broken_records(commits: DataFrame, top: int) -> tuple[ItemError, ...]:
    """The first records that could not be read, with their place in the log."""
    order = ("log_partition", "log_offset")
    broken = commits.where(F.col("kind") == "broken").orderBy(*order).limit(top)
    return tuple(
        ItemError(
            f"__consumer_offsets-{row['log_partition']} offset {row['log_offset']}",
            "CORRUPT_RECORD",
            row["error"],
        )
        for row in collect_rows(broken)
    )
