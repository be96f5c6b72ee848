"""Whole reports over random captures that are rolled up by the hour or day, against plain Python.

Midnight is in the middle of the histories: what was before is rolled up, what came after is not.
A share of it by a fixed seed; `make fuzz WHAT=lag` has any number.
"""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.lag.captures.retention import roll_up, roll_up_days
from kgroups.core.lag.report import LagQuery, LagReport
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.odd_history import (
    MINUTE_MS,
    START_MS,
    Capture,
    moved,
    odd_captures,
    write_captures,
)
from tests.support.lag.plain_truth import HOUR_MS, KEYS, LEVELS
from tests.support.lag.truth_checks import HISTORIES, IS_FUZZ, SEED, Checks, choices

pytestmark = pytest.mark.spark

COUNT = HISTORIES if IS_FUZZ else 6
DAY_MS = 24 * HOUR_MS
MIDNIGHT_MS = (START_MS // DAY_MS + 1) * DAY_MS
FIRST_MS = MIDNIGHT_MS - 70 * MINUTE_MS
WINDOWS = (
    (FIRST_MS - DAY_MS, FIRST_MS + DAY_MS),
    (MIDNIGHT_MS - HOUR_MS, MIDNIGHT_MS + 30 * MINUTE_MS),
    (FIRST_MS, MIDNIGHT_MS - 1),
)
LATER_MS = MIDNIGHT_MS + 2 * DAY_MS
# Until when captures are rolled up by the hour, and until when by the day: all, or before midnight.
STATES = {
    "hours until midnight": (MIDNIGHT_MS, 0),
    "all hours": (LATER_MS, 0),
    "a day, then captures": (MIDNIGHT_MS, MIDNIGHT_MS),
    "a day, then hours": (LATER_MS, MIDNIGHT_MS),
    "all days": (LATER_MS, LATER_MS),
}


@pytest.fixture(scope="module")
def captures() -> list[Capture]:
    """Histories from before midnight until after it."""
    return moved(odd_captures(SEED + 1, COUNT), FIRST_MS - START_MS)


@pytest.fixture(scope="module")
def folder_of(
    captures: list[Capture], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """A folder of each state, made when it is first asked for; the captures alone are `raw`."""
    folder = tmp_path_factory.mktemp("hourly")
    write_captures(folder / "raw", captures, every=COUNT // 2)

    @cache
    def made(state: str) -> Path:
        if state != "raw":
            hours_ms, days_ms = STATES[state]
            shutil.copytree(folder / "raw", folder / state)
            steps = [*roll_up(folder / state, before_ms=hours_ms)]
            steps += roll_up_days(folder / state, before_ms=days_ms)
            assert {step.action for step in steps} == {"rolled_up"}
        return folder / state

    return made


@pytest.mark.slow(
    "by the hour alone; with days and months: tests/core/lag/window/test_monthly_truth.py"
)
def test_every_figure(
    engine: dict[str, Any], captures: list[Capture], folder_of: Callable[[str], Path]
) -> None:
    """Rows and summary of each report, and which of their figures are by the hour."""
    checks = Checks(engine)
    # 90 a grouping; Spark takes ten times as long.
    for state, asked in choices(STATES, WINDOWS, 47 if "engine" in engine else 79):

        def rolled_up(capture: Capture, until: tuple[int, int] = STATES[state]) -> str | None:
            hours_ms, days_ms = until
            return (
                None if capture.at_ms >= hours_ms else "hour" if capture.at_ms >= days_ms else "day"
            )

        checks.check(folder_of(state), captures, asked, rolled_up)
    checks.end()
    for level in ("hourly", "daily"):
        assert None in checks.named[level]
        assert len(checks.named[level]) > 1
    assert checks.named["monthly"] == {None}


TOLD_BY = {
    "lag_seconds": {"lag_seconds", "lag_seconds_method", "lag_seconds_confidence"},
    "trend": {"trend"},
    "verdict": {"verdict", "verdict_rule"},
}


@pytest.mark.parametrize("state", ["hours until midnight", "all days"])
def test_what_differs_is_named(folder_of: Callable[[str], Path], state: str) -> None:
    """Beside a report on the captures themselves only the figures that are named may differ."""
    named = set()
    for by in ("group", "partition"):
        raw, rolled = (
            {tuple(row[key] for key in KEYS[by]): row for row in whole(folder_of(name), by).items}
            for name in ("raw", state)
        )
        assert raw.keys() == rolled.keys()
        for key, row in rolled.items():
            told = {name for level in LEVELS for name in (row[level] or "").split(",") if name}
            loose = {*LEVELS}.union(*(TOLD_BY[name] for name in told))
            same = {name: value for name, value in row.items() if name not in loose}
            assert same == pytest.approx({name: raw[key][name] for name in same}), (by, key)
            named |= told
    assert named == {*TOLD_BY}


def whole(folder: Path, by: str) -> LagReport:
    """A report on all that a folder has."""
    since_ms, until_ms = WINDOWS[0]
    query = LagQuery(by=by, top=100_000)
    return lag_report_over(folder, query, since_ms=since_ms, until_ms=until_ms, engine="duckdb")
