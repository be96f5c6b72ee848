"""Captures rolled up by the hour: each hour once, whoever dies, races or comes late."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kgroups.core.errors import NotFoundError
from kgroups.core.lag.captures.capture_window import Window, open_window
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.lag.captures.delta_log import opened
from kgroups.core.lag.captures.delta_table import (
    DATE,
    active_files,
    append,
    dated,
    marks_of,
    rows_in,
)
from kgroups.core.lag.captures.hour_table import (
    HOUR_MS,
    HOURS,
    PARTITIONS,
    SERIES,
    hour_files,
    hours_schema,
)
from kgroups.core.lag.captures.retention import roll_up, roll_up_days
from kgroups.core.lag.captures.roll_up import day_of, rolled_up
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.captures.upkeep import compact
from kgroups.core.lag.lag_query import KEYS
from tests.support.lag.capture_writer import captured_row, write_finished
from tests.support.lag.made_fleet import fleet
from tests.support.lag.odd_history import Capture, odd_captures

DAY_MS = 24 * HOUR_MS
MINUTE_MS = 60_000
TIMEOUT_S = 120


def at_40(at_ms: int, **facts: Any) -> dict[str, Any]:
    """A row of a capture: a commit at 40 of 100 records."""
    known = {"committed_offset": 40, "log_start_offset": 0, "log_end_offset": 100}
    return captured_row(at_ms, **known | facts)


def write(folder: Path, *times_ms: int, cluster: str = "c") -> None:
    """Captures of one row each."""
    for at_ms in times_ms:
        write_finished(folder, cluster, [at_40(at_ms, cluster=cluster)], [at_ms])


def seen(window: Window) -> tuple[list[int], list[tuple[int, int]]]:
    """The captures that a report would look at, and first and last of each of its hours."""
    hours = [] if window.hours is None else window.hours.marks.to_pylist()
    lasts = {hour["captured_at_ms"] for hour in hours}
    times = set(window.captures["captured_at_ms"].to_pylist())
    return sorted(times - lasts), sorted(
        (hour["hour_first_ms"], hour["captured_at_ms"]) for hour in hours
    )


def series_in(folder: Path) -> list[dict[str, Any]]:
    """The rolled up series."""
    files = hour_files(folder)[SERIES]
    found = pa.Table.from_batches(rows_in(files, hours_schema()), schema=hours_schema())
    return sorted(found.to_pylist(), key=lambda one: (one["cluster"], one["captured_at_ms"]))


def captured(folder: Path, table: str) -> list[int]:
    """The times of the captures of a table."""
    schema = pa.schema([arrow_schema("rows").field("captured_at_ms")])
    batches = rows_in(active_files(folder, table), schema)
    return sorted(pa.Table.from_batches(batches, schema=schema)["captured_at_ms"].to_pylist())


TIMES = (5, 30 * MINUTE_MS, HOUR_MS - 1, HOUR_MS, 5 * HOUR_MS, DAY_MS + 1)


def test_hours_of_an_older_release_get_the_columns_of_today(tmp_path: Path) -> None:
    """What was rolled up before has null there."""
    names = ["lag_told", "next_record_at_ms"]
    old = hours_schema().append(DATE).empty_table().drop_columns(names)
    append(tmp_path, HOURS, old, partitions=PARTITIONS)
    write_finished(tmp_path, "c", [at_40(1, committed_offset=2, lag_told=4)], [1])
    list(roll_up(tmp_path, before_ms=DAY_MS))
    (series,) = series_in(tmp_path)
    assert (series["lag_told"], series["next_record_at_ms"]) == (4, None)


def test_days_gone_by_become_hours(tmp_path: Path) -> None:
    """Of the first day three hours; the second is raw; nothing is left of what was before."""
    write(tmp_path, *TIMES)
    steps = list(roll_up(tmp_path, before_ms=2 * DAY_MS - 1))
    assert [(s.table, s.date, s.action, s.files, s.rows) for s in steps] == [
        ("rows", "1970-01-01", "rolled_up", 5, 5)
    ]
    hours = [(5, HOUR_MS - 1), (HOUR_MS, HOUR_MS), (5 * HOUR_MS, 5 * HOUR_MS)]
    assert seen(open_window(tmp_path)) == ([DAY_MS + 1], hours)
    assert [one["captures"] for one in series_in(tmp_path)] == [3, 1, 1]
    assert captured(tmp_path, "rows") == captured(tmp_path, "captures") == [DAY_MS + 1]
    assert list(roll_up(tmp_path, before_ms=2 * DAY_MS - 1)) == []
    assert {step.action for step in compact(tmp_path)} <= {"merged"}
    assert seen(open_window(tmp_path)) == ([DAY_MS + 1], hours)


def test_an_hour_counts_where_all_of_it_is_in_the_window(tmp_path: Path) -> None:
    """A window that cuts one has nothing of it, and says why it is empty."""
    write(tmp_path, *TIMES)
    list(roll_up(tmp_path, before_ms=DAY_MS))
    assert seen(open_window(tmp_path, since_ms=6, until_ms=5 * HOUR_MS - 1)) == (
        [],
        [(HOUR_MS, HOUR_MS)],
    )
    with pytest.raises(NotFoundError) as failed:
        open_window(tmp_path, since_ms=5, until_ms=HOUR_MS - 2)
    assert failed.value.hint == (
        "captures there are rolled up by the hour: choose a window of whole hours"
    )


def test_what_moved_within_an_hour() -> None:
    """Steps back are not subtracted, what is not known is skipped, a new topic is seen."""
    ends = [100, None, 140, 30, 50]
    commits = [-1, 90, 90, None, 20]
    rows = [
        at_40(place, log_end_offset=end, committed_offset=commit, last_stable_offset=7 + place)
        for place, (end, commit) in enumerate(zip(ends, commits, strict=True))
    ]
    times = pa.table({"captured_at_ms": range(5), "cluster": ["c"] * 5, "unstable_rows": [0] * 5})
    hour = rolled_up(pa.Table.from_pylist(rows, schema=arrow_schema("rows")), times)
    (series,) = hour.filter(pc.equal(hour["kind"], SERIES)).to_pylist()
    found = {name: series[name] for name in series if name.startswith(("end_", "committed_"))}
    assert found == {
        "end_first": 100,
        "end_first_ms": 0,
        "end_last": 50,
        "end_last_ms": 4,
        "end_added": 60,
        "end_reset_ms": 3,
        "committed_first": 90,
        "committed_first_ms": 1,
        "committed_last": 20,
        "committed_last_ms": 4,
        "committed_added": 0,
        "committed_offset": 20,
        "committed_at_ms": None,
    }
    lag = ("lag_least", "lag_most", "lag_sum", "lag_known", "start_lag_most", "stable_lag_most")
    assert [series[name] for name in lag] == [30, 50, 80, 2, 100, 0]
    peaks = hour.filter(pc.equal(hour["by"], "group")).to_pylist()
    assert [(one["lag_most"], one["lag_most_ms"]) for one in peaks] == [(50, 2)]


def by_key(rolled: pa.Table) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Rows by what they stand for."""
    return {
        (row["kind"], row["by"], *(row[key] for key in KEYS[row["by"] or "partition"])): row
        for row in rolled.to_pylist()
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_parts_put_together_are_their_captures_rolled_up(seed: int) -> None:
    """Whether a day is made of captures or of its parts: every column of every row is the same."""
    history = [one for one in odd_captures(seed, 8) if one.is_whole]
    count = 0
    for cluster in {one.cluster for one in history}:
        parts: dict[int, list[Capture]] = {}
        own = [one for one in history if one.cluster == cluster]
        for one in own:
            parts.setdefault(one.at_ms // (3 * MINUTE_MS), []).append(one)
        found = day_of(pa.concat_tables(rolled_up(*tables(part)) for part in parts.values()))
        expected = rolled_up(*tables(own))
        assert found.num_rows == expected.num_rows == len(by_key(found))
        assert by_key(found) == by_key(expected)
        count += len(parts)
    assert count > 10


def tables(history: list[Capture]) -> tuple[pa.Table, pa.Table]:
    """Captures of one cluster as `rolled_up` takes them."""
    rows = [one for capture in history for one in capture.rows]
    content = pa.Table.from_pylist(rows, schema=arrow_schema("rows"))
    cluster = history[0].cluster
    return content, marks_of(content, cluster, {capture.at_ms for capture in history})


def test_hours_gone_by_become_a_day(tmp_path: Path) -> None:
    """One row a series; what comes late is left out, whichever hour of the day it is of."""
    for at_ms in TIMES:
        write_capture(tmp_path, fleet(1, 3, at_ms=at_ms))
    list(roll_up(tmp_path, before_ms=2 * DAY_MS))
    assert list(roll_up_days(tmp_path, before_ms=DAY_MS - 1)) == []
    (step,) = roll_up_days(tmp_path, before_ms=2 * DAY_MS)
    assert (step.table, step.date, step.action) == ("hours", "1970-01-01", "rolled_up")
    day, second = (5, 5 * HOUR_MS), (DAY_MS + 1, DAY_MS + 1)
    assert seen(open_window(tmp_path)) == ([], [day, second])
    assert {one["captures"] for one in series_in(tmp_path)} == {1, len(TIMES) - 1}
    assert list(roll_up_days(tmp_path, before_ms=2 * DAY_MS)) == []
    assert sorted(set(captured(tmp_path, "members"))) == [5 * HOUR_MS, DAY_MS + 1]
    write_capture(tmp_path, fleet(1, 3, at_ms=20 * HOUR_MS))
    assert seen(open_window(tmp_path)) == ([], [day, second])
    assert [step.action for step in roll_up(tmp_path, before_ms=2 * DAY_MS)] == ["late"]
    assert {step.action for step in compact(tmp_path)} <= {"merged"}
    assert seen(open_window(tmp_path)) == ([], [day, second])
    assert seen(open_window(tmp_path, since_ms=6)) == ([], [second])


def test_a_day_with_captures_left_stays_hours(tmp_path: Path) -> None:
    """What is not rolled up by the hour would be left out of reports."""
    write(tmp_path, *TIMES)
    list(roll_up(tmp_path, before_ms=DAY_MS))
    hours = seen(open_window(tmp_path, until_ms=DAY_MS - 1))[1]
    write(tmp_path, 3 * HOUR_MS)
    assert list(roll_up_days(tmp_path, before_ms=DAY_MS)) == []
    assert seen(open_window(tmp_path, until_ms=DAY_MS - 1)) == ([3 * HOUR_MS], hours)


class Died(Exception):
    """Where the run ends."""


@pytest.mark.share(4)
@pytest.mark.parametrize("table", ["rows", "members", "topics", "captures"])
def test_a_run_that_died_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """Hours count from their commit on, and captures that are still there no more."""
    for at_ms in TIMES:
        write_capture(tmp_path, fleet(1, 3, at_ms=at_ms))
    raw = seen(open_window(tmp_path))

    def dies(folder: Path, name: str) -> Any:
        if name == table:
            raise Died
        return opened(folder, name)

    monkeypatch.setattr("kgroups.core.lag.captures.retention.opened", dies)
    with pytest.raises(Died):
        list(roll_up(tmp_path, before_ms=DAY_MS))
    between = seen(open_window(tmp_path))
    monkeypatch.undo()
    list(roll_up(tmp_path, before_ms=DAY_MS))
    assert raw == (list(TIMES), [])
    assert between == seen(open_window(tmp_path))
    assert between[0] == [DAY_MS + 1]
    lasts = [HOUR_MS - 1, HOUR_MS, 5 * HOUR_MS, DAY_MS + 1]
    assert sorted(set(captured(tmp_path, "members"))) == lasts
    assert sorted(set(captured(tmp_path, "topics"))) == lasts
    assert set(captured(tmp_path, "rows")) == set(captured(tmp_path, "captures")) == {DAY_MS + 1}


def test_two_runs_and_collectors_and_readers_at_once(tmp_path: Path) -> None:
    """Every reader sees each capture once, as itself or in its hour; no row is there twice."""
    for cluster in ("a", "b"):
        write(tmp_path, *TIMES, cluster=cluster)

    def rolls() -> None:
        list(roll_up(tmp_path, before_ms=DAY_MS))

    def collects() -> None:
        write(tmp_path, *range(2 * DAY_MS, 2 * DAY_MS + 5), cluster="a")

    def reads() -> Iterator[int]:
        for _ in range(10):
            window = open_window(tmp_path, until_ms=DAY_MS + 1)
            held = 0 if window.hours is None else len(window.hours.times)
            clusters = window.captures["cluster"].to_pylist()
            last = [] if window.hours is None else window.hours.marks["cluster"].to_pylist()
            yield len(clusters) - len(last) + held

    with ThreadPoolExecutor(5) as pool:
        jobs = [pool.submit(rolls), pool.submit(rolls), pool.submit(collects)]
        readers = [pool.submit(lambda: list(reads())) for _ in range(2)]
        for job in jobs:
            job.result(TIMEOUT_S)
        assert {count for reader in readers for count in reader.result(TIMEOUT_S)} == {
            2 * len(TIMES)
        }
    rolls()
    found = [(one["cluster"], one["captured_at_ms"]) for one in series_in(tmp_path)]
    assert found == [(c, at_ms) for c in "ab" for at_ms in (HOUR_MS - 1, HOUR_MS, 5 * HOUR_MS)]
    assert captured(tmp_path, "captures") == [DAY_MS + 1] * 2 + [2 * DAY_MS + n for n in range(5)]


def test_what_comes_late_is_left_out_and_told(tmp_path: Path) -> None:
    """In an hour that is rolled up; in another hour of that day it is rolled up too."""
    write(tmp_path, *TIMES)
    list(roll_up(tmp_path, before_ms=DAY_MS))
    write(tmp_path, 7, 3 * HOUR_MS)
    before = seen(open_window(tmp_path))
    assert before[0] == [3 * HOUR_MS, DAY_MS + 1]
    for _ in range(2):
        steps = list(roll_up(tmp_path, before_ms=DAY_MS))
        assert (steps[-1].action, steps[-1].rows) == ("late", 1)
    raw, hours = seen(open_window(tmp_path))
    assert raw == [DAY_MS + 1]
    assert hours == sorted([*before[1], (3 * HOUR_MS, 3 * HOUR_MS)])
    assert captured(tmp_path, "rows") == [7, DAY_MS + 1]
    assert len(series_in(tmp_path)) == 4


def test_captures_of_the_same_time_and_of_a_collector_that_died(tmp_path: Path) -> None:
    """A row counts once; rows without a capture not at all."""
    write(tmp_path, 5, 5)
    append(tmp_path, "rows", dated(pa.Table.from_pylist([at_40(6)], schema=arrow_schema("rows"))))
    list(roll_up(tmp_path, before_ms=DAY_MS))
    (series,) = series_in(tmp_path)
    assert (series["captures"], series["captured_at_ms"], series["lag_sum"]) == (1, 5, 60)


def test_captures_without_rows(tmp_path: Path) -> None:
    """An hour without a group is an hour too."""
    write_finished(tmp_path, "c", [], [1, 2])
    list(roll_up(tmp_path, before_ms=DAY_MS))
    assert seen(open_window(tmp_path)) == ([], [(1, 2)])
    assert series_in(tmp_path) == []


def test_a_day_with_rows_missing_stays_as_it_is(tmp_path: Path) -> None:
    """What a report would name as broken is not made into an hour that looks whole."""
    write(tmp_path, 1, 2)
    Path(active_files(tmp_path, "rows")[0].path).unlink()
    assert list(roll_up(tmp_path, before_ms=DAY_MS)) == []
    assert seen(open_window(tmp_path)) == ([2], [])


def test_hours_whose_files_are_gone_are_named(tmp_path: Path) -> None:
    """And left out, with what is there."""
    write(tmp_path, *TIMES)
    list(roll_up(tmp_path, before_ms=DAY_MS))
    lost = hour_files(tmp_path)[SERIES][0].path
    Path(lost).unlink()
    window = open_window(tmp_path)
    assert [error.target for error in window.broken] == [lost]
    assert seen(window) == ([DAY_MS + 1], [])
