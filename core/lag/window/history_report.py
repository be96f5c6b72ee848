"""The lag history: what groups committed and when, out of `__consumer_offsets` itself.

It works on a cluster that nobody collected. The log knows every commit since its last compaction,
with its time, but not where the partitions ended then: that is asked of the partitions' own logs
(`past_ends`), or rates in stay unknown. What commit times give, captures cannot: the age of the
last commit, and Burrow's rule that tells a reader that stopped from one that stands still.
"""

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from kgroups.core.errors import ItemError, UsageError
from kgroups.core.lag import transforms
from kgroups.core.lag.captures.capture_tables import (
    NO_TIMES,
    RecordTimes,
    capture_tables,
    cluster_name,
)
from kgroups.core.lag.captures.capture_window import Span
from kgroups.core.lag.captures.series_id import series_id
from kgroups.core.lag.captures.spark_columns import MEMBERS, ROWS
from kgroups.core.lag.report import (
    LagQuery,
    LagReport,
    answered,
    check_query,
    drawn,
    totals_of,
)
from kgroups.core.lag.report_rows import collect_rows
from kgroups.core.lag.rosters import with_members
from kgroups.core.lag.window import trends
from kgroups.core.lag.window.commit_log import CommitLog, read_commits
from kgroups.core.lag.window.past_ends import BUCKETS, Ends, captures_then, ends_frame
from kgroups.core.lag.window.points import SERIES, lives, with_steps
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.spark.late_session import running
from kgroups.core.spark.plans.api import DataFrame
from kgroups.core.spark.plans.api import functions as F
from kgroups.core.spark.plans.frames import as_text, asked, to_ask
from kgroups.core.spark.session import Progress, SessionOptions

KINDS = ("commit", "tombstone", "other", "broken")

NO_ENDS: Ends = MappingProxyType({})

# Who has a partition: what ends of logs gone by do not tell.
OWNERS = ("member_id", "client_id", "host", "assignor")


