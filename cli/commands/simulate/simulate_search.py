"""`kgroups simulate --search`: the settings with the least objective, and the way there."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kgroups.cli.commands.simulate.search_rows import (
    EVERY_STEP,
    PATH,
    RESULTS,
    cost_of_staying,
    cost_text,
    rounded,
    trial_item,
)
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.pages.render import write_page
from kgroups.core.errors import UsageError
from kgroups.core.extras import require_extra
from kgroups.core.simulation.engine.sweep import Task, sweep
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.search.objective import Objective
from kgroups.core.simulation.search.search import Found, Search
from kgroups.core.simulation.search.space import parse_space

SCHEMA = "kgroups.simulate.search/1"


def check_search(texts: Sequence[str] | None, minimise: str | None, *, alone: bool) -> None:
    """Fails before the scenario is read.

    Args:
        alone: whether no other way of running the scenario was asked for.

    Raises:
        MissingExtraError: the optimiser is not installed.
        UsageError: options that do not fit each other.
    """
    hint = "--search members=3..12 --minimise 'unowned_seconds + 10 * member_count'"
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
    scenario: Scenario,
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
    done = 0

    def run(tasks: Sequence[Task]) -> Iterable[tuple[int, Outcome]]:
        nonlocal done
        for outcome in sweep(tasks, jobs):
            done += 1
            printer.progress(f"{done} runs")
            yield outcome

    space, objective = parse_space(texts), Objective(minimise)
    result = Search(scenario, space, objective, trials=trials, repeat=repeat, run=run).carry_out()
    printer.wipe()
    items = [trial_item(trial, result) for trial in result.tried]
    if html is not None:
        from kgroups.cli.commands.simulate.search_page import search_page

        write_page(html, search_page(scenario, minimise, result, items, done))
    show_found(printer, minimise, result, items, done)


def show_found(
    printer: Printer, minimise: str, result: Found, items: list[dict[str, Any]], runs: int
) -> None:
    """Print the result and its path, or the document."""
    cost = cost_of_staying(result)
    refused = sum(trial.refused is not None for trial in result.tried)
    if refused:
        text = f"{refused} of {len(items)} trials have no value: refused, or did not settle"
        printer.note("TRIALS_WITHOUT_VALUE", text)
    printer.note("COST_OF_STAYING", cost_text(result, cost))
    printer.show(
        Report(
            SCHEMA,
            items,
            (EVERY_STEP,) if printer.options.output == "csv" else (RESULTS, PATH),
            summary=lambda: {
                "minimise": minimise,
                "trials": len(items) - 1,
                "runs": runs,
                "every_combination": result.whole,
                "refused": refused,
                "best": dict(result.best.variation),
                "as_is_value": rounded(result.tried[0].value),
                "best_value": rounded(result.best.value),
                "as_is_new_seeds": rounded(result.as_is_anew),
                "best_new_seeds": rounded(result.best_anew),
                "cost_of_staying": cost,
                "real": result.real,
            },
        )
    )
