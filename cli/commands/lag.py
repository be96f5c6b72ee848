"""`kgroups lag`: reports on lag, computed by Spark."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from kgroups.cli.exits import end_with
from kgroups.cli.output import Printer, Report
from kgroups.cli.params import FromFile, options_of, split_names
from kgroups.cli.source import take_snapshot
from kgroups.cli.table import Column, Item, Row, View
from kgroups.cli.tree import Command, Noun
from kgroups.core.lag.arithmetic import Isolation, Uncommitted
from kgroups.core.snapshot import ClusterSnapshot

if TYPE_CHECKING:
    from kgroups.core.lag.report import LagReport

SCHEMA = "kgroups.lag.report/1"
DEFAULT_TOP = 100

Grouping = Literal["group", "topic", "partition", "member", "client", "host", "assignor"]

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

With --assignor A[,B] every group is planned with these assignors too, and the
report shows lag as it is beside lag as it would be (planned_...).

EXAMPLES
  kgroups lag report --top 20
  kgroups lag report --by topic --output csv
  kgroups lag report --from before.json --assignor range,roundrobin
  kgroups lag report --master spark://spark:7077
  kgroups lag report --remote sc://spark:15002
"""

TEXT_FIELDS = frozenset(
    {"cluster", "group", "topic", "member_id", "client_id", "host", "assignor", "state", "type"}
)


def register(app: typer.Typer) -> None:
    """Add `lag report` to the program."""
    noun = typer.Typer(cls=Noun, help=HELP, no_args_is_help=True, rich_markup_mode=None)
    noun.command("report", help=REPORT_HELP, cls=Command)(report)
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
        sort=sort.replace("-", "_").lower() if sort else None,
        uncommitted=uncommitted,
        isolation=isolation,
    )
    check_query(query)
    snapshot = take_snapshot(options, file=file, isolation=isolation, progress=printer.progress)
    answer = lag_report(
        [snapshot],
        query,
        session=SessionOptions(master=master, remote=remote, verbose=options.verbose),
        progress=printer.waiting,
    )
    shown = lag_document(snapshot, query.by, answer)
    printer.show(shown)
    end_with(shown.errors)


def lag_document(snapshot: ClusterSnapshot, by: str, answer: "LagReport") -> Report:
    """Spark's answer as a `kgroups.lag.report/1` report."""
    columns = tuple(column_of(name) for name in answer.columns)
    return Report(
        schema=SCHEMA,
        cluster={"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap},
        generated_at_ms=snapshot.captured_at_ms,
        items=answer.items,
        views=(View(by, columns, lambda item: [_row(item, answer.columns)]),),
        errors=(*snapshot.errors, *answer.errors),
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
