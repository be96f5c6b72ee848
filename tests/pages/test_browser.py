"""The page in headless Chromium: nothing logged, nothing fetched, readable on a phone."""

from pathlib import Path

import pytest

from kgroups.cli.pages.render import write_page
from tests.support.pages.browser import PHONE, PROGRAM, SCREEN, Browser
from tests.support.pages.samples import sample_page

CASES = [(PHONE, False), (PHONE, True), (SCREEN, False)] if PROGRAM else []


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample page as a file."""
    path = tmp_path_factory.mktemp("pages") / "sample.html"
    write_page(path, sample_page())
    return path


@pytest.mark.parametrize(("size", "dark"), CASES)
def test_drawn_without_a_word(
    browser: Browser, page: Path, size: tuple[int, int], dark: bool
) -> None:
    """Every chart is drawn as SVG inside its place; no error, no request, no overflow."""
    shown = browser.show(page, size, dark=dark)
    assert shown.log == []
    assert shown.requests == []
    drawn = "[...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('svg').length)"
    assert shown.evaluate(drawn) == [1] * 5
    assert shown.evaluate("document.documentElement.scrollWidth") <= size[0]
    fits = (
        "[...document.querySelectorAll('.chart')].every(c =>"
        " c.querySelector('svg').getBoundingClientRect().width <= c.clientWidth + 1)"
    )
    assert shown.evaluate(fits)


@pytest.mark.parametrize("size", [PHONE] if PROGRAM else [])
def test_tables_open_inside_the_page(browser: Browser, page: Path, size: tuple[int, int]) -> None:
    """With all tables open the page is still no wider than a phone: they scroll by themselves."""
    shown = browser.show(page, size)
    opened = "document.querySelectorAll('details').forEach(d => { d.open = true; })"
    shown.evaluate(opened)
    assert shown.evaluate("document.documentElement.scrollWidth") <= size[0]
    wide = "[...document.querySelectorAll('.scroll')].some(s => s.scrollWidth > s.clientWidth)"
    assert shown.evaluate(wide)


@pytest.mark.parametrize("size", [SCREEN] if PROGRAM else [])
def test_read_out(browser: Browser, page: Path, size: tuple[int, int]) -> None:
    """A screen reader gets headings, one image with words a chart, and no pieces of a drawing."""
    told = browser.show(page, size).accessible()
    assert ("image", "Lag over time: It grows.") in told
    assert sum(role == "image" for role, _ in told) == 5
    headings = {name for role, name in told if role == "heading"}
    assert headings >= {"Charts", "Lag over time", "Partitions", "Rows"}
    assert not [role for role, _ in told if role.lower().startswith("graphics")]


@pytest.mark.parametrize("size", [SCREEN] if PROGRAM else [])
def test_the_test_sees_errors(browser: Browser, page: Path, size: tuple[int, int]) -> None:
    """A chart that cannot be drawn is logged; a request is blocked and logged too."""
    text = page.read_text().replace('"type":"line"', '"type":"nonsense"', 1)
    text = text.replace("</body>", '<img src="http://192.0.2.1/x.png" alt=""></body>')
    broken = page.with_name("broken.html")
    broken.write_text(text)
    shown = browser.show(broken, size)
    assert any("chart chart-2" in line for line in shown.log)
    assert any("Content Security Policy" in line for line in shown.log)
    assert shown.evaluate("document.querySelectorAll('.chart.failed').length") == 1
