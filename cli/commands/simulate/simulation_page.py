"""The page of a simulation: figures, who owned what over time, lag, and the tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgroups.cli.commands.simulate.simulate_report import variation_text
from kgroups.cli.output.table import View
from kgroups.cli.pages.charts import lines, spans
from kgroups.cli.pages.page import Figure, Page, Section, Table
from kgroups.core.errors import ItemError
from kgroups.core.simulation.figures.outcome import GroupOutcome, Outcome
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.times import show_ms

# More lanes than these cannot be told apart.
MAX_LANES = 60
MAX_SPANS = 600


def simulation_page(
    scenario: Scenario,
    items: Sequence[Mapping[str, Any]],
    runs: Sequence[Sequence[Outcome]],
    views: Sequence[View],
    errors: Sequence[ItemError],
) -> Page:
    """The page of all variations; pictures are of the first run of each.

    Args:
        items: one a variation and group, in the order of `runs`.
        views: tables to show.
    """
    groups = [group for outcomes in runs for group in outcomes[0].groups]
    named = [(_name(item), group) for item, group in zip(items, groups, strict=True)]
    marks = [(at_ms / 1_000, name) for at_ms, name in runs[0][0].moments]
    kind, short = _short_names(items)
    labelled = [(name, group) for name, (_, group) in zip(short, named, strict=True)]
    sections = [Section("Unread records", (_unread(labelled, kind, marks),))]
    sections += [Section(name, _pictures(group, marks)) for name, group in named]
    tables = [Table(view.headings, view.rows_of(items), view.name) for view in views]
    sections.append(Section("Figures", tables))
    first = runs[0][0]
    return Page(
        title="Rebalances in virtual time",
        lead=f"{scenario.name or 'A scenario'}, seed {scenario.seed}, "
        f"{show_ms(first.end_ms)} of virtual time.",
        facts=[
            ("runs", f"{sum(len(outcomes) for outcomes in runs):,}"),
            ("groups", f"{len(scenario.groups):,}"),
            ("members", f"{sum(len(group.members) for group in scenario.groups):,}"),
            ("events", f"{sum(first.events.values()):,}"),
        ],
        sections=sections,
        notes=[
            *(f"measured: {text}" for text in scenario.measured),
            *(f"assumed: {text}" for text in scenario.assumed),
            *(f"{error.target}: {error.message}" for error in errors),
        ],
    )


def _name(item: Mapping[str, Any]) -> str:
    variation = variation_text(item["variation"])
    return f"{item['group']}: {variation}" if variation else str(item["group"])


def _short_names(items: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """The title of a legend and its labels: only what differs, so that none is cut before it."""
    groups = {item["group"] for item in items}
    varied: dict[str, set[str]] = {}
    for item in items:
        for name, value in (item["variation"] or {}).items():
            varied.setdefault(name, set()).add(value)
    differing = [name for name, values in varied.items() if len(values) > 1]
    parts = ["group"] if len(groups) > 1 or not differing else []
    labels = []
    for item in items:
        own = [item["group"]] if parts else []
        own += [item["variation"][name] for name in differing]
        labels.append(", ".join(own))
    return ", ".join([*parts, *differing]), labels


def _unread(
    named: Sequence[tuple[str, GroupOutcome]], kind: str, marks: Sequence[tuple[float, str]]
) -> Figure:
    rows = [
        (sample.at_ms / 1_000, name, float(sample.unread))
        for name, group in named
        for sample in group.samples
    ]
    peaks = ", ".join(f"{name} {group.peak_unread:,}" for name, group in named[:8])
    return lines(
        "Unread records over time",
        f"Most unread records: {peaks}. Dashed lines are events.",
        rows,
        unit="records",
        axis="seconds",
        kind=kind,
        marks=marks,
    )


def _pictures(group: GroupOutcome, marks: Sequence[tuple[float, str]]) -> list[Figure]:
    """Rebalances and owners of one group over time."""
    figures = []
    if group.rebalances:
        rows = [
            (
                f"epoch {rebalance.epoch}" if rebalance.epoch is not None else "not over",
                rebalance.at_ms / 1_000,
                (rebalance.at_ms if rebalance.until_ms is None else rebalance.until_ms) / 1_000,
                rebalance.cause,
            )
            for rebalance in group.rebalances[:MAX_LANES]
        ]
        figures.append(
            spans(
                "Rebalances",
                f"{group.rebalance_count} rebalances, from their causes until everybody was "
                "settled and everything owned.",
                rows,
                lane="epoch",
                kind="cause",
                marks=marks,
            )
        )
    lanes = {f"{o.partition.topic}-{o.partition.partition}": None for o in group.owned}
    shown = set(list(lanes)[:MAX_LANES])
    owners = [
        (f"{o.partition.topic}-{o.partition.partition}", o.from_ms / 1_000, o.to_ms / 1_000, o.seat)
        for o in sorted(group.owned)
    ]
    owners = [row for row in owners if row[0] in shown][:MAX_SPANS]
    if owners:
        figures.append(
            spans(
                "Owners of partitions",
                f"{group.moved} times a partition went to another member; partitions were "
                f"without an owner for {show_ms(group.unowned_ms)} in all.",
                owners,
                lane="partition",
                kind="member",
                marks=marks,
            )
        )
    return figures
