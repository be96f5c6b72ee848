"""The page of `simulate --search --html`: it shows what the document says, drawn by a browser."""

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kgroups.cli.output.table import heading as heading_of
from tests.support.cli.cli_files import SIMULATION
from tests.support.cli.runner import run
from tests.support.pages.browser import PHONE, PROGRAM, SCREEN, Browser

# One member costs less than two; a heartbeat that is longer than the session is refused.
SEARCH = [
    *("--search", "members=1..2", "--search", "heartbeat.interval.ms=1s,20s"),
    *("--minimise", "rebalances + member_count", "--repeat", "2", "--jobs", "1", "-o", "json"),
]
CASES = [(SCREEN, False), (SCREEN, True), (PHONE, True)] if PROGRAM else []
# Every table by its caption, as lists of texts, headings first.
TABLES = """Object.fromEntries([...document.querySelectorAll('table')].map(table => [
  table.caption.textContent,
  [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))]))"""
FACTS = """Object.fromEntries([...document.querySelectorAll('.facts > div')].map(
  pair => [pair.querySelector('dt').textContent, pair.querySelector('dd').textContent]))"""


class Searched(NamedTuple):
    """A page, and the document that was printed with it."""

    page: Path
    document: dict[str, Any]

    def charts(self) -> list[dict[str, Any]]:
        """The charts in Vega-Lite."""
        found = re.findall(
            r'<script type="application/json"[^>]*>(.*?)</script>', self.page.read_text()
        )
        return [json.loads(one) for one in found]


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """A search of four trials, two of them refused."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "deploy.yaml").write_text(SIMULATION)
    path = folder / "search.html"
    outcome = run("simulate", str(folder / "deploy.yaml"), *SEARCH, "--html", str(path))
    assert outcome.exit_code == 0, outcome.stderr
    return Searched(path, json.loads(outcome.stdout))


def settings_of(item: dict[str, Any]) -> str:
    """A trial as the page names it."""
    return " ".join(f"{name}={value}" for name, value in item["variation"].items()) or "as is"


def members_of(item: dict[str, Any]) -> str:
    """How many members ran in the end, as the page shows it."""
    return text_of(item["figures"]["member_count"])


def text_of(value: float | None) -> str:
    """A number as the page shows it."""
    return "\N{EN DASH}" if value is None else f"{value:g}"


def test_the_search_has_something_to_show(searched: Searched) -> None:
    """A path of two, a best that is not today's setting, refused trials."""
    items, summary = searched.document["items"], searched.document["summary"]
    assert [item["trial"] for item in items if item["improved"]] == [0, 1]
    assert summary["best"] == {"members": "1", "heartbeat.interval.ms": "1s"}
    assert summary["refused"] == 2
    assert summary["cost_of_staying"] > 0


def test_the_chart_is_the_path(searched: Searched) -> None:
    """Each trial's value, none of refused ones, and the least until then."""
    _, chart = searched.charts()
    (rows,) = chart["datasets"].values()
    items = searched.document["items"]
    assert [row["value"] for row in rows] == [item["value"] for item in items]
    assert [row["settings"] for row in rows] == [settings_of(item) for item in items]
    best = searched.document["summary"]["best_value"]
    assert [row["least"] for row in rows] == [items[0]["value"], *[best] * 4]


def test_both_are_compared_with_new_seeds(searched: Searched) -> None:
    """Two bars: today's setting and the best."""
    summary = searched.document["summary"]
    (rows,) = searched.charts()[0]["datasets"].values()
    expected = [summary["as_is_new_seeds"], summary["best_new_seeds"]]
    assert [row["amount"] for row in rows] == expected


@pytest.mark.parametrize(("size", "dark"), CASES)
def test_a_browser_shows_the_figures_of_the_document(
    browser: Browser, searched: Searched, size: tuple[int, int], dark: bool
) -> None:
    """Facts and tables say what the JSON says; both charts are drawn, nothing else is asked for."""
    items, summary = searched.document["items"], searched.document["summary"]
    shown = browser.show(searched.page, size, dark=dark)
    assert (shown.log, shown.requests) == ([], [])
    drawn = "[...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('svg').length)"
    assert shown.evaluate(drawn) == [1, 1]
    assert shown.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert shown.evaluate(FACTS) == {
        "as is": text_of(summary["as_is_value"]),
        "best": text_of(summary["best_value"]),
        "cost of keeping the current settings": text_of(summary["cost_of_staying"]),
        "trials": str(summary["trials"]),
        "runs": str(summary["runs"]),
    }
    tables = shown.evaluate(TABLES)
    both = [item for item in items if not item["trial"] or item["best"]]
    assert [row[:4] for row in tables["As is, and the best"][1:]] == [
        [settings_of(one), text_of(one["value"]), text_of(one["new_seeds"]), members_of(one)]
        for one in both
    ]
    assert [row[:3] for row in tables["Better than all before"][1:]] == [
        [str(one["trial"]), settings_of(one), text_of(one["value"])]
        for one in items
        if one["improved"]
    ]
    heading, *trials = tables["Every trial"]
    assert [row[0] for row in trials] == [str(item["trial"]) for item in items]
    for name in ("rebalances", "read_again", "peak_unread", "member_count"):
        place = heading.index(heading_of(name))
        expected = [(one["figures"] or {}).get(name) for one in items]
        cells = [row[place].replace(",", "") for row in trials]
        assert cells == [text_of(value) for value in expected]
    refused = [row[heading.index("REFUSED")] for row in trials]
    assert refused == [item["refused"] or "\N{EN DASH}" for item in items]
