"""Whole reports over random captures, figure by figure, against plain Python."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.lag.captures.upkeep import compact
from tests.support.lag.odd_history import (
    MINUTE_MS,
    START_MS,
    Capture,
    odd_captures,
    write_captures,
)
from tests.support.lag.truth_checks import HISTORIES, SEED, Checks, choices

pytestmark = pytest.mark.spark

DAY_MS = 1_440 * MINUTE_MS
WINDOWS = (
    (START_MS - DAY_MS, START_MS + DAY_MS),
    (START_MS + 9 * MINUTE_MS, START_MS + 61 * MINUTE_MS),
    (START_MS, START_MS + 14 * MINUTE_MS + 1),
)
STATES = ("as collected", "merged")


@pytest.fixture(scope="module")
def captures() -> list[Capture]:
    """Histories of more than an hour."""
    return odd_captures(SEED, HISTORIES)


@pytest.fixture(scope="module")
def folders(captures: list[Capture], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each state of the files."""
    folder = tmp_path_factory.mktemp("plain")
    folders = {state: folder / state for state in STATES}
    write_captures(folders["as collected"], captures)
    shutil.copytree(folders["as collected"], folders["merged"])
    assert {step.action for step in compact(folders["merged"])} == {"merged"}
    return folders


def test_every_figure(
    captures: list[Capture], folders: dict[str, Path], engine: dict[str, Any]
) -> None:
    """Rows and summary of each report."""
    checks = Checks(engine)
    # 36 a grouping; Spark takes ten times as long.
    for state, asked in choices(STATES, WINDOWS, 23 if "engine" in engine else 43):
        checks.check(folders[state], captures, asked)
    checks.end()
