"""Reports on some of the groups of captures: as if nobody had captured the others."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.errors import ItemError
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.lag.captures.retention import roll_up
from kgroups.core.lag.lag_query import KEYS
from kgroups.core.lag.report import LagQuery, LagReport
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.made_fleet import fleet

pytestmark = pytest.mark.spark

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
NAMES = ("group-001", "group-004", "group-007")
STRANGER = ItemError("nope", "GROUP_ID_NOT_FOUND", "no such group")


def captured(folder: Path, times: Iterable[int], names: Collection[str] | None = None) -> Path:
    """Captures of a fleet that changes; of some of its groups."""
    for at_ms in times:
        snapshot = fleet(at_ms % 7, at_ms=at_ms)
        kept = tuple(g for g in snapshot.groups if names is None or g.group in names)
        write_capture(folder, replace(snapshot, groups=kept))
    return folder


def choose(listed: Collection[str]) -> tuple[Collection[str], list[ItemError]]:
    """Some groups, and one that is not there."""
    assert {*NAMES} < {*listed}
    return NAMES, [STRANGER]


def reported(folder: Path, by: str, engine: dict[str, Any], **options: Any) -> LagReport:
    """The report over all of the captures."""
    query = LagQuery(by=by, top=1_000)
    return lag_report_over(folder, query, since_ms=0, until_ms=2 * DAY_MS, **engine, **options)


def rows_of(report: LagReport) -> list[dict[str, Any]]:
    """Its rows; sums of fractions depend on the order of what is added."""
    return [
        {name: f"{cell:.9g}" if isinstance(cell, float) else cell for name, cell in row.items()}
        for row in report.items
    ]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Captures of every group, and of some."""
    folder, times = tmp_path_factory.mktemp("captures"), range(5_000, 60_000, 5_000)
    return captured(folder / "every", times), captured(folder / "some", times, NAMES)


@pytest.mark.share(2)
@pytest.mark.parametrize("by", KEYS)
def test_some_groups_as_if_there_were_no_others(
    folders: tuple[Path, Path], engine: dict[str, Any], by: str
) -> None:
    """By every key, rows and summary; what was asked for and is not there is an error."""
    every, some = folders
    narrowed, alone = reported(every, by, engine, choose=choose), reported(some, by, engine)
    assert rows_of(narrowed) == rows_of(alone)
    assert narrowed.summary == alone.summary
    assert narrowed.errors == (STRANGER,)


def test_nobody_of_some_groups(folders: tuple[Path, Path], engine: dict[str, Any]) -> None:
    """No rows, and nothing in the summary."""
    nobody = reported(folders[0], "group", engine, choose=lambda _listed: ((), ()))
    assert (nobody.items, nobody.summary["groups"]) == ([], 0)


def test_peaks_of_some_groups_where_captures_are_rolled_up(
    tmp_path: Path, engine: dict[str, Any]
) -> None:
    """Known by group; a topic's were rolled up over all groups, so those of some are not.

    Nor are they that of the last capture, which is not rolled up.
    """
    times = (*range(0, 3 * HOUR_MS, HOUR_MS // 2), DAY_MS + HOUR_MS)
    every, some = captured(tmp_path / "every", times), captured(tmp_path / "some", times, NAMES)
    for folder in (every, some):
        list(roll_up(folder, before_ms=DAY_MS))
    for by in ("group", "partition"):
        narrowed = reported(every, by, engine, choose=choose)
        assert rows_of(narrowed) == rows_of(reported(some, by, engine))
    alone = {row["topic"]: row for row in rows_of(reported(some, "topic", engine))}
    for row in rows_of(reported(every, "topic", engine, choose=choose)):
        peaks = dict.fromkeys(("lag_peak", "partition_lag_peak"))
        assert row == alone[row["topic"]] | peaks
