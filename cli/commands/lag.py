"""`kgroups lag`: reports on lag, computed by Spark."""

import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kgroups.cli.commands.lag_collect import COLLECT_HELP, COMPACT_HELP, collect, compact
from kgroups.cli.exits import end_with
from kgroups.cli.output import Printer, Report
from kgroups.cli.params import FromFile, options_of, split_names
from kgroups.cli.source import cluster, now_ms, take_snapshot
from kgroups.cli.table import Column, Item, Row, View
from kgroups.cli.tree import Command, Noun
from kgroups.core.errors import UsageError
from kgroups.core.lag.arithmetic import Isolation, Uncommitted
from kgroups.core.snapshot import ClusterSnapshot

if TYPE_CHECKING:
    from kgroups.core.lag.report import LagReport

SCHEMA = "kgroups.lag.report/1"
HISTORY_SCHEMA = "kgroups.lag.history/1"
DEFAULT_TOP = 100

Grouping = Literal["group", "topic", "partition", "member", "client", "host", "assignor"]

HistoryGrouping = Literal["group", "topic", "partition", "member", "client", "host"]

HELP = """Report the lag of a whole cluster, with Apache Spark.

One group needs no Spark: `kgroups describe` shows its lag at once.
"""
REPORT_HELP = """Report lag by group, topic or member, now and under planned assignments.

The cluster is read once, live or from a snapshot file, and Spark computes the
report: on this machine, on a standalone master, or through Spark Connect.
Needs Java 17. The rows with most lag come first.

BY
  group (default)  topic  partition  member  client  host
  with --assignor: member (default)  group  client  host  assignor

With --captures DIR the report is over a window of time, from what
`lag collect` left there, and has rates, lag in seconds with the method that
found it, time to catch up, trend, Burrow's verdict with its rule, and the
time until retention reaches the commit. TIME is 2026-11-20T22:00Z or,
without an offset, local time.

With --assignor A[,B] every group is planned with these assignors too, and the
report shows lag as it is beside lag as it would be (planned_...).

EXAMPLES
  kgroups lag report --top 20
  kgroups lag report --by topic --output csv
  kgroups lag report --from before.json --assignor range,roundrobin
  kgroups lag report --master spark://spark:7077
  kgroups lag report --remote sc://spark:15002
  kgroups lag report --captures ~/captures --over 6h --sort lag_seconds
  kgroups lag report --captures ~/captures --where "verdict = 'STOP'"
"""

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
"""

TEXT_FIELDS = frozenset(
    {"cluster", "group", "topic", "member_id", "client_id", "host", "assignor", "state", "type"}
    | {"lag_seconds_method", "lag_seconds_confidence", "trend", "verdict", "verdict_rule"}
)
SPAN_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def register(app: typer.Typer) -> None:
    """Add `lag report` to the program."""
    noun = typer.Typer(cls=Noun, help=HELP, no_args_is_help=True, rich_markup_mode=None)
    noun.command("report", help=REPORT_HELP, cls=Command)(report)
    noun.command("history", help=HISTORY_HELP, cls=Command)(history)
    noun.command("collect", help=COLLECT_HELP, cls=Command)(collect)
    noun.command("compact", help=COMPACT_HELP, cls=Command)(compact)
    app.add_typer(noun, name="lag")


def report(
    ctx: typer.Context,
    by: Annotated[
        Grouping | None, typer.Option("--by", metavar="KEY", help="What a row stands for.")
    ] = None,
    assignor: Annotated[
        list[str] | None,
        typer.Option("--assignor", metavar="NAME", help="Plan with these assignors too."),
    ] = None,
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Only the first N rows.")
    ] = DEFAULT_TOP,
    sort: Annotated[
        str | None,
        typer.Option("--sort", metavar="COLUMN", help="Most of this column first."),
    ] = None,
    uncommitted: Annotated[
        Uncommitted | None,
        typer.Option("--uncommitted", help="Where a partition without a commit stands."),
    ] = None,
    isolation: Annotated[
        Isolation,
        typer.Option("--isolation", help="read_committed: lag to the last stable offset."),
    ] = "read_uncommitted",
    master: Annotated[
        str | None, typer.Option("--master", metavar="URL", help="Spark master.")
    ] = None,
    remote: Annotated[
        str | None, typer.Option("--remote", metavar="URL", help="Spark Connect server.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="SQL", help="Only rows for which this is true."),
    ] = None,
    captures: Annotated[
        Path | None,
        typer.Option("--captures", metavar="DIR", help="Report over what `lag collect` left."),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option("--over", metavar="TIME", help="Length of the window: 24h (default), 7d."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Start of the window.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="End of the window: now.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="A capture that cannot be read is a failure.")
    ] = False,
    file: FromFile = None,
) -> None:
    """`kgroups lag report`."""
    from kgroups.core.lag.report import LagQuery, check_query, lag_report  # PySpark
    from kgroups.core.lag.session import SessionOptions

    options = options_of(ctx)
    printer = Printer(options)
    assignors = split_names(assignor)
    query = LagQuery(
        by=by or ("member" if assignors else "group"),
        assignors=assignors,
        top=top,
        sort=column_name(sort),
        uncommitted=uncommitted,
        isolation=isolation,
        where=where,
    )
    check_query(query)
    session = SessionOptions(master=master, remote=remote, verbose=options.verbose)
    if captures is None:
        if over or since or until or strict:
            raise UsageError(
                "`--over`, `--since`, `--until` and `--strict` need `--captures DIR`",
                hint="collect captures with `kgroups lag collect DIR`",
            )
    else:
        if file is not None:
            raise UsageError("`--captures` and `--from` exclude each other")
        from kgroups.core.lag.over_report import lag_report_over

        start_ms, end_ms = window_of(over, since, until, now_ms())
        answer = lag_report_over(
            captures,
            query,
            since_ms=start_ms,
            until_ms=end_ms,
            strict=strict,
            session=session,
            progress=printer.waiting,
        )
        show_and_end(printer, lag_document(None, query.by, answer, generated_at_ms=end_ms))
        return
    snapshot = take_snapshot(options, file=file, isolation=isolation, progress=printer.progress)
    answer = lag_report(
        [snapshot],
        query,
        session=session,
        progress=printer.waiting,
    )
    show_and_end(printer, lag_document(snapshot, query.by, answer))


def history(
    ctx: typer.Context,
    by: Annotated[
        HistoryGrouping, typer.Option("--by", metavar="KEY", help="What a row stands for.")
    ] = "group",
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=1, help="Only the first N rows.")
    ] = DEFAULT_TOP,
    sort: Annotated[
        str | None,
        typer.Option("--sort", metavar="COLUMN", help="Most of this column first."),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="SQL", help="Only rows for which this is true."),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option("--over", metavar="TIME", help="Length of the window: 24h (default), 7d."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Start of the window.")
    ] = None,
    master: Annotated[
        str | None, typer.Option("--master", metavar="URL", help="Spark master.")
    ] = None,
    remote: Annotated[
        str | None, typer.Option("--remote", metavar="URL", help="Spark Connect server.")
    ] = None,
) -> None:
    """`kgroups lag history`."""
    from kgroups.core.kafka.offsets_topic import OffsetsTopic  # librdkafka
    from kgroups.core.lag.history_report import lag_history  # PySpark
    from kgroups.core.lag.report import LagQuery
    from kgroups.core.lag.session import SessionOptions

    options = options_of(ctx)
    printer = Printer(options)
    start_ms, _ = window_of(over, since, None, now_ms())
    query = LagQuery(by=by, top=top, sort=column_name(sort), where=where)
    with cluster(options) as admin:
        log = OffsetsTopic(admin.settings, timeout_ms=options.timeout_ms)
        snapshot = admin.snapshot(progress=printer.progress)
    answer = lag_history(
        snapshot,
        log,
        query,
        since_ms=start_ms,
        until_ms=snapshot.captured_at_ms,
        session=SessionOptions(master=master, remote=remote, verbose=options.verbose),
        progress=printer.waiting,
    )
    show_and_end(printer, lag_document(snapshot, by, answer, schema=HISTORY_SCHEMA))


def column_name(text: str | None) -> str | None:
    """A column as the report calls it, however the user spelled it."""
    return text.replace("-", "_").lower() if text else None


def show_and_end(printer: Printer, shown: Report) -> None:
    """Print the report, and end with the exit code of its errors."""
    printer.show(shown)
    end_with(shown.errors)


def window_of(
    over: str | None, since: str | None, until: str | None, now_ms: int
) -> tuple[int, int]:
    """First and last millisecond of the window that the options name; 24 hours until now.

    Raises:
        UsageError: a time that cannot be read, or `--over` beside `--since`.
    """
    if over and since:
        raise UsageError(
            "`--over` and `--since` exclude each other", hint="--over counts back from --until"
        )
    end_ms = parse_time_ms(until) if until else now_ms
    if since:
        return parse_time_ms(since), end_ms
    return end_ms - parse_span_ms(over or "24h"), end_ms


def parse_time_ms(text: str) -> int:
    """Epoch milliseconds of an ISO 8601 time; local time where it names no offset.

    Raises:
        UsageError: it is none.
    """
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError as exc:
        raise UsageError(f"`{text}` is not a time", hint="write it like 2026-11-20T22:00Z") from exc


def parse_span_ms(text: str) -> int:
    """Milliseconds of `90m`, `24h` or `7d`.

    Raises:
        UsageError: it is no length of time, or none that is more than nothing.
    """
    match = re.fullmatch(r"(\d+)([smhdw])", text.strip())
    span_ms = int(match[1]) * SPAN_UNITS_MS[match[2]] if match else 0
    if span_ms == 0:
        raise UsageError(f"`{text}` is not a length of time", hint="write it like 90m, 24h or 7d")
    return span_ms


def lag_document(
    snapshot: ClusterSnapshot | None,
    by: str,
    answer: "LagReport",
    *,
    generated_at_ms: int = 0,
    schema: str = SCHEMA,
) -> Report:
    """Spark's answer as a report; without a snapshot it is over captures."""
    columns = tuple(column_of(name) for name in answer.columns)
    return Report(
        schema=schema,
        cluster={"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap} if snapshot else None,
        generated_at_ms=snapshot.captured_at_ms if snapshot else generated_at_ms,
        items=answer.items,
        views=(View(by, columns, lambda item: [_row(item, answer.columns)]),),
        errors=(*(snapshot.errors if snapshot else ()), *answer.errors),
        summary=lambda: answer.summary,
    )


def column_of(name: str) -> Column:
    """A column of the report; the cluster's name is not repeated in a table."""
    if name == "cluster":
        return Column(name)
    return Column(name, name.upper().replace("_", "-"), right=name not in TEXT_FIELDS)


def _row(item: Item, columns: tuple[str, ...]) -> Row:
    return tuple(_rounded(item[name]) for name in columns)


def _rounded(value: Any) -> Any:
    return round(value, 1) if isinstance(value, float) else value
