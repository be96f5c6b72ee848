"""`kgroups lag history`: what groups committed, out of `__consumer_offsets`, computed by Spark."""

from dataclasses import replace
from typing import Annotated, Literal

import typer

from kgroups.cli.choosing import GroupNames, choice_of, snapshot_of_choice
from kgroups.cli.commands.lag.lag_answer import (
    HISTORY_SCHEMA,
    check_places,
    lag_document,
    show_and_end,
    write_files,
)
from kgroups.cli.commands.lag.lag_options import (
    DEFAULT_TOP,
    Master,
    Over,
    ParquetFile,
    RecordTimesToo,
    Remote,
    Since,
    Sort,
    SparkConf,
    Sql,
    Top,
    Until,
    column_name,
    window_of,
)
from kgroups.cli.commands.lag.spark_line import SparkLine
from kgroups.cli.exits import now_ms
from kgroups.cli.lag_times import bisected_times, ends_then, next_times
from kgroups.cli.output.printer import Printer
from kgroups.cli.pages.render import prepare_pages
from kgroups.cli.params import HtmlFile, options_of
from kgroups.cli.source import cluster
from kgroups.cli.usage import option
from kgroups.core.errors import ItemError
from kgroups.core.extras import require_extra
from kgroups.core.lag.stores.places import within

HistoryGrouping = Literal["group", "topic", "partition", "member", "client", "host", "assignor"]
DEFAULT_ENDS = 24

HISTORY_HELP = """Report lag from commits in __consumer_offsets.

Works without captures: the topic holds every commit with its time, back to
its last compaction, which keeps only the newest commit of each partition.
Log ends are looked up by record time at --ends points of the window; trend
and lag over time come from these, and rates, over the time in which both
log ends and commits are known. The age of the oldest unread record is found
by bisection; --record-times fetches the record itself. With --until in the
past, the report describes that time, and ages are interpolated between log
ends, or lower bounds. Needs READ on __consumer_offsets, and Java 17.

With GROUP only the partitions of the topic that hold these groups are read.

EXAMPLES
  kgroups lag history --over 6h
  kgroups lag history billing --over 6h
  kgroups lag history --by partition --sql "verdict = 'STOP'"
  kgroups lag history --sort commit_age_seconds
  kgroups lag history --since 2026-11-20T22:00Z --until 2026-11-20T23:00Z
"""


def history(
    ctx: typer.Context,
    groups: GroupNames = None,
    by: Annotated[HistoryGrouping, option("--by KEY", "Group rows by this.")] = "group",
    top: Top = DEFAULT_TOP,
    sort: Sort = None,
    sql: Sql = None,
    over: Over = None,
    since: Since = None,
    until: Until = None,
    ends: Annotated[
        int, option("--ends N", "Number of points at which log ends are read.", min=0, max=600)
    ] = DEFAULT_ENDS,
    record_times: RecordTimesToo = False,
    html: HtmlFile = None,
    parquet: ParquetFile = None,
    master: Master = None,
    remote: Remote = None,
    conf: SparkConf = None,
) -> None:
    require_extra("spark", "`lag history`")
    from kgroups.core.kafka.librdkafka.offsets_topic import OffsetsTopic  # librdkafka
    from kgroups.core.lag.report import LagQuery, check_query
    from kgroups.core.lag.window.history_report import lag_history, times_to_ask

    options = options_of(ctx)
    printer = Printer(options)
    parquet = parquet and within(parquet, options.timeout_ms)
    check_places(html, parquet)
    start_ms, end_ms = window_of(over, since, until, now_ms())
    choice = choice_of(groups, every=not groups)
    query = LagQuery(
        by=by,
        top=top,
        sort=column_name(sort, "lag.history"),
        sql=sql,
        pictures=html is not None,
    )
    check_query(query, "history")
    line = SparkLine(printer)
    session = line.session(master, remote, conf)
    with cluster(options) as admin:
        reading = replace(admin.settings, trace=None)  # it happens in Spark's workers
        log = OffsetsTopic(reading, timeout_ms=options.timeout_ms)
        snapshot = snapshot_of_choice(admin, choice, progress=printer.progress)
        if not choice.every:
            query = replace(query, groups=[group.group for group in snapshot.groups])
        # A window that ended is reported as it was then; else as it is now.
        is_past = until is not None and end_ms < snapshot.captured_at_ms
        end_ms = end_ms if is_past else snapshot.captured_at_ms
        unread = not (is_past or record_times)
        next_at, first_ms = bisected_times(admin, snapshot, printer, unread=unread)
        oldest_ms = min(first_ms.values(), default=0)
        times_ms = times_to_ask(start_ms, end_ms, ends, oldest_ms) if ends else []
        times_ms += [end_ms] if is_past else []
        ends_by_time = ends_then(admin, snapshot, times_ms, printer, first_ms)
        failed: tuple[ItemError, ...] = ()
        if record_times and not is_past:
            next_at, failed = next_times(admin, snapshot, printer, printer.waiting)
    if html is not None:
        prepare_pages()
    answer = lag_history(
        snapshot,
        log,
        query,
        since_ms=start_ms,
        until_ms=end_ms,
        ends=ends_by_time,
        record_times={} if is_past else next_at,
        age_method="record" if record_times else "bisected",
        session=session,
        progress=line.step,
    )
    shown = lag_document(snapshot, by, answer, schema=HISTORY_SCHEMA, failed=failed)
    write_files(answer, shown, html, parquet)
    show_and_end(printer, shown)
