"""`kgroups lag history`: what groups committed, out of `__consumer_offsets`, computed by Spark."""

from typing import Annotated, Literal

import typer

from kgroups.cli.lag_answer import (
    HISTORY_SCHEMA,
    check_places,
    lag_document,
    show_and_end,
    write_files,
)
from kgroups.cli.lag_options import (
    DEFAULT_TOP,
    HtmlFile,
    Master,
    Over,
    ParquetFile,
    Remote,
    Since,
    Sort,
    Top,
    Until,
    Where,
    column_name,
    window_of,
)
from kgroups.cli.output import Printer
from kgroups.cli.params import options_of
from kgroups.cli.source import cluster, now_ms

HistoryGrouping = Literal["group", "topic", "partition", "member", "client", "host"]

HISTORY_HELP = """Report what groups committed and when, out of __consumer_offsets.

Works on a cluster that nobody collected: the topic holds every commit with
its time since its last compaction, which keeps only the newest of each
partition. Lag is that of now; where the log ended then, the topic does not
know, so rates in are unknown. Commit times tell a reader that stopped from
one that stands still.
Needs READ on __consumer_offsets, and Java 17.

EXAMPLES
  kgroups lag history --over 6h
  kgroups lag history --by partition --where "verdict = 'STOP'"
  kgroups lag history --sort commit_age_seconds
  kgroups lag history --since 2026-11-20T22:00Z --until 2026-11-20T23:00Z
"""


def history(
    ctx: typer.Context,
    by: Annotated[
        HistoryGrouping, typer.Option("--by", metavar="KEY", help="What a row stands for.")
    ] = "group",
    top: Top = DEFAULT_TOP,
    sort: Sort = None,
    where: Where = None,
    over: Over = None,
    since: Since = None,
    until: Until = None,
    html: HtmlFile = None,
    parquet: ParquetFile = None,
    master: Master = None,
    remote: Remote = None,
) -> None:
    """`kgroups lag history`."""
    from kgroups.core.kafka.offsets_topic import OffsetsTopic  # librdkafka
    from kgroups.core.lag.history_report import lag_history  # PySpark
    from kgroups.core.lag.report import LagQuery
    from kgroups.core.lag.session import SessionOptions

    options = options_of(ctx)
    printer = Printer(options)
    check_places(html, parquet)
    start_ms, end_ms = window_of(over, since, until, now_ms())
    query = LagQuery(by=by, top=top, sort=column_name(sort), where=where, pictures=html is not None)
    with cluster(options) as admin:
        log = OffsetsTopic(admin.settings, timeout_ms=options.timeout_ms)
        snapshot = admin.snapshot(progress=printer.progress)
    answer = lag_history(
        snapshot,
        log,
        query,
        since_ms=start_ms,
        until_ms=end_ms if until else snapshot.captured_at_ms,
        session=SessionOptions(master=master, remote=remote, verbose=options.verbose),
        progress=printer.waiting,
    )
    shown = lag_document(snapshot, by, answer, schema=HISTORY_SCHEMA)
    write_files(answer, shown, html, parquet)
    show_and_end(printer, shown)
