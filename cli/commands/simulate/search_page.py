"""The page of a search: today's settings beside the best, the path there, and every trial."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgroups.cli.commands.simulate.search_rows import (
    PATH,
    RESULTS,
    TRIALS,
    cost_of_staying,
    cost_text,
    number_text,
    settings_text,
)
from kgroups.cli.output.table import View
from kgroups.cli.pages.charts import bars, descent
from kgroups.cli.pages.page import Figure, Page, Section, Table
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.search.search import Found


def search_page(
    scenario: Scenario,
    minimise: str,
    result: Found,
    items: Sequence[Mapping[str, Any]],
    runs: int,
) -> Page:
    """The page of a search.

    Args:
        runs: how many there were in all.
    """
    cost = cost_text(result, cost_of_staying(result))
    best = next(item for item in items if item["best"])
    return Page(
        title="A search over settings",
        lead=f"{scenario.name or 'A scenario'}, seed {scenario.seed}: the least of {minimise}, "
        "durations in seconds.",
        facts=[
            ("as is", _shown(items[0]["value"])),
            ("best", _shown(best["value"])),
            ("cost of keeping the current settings", _shown(cost_of_staying(result))),
            ("trials", f"{len(items) - 1:,}"),
            ("runs", f"{runs:,}"),
        ],
        sections=[
            Section(
                "As is, and the best",
                [*_compared(items), _table("As is, and the best", RESULTS, items)],
                f"{cost[0].upper()}{cost[1:]}.",
            ),
            Section("Path", (_path(items), _table("Better than all before", PATH, items))),
            Section("Trials", (_table("Every trial", TRIALS, items),)),
        ],
        notes=[
            *(f"measured: {text}" for text in scenario.measured),
            *(f"assumed: {text}" for text in scenario.assumed),
        ],
    )


def _shown(value: float | None) -> str:
    return number_text(value) or "\N{EN DASH}"


def _table(caption: str, view: View, items: Sequence[Mapping[str, Any]]) -> Table:
    return Table(view.headings, view.rows_of(items), caption)


def _compared(items: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Both with seeds that the search has not seen; nothing where one has no value there."""
    shown = [item for item in items if item["new_seeds"] is not None]
    if len(shown) < 2:  # today's settings and the best
        return []
    rows = [(settings_text(item), item["new_seeds"]) for item in shown]
    figures = ", ".join(f"{name} {number_text(value)}" for name, value in rows)
    summary = f"With seeds that the search has not seen: {figures}."
    return [bars("Value with new seeds", summary, rows, unit="value", lane="settings")]


def _path(items: Sequence[Mapping[str, Any]]) -> Figure:
    """Every trial's value, and the least until then."""
    rows: list[tuple[int, str, float | None, float | None]] = []
    least: float | None = None
    for item in items:
        if item["improved"]:
            least = item["value"]
        rows.append((item["trial"], settings_text(item), item["value"], least))
    improved = sum(item["improved"] for item in items)
    refused = sum(item["refused"] is not None for item in items)
    summary = (
        f"{len(items) - 1:,} trials after the scenario as it is (0). The line falls where a trial "
        f"was better than all before it, {max(improved - 1, 0)} times; {refused} have no value."
    )
    return descent("Value of each trial", summary, rows, unit="value")