def lag_history(
    snapshot: ClusterSnapshot,
    log: CommitLog,
    query: LagQuery | None = None,
    *,
    since_ms: int,
    until_ms: int,
    ends: Ends = NO_ENDS,
    record_times: RecordTimes = NO_TIMES,
    session: SparkSession | SessionOptions | None = None,
    progress: Progress | None = None,
) -> LagReport:
    """Commits of a window of time, with lag at its end.

    Args:
        snapshot: the groups as they are now, with offsets and log offsets.
        log: the same cluster's commit log; it travels to Spark's tasks.
        since_ms, until_ms: commits outside are left out. If `ends` has `until_ms` itself, the
            report is of that time: of what was committed and where logs ended then.
        ends: where logs ended at times of the window: without them, rates in, trend and lag over
            time are not known.
        record_times: when the next records were written.
    Returns:
        Columns of `trends.history_by`, `commits` and `commit_age_seconds`. `summary` also has the
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
    if query.isolation == "read_committed":
        raise UsageError("past last stable offsets cannot be read")
    check_query(query, "history")
    if since_ms >= until_ms:
        raise UsageError("the time window is empty", hint="--since must be before --until")
    tell = progress or (lambda _text: None)
    tables = capture_tables([replace(snapshot, captured_at_ms=until_ms)], record_times)
    if session is None or isinstance(session, SessionOptions):
        session = replace(session or SessionOptions(), small=True)
    with running(session, progress) as late:
        spark = late.started()
        commits = to_ask(read_commits(spark, log)).persist()
        try:
            said = as_captures(commits, cluster_name(snapshot))
            given = spark.createDataFrame(tables.rows, schema=ROWS)
            rows = to_ask(given)
            members = to_ask(spark.createDataFrame(tables.members, schema=MEMBERS))
            captures = None
            if ends:
                captures = to_ask(captures_then(asked(said), given, ends_frame(spark, ends)))
            if captures is not None and until_ms in ends:
                rows = captures.where(F.col("captured_at_ms") == until_ms)
                members = members.limit(0)
            cluster = cluster_name(snapshot)
            window = Told(cluster, said, captures, rows, members, since_ms, until_ms)
            answer = _answer(window, query, tell)
            answer.summary["records"] = counts_by_kind(commits)
            if answer.summary["records"]["broken"]:
                answer = replace(answer, errors=broken_records(commits, query.top))
        finally:
            commits.unpersist()
    return answer


class Told(NamedTuple):
    """What the logs tell of a window.

    Args:
        cluster: its name.
        said: all commits, as captures that know no log.
        then: captures made up of commits and ends of logs; None without ends.
        rows, members: the groups at the end of the window, in `table_columns.ROWS` and `MEMBERS`.
    """

    cluster: str
    said: DataFrame
    then: DataFrame | None
    rows: DataFrame
    members: DataFrame
    since_ms: int
    until_ms: int


def _answer(told: Told, query: LagQuery, tell: Progress) -> LagReport:
    """The rows of the report, its totals and pictures."""

    def lag_of(rows: DataFrame) -> DataFrame:
        return transforms.with_lag(rows, uncommitted=query.uncommitted, isolation=query.isolation)

    now = lag_of(told.rows)
    keys = transforms.KEYS[query.by]
    series = history_series(told, now, lag_of)
    by_key = history_by(series, captures_of_owners(told, now, lag_of), keys, told.until_ms)
    report = with_members(by_key, now, told.members, query.by, keys)
    tell("reading commits out of __consumer_offsets")
    captures = None if told.then is None else lag_of(told.then)
    others = totals_of(now, told.members), drawn(query, series, captures)
    answer = answered(report, query, query.sort or "lag", keys, *others)
    times = {"since_ms": told.since_ms, "until_ms": told.until_ms}
    return replace(answer, summary=answer.summary | times)


@as_text
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


def history_series(
    told: Told, now: DataFrame, lag_of: Callable[[DataFrame], DataFrame]
) -> DataFrame:
    """What the window says about each partition of a group, with the number of its commits."""
    since_ms, until_ms = told.since_ms, told.until_ms
    captures = told.said.where(F.col("captured_at_ms").between(since_ms, until_ms))
    known = captures.where(F.col("captured_at_ms") < until_ms).unionByName(told.rows)
    if told.then is not None:
        known = known.unionByName(told.then.where(F.col("captured_at_ms") < until_ms))
    inside = known.where(F.col("captured_at_ms").between(since_ms, until_ms))
    span = {told.cluster: Span(since_ms, until_ms)}
    figures = trends.series_figures(with_steps(lives(lag_of(inside), span, buckets=BUCKETS)))
    counted = captures.groupBy(series_id().alias("series")).agg(
        F.count("committed_offset").alias("commits_seen")
    )
    return trends.with_history(now, figures, until_ms).join(counted, "series", "left")


def captures_of_owners(
    told: Told, now: DataFrame, lag_of: Callable[[DataFrame], DataFrame]
) -> DataFrame:
    """Captures of the window that know lag, as if everything had belonged to whom it does now."""
    if told.then is None:
        return now
    then = lag_of(told.then.where(F.col("captured_at_ms") < told.until_ms)).drop(*OWNERS)
    return then.join(now.select(*SERIES, *OWNERS), list(SERIES)).unionByName(now)


@as_text
def history_by(
    series: DataFrame, captures: DataFrame, keys: tuple[str, ...], until_ms: int
) -> DataFrame:
    """Figures by `keys`, with the number of commits and the age of the last one."""
    ages = series.groupBy(*keys).agg(
        F.coalesce(F.sum("commits_seen"), F.lit(0)).alias("commits"),
        ((F.lit(until_ms) - F.max("last_commit_at")) / F.lit(1000.0)).alias("commit_age_seconds"),
    )
    figures = trends.history_by(series, transforms.peaks_by(captures, keys), keys)
    return transforms.join_by(figures, ages, keys, "left")


@as_text
def counts_by_kind(commits: DataFrame) -> dict[str, int]:
    """Records of the log by kind; 0 where there are none."""
    found = collect_rows(commits.groupBy("kind").agg(F.count(F.lit(1)).alias("n")))
    return dict.fromkeys(KINDS, 0) | {row["kind"]: row["n"] for row in found}


@as_text
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
