"""The lag history: what groups committed and when, out of `__consumer_offsets` itself.

It works on a cluster that nobody collected. The log knows every commit since its last compaction,
with its time, but not where the partitions ended then: that is asked of the partitions' own logs,
or rates in stay unknown. Together they are what a collector would have captured at those times.
What commit times give, captures cannot: the age of the last commit, and Burrow's rule that tells a
reader that stopped from one that stands still.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

import pyarrow as pa

from kgroups.core.errors import ItemError, UsageError
from kgroups.core.lag.answer import LagReport, answered, totals_of, with_members
from kgroups.core.lag.captures.capture_tables import (
    NO_TIMES,
    RecordTimes,
    capture_tables,
    cluster_name,
)
from kgroups.core.lag.captures.capture_window import Span
from kgroups.core.lag.captures.table_columns import table_of
from kgroups.core.lag.engines import Frame, listed
from kgroups.core.lag.lag_query import KEYS, LagQuery
from kgroups.core.lag.pictures import picture_frames
from kgroups.core.lag.questions import Questions
from kgroups.core.lag.report import check_query, is_few, lagged_of
from kgroups.core.lag.window.window_figures import FACTS, asking, by_key, figures_of
from kgroups.core.snapshot import ClusterSnapshot, TopicPartition

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kgroups.core.lag.window.commit_log import CommitLog
    from kgroups.core.spark.session import Progress, SessionOptions

# Time to topic and partition to where the log ended then.
Ends = Mapping[int, Mapping[TopicPartition, int]]
NO_ENDS: Final[Ends] = MappingProxyType({})
END: Final = pa.schema(
    [
        pa.field("at_ms", pa.int64(), False),
        pa.field("topic", pa.string(), False),
        pa.field("partition", pa.int32(), False),
        pa.field("log_end", pa.int64(), False),
    ]
)
KINDS: Final = ("commit", "tombstone", "other", "broken")
# A history is told in finer steps than a report: commits come in bursts.
STRETCHES: Final = 600
# Rates are over one span: from when on both a log's end and its commit are known.
RATED_FROM: Final = (
    "min(CASE WHEN log_end IS NOT NULL AND committed IS NOT NULL THEN t END)"
    " OVER (PARTITION BY series)"
)
# Who has a partition: what ends of logs gone by do not tell.
OWNERS: Final = ("member_id", "client_id", "host", "assignor")


def times_to_ask(since_ms: int, until_ms: int, count: int, first_ms: int = 0) -> list[int]:
    """So many times spread over a window, each the last moment of a stretch of the history.

    Args:
        first_ms: when the oldest record was written; nothing is learned of the time before.

    There, of a stretch, the end of the log and the last commit are told by one point; anywhere
    else the next commit in the same stretch would hide the end.
    """
    width = max((until_ms - since_ms) // STRETCHES, 1)
    first = min(max((first_ms - since_ms) // width, 0), STRETCHES - 1)
    rest = STRETCHES - first
    stretches = {first + number * rest // count for number in range(min(count, rest))}
    times = (since_ms + (number + 1) * width - 1 for number in sorted(stretches))
    return [at_ms for at_ms in times if at_ms < until_ms]


def lag_history(
    snapshot: ClusterSnapshot,
    log: "CommitLog",
    query: LagQuery | None = None,
    *,
    since_ms: int,
    until_ms: int,
    ends: Ends = NO_ENDS,
    record_times: RecordTimes = NO_TIMES,
    age_method: Literal["record", "bisected"] = "record",
    session: "SparkSession | SessionOptions | None" = None,
    progress: "Progress | None" = None,
) -> LagReport:
    """Commits of a window of time, with lag at its end.

    Args:
        snapshot: the groups as they are now, with offsets and log offsets.
        log: the same cluster's commit log; it travels to Spark's tasks where it is long.
        query: with `groups` only what these committed, out of the partitions that hold them.
        since_ms, until_ms: commits outside are left out. If `ends` has `until_ms` itself, the
            report is of that time: of what was committed and where logs ended then.
        ends: where logs ended at times of the window: without them, rates in, trend and lag over
            time are not known.
        record_times: when the next records were written.
        age_method: how these times were found.
    Returns:
        Columns of `report_columns` for a history. `summary` also has the `records` of the log by
        kind; `errors` name records that could not be read, `top` at most.
    Raises:
        UsageError: as in `lag_report`.
        ClusterError: the topic cannot be read.
    """
    from kgroups.core.lag.spark_engine import spark_engine
    from kgroups.core.lag.window.commit_log import commits_here, read_commits

    query = query or LagQuery()
    if query.assignors or query.by not in KEYS:
        raise UsageError(
            f"a lag history cannot be by `{'assignor' if query.assignors else query.by}`",
            hint="one of " + ", ".join(KEYS),
        )
    if query.isolation == "read_committed":
        raise UsageError("past last stable offsets cannot be read")
    check_query(query, "history")
    if since_ms >= until_ms:
        raise UsageError("the time window is empty", hint="--since must be before --until")
    tell = progress or (lambda _text: None)
    tables = capture_tables([replace(snapshot, captured_at_ms=until_ms)], record_times)
    tell("reading commits out of __consumer_offsets")
    slices = log.slices(query.groups)
    few = is_few(sum(part.most_records for part in slices), query)
    read = commits_here(log, slices, query.groups) if few else None
    with spark_engine(session, progress, "history", small=few) as engine:
        name, finer = cluster_name(snapshot), {"stretches": STRETCHES, "age_method": age_method}
        asks = asking(engine, query, until_ms, cluster=name, since_ms=since_ms, **finer)
        if read is None:
            tell("reading commits out of __consumer_offsets")
            records = engine.keep_rows(read_commits(engine.session, log, slices, query.groups))
        else:
            records = engine.rows(read)
        now, members = engine.rows(tables.rows), engine.rows(tables.members)
        spans = {name: Span(since_ms, until_ms)}
        answer = _answer(asks, query, records, now, members, ends, spans)
        counts, broken = _counted(asks, records, query.top)
        return replace(
            answer, summary=answer.summary | {"records": counts}, errors=(*answer.errors, *broken)
        )


def _answer(
    asks: Questions,
    query: LagQuery,
    records: Frame,
    now: Frame,
    members: Frame,
    ends: Ends,
    spans: Mapping[str, Span],
) -> LagReport:
    """The rows of the report, its totals and pictures.

    Args:
        records: in `commit_log.COMMITS`.
        now, members: the groups as they are now.
        spans: the window, by the cluster's name.
    """
    ((since_ms, until_ms),) = spans.values()
    commits = asks.ask("commits", log=records)
    inside = asks.put(f"SELECT * FROM {{commits}} WHERE {INSIDE}", commits=commits)
    parts, past = [now], None
    if ends:
        table = asks.engine.rows(_ends_table(ends))
        past = asks.ask("past_captures", commits=commits, now=now, ends=table)
    if past is not None and until_ms in ends:
        at_end = f"SELECT {listed(FACTS)} FROM {{past}} WHERE captured_at_ms = :until_ms"
        now = asks.put(at_end, past=past)
        members = asks.put("SELECT * FROM {members} WHERE false", members=members)
        parts = [now]
    before = f"SELECT {listed(FACTS)} FROM {{part}} WHERE captured_at_ms < :until_ms"
    parts += [
        asks.put(f"{before} AND captured_at_ms >= :since_ms", part=part)
        for part in (inside, past)
        if part is not None
    ]
    figures = figures_of(asks, _union(asks, parts), spans, rated_from=RATED_FROM if ends else "0")
    if past is not None and not {*OWNERS}.isdisjoint(asks.keys):
        owned = _owned(asks, past, now, before)
        figures = figures._replace(peaks=asks.ask("peaks", lagged=owned))
    if query.pictures:
        figures = figures._replace(series=asks.engine.keep(figures.series))
    report = by_key(asks, figures)
    report = asks.ask("with_commits", report=report, series=figures.series, commits=inside)
    loads = asks.ask("loads", lagged=figures.newest, members=members)
    report = with_members(asks, report, query.by, loads)
    others = totals_of(asks, figures.newest, loads)
    if query.pictures:
        moments = None if past is None else lagged_of(asks, past, FACTS)
        others |= picture_frames(asks, figures.series, moments)
    answer = answered(asks, report, query, "history", query.sort or "lag", others)
    times = {"since_ms": since_ms, "until_ms": until_ms}
    return replace(answer, summary=answer.summary | times)


def _owned(asks: Questions, past: Frame, now: Frame, before: str) -> Frame:
    """Captures that know lag, as if everything had belonged to whom it does now."""
    facts = [name for name in FACTS if name not in OWNERS]
    columns = ", ".join([f"past.`{name}`" for name in facts] + [f"now.`{name}`" for name in OWNERS])
    then = asks.put(before, part=past)
    joined = asks.put(
        f"SELECT {columns} FROM {{then}} AS past"
        " JOIN {now} AS now USING (cluster, `group`, topic, partition)",
        then=then,
        now=now,
    )
    names = [*facts, *OWNERS]
    return lagged_of(asks, _union(asks, [joined, now], names), names)


def _counted(
    asks: Questions, records: Frame, top: int
) -> tuple[dict[str, int], tuple[ItemError, ...]]:
    """Records of the log by kind, and the first of those that could not be read."""
    broken = (
        "SELECT log_partition, log_offset, error FROM {records} WHERE kind = 'broken'"
        f" ORDER BY log_partition, log_offset LIMIT {top}"
    )
    kinds = "SELECT kind, count(*) AS records FROM {records} GROUP BY kind"
    answers = asks.together(
        {"kinds": asks.put(kinds, records=records), "broken": asks.put(broken, records=records)}
    )
    counts = {row["kind"]: row["records"] for row in answers["kinds"].to_pylist()}
    errors = (
        ItemError(
            f"__consumer_offsets-{row['log_partition']} offset {row['log_offset']}",
            "CORRUPT_RECORD",
            row["error"],
        )
        for row in answers["broken"].to_pylist()
    )
    return dict.fromkeys(KINDS, 0) | counts, tuple(errors)


INSIDE: Final = "captured_at_ms BETWEEN :since_ms AND :until_ms"


def _union(asks: Questions, frames: list[Any], names: Any = FACTS) -> Frame:
    """The rows of all."""
    sources = {f"part_{number}": frame for number, frame in enumerate(frames)}
    halves = (f"SELECT {listed(names)} FROM {{{name}}}" for name in sources)
    return asks.put(" UNION ALL ".join(halves), **sources)


def _ends_table(ends: Ends) -> pa.Table:
    """The ends in `END`."""
    cells = [(at_ms, *at, end) for at_ms, own in sorted(ends.items()) for at, end in own.items()]
    return table_of(cells, END)
