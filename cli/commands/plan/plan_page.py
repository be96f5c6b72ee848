"""The page of plans: who owns what before and after, step by step, and the tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kgroups.cli.commands.plan.plan_report import VIEWS, changes_in
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.table import View
from kgroups.cli.pages.charts import spans
from kgroups.cli.pages.page import Figure, Page, Section, Table
from kgroups.core.times import timestamp

Item = Mapping[str, Any]
# More lanes, and more pictures, than these nobody looks at.
MAX_LANES = 60
MAX_PICTURES = 20
MAX_ROWS = 1_000
NOBODY = "nobody"
TABLES = ("metrics", "members", "moves", "stages", "blockers")


def plan_page(report: Report, items: Sequence[Item]) -> Page:
    """The page of plans.

    Args:
        report: of the same plans, as it is printed, with its notes.
    """
    summary = report.summary()
    cluster = (report.cluster or {}).get("id") or (report.cluster or {}).get("bootstrap")
    pictures = [_section(item) for item in items[:MAX_PICTURES]]
    tables = [table for view in TABLES if (table := _table(VIEWS[view], items)).rows]
    left_out = len(items) - len(pictures)
    notes = [note.message for note in report.notes]
    notes += [error.text for error in report.errors]
    if left_out > 0:
        notes.append(f"{left_out:,} more plans are in the tables only")
    return Page(
        title="Plan of a rebalance" if len(items) == 1 else "Plans of rebalances",
        lead=f"{cluster}, at {timestamp(report.generated_at_ms)}" if cluster else "From a file.",
        facts=[(name, f"{summary[name]:,}") for name in ("groups", "plans", "moved", "kept")],
        sections=[*pictures, Section("Tables", tables)],
        notes=notes,
    )


def _section(item: Item) -> Section:
    name = item["group"] if item["assignor"] is None else f"{item['group']}: {item['assignor']}"
    figures = [figure] if (figure := _owners(item)) is not None else []
    return Section(name, figures, "" if figures else "Nothing is assigned.")


def _owners(item: Item) -> Figure | None:
    """Who owns each partition before, after each step, and in the end; what moves comes first."""
    steps = [list(changes_in(stage["moves"])) for stage in item["stages"]]
    steps = steps or [list(changes_in(item["moves"]))]
    moving = {(move["topic"], move["partition"]): None for moves in steps for move in moves}
    before = {(move["topic"], move["partition"]): move["from"] for move in item["moves"]}
    shown = list(dict.fromkeys([*moving, *before]))[:MAX_LANES]
    if not shown:
        return None
    rows = [row for place in shown for row in _lane(place, before.get(place), steps)]
    left_out = len(before.keys() | moving.keys()) - len(shown)
    events = "; ".join(f"{n} {stage['event']}" for n, stage in enumerate(item["stages"], 1))
    text = f"{item['metrics']['moved']:,} partitions move, {item['metrics']['kept']:,} stay."
    text += f" Steps: {events}." if events else " Step 0 is now, step 1 the plan."
    text += f" {left_out:,} more partitions are not drawn." if left_out else ""
    return spans("Owners of partitions", text, rows, lane="partition", kind="member", axis="step")


def _lane(
    place: tuple[str, int], owner: str | None, steps: Sequence[Sequence[Item]]
) -> Iterator[tuple[str, float, float, str]]:
    """The owners of a partition, each from the step in which it gets it to that of the next."""
    name = f"{place[0]}-{place[1]}"
    since = 0
    for number, moves in enumerate(steps, 1):
        own = (m["to"] for m in moves if (m["topic"], m["partition"]) == place)
        new = next(own, owner)
        if new != owner:
            yield name, since, number, owner or NOBODY
            owner, since = new, number
    yield name, since, len(steps) + 1, owner or NOBODY


def _table(view: View, items: Sequence[Item]) -> Table:
    """A view, without the columns that nobody is shown."""
    places = [place for place, column in enumerate(view.columns) if column.header]
    rows = [[row[place] for place in places] for row in view.rows_of(items)]
    headings = [view.columns[place].header or "" for place in places]
    return Table(headings, rows[:MAX_ROWS], f"{view.name}s", max(len(rows) - MAX_ROWS, 0))
