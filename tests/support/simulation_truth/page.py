"""The errors of a run of the measure, as tables in docs/simulation-fidelity.md."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Final

from tests.support.fidelity.table import write_block
from tests.support.simulation_truth.carrying_out import Result
from tests.support.simulation_truth.comparison import EXACT, MEASURES, error, outside, span

PAGE: Final = Path(__file__).parents[3] / "docs" / "simulation-fidelity.md"
MARK: Final = "simulation-fidelity"


def tables(results: Sequence[Result]) -> str:
    """Every error, as Markdown: of each figure, by library, by what happened; and what is off."""
    compared = [one for one in results if one.real is not None]
    parts = [
        _head(results, compared),
        _figures(compared),
        _grouped("library", compared, lambda one: one.row.library),
        _grouped("what happens", compared, lambda one: one.row.kind.name),
        _outside(compared),
    ]
    failed = [f"* {one.row.name}" for one in results if one.real is None]
    if failed:
        parts += ["Clients could not be made to do these:", "\n".join(failed)]
    return "\n\n".join(parts)


def write(results: Sequence[Result]) -> None:
    """Put the tables between their marks in the page."""
    write_block(PAGE, MARK, tables(results))


def _head(results: Sequence[Result], compared: Sequence[Result]) -> str:
    right = sum(not outside(one) for one in compared)
    return f"{len(results)} scenarios, {len(compared)} compared, {right} within all bounds."


def _figures(results: Sequence[Result]) -> str:
    lines = [
        "| figure | within its bound | median error | worst error | worst in |",
        "|---|---:|---:|---:|---|",
    ]
    lines += [f"| {name} | {_within(results, name)} | | | |" for name in EXACT]
    for name, one in MEASURES.items():
        errors = [error(each, name) for each in results]
        worst = max(results, key=lambda each, name=name: error(each, name))  # type: ignore[misc]
        numbers = f"{_number(median(errors), one.unit)} | {_number(max(errors), one.unit)}"
        lines.append(f"| {name} | {_within(results, name)} | {numbers} | {worst.row.name} |")
    return "\n".join(lines)


def _within(results: Sequence[Result], name: str) -> str:
    right = sum(name not in outside(one) for one in results)
    return f"{right} of {len(results)}"


def _grouped(title: str, results: Sequence[Result], key: Callable[[Result], str]) -> str:
    """The worst errors of each group; bold where one is out of its bound."""
    names = (*EXACT, *MEASURES)
    lines = [f"| {title} | scenarios | {' | '.join(names)} |", f"|---|---:|{'---:|' * len(names)}"]
    groups: dict[str, list[Result]] = {}
    for one in results:
        groups.setdefault(key(one), []).append(one)
    for place, own in groups.items():
        cells = [_exact_cell(own, name) for name in EXACT]
        cells += [_worst_cell(own, name) for name in MEASURES]
        lines.append(f"| {place} | {len(own)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _exact_cell(results: Sequence[Result], name: str) -> str:
    wrong = sum(name in outside(one) for one in results)
    return f"**{wrong} wrong**" if wrong else "exact"


def _worst_cell(results: Sequence[Result], name: str) -> str:
    text = _number(max(error(one, name) for one in results), MEASURES[name].unit)
    return f"**{text}**" if any(name in outside(one) for one in results) else text


def _outside(results: Iterable[Result]) -> str:
    lines = ["| out of bounds | figure | simulated | real |", "|---|---|---:|---:|"]
    for one in results:
        lines += [_outside_line(one, name) for name in outside(one)]
    return "\n".join(lines)


def _outside_line(result: Result, name: str) -> str:
    assert result.real is not None
    if name in EXACT:
        of = EXACT[name]
        said = " or ".join(sorted({_plain(of(one)) for one in result.simulated}))
        return f"| {result.row.name} | {name} | {said} | {_plain(of(result.real))} |"
    unit = MEASURES[name].unit
    least, greatest = (_number(each, unit) for each in span(result, name))
    said = least if least == greatest else f"{least} to {greatest}"
    real = _number(MEASURES[name].of(result.real), unit)
    return f"| {result.row.name} | {name} | {said} | {real} |"


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _number(value: float, unit: str) -> str:
    return f"{value:.1f} s" if unit == "s" else f"{value:.0f}"
