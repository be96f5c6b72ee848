"""Months beside hours and days: read only where they say what these say."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from kgroups.core.lag.captures.capture_window import Window, open_window
from kgroups.core.lag.captures.delta_table import TIME, append, rows_in
from kgroups.core.lag.captures.hour_table import (
    DAY_MS,
    HOUR_MS,
    HOURS,
    MARKS,
    PARTITIONS,
    SERIES,
    hour_files,
    hours_schema,
    make_hours,
)
from kgroups.core.lag.captures.month_table import LEAST_MS, roll_up_files
from kgroups.core.lag.captures.retention import roll_up, roll_up_days, roll_up_months
from kgroups.core.lag.captures.roll_up import rolled_up
from kgroups.core.lag.captures.upkeep import compact
from tests.core.lag.captures.test_retention import by_key, tables, write
from tests.support.lag.odd_history import START_MS, moved, odd_captures


def ms(date: str) -> int:
    """Midnight (UTC)."""
    return round(datetime.fromisoformat(date).replace(tzinfo=UTC).timestamp() * 1000)


UNTIL_MS = ms("2026-10-01")
# Two hours of a day, a day later in the month, a month of one day, and what is captured still.
MARCH = (ms("2026-03-02"), ms("2026-03-02") + 5 * HOUR_MS, ms("2026-03-20"))
TIMES = (*MARCH, ms("2026-04-01"), ms("2026-09-20"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """March with a day and an hour, April with an hour, September as it was captured."""
    folder = tmp_path_factory.mktemp("months")
    write(folder, *TIMES)
    list(roll_up(folder, before_ms=ms("2026-09-01")))
    list(roll_up_days(folder, before_ms=ms("2026-09-01")))
    (step,) = roll_up_months(folder, before_ms=ms("2026-09-01"))
    assert (step.table, step.date, step.action) == ("hours", "2026-03", "rolled_up")
    assert list(roll_up_months(folder, before_ms=ms("2026-09-01"))) == []
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return shutil.copytree(made, tmp_path / "months", symlinks=True)


def year(folder: Path) -> Window:
    """A window that has all of it, long enough for months."""
    return open_window(folder, since_ms=ms("2026-01-01"), until_ms=UNTIL_MS)


def lengths(window: Window) -> dict[str, int]:
    """How many hours, days and months a window has, and how many captures besides."""
    rolled = {} if window.hours is None else window.hours.by_length()
    counts = {name: len(times) for name, times in rolled.items()}
    return counts | {"captures": window.captures.num_rows - sum(counts.values())}


MONTH = {"hours": 1, "days": 0, "months": 1, "captures": 1}
DAYS = {"hours": 2, "days": 1, "months": 0, "captures": 1}


def test_a_month_stands_for_its_days(folder: Path) -> None:
    """One row a series, with all of its captures; what is shorter is there as it was."""
    window = year(folder)
    assert lengths(window) == MONTH
    assert window.hours is not None
    assert sorted(window.hours.times.to_pylist()) == [*TIMES[:4]]
    files = window.hours.files[SERIES]
    found = pa.Table.from_batches(rows_in(files, hours_schema()), schema=hours_schema())
    counts = {one[TIME]: one["captures"] for one in found.to_pylist()}
    assert counts == {MARCH[-1]: 3, TIMES[3]: 1}
    assert (window.broken, window.is_clean) == ((), True)


@pytest.mark.parametrize(
    ("since_ms", "until_ms"),
    [
        (MARCH[0] + 1, UNTIL_MS),
        (ms("2026-03-01"), ms("2026-03-01") + LEAST_MS - 1),
        (MARCH[-1] - LEAST_MS, MARCH[-1] + LEAST_MS // 6),
    ],
    ids=["a part of it is before", "the window is too short", "it is at the end"],
)
def test_windows_that_are_read_by_the_day(folder: Path, since_ms: int, until_ms: int) -> None:
    """No month is in them."""
    found = lengths(open_window(folder, since_ms=since_ms, until_ms=until_ms))
    assert found["months"] == 0
    assert found["hours"] > 0


def test_the_first_window_with_a_month(folder: Path) -> None:
    """Half a year, of which the month is in the first five sixths."""
    since_ms = MARCH[0]
    assert lengths(open_window(folder, since_ms=since_ms, until_ms=since_ms + LEAST_MS)) == {
        **MONTH,
        "captures": 0,
    }


def test_days_that_have_changed(folder: Path) -> None:
    """Who rolls up another day of the month leaves it unread until it is made again."""
    write(folder, ms("2026-03-25"))
    assert lengths(year(folder)) == DAYS | {"captures": 2}
    list(roll_up(folder, before_ms=ms("2026-09-01")))
    assert lengths(year(folder)) == DAYS | {"hours": 3}
    (step,) = roll_up_months(folder, before_ms=ms("2026-09-01"))
    assert step.date == "2026-03"
    window = year(folder)
    assert lengths(window) == MONTH
    assert window.hours is not None
    assert ms("2026-03-25") in window.hours.times.to_pylist()


def test_what_comes_late(folder: Path) -> None:
    """A capture of an hour that is rolled up is left out, and the month is read."""
    write(folder, MARCH[1] + 1)
    assert lengths(year(folder)) == MONTH


def test_a_month_whose_file_is_gone(folder: Path) -> None:
    """Nothing is lost with it: its days are read."""
    Path(roll_up_files(folder).months[SERIES][0].path).unlink()
    window = year(folder)
    assert lengths(window) == DAYS
    assert window.broken == ()


def test_merging_leaves_months(folder: Path) -> None:
    """`compact` has nothing to do with them; neither has who looks at a day."""
    assert {step.action for step in compact(folder)} <= {"merged", "removed"}
    assert lengths(year(folder)) == MONTH
    assert lengths(open_window(folder)) == DAYS


@pytest.mark.parametrize("seed", [1, 2])
def test_a_month_is_its_captures_rolled_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Every column of every row, also where few rows fit into memory at once."""
    monkeypatch.setattr("kgroups.core.lag.captures.month_table.MOST_ROWS", 20)
    history = [one for one in odd_captures(seed, 8) if one.is_whole and one.rows]
    names = [one.cluster for one in history]
    own = [one for one in history if one.cluster == max(names, key=names.count)]
    captures = [
        one
        for place, capture in enumerate(own)
        for one in moved([capture], MARCH[0] + HOUR_MS - START_MS + place % 9 * DAY_MS)
    ]
    make_hours(tmp_path)
    for day in range(9):
        part = [one for one in captures if one.at_ms // DAY_MS == MARCH[0] // DAY_MS + day]
        if part:
            content = rolled_up(*tables(part)).select([*hours_schema().names, "date"])
            append(tmp_path, HOURS, content, partitions=PARTITIONS)
    (step,) = roll_up_months(tmp_path, before_ms=ms("2026-09-01"))
    assert step.files == sum(len(files) for files in hour_files(tmp_path).values())
    months = roll_up_files(tmp_path).months
    batches = rows_in([file for files in months.values() for file in files], hours_schema())
    found = pa.Table.from_batches(batches, schema=hours_schema())
    rows = found.to_pylist()
    for one in rows:
        one["kind"] = one["kind"].removeprefix("month")
        one["by"] = None if one["kind"] == MARKS else one["by"]  # there: what it was made of
    found = pa.Table.from_pylist(rows, schema=hours_schema())
    expected = rolled_up(*tables(captures)).select(hours_schema().names)
    assert by_key(found) == by_key(expected)
    assert found.num_rows == expected.num_rows == len(by_key(found))
