"""Reports over a window of captures: what they say of each shape, and of captures that change."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kgroups.core.errors import KgroupsError, NotFoundError, UsageError
from kgroups.core.lag.captures.delta_table import active_files
from kgroups.core.lag.captures.upkeep import compact
from kgroups.core.lag.report import LagQuery, LagReport
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.driver_traffic import rows_brought_home
from tests.support.lag.made_history import SHAPES, START_MS, STEP_MS, captures, write_rows

pytestmark = pytest.mark.spark

COUNT = 30
UNTIL_MS = START_MS + (COUNT - 1) * STEP_MS


class Span(NamedTuple):
    """A window of time."""

    since_ms: int
    until_ms: int


EVERYTHING = Span(START_MS - 60 * STEP_MS, UNTIL_MS)


def ask(
    engine: dict[str, Any], folder: Path, window: Span, *, strict: bool = False, **query: Any
) -> LagReport:
    """A report over a window."""
    asked = LagQuery(top=10_000, **query)
    since_ms, until_ms = window
    return lag_report_over(
        folder, asked, since_ms=since_ms, until_ms=until_ms, strict=strict, **engine
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of every shape."""
    place = tmp_path_factory.mktemp("captures")
    write_rows(place, captures(1, COUNT))
    return place


def test_shapes_are_told_apart(engine: dict[str, Any], folder: Path) -> None:
    """What a person would say of each shape, by group."""
    report = ask(engine, folder, EVERYTHING, by="group", sort="lag_seconds")
    rows = {r["group"]: r for r in report.items}
    assert set(rows) == set(SHAPES)
    said = {group: (r["trend"], r["verdict"]) for group, r in rows.items()}
    assert said["falls behind"] == ("growing", "WARN")
    assert said["catches up"][0] == "draining"
    assert said["stands still"] == ("growing", "STALL")
    assert said["stopped"] == ("growing", "STOP")
    assert said["rewinds"] == ("growing", "REWIND")
    assert said["idle topic"][0] == "steady"
    assert said["never commits"] == (None, None)
    assert rows["never commits"]["lag"] is None
    assert rows["topic deleted"]["lag"] is None
    assert rows["expires"]["lost"] > 0
    assert rows["expires"]["lag_seconds"] is None
    assert rows["catches up"]["catch_up_seconds"] > 0
    assert rows["falls behind"]["catch_up_seconds"] is None
    assert rows["falls behind"]["lag_seconds_method"] == "interpolated"
    assert rows["falls behind"]["lag_seconds_confidence"] == "high"
    # Stopped before the window began: its record was there in every capture.
    span_s = (COUNT - 1) * STEP_MS / 1_000
    for group in ("stopped", "idle topic"):
        assert rows[group]["lag_seconds_method"] == "at_least"
        assert rows[group]["lag_seconds_confidence"] == "low"
        assert rows[group]["lag_seconds"] == pytest.approx(span_s)


@pytest.mark.slow("the same of captures that were merged")
def test_compacted_captures_say_the_same(engine: dict[str, Any], tmp_path: Path) -> None:
    """Before and after merging, and with a capture that is there twice, also inside a part."""
    rows = captures(5, COUNT)
    write_rows(tmp_path, rows)
    windows = [EVERYTHING, Span(START_MS, START_MS + 12 * STEP_MS)]
    before = [ask(engine, tmp_path, window, by="partition").items for window in windows]
    files = len(active_files(tmp_path, "rows"))
    assert [done.files for done in compact(tmp_path)] == [files, files]
    assert len(active_files(tmp_path, "rows")) == 1
    assert [ask(engine, tmp_path, window, by="partition").items for window in windows] == before
    newest = max(row["captured_at_ms"] for row in rows)
    write_rows(tmp_path, [row for row in rows if row["captured_at_ms"] == newest])
    assert [ask(engine, tmp_path, window, by="partition").items for window in windows] == before


def test_captures_are_merged_while_a_report_reads(engine: dict[str, Any], tmp_path: Path) -> None:
    """Between Spark's listing of the files and its reading of them: the same answer."""
    write_rows(tmp_path, captures(5, COUNT))
    query = LagQuery(by="partition", top=10_000)
    span = EVERYTHING._asdict()
    expected = lag_report_over(tmp_path, query, **engine, **span).items
    merged: list[int] = []

    def merge_once(text: str) -> None:
        if text.startswith("computing lag") and not merged:
            merged.extend(done.files for done in compact(tmp_path))

    report = lag_report_over(tmp_path, query, **engine, progress=merge_once, **span)
    assert merged
    assert report.items == expected
    assert report.errors == ()


def test_a_broken_capture_is_named_and_left_out(engine: dict[str, Any], tmp_path: Path) -> None:
    """The report goes on without it, or not at all with `strict`."""
    write_rows(tmp_path, captures(6, 12))
    broken = Path(active_files(tmp_path, "rows")[3].path)
    broken.write_bytes(broken.read_bytes()[:50])
    window = Span(START_MS, UNTIL_MS)
    report = ask(engine, tmp_path, window)
    assert [Path(error.target) for error in report.errors] == [broken]
    assert len(report.items) == len(SHAPES)
    with pytest.raises(UsageError, match="cannot be read"):
        ask(engine, tmp_path, window, strict=True)


def test_a_capture_that_breaks_inside_is_one_sentence(
    engine: dict[str, Any], tmp_path: Path
) -> None:
    """A file whose footer is whole and whose pages are not."""
    write_rows(tmp_path, captures(6, 12))
    path = Path(active_files(tmp_path, "rows")[3].path)
    content = bytearray(path.read_bytes())
    pages_end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[4:pages_end] = bytes(pages_end - 4)
    path.write_bytes(content)
    with pytest.raises(KgroupsError, match=path.name) as caught:
        ask(engine, tmp_path, Span(START_MS, UNTIL_MS))
    assert caught.value.code == "BROKEN_CAPTURE"
    assert "\n" not in caught.value.message


def test_where_filters_the_report(engine: dict[str, Any], folder: Path) -> None:
    """A SQL condition on the report's columns; one that fits nothing is a usage error."""
    rows = ask(engine, folder, EVERYTHING, sql="verdict = 'STOP'").items
    assert [row["group"] for row in rows] == ["stopped"]
    wrong = {"colour = 1": "no column `colour`", "lag >": "incomplete", "lags(lag) > 1": "lags"}
    for condition, why in wrong.items():  # names of functions only Spark knows
        with pytest.raises(UsageError, match=why):
            ask(engine, folder, EVERYTHING, sql=condition)


def test_no_more_than_top_rows_come_to_the_driver(
    engine: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many captures and partitions there are."""
    with rows_brought_home(monkeypatch) as sizes:
        report = lag_report_over(
            folder,
            LagQuery(by="partition", top=4),
            since_ms=EVERYTHING.since_ms,
            until_ms=EVERYTHING.until_ms,
            **engine,
        )
    assert len(report.items) == 4
    assert sizes == ([] if "engine" in engine else [4 + 2]), "rows and both rows of totals"


def test_bad_windows(engine: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    """Nothing collected, nothing in the window, a window that ends before it starts."""
    with pytest.raises(NotFoundError, match="no captures"):
        ask(engine, folder, Span(1, 2))
    with pytest.raises(NotFoundError, match="no captures"):
        ask(engine, tmp_path, Span(1, 2))
    with pytest.raises(UsageError, match="time window is empty"):
        ask(engine, folder, Span(2, 2))
