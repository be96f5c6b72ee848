"""The page that `simulate --html` writes: pictures with data, and drawn by a browser."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kgroups.cli.pages.charts import spans
from tests.support.cli.cli_files import SIMULATION
from tests.support.cli.runner import run
from tests.support.pages.browser import PROGRAM, SCREEN, Browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two variations as a page."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "deploy.yaml").write_text(SIMULATION)
    path = folder / "deploy.html"
    options = ["--vary", "protocol=eager,consumer", "--jobs", "1", "--html", str(path)]
    assert run("simulate", str(folder / "deploy.yaml"), *options).exit_code == 0
    return path


def test_the_pictures_have_the_run_in_them(page: Path) -> None:
    """Unread records of both variations, every rebalance, every partition's owners."""
    specs = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page.read_text())
    values = [json.dumps(json.loads(spec)) for spec in specs]
    assert len(values) == 5
    assert '"name": "eager"' in values[0]
    assert '"name": "consumer"' in values[0]
    assert "app-1 joined" in values[1]
    assert all(f"orders-{number}" in values[2] for number in range(4))


@pytest.mark.parametrize("size", [SCREEN] if PROGRAM else [])
def test_it_is_drawn(browser: Browser, page: Path, size: tuple[int, int]) -> None:
    """Five charts, nothing logged, nothing fetched."""
    shown = browser.show(page, size)
    drawn = "[...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('svg').length)"
    assert shown.evaluate(drawn) == [1] * 5
    assert (shown.log, shown.requests) == ([], [])


PLOT = """\
topics: {orders: {partitions: 4, rate: 900}}
groups:
  billing:
    members: {app: {count: 3, topics: [orders], processing: 1ms}}
events:
  - {at: 60s, crash: {group: billing, member: app-2, restart_after: 5s}}
  - {at: 90s, rolling_restart: {group: billing, down: 2s, pause: 5s}}
"""


@pytest.fixture(scope="module")
def plotted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """A page, and the items of the document that is printed with it."""
    folder = tmp_path_factory.mktemp("plots")
    (folder / "plot.yaml").write_text(PLOT)
    path = folder / "plot.html"
    vary = ["--vary", "partition.assignment.strategy=range,sticky", "--vary", "static=true,false"]
    line = ["simulate", str(folder / "plot.yaml"), *vary, "--jobs", "1", "-o", "json"]
    outcome = run(*line, "--html", str(path))
    assert outcome.exit_code == 0
    return path, json.loads(outcome.stdout)["items"]


def charts_of(page: Path) -> list[dict[str, Any]]:
    """The charts in Vega-Lite."""
    found = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page.read_text())
    return [json.loads(one) for one in found]


class Layer(NamedTuple):
    """One layer of a chart, with its data."""

    spec: dict[str, Any]
    rows: list[dict[str, Any]]

    @property
    def mark(self) -> str:
        """What is drawn."""
        kind: str = self.spec["mark"]["type"]
        return kind


def layers_of(spec: Mapping[str, Any]) -> list[Layer]:
    """All layers of a chart, however deep."""
    found = []
    waiting = [(spec, "")]
    while waiting:
        one, inherited = waiting.pop(0)
        name = one.get("data", {}).get("name", inherited)
        waiting += [(each, name) for each in one.get("layer", ())]
        if "mark" in one:
            found.append(Layer(dict(one), spec["datasets"][name]))
    return sorted(found, key=lambda layer: layer.mark)


def test_the_chart_peaks_where_the_document_says(
    plotted: tuple[Path, list[dict[str, Any]]],
) -> None:
    """`peak_unread` is the highest point of its line, and the number in the text."""
    page, items = plotted
    line, rule = layers_of(charts_of(page)[0])
    for item in items:
        name = ", ".join(item["variation"].values())
        mine = [row["value"] for row in line.rows if row["name"] == name]
        assert max(mine) == item["figures"]["peak_unread"]
        assert f"{name} {item['figures']['peak_unread']:,}" in page.read_text()
    assert [row["event"] for row in rule.rows] == ["crash", "rolling_restart"]
    assert [row["t"] for row in rule.rows] == [60, 90]


def test_labels_are_what_differs(plotted: tuple[Path, list[dict[str, Any]]]) -> None:
    """Neither the group's name nor the property's, which the legend's title has."""
    page, _ = plotted
    line, _ = layers_of(charts_of(page)[0])
    assert {row["name"] for row in line.rows} == {
        f"{strategy}, {static}" for strategy in ("range", "sticky") for static in ("true", "false")
    }
    title = line.spec["encoding"]["color"]["title"]
    assert title == "partition.assignment.strategy, static"


def test_short_rebalances_are_seen(plotted: tuple[Path, list[dict[str, Any]]]) -> None:
    """A tick of some pixels where each begins; events are marked there too."""
    page, items = plotted
    rebalances = layers_of(charts_of(page)[1])
    assert [layer.mark for layer in rebalances] == ["bar", "rule", "tick"]
    assert len(rebalances[2].rows) == len(items[0]["rebalances"])


@pytest.mark.parametrize("causes", [8, 9, 20])
def test_two_causes_never_share_a_colour(causes: int) -> None:
    """Those that are too many for the colours are called so."""
    rows = [(f"epoch {n}", float(n), n + 0.1, f"cause {n % causes}") for n in range(3 * causes)]
    spec = dict(spans("h", "s", rows, lane="epoch", kind="cause").spec)
    bars, ticks = layers_of(spec)
    scale = bars.spec["encoding"]["color"]["scale"]
    assert ticks.spec["encoding"]["color"]["scale"] == scale
    assert len(scale["domain"]) == len(scale["range"]) == len(set(scale["range"])) == 8
    assert ("others" in scale["domain"]) is (causes > 8)
    assert {row["colour"] for row in bars.rows} == set(scale["domain"])
