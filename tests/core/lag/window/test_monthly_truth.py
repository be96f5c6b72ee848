"""Whole reports over random captures of half a year, whose months are read in the place of days.

A share of it by a fixed seed; `make fuzz WHAT=lag` has any number.
"""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from kgroups.core.lag.captures.retention import roll_up, roll_up_days, roll_up_months
from tests.support.lag.odd_history import START_MS, Capture, moved, odd_captures, write_captures
from tests.support.lag.plain_truth import HOUR_MS, Asked, number_of
from tests.support.lag.truth_checks import HISTORIES, IS_FUZZ, SEED, Checks, choices

pytestmark = pytest.mark.spark


def ms(date: str) -> int:
    """Midnight (UTC)."""
    return round(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp() * 1000)


# The days over which each history is spread, in their order.
DATES: Final = (
    *("2026-02-10", "2026-02-28", "2026-03-01", "2026-03-14"),
    *("2026-04-30", "2026-05-30", "2026-05-31", "2026-07-10", "2026-07-15"),
)
# Until when captures are rolled up, and hours are.
HOURS_MS, DAYS_MS = ms("2026-07-12"), ms("2026-03-10")
LAST_MS = ms("2026-07-20")
# All of it; a month of which a part is before the window; a window too short for months; and one
# whose last sixth, which is read by the day, begins within May.
WINDOWS: Final = (
    (ms("2026-01-01"), LAST_MS),
    (ms("2026-02-11"), ms("2026-08-15")),
    (ms("2026-02-01"), LAST_MS),
    (ms("2026-01-01"), ms("2026-06-30")),
)


def spread(captures: list[Capture]) -> list[Capture]:
    """Each history in as many pieces as there are dates; every other ends in March."""
    clusters: dict[str, list[Capture]] = {}
    for capture in captures:
        clusters.setdefault(capture.cluster, []).append(capture)
    found = []
    for number, own in enumerate(clusters.values()):
        dates = DATES[: 4 if number % 2 else None]
        for place, capture in enumerate(own):
            date = dates[place * len(dates) // len(own)]
            found += moved([capture], ms(date) + HOUR_MS - START_MS)
    return found


@pytest.fixture(scope="module")
def captures() -> list[Capture]:
    """Histories over months."""
    return spread(odd_captures(SEED + 2, HISTORIES if IS_FUZZ else 5))


@pytest.fixture(scope="module")
def folder(captures: list[Capture], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """They are rolled up by the hour, the day and the month in it."""
    folder = tmp_path_factory.mktemp("monthly")
    write_captures(folder, captures, every=len(captures))
    steps = [*roll_up(folder, before_ms=HOURS_MS), *roll_up_days(folder, before_ms=DAYS_MS)]
    steps += roll_up_months(folder, before_ms=HOURS_MS)
    assert {len(step.date or "") for step in steps} == {len("2026-02"), len("2026-02-10")}
    return folder


def test_every_figure(engine: dict[str, Any], captures: list[Capture], folder: Path) -> None:
    """Rows and summary of each report, and which of their figures are by the month."""
    checks = Checks(engine)
    months = set()
    for _, asked in choices(["months"], WINDOWS, 19 if "engine" in engine else 21):
        known = partial(rolled_up, captures, asked)
        report = checks.check(folder, captures, asked, known)
        months.add(report.summary["months"])
    checks.end()
    for level in ("hourly", "daily", "monthly"):
        assert None in checks.named[level]
        assert len(checks.named[level]) > 1, level
    assert 0 in months
    assert len(months) > 1


def rolled_up(captures: list[Capture], asked: Asked, capture: Capture) -> str | None:
    """By what a capture is rolled up, to a report."""
    if capture.at_ms >= HOURS_MS:
        return None
    span_ms = asked.until_ms - asked.since_ms
    month = [
        other.at_ms
        for other in captures
        if other.cluster == capture.cluster
        and other.is_whole
        and number_of("month", other.at_ms) == number_of("month", capture.at_ms)
    ]
    is_long = span_ms >= 180 * 24 * HOUR_MS
    is_inside = min(month) >= asked.since_ms and max(month) <= asked.until_ms - span_ms // 6
    several = len({number_of("day", at_ms) for at_ms in month}) > 1
    if is_long and is_inside and several:
        return "month"
    return "day" if capture.at_ms < DAYS_MS else "hour"
