"""The case table of windows, as plain Python and as Spark columns."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from kgroups.core.lag import transforms
from kgroups.core.lag.captures.capture_window import Span
from kgroups.core.lag.captures.spark_columns import ROWS
from kgroups.core.lag.window import trends
from kgroups.core.lag.window.points import BUCKETS, lives, with_steps
from tests.support.lag.window_cases import (
    MINUTE_MS,
    WINDOW_CASES,
    Said,
    WindowCase,
    rows_of,
    said_of,
)

START_MS = 1_763_700_000_000


def same(found: Said, expected: Said) -> bool:
    """Equal, numbers up to rounding."""
    return all(
        a == (pytest.approx(b) if isinstance(b, float) else b)
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("case", WINDOW_CASES, ids=lambda case: case.id)
def test_plain_python(case: WindowCase) -> None:
    """Every line of the table."""
    assert same(said_of(case), case.said), (said_of(case), case.said)


@pytest.mark.spark
def test_columns(spark: SparkSession) -> None:
    """All cases in one frame, each a series that ends when its last capture was taken."""
    found: dict[str, Said] = {}
    by_end: dict[float, list[WindowCase]] = {}
    for case in WINDOW_CASES:
        by_end.setdefault(max(point.minute for point in case.points), []).append(case)
    for minutes, cases in by_end.items():
        until_ms = START_MS + round(minutes * MINUTE_MS)
        rows = [dict.fromkeys(ROWS.fieldNames()) | r for c in cases for r in rows_of(c, START_MS)]
        frame = spark.createDataFrame([tuple(row.values()) for row in rows], schema=ROWS)
        now = transforms.with_lag(frame.where(frame.captured_at_ms == until_ms))
        # A window long enough that no two captures fall into one stretch.
        spans = {"c1": Span(until_ms - BUCKETS * MINUTE_MS, until_ms)}
        captures = lives(transforms.with_lag(frame), spans)
        figures = trends.series_figures(with_steps(captures))
        for row in trends.with_history(now, figures, until_ms).collect():
            found[row["group"]] = said_by(row)
    assert set(found) == {case.id for case in WINDOW_CASES}
    wrong = {c.id: (found[c.id], c.said) for c in WINDOW_CASES if not same(found[c.id], c.said)}
    assert wrong == {}


def said_by(row: Any) -> Said:
    """A row of the report."""
    return Said(
        row["lag"],
        row["rate_in"],
        row["rate_out"],
        row["lag_seconds"],
        row["lag_seconds_method"],
        row["trend"],
        row["verdict"],
        row["verdict_rule"],
    )


def test_every_verdict_and_method_has_a_case() -> None:
    """The table leaves none out but the record's own time, which needs no window."""
    assert {case.said.rule for case in WINDOW_CASES} == {*trends.VERDICTS}
    assert {case.said.verdict for case in WINDOW_CASES} == {*trends.VERDICTS.values()}
    assert {case.said.method for case in WINDOW_CASES} == {None, "at_head", "interpolated", "rate"}
    assert {case.said.trend for case in WINDOW_CASES} == {None, "growing", "steady", "draining"}
