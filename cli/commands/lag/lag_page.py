"""The page of a lag report: its main figures, charts, and the rows of the report."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kgroups.cli.output.envelope import Report
from kgroups.cli.pages.charts import bars, heat_map, lines, shares
from kgroups.cli.pages.page import Figure, Page, Section, Table
from kgroups.core.lag.pictures import Pictures
from kgroups.core.times import timestamp

if TYPE_CHECKING:
    from kgroups.core.lag.report import LagReport

# Good is green, what needs a look amber, what needs a person red; each is written out too.
VERDICT_COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "OK": "#009e73",
        "WARN": "#e69f00",
        "STALL": "#d55e00",
        "STOP": "#d55e00",
        "REWIND": "#cc79a7",
        "BEYOND_END": "#cc79a7",
        "not known": "#999999",
        "ok": "#009e73",
        "no_commit": "#999999",
        "unknown": "#999999",
        "below_log_start": "#d55e00",
        "beyond_end": "#cc79a7",
        "topic_missing": "#e69f00",
        "leaderless": "#e69f00",
    }
)
SUMMARY_FACTS = (
    *("groups", "member_count", "partitions", "lag", "lag_max", "lost"),
    *("unknown_partitions", "unowned_partitions", "beyond_end_partitions"),
)
UNASSIGNED = "unassigned"


def lag_page(answer: "LagReport", shown: Report, note: str | None = None) -> Page:
    """The page of a report.

    Args:
        answer: with `pictures`.
        shown: the document that is printed, of the same rows.
    """
    assert answer.pictures is not None
    figures = figures_of(answer.pictures)
    view = shown.views[0]
    rows = Table(
        view.headings,
        [
            tuple(c.for_people(value) for c, value in zip(view.columns, row, strict=True))
            for row in view.rows_of(answer.items)
        ],
        f"The first {len(answer.items):,} rows by {view.name}",
    )
    sections = [Section("Charts", figures)] if figures else []
    sections.append(Section(f"Report by {view.name}", (rows,)))
    summary = shown.summary()
    facts = [
        (name.replace("_", " "), "\N{EN DASH}" if summary[name] is None else f"{summary[name]:,}")
        for name in SUMMARY_FACTS
        if name in summary
    ]
    notes = [] if note is None else [note]
    notes += [f"{error.target}: {error.message}" for error in shown.errors]
    return Page(
        title="Lag of consumer groups",
        lead=_lead(answer, shown),
        facts=facts,
        sections=sections,
        notes=notes,
    )


def _lead(answer: "LagReport", shown: Report) -> str:
    """Of what, and from when."""
    summary = shown.summary()
    cluster = (shown.cluster or {}).get("id") or (shown.cluster or {}).get("bootstrap")
    names = sorted({row["cluster"] for row in answer.items if row.get("cluster")})
    where = cluster or ", ".join(names) or "no cluster"
    if "since_at" in summary:
        return f"{where}, from {summary['since_at']} to {summary['until_at']}"
    return f"{where}, at {timestamp(shown.generated_at_ms)}"


def figures_of(pictures: Pictures) -> list[Figure]:
    """The charts that there is something for."""
    makers = (
        (pictures.over_time, lag_over_time),
        (pictures.verdicts, verdicts),
        (pictures.partitions, partitions),
        (pictures.members, members),
    )
    return [make(rows) for rows, make in makers if rows]


def lag_over_time(rows: Sequence[dict[str, Any]]) -> Figure:
    """Lag of the groups with most lag, over the window."""
    name = namer(rows)
    points = [(row["at_ms"], name(row), row["lag"]) for row in rows]
    lives: dict[str, list[tuple[int, int]]] = {}
    for at_ms, group, lag in points:
        if lag is not None:
            lives.setdefault(group, []).append((lag, at_ms))
    said = [_life(group, life) for group, life in lives.items()]
    summary = f"Lag in records of the {len({p[1] for p in points})} groups with most lag"
    summary += f": {'; '.join(said)}." if said else "; none of it is known."
    return lines("Lag over time", summary, points, unit="lag (records)", kind="group")


def _life(group: str, life: Sequence[tuple[int, int]]) -> str:
    """A group's line in words: where it begins, its peak and when, where it ends."""
    (first, _), (last, _) = life[0], life[-1]
    peak, at_ms = max(life)
    return f"{group} from {first:,} to {last:,}, at most {peak:,} at {timestamp(at_ms)[11:16]}"


def verdicts(rows: Sequence[dict[str, Any]]) -> Figure:
    """How many partitions have each verdict, or each status where there is but one capture."""
    is_window = "verdict" in rows[0]
    field = "verdict" if is_window else "lag_status"
    heading = "Verdicts" if is_window else "State of the partitions"
    said = [f"{row[field]} {row['partitions']:,} in {row['groups']:,} groups" for row in rows]
    counts = [(row[field], row["partitions"]) for row in rows]
    summary = f"Partitions by {field.replace('_', ' ')}: {'; '.join(said)}."
    return bars(heading, summary, counts, unit="partitions", lane=field, colours=VERDICT_COLOURS)


def partitions(rows: Sequence[dict[str, Any]]) -> Figure:
    """Lag by partition of the topics with most."""
    name = namer(rows)
    cells = [(f"{name(row)} / {row['topic']}", row["partition"], row["lag"]) for row in rows]
    measured = [cell for cell in cells if cell[2] is not None]
    summary = f"Lag of {len(cells):,} partitions, a line for each group and topic"
    if measured:
        lane, number, lag = max(measured, key=lambda cell: cell[2])
        summary += f"; the most, {lag:,} records, is in {lane} partition {number}"
    unknown = len(cells) - len(measured)
    summary += f"; {unknown:,} not known (grey)." if unknown else "."
    return heat_map(
        "Heat map of partitions",
        summary,
        cells,
        unit="lag (records)",
        lane="group / topic",
        column="partition",
    )


def members(rows: Sequence[dict[str, Any]]) -> Figure:
    """Who holds the lag of each group."""
    name = namer(rows)
    parts = [
        (name(row), row["member_id"] or UNASSIGNED, float(row["lag"] or 0))
        for row in sorted(rows, key=lambda row: -(row["lag"] or 0))
    ]
    totals: dict[str, float] = {}
    most: dict[str, tuple[str, float]] = {}
    for group, member, lag in parts:
        totals[group] = totals.get(group, 0.0) + lag
        most[group] = max(most.get(group, (member, lag)), (member, lag), key=lambda pair: pair[1])
    shown = [part for part in parts if totals[part[0]] > 0]
    said = [
        f"{group}: {most[group][0]} has {most[group][1] / total:.0%}"
        for group, total in totals.items()
        if total > 0
    ]
    summary = f"Each member's share of its group's lag: {'; '.join(said) or 'there is no lag'}."
    return shares("Members' share of lag", summary, shown, unit="lag", lane="group", part="member")


def namer(rows: Sequence[dict[str, Any]]) -> Any:
    """A function from a row to its group's name; with its cluster where there are several."""
    if len({row["cluster"] for row in rows}) > 1:
        return lambda row: f"{row['cluster']}: {row['group']}"
    return lambda row: row["group"]
