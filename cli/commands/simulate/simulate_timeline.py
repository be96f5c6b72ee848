"""`kgroups simulate --timeline`: a run's lines as they happen."""

from collections.abc import Iterator
from typing import Any

from kgroups.cli.commands.simulate.simulate_checks import run_failures
from kgroups.cli.commands.simulate.simulate_report import LINE_COLUMNS, line_text
from kgroups.cli.exits import show_item_errors
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer, write_text
from kgroups.cli.output.table import plain_view
from kgroups.core.errors import ItemError
from kgroups.core.simulation.engine.run import Run
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.simulation.scenario.scenario_model import Scenario

TIMELINE_SCHEMA = "kgroups.simulate.timeline/1"


def show_timeline(printer: Printer, scenario: Scenario) -> list[ItemError]:
    """Print a run's lines as they happen."""
    errors: list[ItemError] = []
    ended: list[Outcome] = []
    run = Run(scenario, scenario.seed)

    def lines() -> Iterator[dict[str, Any]]:
        outcome = yield from map_lines(run, every_request=printer.options.verbose)
        errors.extend(run_failures(outcome))
        ended.append(outcome)

    if printer.options.output == "table":
        for item in lines():
            write_text(line_text(item))
        show_item_errors(errors)
        return errors
    report = Report(
        TIMELINE_SCHEMA,
        lines(),
        (plain_view("timeline", LINE_COLUMNS),),
        errors=errors,
        summary=lambda: {
            "seed": scenario.seed,
            "end_seconds": ended[0].end_ms / 1_000,
            "settled": ended[0].settled,
        },
    )
    printer.show(report)
    return errors


def map_lines(run: Any, *, every_request: bool) -> Any:
    """The lines of a run as items; gives back its outcome."""
    lines = run.lines(every_request)
    while True:
        try:
            at_ms, group, who, kind, text = next(lines)
        except StopIteration as end:
            return end.value
        yield {"at_seconds": at_ms / 1_000, "group": group, "who": who, "what": kind, "text": text}
