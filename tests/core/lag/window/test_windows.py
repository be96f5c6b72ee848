"""The case table of windows, as plain Python and as SQL in each engine."""

from typing import Any

import pytest

from kgroups.core.lag.captures.capture_window import Span
from kgroups.core.lag.engines import listed
from kgroups.core.lag.lag_query import LagQuery
from kgroups.core.lag.report_columns import OVER_TIME
from kgroups.core.lag.window.window_figures import STRETCHES, asking, by_key, figures_of
from tests.support.lag.capture_writer import table_of
from tests.support.lag.engines import engine_of
from tests.support.lag.figure_differences import is_same
from tests.support.lag.odd_history import Capture
from tests.support.lag.plain_truth import Asked, truth
from tests.support.lag.window_cases import (
    MINUTE_MS,
    WINDOW_CASES,
    Said,
    WindowCase,
    rows_of,
)

START_MS = 1_763_700_000_000
DAY_MS = 1_440 * MINUTE_MS


@pytest.mark.parametrize("case", WINDOW_CASES, ids=lambda case: case.id)
def test_plain_python(case: WindowCase) -> None:
    """Every line of the table is the plain truth, to which random captures are held."""
    captures = [
        Capture(row["cluster"], row["captured_at_ms"], [row]) for row in rows_of(case, START_MS)
    ]
    (row,) = truth(captures, Asked("partition", START_MS, START_MS + DAY_MS))[0].values()
    assert all(map(is_same, case.said, said_by(row))), (said_by(row), case.said)


@pytest.mark.spark
@pytest.mark.parametrize("name", ["duckdb", "spark"])
def test_sql(request: pytest.FixtureRequest, name: str) -> None:
    """All cases, each in a cluster of its own; no two captures fall into one stretch."""
    ends_ms = [
        START_MS + round(max(point.minute for point in case.points) * MINUTE_MS)
        for case in WINDOW_CASES
    ]
    until_ms = max(ends_ms)
    facts = (
        row | {"cluster": case.id}
        for case, end_ms in zip(WINDOW_CASES, ends_ms, strict=True)
        for row in rows_of(case, START_MS + until_ms - end_ms)
    )
    with engine_of(name, request) as engine:
        questions = asking(engine, LagQuery(by="partition"), until_ms)
        span = Span(until_ms - STRETCHES * MINUTE_MS, until_ms)
        spans = {case.id: span for case in WINDOW_CASES}
        rows = engine.rows(table_of("rows", facts))
        report = by_key(questions, figures_of(questions, rows, spans))
        columns = listed(["group", *OVER_TIME])
        answer = engine.fetch(questions.put(f"SELECT {columns} FROM {{report}}", report=report))
    found = {row["group"]: said_by(row) for row in answer.to_pylist()}
    assert set(found) == {case.id for case in WINDOW_CASES}
    wrong = {
        case.id: (found[case.id], case.said)
        for case in WINDOW_CASES
        if not all(map(is_same, found[case.id], case.said))
    }
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


RULES = {
    ("lag_unknown", None),
    ("no_lag", "OK"),
    ("was_at_head", "OK"),
    ("progresses", "OK"),
    ("too_few_captures", None),
    ("lag_never_falls", "WARN"),
    ("commits_stopped", "STOP"),
    ("nobody_reads", "STOP"),
    ("beyond_log_end", "BEYOND_END"),
    ("offset_stands_still", "STALL"),
    ("offset_went_back", "REWIND"),
}


def test_every_verdict_and_method_has_a_case() -> None:
    """The table leaves none out but the record's own time, which needs no window."""
    said = [case.said for case in WINDOW_CASES]
    assert {(each.rule, each.verdict) for each in said} == RULES
    assert {each.method for each in said} == {None, "at_head", "interpolated", "at_least"}
    assert {each.trend for each in said} == {None, "growing", "steady", "draining"}
