"""The page that `simulate --html` writes: pictures with data, and drawn by a browser."""

import json
import re
from pathlib import Path

import pytest

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
    assert "orders-app: protocol=eager" in values[0]
    assert "orders-app: protocol=consumer" in values[0]
    assert "app-1 joined" in values[1]
    assert all(f"orders-{number}" in values[2] for number in range(4))


@pytest.mark.parametrize("size", [SCREEN] if PROGRAM else [])
def test_it_is_drawn(browser: Browser, page: Path, size: tuple[int, int]) -> None:
    """Five charts, nothing logged, nothing fetched."""
    shown = browser.show(page, size)
    drawn = "[...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('svg').length)"
    assert shown.evaluate(drawn) == [1] * 5
    assert (shown.log, shown.requests) == ([], [])
