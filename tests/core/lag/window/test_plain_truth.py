"""Whole reports over random captures, figure by figure, against plain Python.

A share of it by a fixed seed; `make fuzz WHAT=lag` has any number: KGROUPS_FUZZ_HISTORIES clusters
with a history each, KGROUPS_FUZZ_SEED.
"""

import os
import shutil
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, cast

import pytest

from kgroups.core.lag.captures.upkeep import compact
from kgroups.core.lag.report import LagQuery
from kgroups.core.lag.report_columns import report_columns
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.figure_differences import differences
from tests.support.lag.odd_history import (
    MINUTE_MS,
    START_MS,
    Capture,
    odd_captures,
    write_captures,
)
from tests.support.lag.plain_truth import KEYS, Asked, truth

pytestmark = pytest.mark.spark

HISTORIES = int(os.environ.get("KGROUPS_FUZZ_HISTORIES", "12"))
SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "17"))
IS_FUZZ = "KGROUPS_FUZZ_HISTORIES" in os.environ
SHOWN = 12

DAY_MS = 1_440 * MINUTE_MS
WINDOWS = (
    (START_MS - DAY_MS, START_MS + DAY_MS),
    (START_MS + 9 * MINUTE_MS, START_MS + 61 * MINUTE_MS),
    (START_MS, START_MS + 14 * MINUTE_MS + 1),
)
UNCOMMITTED = (None, "start", "end")
ISOLATIONS = ("read_uncommitted", "read_committed")
STATES = ("as collected", "merged")


def choices(engine: Mapping[str, Any]) -> list[tuple[str, Asked]]:
    """What is asked of which state of the files: everything, or a share that has all of each."""
    every = [
        (state, Asked(by, *window, isolation, uncommitted))
        for by, state, window, isolation, uncommitted in product(
            KEYS, STATES, WINDOWS, ISOLATIONS, UNCOMMITTED
        )
    ]
    # 36 a grouping; such a step walks through all of each kind. Spark takes ten times as long.
    return every if IS_FUZZ else every[:: 23 if "engine" in engine else 43]


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
    compared = 0
    wrong: list[tuple[Any, ...]] = []
    for state, asked in choices(engine):
        items, summary = truth(captures, asked)
        query = LagQuery(
            by=asked.by,
            top=100_000,
            isolation=cast("Isolation", asked.isolation),
            uncommitted=cast("Uncommitted | None", asked.uncommitted),
        )
        report = lag_report_over(
            folders[state],
            query,
            since_ms=asked.since_ms,
            until_ms=asked.until_ms,
            **engine,
        )
        assert report.columns == report_columns(query, "captures")
        count, found = differences(report.items, items, KEYS[asked.by])
        compared += count + len(summary)
        found += [
            ("summary", name, report.summary[name], value)
            for name, value in summary.items()
            if report.summary[name] != value
        ]
        wrong += [(state, tuple(asked), *difference) for difference in found]
    print(f"{compared:,} figures compared, {len(wrong):,} differ")
    lines = "\n".join(map(repr, wrong[:SHOWN]))
    assert not wrong, f"{len(wrong):,} of {compared:,} figures differ:\n{lines}"
