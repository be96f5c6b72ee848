"""The trials of a search as rows and as JSON, and what it costs to stay as is."""

from collections.abc import Iterator, Sequence
from typing import Any

from kgroups.cli.commands.simulate.simulate_report import variation_text
from kgroups.cli.output.table import Column, Item, plain_view
from kgroups.core.simulation.figures.confidence import median
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.simulation.figures.outcome_item import FIGURES
from kgroups.core.simulation.search.search import Found, Tried, improvements
from kgroups.core.times import in_seconds, show_ms

AS_IS = "as is"
DIGITS = 3

RESULT_COLUMNS = (
    Column("variation", "SETTINGS"),
    Column("value", "VALUE", right=True),
    Column("new_seeds", "NEW-SEEDS", right=True),
    Column("member_count", "MEMBERS", right=True),
    Column("rebalances", "REBALANCES", right=True),
    Column("unowned_seconds", "UNOWNED", right=True),
    Column("read_again", "READ-AGAIN", right=True),
    Column("peak_unread", "PEAK-UNREAD", right=True),
)
PATH_COLUMNS = (
    Column("trial", "TRIAL", right=True),
    Column("variation", "SETTINGS"),
    Column("value", "VALUE", right=True),
    Column("refused", "REFUSED", quiet=(None,)),
)


def cost_of_staying(result: Found) -> float | None:
    """By how much the scenario as it is comes to more, with new seeds; None if not known."""
    if result.as_is_anew is None or result.best_anew is None:
        return None
    return round(result.as_is_anew - result.best_anew, DIGITS)


def cost_text(result: Found, cost: float | None) -> str:
    """Cost of staying as is, as a sentence."""
    if not result.best.variation:
        return "nothing that was tried is better than the scenario as it is"
    if cost is None:
        return "the scenario as it is has no value to compare with"
    sure = {
        True: "",
        False: "; that may be chance",
        None: "; `--repeat` tells whether it is chance",
    }
    return (
        f"on unseen seeds, keeping the current settings costs {cost:.4g} more" + (sure[result.real])
    )


def rounded(value: float | None) -> float | None:
    """A value without the noise of its arithmetic."""
    return None if value is None else round(value, DIGITS)


def trial_item(tried: Tried, result: Found) -> dict[str, Any]:
    """One trial as JSON, with its figures."""
    anew = {result.best.number: result.best_anew, 0: result.as_is_anew}
    return {
        "trial": tried.number,
        "variation": dict(tried.variation),
        "value": rounded(tried.value),
        "runs": [rounded(run) for run in tried.runs],
        "improved": any(better is tried for better in improvements(result.tried)),
        "best": tried is result.best,
        "new_seeds": rounded(anew.get(tried.number)),
        "refused": tried.refused,
        "figures": figures_of(tried.outcomes),
    }


def figures_of(outcomes: Sequence[Outcome]) -> Item | None:
    """Medians over the runs, added up over groups; None where nothing ran."""
    if not outcomes:
        return None
    groups = list(zip(*(outcome.groups for outcome in outcomes), strict=True))
    medians = {
        name: sum(median([read(g) for g in runs]) for runs in groups)
        for name, read in FIGURES.items()
    }
    running = [[sum(m.running for m in g.members) for g in runs] for runs in groups]
    figures: Item = in_seconds(medians)
    return {**figures, "member_count": sum(median(values) for values in running)}


def _result(item: Item) -> Iterator[Item]:
    if item["best"] or not item["trial"]:
        yield from _trial(item)


def _improved(item: Item) -> Iterator[Item]:
    """Trials that were better than all before them."""
    if item["improved"]:
        yield from _trial(item)


def _trial(item: Item) -> Iterator[Item]:
    row = {**item, **(item["figures"] or {}), "variation": settings_text(item)}
    unowned = row.get("unowned_seconds")
    row["unowned_seconds"] = show_ms(1_000 * unowned) if unowned else unowned and 0
    yield row | {name: number_text(item[name]) for name in ("value", "new_seeds")}


RESULTS = plain_view("result", RESULT_COLUMNS, _result)
PATH = plain_view("path", PATH_COLUMNS, _improved)
EVERY_STEP = plain_view("path", PATH_COLUMNS, _trial)
TRIALS = plain_view(
    "trial", (PATH_COLUMNS[0], *RESULT_COLUMNS, Column("refused", "REFUSED")), _trial
)


def settings_text(item: Item) -> str:
    """`members=3`, or that nothing was changed."""
    return variation_text(item["variation"]) or AS_IS


def number_text(value: float | None) -> str | None:
    """Without a fraction that says nothing."""
    return None if value is None else f"{value:.{DIGITS}f}".rstrip("0").rstrip(".")
