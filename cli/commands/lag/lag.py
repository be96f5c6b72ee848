"""`kgroups lag`: reports on lag, computed by Spark or DuckDB."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer

from kgroups.cli.captures import place_of
from kgroups.cli.choosing import Choice, GroupNames, choice_of, chosen_of, snapshot_of_choice
from kgroups.cli.commands.lag.lag_answer import (
    check_places,
    lag_document,
    show_and_end,
    write_files,
)
from kgroups.cli.commands.lag.lag_collect import COLLECT_HELP, COMPACT_HELP, collect, compact
from kgroups.cli.commands.lag.lag_history import HISTORY_HELP, history
from kgroups.cli.commands.lag.lag_options import (
    DEFAULT_TOP,
    Compare,
    FailOn,
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
    conditions_on_rows,
    window_of,
)
from kgroups.cli.commands.lag.spark_line import SparkLine
from kgroups.cli.exits import now_ms
from kgroups.cli.lag_times import IsolationLevel, UncommittedAt, next_times
from kgroups.cli.output.chosen_fields import FieldNames, chosen_fields
from kgroups.cli.output.openmetrics import METRICS, TextFile
from kgroups.cli.output.printer import Printer
from kgroups.cli.pages.render import prepare_pages
from kgroups.cli.params import FromFile, GlobalOptions, HtmlFile, assignor_names, options_of
from kgroups.cli.source import asked
from kgroups.cli.usage import Texts, option
from kgroups.core.errors import ItemError, UsageError
from kgroups.core.extras import require_extra
from kgroups.core.lag.lag_query import EngineName
from kgroups.core.lag.rules import Isolation
from kgroups.core.lag.stores.places import Place, within
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.times import parse_duration_ms

Grouping = Literal["group", "topic", "partition", "member", "client", "host", "assignor"]

HELP = """Report lag across a cluster and over time, with Spark.

One group needs no Spark: `kgroups describe` shows its lag at once.
"""
REPORT_HELP = """Report lag by group, topic or member.

Reads the cluster once, live or from a snapshot, and computes the report with
Spark: on this machine, on a standalone master, or through Spark Connect.
Needs Java 17. Rows are sorted by lag, highest first. GROUP narrows what is
read to these groups: names, or globs ('old-*').

BY
  group (default)  topic  partition  member  client  host  assignor
  with --assignor: group (default)  member  client  host  assignor

EXAMPLES
  kgroups lag report --top 20
  kgroups lag report billing 'orders-*' --by partition
  kgroups lag report --by topic --output csv
  kgroups lag report --from before.json --assignor range,roundrobin
  kgroups lag report --master spark://spark:7077
  kgroups lag report --remote sc://spark:15002
  kgroups lag report --captures ~/captures --over 6h --sort lag_seconds
  kgroups lag report --captures ~/captures --sql "verdict = 'STOP'"
  kgroups lag report --captures ~/captures --fail-on 'lag_seconds > 5m'
  kgroups lag report --captures ~/captures --over 7d --html lag.html
  kgroups lag report --captures ~/captures --engine duckdb
  kgroups lag report --captures s3://metrics/captures --over 6h
  kgroups lag report --captures ~/captures --compare 7d --top 10

DETAILS
With --captures DIR the report covers a window of time, from the captures of
`lag collect`. It adds rates, lag in seconds with the method that found it,
time to catch up, trend, Burrow's verdict with its rule, and the time until
retention reaches the commit. TIME is 2026-11-20T22:00Z (with its zone), or 2h
for two hours ago.

--compare 7d sets each row beside the same window 7 days before: figures now,
_before and their _change, the highest growth of lag first. Rows are in both,
new or gone. It fails if nothing was captured then (exit code 5). With
--assignor both windows are planned.

With --assignor A[,B] every group is also planned with these assignors. The
report then starts with the groups that would gain most, from the assignor or
from one more member, and shows planned lag (planned_...) beside lag as it is;
with --captures, also the rates of members.

--isolation read_committed measures lag, rates and times to the last stable
offset. Captures and snapshots without it are refused (exit code 2).

--record-times fetches the next record of each lagging partition from the
cluster as it is now, for an exact lag in seconds.

--fail-on exits with 6 if a row meets a condition (the language of `kgroups
check`, on the columns of the report), whether it is among the rows shown or
not. --sql is SQL.

--engine duckdb answers reports on captures in a second or two, without Java;
a context may set it (`engine: duckdb`). Live reports, --assignor and captures
of hundreds of millions of rows are for Spark.

--output openmetrics prints the rows shown as Prometheus metrics, and
--textfile writes them to a file for node_exporter.

