"""A lag report on its way out: document, page with charts, Parquet file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kgroups.cli.exits import Note, end_with
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.outlet import check_place
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, heading, plain_view
from kgroups.cli.pages.render import write_page
from kgroups.core.errors import ItemError
from kgroups.core.extras import require_extra
from kgroups.core.lag.stores.places import Place, Store, check_file
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.times import in_seconds, timestamp

if TYPE_CHECKING:
    from kgroups.core.lag.report import LagReport

SCHEMA = "kgroups.lag.report/1"
HISTORY_SCHEMA = "kgroups.lag.history/1"

TEXT_FIELDS = frozenset(
    {"cluster", "group", "topic", "member_id", "client_id", "host", "assignor", "state", "type"}
    | {"best", "lag_seconds_method", "lag_seconds_confidence", "trend", "verdict", "verdict_rule"}
    | {"hourly", "compared", "verdict_before", "hourly_before", "best_before"}
    | {"daily", "daily_before", "monthly", "monthly_before"}
)
# In tables only where there is something to say (else the values given), and only with --verbose;
# elsewhere always.
QUIET_FIELDS = MappingProxyType(
    dict.fromkeys(
        {"lost", "unknown_partitions", "stale_partitions", "unowned_partitions"}
        | {"beyond_end_partitions", "idle_members", "planned_idle_members"}
        | {"planned_unknown_partitions", "catch_up_seconds", "retention_seconds_left"}
        | {"hourly", "hourly_before", "daily", "daily_before", "monthly", "monthly_before"},
        (0, None),
    )
    | {"lag_seconds_confidence": ("high", None)}
)
VERBOSE_FIELDS = frozenset(
    {"lag_p50", "lag_p95", "lag_p99", "skew"}
    | {"member_lag_stddev", "planned_member_lag_stddev", "partition_lag_peak"}
)
# What roll-ups are called in summaries, and the column that names the figures made of them.
ROLL_UPS = MappingProxyType({"hours": "hourly", "days": "daily", "months": "monthly"})
# Of a summary; what else is in milliseconds there is a duration.
TIMES = frozenset({"since_ms", "until_ms"} | {f"{length}_until_ms" for length in ROLL_UPS})
# What a table of two windows shows of both; with --verbose all that is compared.
COMPARED_IN_TABLES = frozenset(
    {"lag", "lag_peak", "lag_seconds", "verdict", "hourly", "daily", "monthly"}
    | {"best", "gain", "planned_lag"}
)


def lag_document(
    snapshot: ClusterSnapshot | None,
    by: str,
    answer: "LagReport",
    *,
    generated_at_ms: int = 0,
    schema: str = SCHEMA,
    failed: Sequence[ItemError] = (),
) -> Report:
    """Spark's answer as a report; without a snapshot it is over captures.

    Args:
        failed: what could not be learned beside the snapshot.
    """
    has_several = len({item.get("cluster") for item in answer.items}) > 1
    columns = tuple(column_of(name, has_several=has_several) for name in answer.columns)
    return Report(
        schema,
        answer.items,
        (plain_view(by, columns),),
        cluster={"id": snapshot.cluster_id, "bootstrap": snapshot.bootstrap} if snapshot else None,
        generated_at_ms=snapshot.captured_at_ms if snapshot else generated_at_ms,
        errors=(*(snapshot.errors if snapshot else ()), *failed, *answer.errors),
        summary=lambda: summary_item(answer.summary),
    )


def summary_item(summary: Mapping[str, Any]) -> Item:
    """A report's summary in its document."""
    ends = {name: value for name, value in summary.items() if name in TIMES}
    rest = {name: value for name, value in summary.items() if name not in TIMES}
    durations: Item = in_seconds(rest)
    return {**durations} | {
        name.removesuffix("_ms") + "_at": None if value is None else timestamp(value)
        for name, value in ends.items()
    }


def column_of(name: str, *, has_several: bool = False) -> Column:
    """A column of the report; a table does not repeat the name of the only cluster."""
    if name == "cluster":
        return Column(name, "CLUSTER" if has_several else None)
    base = name.removesuffix("_before").removesuffix("_change")
    is_detail = base != name and base not in COMPARED_IN_TABLES
    return Column(
        name,
        heading(name),
        right=name not in TEXT_FIELDS,
        quiet=QUIET_FIELDS.get(name, ()),
        verbose=name in VERBOSE_FIELDS or is_detail,
        decimals=1,
    )


def hours_note(summary: Mapping[str, Any]) -> str | None:
    """Note on hours, days and months that are rolled up; None where there are none.

    Args:
        summary: the document's.
    """
    rolled_up = [(length, column) for length, column in ROLL_UPS.items() if summary.get(length)]
    if not rolled_up:
        return None
    spans = " and ".join(
        f"{summary[length]:,} {length} until {summary[f'{length}_until_at']}"
        for length, _column in rolled_up
    )
    exact = " and ".join(
        f"columns in {column.upper()} are accurate to the {length.removesuffix('s')}"
        for length, column in rolled_up
    )
    return f"{spans} are rolled up: {exact}"


def show_and_end(printer: Printer, shown: Report) -> None:
    """Print the report, and end with the exit code of its errors."""
    note = hours_note(shown.summary())
    printer.show(shown if note is None else replace(shown, notes=[Note("ROLLED_UP", note)]))
    end_with(shown.errors)


def check_places(html: Path | None, parquet: Place | None) -> None:
    """Fails before Spark is started where a file could not be written after it.

    Raises:
        UsageError: its folder does not exist, or it is itself a folder; pages need an extra.
        NotFoundError: there is no such bucket.
        ClusterError: a store cannot be reached or entered.
    """
    if html is not None:
        require_extra("html", "`--html`")
    for file in (html, parquet):
        if isinstance(file, Store):
            check_file(file)
        elif file is not None:
            check_place(file)


def write_files(
    answer: "LagReport", shown: Report, html: Path | None, parquet: Place | None
) -> None:
    """The files that the options ask for beside what is printed.

    Raises:
        UsageError: one cannot be written.
    """
    if parquet is not None:
        from kgroups.core.lag.report_file import write_parquet

        write_parquet(parquet, answer)
    if html is not None:
        from kgroups.cli.commands.lag.lag_page import lag_page

        write_page(html, lag_page(answer, shown, hours_note(shown.summary())))
