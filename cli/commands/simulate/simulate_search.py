"""`kgroups simulate --search`: the settings with the least objective, and the way there."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgroups.cli.commands.simulate.simulate_report import variation_text
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.source import now_ms
from kgroups.core.errors import UsageError
from kgroups.core.extras import require_extra
from kgroups.core.times import show_ms

if TYPE_CHECKING:
    from kgroups.core.simulation.engine.sweep import Task
    from kgroups.core.simulation.figures.outcome import Outcome
    from kgroups.core.simulation.scenario.scenario_model import Scenario
    from kgroups.core.simulation.search.search import Found, Tried

SCHEMA = "kgroups.simulate.search/1"
AS_IS = "as is"
DIGITS = 3

RESULT_COLUMNS = (
    Column("which", "SETTINGS"),
    Column("value", "VALUE", right=True),
    Column("new_seeds", "NEW-SEEDS", right=True),
    Column("members", "MEMBERS", right=True),
    Column("rebalances", "REBALANCES", right=True),
    Column("unowned_ms", "UNOWNED", right=True),
    Column("read_again", "READ-AGAIN", right=True),
    Column("peak_unread", "PEAK-UNREAD", right=True),
)
PATH_COLUMNS = (
    Column("trial", "TRIAL", right=True),
    Column("variation", "SETTINGS"),
    Column("value", "VALUE", right=True),
    Column("refused", "REFUSED", quiet=(None,)),
)


def check_search(texts: Sequence[str] | None, minimise: str | None, *, alone: bool) -> None:
    """Fails before the scenario is read.

    Args:
        alone: whether no other way of running the scenario was asked for.

    Raises:
        MissingExtraError: the optimiser is not installed.
        UsageError: options that do not fit each other.
    """
    hint = "--search members=3..12 --minimise 'unowned + 10 * members'"
    if minimise is None:
        raise UsageError("`--search` requires `--minimise`", hint=hint)
    if not texts:
        raise UsageError("`--minimise` requires `--search`", hint=hint)
    if not alone:
        options = "`--timeline`, `--vary`, `--fail-on` and `--master`"
        raise UsageError("`--search` stands alone", hint=f"leave out {options}")
    require_extra("search", "`simulate --search`")


def search_settings(
    printer: Printer,
    scenario: "Scenario",
    texts: Sequence[str],
    minimise: str,
    *,
    trials: int,
    repeat: int,
    jobs: int,
    html: Path | None,
) -> None:
    """Search, and print what was found.

    Args:
        html: the page to write besides; None: none.

    Raises:
        UsageError: what varies or the objective cannot be understood, or nothing has a value.
    """
    from kgroups.core.simulation.engine.sweep import sweep
    from kgroups.core.simulation.search.objective import Objective
    from kgroups.core.simulation.search.search import Search
    from kgroups.core.simulation.search.space import parse_space

    done = 0

    def run(tasks: Sequence["Task"]) -> Iterable[tuple[int, "Outcome"]]:
        nonlocal done
        for found in sweep(tasks, jobs):
            done += 1
            printer.progress(f"{done} runs")
            yield found

    space, objective = parse_space(texts), Objective(minimise)
    found = Search(scenario, space, objective, trials=trials, repeat=repeat, run=run).carry_out()
    printer.wipe()
    items = [trial_item(one, found) for one in found.tried]
    if html is not None:
        from kgroups.cli.commands.simulate.search_page import search_page
        from kgroups.cli.pages.render import write_page

        write_page(html, search_page(scenario, minimise, found, items, done))
    show_found(printer, minimise, found, items, done)


def show_found(
    printer: Printer, minimise: str, found: "Found", items: list[dict[str, Any]], runs: int
) -> None:
    """Print the result and its path, or the document."""
    plain = printer.options.output == "csv"
    path = View("path", PATH_COLUMNS, lambda item: path_rows(item, every=plain))
    result = View("result", RESULT_COLUMNS, result_rows)
    cost = cost_of_staying(found)
    refused = sum(one.refused is not None for one in found.tried)
    if refused:
        printer.note(f"{refused} of {len(items)} trials have no value: refused, or did not settle")
    printer.note(cost_text(found, cost))
    printer.show(
        Report(
            schema=SCHEMA,
            generated_at_ms=now_ms(),
            items=items,
            views=(path,) if plain else (result, path),
            errors=(),
            summary=lambda: {
                "minimise": minimise,
                "trials": len(items) - 1,
                "runs": runs,
                "every_combination": found.whole,
                "refused": refused,
                "best": dict(found.best.variation),
                "as_is_value": rounded(found.tried[0].value),
                "best_value": rounded(found.best.value),
                "as_is_new_seeds": rounded(found.as_is_anew),
                "best_new_seeds": rounded(found.best_anew),
                "cost_of_staying": cost,
                "real": found.real,
            },
        )
    )


def cost_of_staying(found: "Found") -> float | None:
    """By how much the scenario as it is comes to more, with new seeds; None if not known."""
    if found.as_is_anew is None or found.best_anew is None:
        return None
    return round(found.as_is_anew - found.best_anew, DIGITS)


def cost_text(found: "Found", cost: float | None) -> str:
    """What it costs to stay as is, as a sentence."""
    if not found.best.variation:
        return "nothing that was tried is better than the scenario as it is"
    if cost is None:
        return "the scenario as it is has no value to compare with"
    sure = {
        True: "",
        False: "; that may be chance",
        None: "; `--repeat` tells whether it is chance",
    }
    return (
        f"staying as is costs {cost:g} more, with seeds that the search did not see"
        + (sure[found.real])
    )


def rounded(value: float | None) -> float | None:
    """A value without the noise of its arithmetic."""
    return None if value is None else round(value, DIGITS)


def trial_item(tried: "Tried", found: "Found") -> dict[str, Any]:
    """One trial as JSON; figures are those of the first group of its first run."""
    from kgroups.core.simulation.search.search import improvements

    anew = {found.best.number: found.best_anew, 0: found.as_is_anew}
    return {
        "trial": tried.number,
        "variation": dict(tried.variation),
        "value": rounded(tried.value),
        "runs": [rounded(one) for one in tried.runs],
        "improved": any(one is tried for one in improvements(found.tried)),
        "best": tried is found.best,
        "new_seeds": rounded(anew.get(tried.number)),
        "refused": tried.refused,
        "figures": figures_of(tried.outcomes),
    }


def figures_of(outcomes: Sequence["Outcome"]) -> dict[str, int] | None:
    """Medians over the runs, added up over groups; None where nothing ran."""
    from kgroups.core.simulation.figures.confidence import median
    from kgroups.core.simulation.figures.outcome_item import FIGURES

    if not outcomes:
        return None
    groups = list(zip(*(one.groups for one in outcomes), strict=True))
    found = {
        name: sum(median([read(g) for g in runs]) for runs in groups)
        for name, read in FIGURES.items()
    }
    running = [[sum(m.running for m in g.members) for g in runs] for runs in groups]
    return found | {"members": sum(median(one) for one in running)}


def result_rows(item: Item) -> list[Row]:
    """The scenario as it is, and the best."""
    if item["trial"] and not item["best"]:
        return []
    return [figure_row(item, RESULT_COLUMNS)]


def figure_row(item: Item, columns: Sequence[Column]) -> Row:
    """A trial with its figures."""
    figures = item["figures"] or {}
    shown = {**figures, "which": variation_text(item["variation"]) or AS_IS}
    shown |= {name: number_text(item[name]) for name in ("value", "new_seeds")}
    unowned = figures.get("unowned_ms")
    shown["unowned_ms"] = show_ms(unowned) if unowned else unowned
    shown["refused"] = item["refused"]
    return tuple(shown.get(column.field) for column in columns)


def path_rows(item: Item, *, every: bool) -> list[Row]:
    """What was better than all before it, or everything that was tried."""
    if not every and not item["improved"]:
        return []
    settings = variation_text(item["variation"]) or AS_IS
    return [(item["trial"], settings, number_text(item["value"]), item["refused"])]


def number_text(value: float | None) -> str | None:
    """Without a fraction that says nothing."""
    return None if value is None else f"{value:.{DIGITS}f}".rstrip("0").rstrip(".")