--html writes one page with charts that opens offline; --parquet writes the
rows with their types.
"""


def report(
    ctx: typer.Context,
    groups: GroupNames = None,
    by: Annotated[Grouping | None, option("--by KEY", "Group rows by this.")] = None,
    assignor: Annotated[Texts, option("--assignor NAME", "Also plan with these assignors.")] = None,
    top: Top = DEFAULT_TOP,
    sort: Sort = None,
    sql: Sql = None,
    fail_on: FailOn = None,
    uncommitted: UncommittedAt = None,
    isolation: IsolationLevel = "read_uncommitted",
    captures: Annotated[
        Any,
        option(
            "--captures DIR",
            "Report on captures of `lag collect`, in a folder or at a URI.",
            parser=place_of,
        ),
    ] = None,
    over: Over = None,
    since: Since = None,
    until: Until = None,
    compare: Compare = None,
    strict: Annotated[bool, option("--strict", "Fail if a capture cannot be read.")] = False,
    record_times: RecordTimesToo = False,
    html: HtmlFile = None,
    parquet: ParquetFile = None,
    engine: Annotated[
        EngineName | None, option("--engine", "Who computes a report on captures (default: spark).")
    ] = None,
    master: Master = None,
    remote: Remote = None,
    conf: SparkConf = None,
    fields: FieldNames = None,
    textfile: TextFile = None,
    file: FromFile = None,
) -> None:
    options, choice = options_of(ctx), choice_of(groups, every=not groups)
    is_for_spark = bool(master or remote or conf)
    is_plain = captures is not None and not assignor
    engine = _engine_of(options, engine, is_for_spark=is_for_spark, is_plain=is_plain)
    from kgroups.core.lag.report import LagQuery, check_query, lag_report  # Arrow
    from kgroups.core.lag.report_columns import report_columns

    printer = Printer(options, own_forms=METRICS, textfile=textfile)
    captures = captures and within(captures, options.timeout_ms)
    parquet = parquet and within(parquet, options.timeout_ms)
    check_places(html, parquet)
    query = LagQuery(
        by=by or "group",
        assignors=assignor_names(assignor),
        top=top,
        sort=column_name(sort, "lag.report"),
        uncommitted=uncommitted,
        isolation=isolation,
        sql=sql,
        fail_on=conditions_on_rows(fail_on or ()),
        pictures=html is not None,
        times=record_times,
        compare_ms=0 if compare is None else round(parse_duration_ms(compare, least_ms=1_000)),
        leader_of=lambda group: infer_leader(Evidence(group)).likeliest,
    )
    source: Literal["snapshot", "captures"] = "snapshot" if captures is None else "captures"
    has_window = bool(over or since or until or strict or compare)
    _check_source(captures, file, has_window=has_window, record_times=record_times)
    check_query(query, source, engine)
    chosen = chosen_fields(fields, options, report_columns(query, source))
    line = SparkLine(printer)
    session = line.session(master, remote, conf) if engine == "spark" else None
    if html is not None:
        prepare_pages()
    if captures is None:
        snapshot, times, failed = _looked(
            printer, choice, file, isolation, record_times=record_times
        )
        answer = lag_report(
            [snapshot], query, session=session, progress=line.step, record_times=times
        )
        shown = lag_document(snapshot, query.by, answer, failed=failed)
    else:
        from kgroups.core.lag.window.window_report import lag_report_over

        start_ms, end_ms = window_of(over, since, until, now_ms())
        answer = lag_report_over(
            captures,
            query,
            since_ms=start_ms,
            until_ms=end_ms,
            choose=None if choice.every else partial(chosen_of, choice, where=f"`{captures}`"),
            strict=strict,
            engine=engine,
            session=session,
            progress=line.step,
        )
        shown = lag_document(None, query.by, answer, generated_at_ms=end_ms)
    write_files(answer, shown, html, parquet)
    show_and_end(printer, chosen.of(shown))


def _looked(
    printer: Printer, choice: Choice, file: Path | None, isolation: Isolation, *, record_times: bool
) -> tuple[ClusterSnapshot, Mapping[tuple[str, int, int], int], tuple[ItemError, ...]]:
    """The groups that are meant, of the cluster or of a file, and what `next_times` says of them.

    Args:
        record_times: whether that is asked for.
    """
    with asked(printer.options, file) as admin:
        snapshot = snapshot_of_choice(
            admin, choice, file=file, isolation=isolation, progress=printer.progress
        )
        if admin is None or not record_times:
            return snapshot, {}, ()
        return snapshot, *next_times(admin, snapshot, printer, printer.waiting)


def _engine_of(
    options: GlobalOptions, engine: EngineName | None, *, is_for_spark: bool, is_plain: bool
) -> EngineName:
    """Who computes the report: as the option says; what a context prefers is for what it can do.

    Args:
        is_for_spark: whether other options say where Spark runs.
        is_plain: whether it is on captures, without planned assignments.
    """
    if engine is None:
        preferred: EngineName | None = options.context.engine if options.context else None
        engine = preferred if preferred and is_plain and not is_for_spark else "spark"
    elif engine == "duckdb" and is_for_spark:
        raise UsageError("`--engine duckdb` cannot be used with `--master`, `--remote` or `--conf`")
    require_extra(engine, "`lag report`" if engine == "spark" else "`--engine duckdb`")
    return engine


def _check_source(
    captures: Place | None, file: Path | None, *, has_window: bool, record_times: bool
) -> None:
    if captures is not None:
        if file is not None or record_times:
            raise UsageError("`--captures` cannot be used with `--from` or `--record-times`")
        return
    if has_window:
        raise UsageError(
            "`--over`, `--since`, `--until`, `--compare` and `--strict` require `--captures DIR`",
            hint="collect captures with `kgroups lag collect DIR`",
        )
    if record_times and file is not None:
        raise UsageError(
            "`--record-times` and `--from` cannot be used together",
            hint="`--record-times` reads the cluster as it is now",
        )


COMMANDS: Final = {
    "report": (REPORT_HELP, report),
    "history": (HISTORY_HELP, history),
    "collect": (COLLECT_HELP, collect),
    "compact": (COMPACT_HELP, compact),
}
