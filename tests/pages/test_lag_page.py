"""The page of a lag report, from captures to what a browser shows."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kgroups.cli.commands.lag.lag_answer import check_places, lag_document, write_files
from kgroups.cli.commands.lag.lag_page import lag_page
from kgroups.cli.pages.page import Figure, Page
from kgroups.core.errors import UsageError
from kgroups.core.lag.captures.delta_table import active_files
from kgroups.core.lag.report import LagQuery, LagReport, lag_report
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.cli import clusters
from tests.support.lag.made_history import START_MS, STEP_MS, captures, write_rows
from tests.support.pages.browser import PHONE, PROGRAM, Browser

COUNT = 20


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> LagReport:
    """A report over captures of every shape, one of which is broken."""
    folder = tmp_path_factory.mktemp("captures")
    write_rows(folder, captures(3, COUNT))
    broken = Path(active_files(folder, "rows")[3].path)
    broken.write_bytes(broken.read_bytes()[:50])
    return lag_report_over(
        folder,
        LagQuery(top=5, pictures=True),
        since_ms=START_MS,
        until_ms=START_MS + COUNT * STEP_MS,
        engine="duckdb",
    )


def headings(page: Page) -> list[str]:
    """Of its figures."""
    parts = [part for section in page.sections for part in section.parts]
    return [part.heading for part in parts if isinstance(part, Figure)]


def test_a_window_in_four_charts(answer: LagReport) -> None:
    """Lag over time, verdicts, heat map, shares; the numbers in words; the broken file named."""
    page = lag_page(answer, lag_document(None, "group", answer, generated_at_ms=1))
    assert headings(page) == [
        "Lag over time",
        "Verdicts",
        "Heat map of partitions",
        "Members' share of lag",
    ]
    assert page.lead.startswith("c1, from 2025-10-09T")
    assert dict(page.facts)["partitions"] == "30"
    assert len(page.notes) == 1
    assert "the table says" in page.notes[0]
    verdicts = page.sections[0].parts[1]
    assert isinstance(verdicts, Figure)
    assert "STOP 2 in 1 groups" in verdicts.summary


@pytest.mark.spark
@pytest.mark.slow("more of a page")
def test_one_capture_has_no_line(spark: SparkSession) -> None:
    """A report on the cluster as it is now shows states instead of verdicts, and no time."""
    found = lag_report([clusters.shop()], LagQuery(pictures=True), session=spark)
    page = lag_page(found, lag_document(clusters.shop(), "group", found))
    assert headings(page)[0] == "State of the partitions"
    assert "Lag over time" not in headings(page)


@pytest.mark.parametrize("size", [PHONE] if PROGRAM else [])
def test_in_the_browser(
    browser: Browser, answer: LagReport, tmp_path: Path, size: tuple[int, int]
) -> None:
    """The file draws four charts on a phone, logs nothing and asks for nothing."""
    path = tmp_path / "lag.html"
    shown = lag_document(None, "group", answer, generated_at_ms=1)
    write_files(answer, shown, path, tmp_path / "lag.parquet")
    page = browser.show(path, size)
    assert (page.log, page.requests) == ([], [])
    assert page.evaluate("document.querySelectorAll('.chart svg').length") == 4
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert page.evaluate("document.querySelectorAll('table').length") == 5
    assert (tmp_path / "lag.parquet").stat().st_size > 0


@pytest.mark.slow("more of a page")
def test_places_are_looked_at_first(tmp_path: Path) -> None:
    """A folder that is not there, or a file that is a folder, ends before Spark starts."""
    check_places(None, tmp_path / "new.html")
    with pytest.raises(UsageError, match="folder does not exist"):
        check_places(tmp_path / "none" / "new.html", None)
    with pytest.raises(UsageError, match="it is a folder"):
        check_places(None, tmp_path)
