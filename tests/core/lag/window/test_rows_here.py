"""Roll-ups that are read here beside the same read by Spark: every row, total and chart."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kgroups.core.lag.captures.capture_window import open_window
from kgroups.core.lag.captures.hour_table import DAY_MS, HOUR_MS
from kgroups.core.lag.captures.retention import roll_up
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.rules import Uncommitted
from kgroups.core.lag.stores.places import parse_place
from kgroups.core.lag.window import rows_here
from kgroups.core.lag.window.rows_here import asked_rows, is_read_here
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.made_history import START_MS, STEP_MS, captures, write_rows

pytestmark = pytest.mark.spark

COUNT = 40
SPAN_MS = (START_MS - DAY_MS, START_MS + 2 * DAY_MS)
# Of hours and captures, and of captures alone.
EVERY_MS, RAW_MS = SPAN_MS, (START_MS + DAY_MS, SPAN_MS[1])


def spread(at_ms: int) -> int:
    """Five captures an hour, the second half of them a day later."""
    number = (at_ms - START_MS) // STEP_MS
    return START_MS + number // 5 * HOUR_MS + number % 5 * STEP_MS + DAY_MS * (2 * number >= COUNT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A day that is rolled up by the hour, and one that is not."""
    place = tmp_path_factory.mktemp("captures")
    rows = captures(3, COUNT)
    for row in rows:
        row["captured_at_ms"] = spread(row["captured_at_ms"])
    write_rows(place, rows)
    midnight_ms = (START_MS // DAY_MS + 1) * DAY_MS
    assert [step.action for step in roll_up(place, before_ms=midnight_ms)] == ["rolled_up"]
    return place


QUESTIONS: tuple[tuple[str, Uncommitted | None, tuple[int, int]], ...] = (
    *(("group", None, EVERY_MS), ("member", None, EVERY_MS), ("partition", "start", EVERY_MS)),
    *(("topic", "end", EVERY_MS), ("group", "start", RAW_MS), ("topic", None, RAW_MS)),
)


@pytest.mark.parametrize(("by", "uncommitted", "span_ms"), QUESTIONS)
def test_the_same_answer(
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    by: str,
    uncommitted: Uncommitted | None,
    span_ms: tuple[int, int],
) -> None:
    """Of captures and hours, and of captures alone, to the last digit."""
    query = LagQuery(by=by, uncommitted=uncommitted, pictures=True)

    def answer() -> list[Any]:
        since_ms, until_ms = span_ms
        found = lag_report_over(folder, query, since_ms=since_ms, until_ms=until_ms, session=spark)
        drawn = found.pictures
        assert drawn is not None
        # Of times with the same lag in a stretch a chart may show any.
        line = {(row["group"], row["lag"]) for row in drawn.over_time}
        return [found.items, found.summary, line, drawn.partitions, drawn.members, drawn.verdicts]

    here = answer()
    monkeypatch.setattr(rows_here, "MOST_ROWS", -1)
    assert here == answer()
    assert all(here)


def test_what_spark_gets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of the newest capture; of what is in a store and of many, all."""
    since_ms, until_ms = SPAN_MS
    window = open_window(folder, since_ms=since_ms, until_ms=until_ms)
    newest = window.captures.filter(
        [
            at_ms == window.spans["c1"].last_ms
            for at_ms in window.captures["captured_at_ms"].to_pylist()
        ]
    )
    assert asked_rows(folder, window) == newest["rows"].to_pylist()[0] < window.rows
    store = parse_place("s3://bucket/captures", {})
    assert not is_read_here(store, window)
    raw = open_window(folder, since_ms=RAW_MS[0], until_ms=until_ms)
    assert asked_rows(folder, raw) < raw.rows
    monkeypatch.setattr(rows_here, "MOST_ROWS", raw.rows - 1)
    assert asked_rows(folder, raw) == raw.rows
