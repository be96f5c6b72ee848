"""Figures over a window of time, against DuckDB and plain Python on the same Parquet."""

import math
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from kgroups.core.errors import KgroupsError, NotFoundError, UsageError
from kgroups.core.lag.captures.delta_table import active_files
from kgroups.core.lag.captures.upkeep import compact
from kgroups.core.lag.report import LagQuery, LagReport
from kgroups.core.lag.window.window_figures import STRETCHES
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.driver_traffic import rows_brought_home
from tests.support.lag.made_history import SHAPES, START_MS, STEP_MS, captures, write_rows

pytestmark = pytest.mark.spark

COUNT = 30
UNTIL_MS = START_MS + (COUNT - 1) * STEP_MS


class Span(NamedTuple):
    """A window of time."""

    since_ms: int
    until_ms: int


EVERYTHING = Span(START_MS - 60 * STEP_MS, UNTIL_MS)


def ask(
    engine: dict[str, Any], folder: Path, window: Span, *, strict: bool = False, **query: Any
) -> LagReport:
    """A report over a window."""
    asked = LagQuery(top=10_000, **query)
    since_ms, until_ms = window
    return lag_report_over(
        folder, asked, since_ms=since_ms, until_ms=until_ms, strict=strict, **engine
    )


def same(found: float | None, expected: float | None) -> bool:
    """Equal up to rounding, or both unknown."""
    if found is None or expected is None:
        return found is expected
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of every shape."""
    place = tmp_path_factory.mktemp("captures")
    write_rows(place, captures(1, COUNT))
    return place


# Every capture, then ordinary SQL over neighbours.
BY_SERIES = """
with points as (
    select captured_at_ms as t, "group", topic, partition, committed_offset as c,
           log_start_offset as s, log_end_offset as e
    from read_parquet('{folder}/rows/*/*/*.parquet', hive_partitioning = true)
    where captured_at_ms between {since} and {until}
), steps as (
    select *, lag(t) over w as pt, lag(c) over w as pc, lag(s) over w as ps, lag(e) over w as pe,
           last_value(c) over (partition by "group", topic, partition order by t
               rows between unbounded preceding and unbounded following) as nc
    from points
    where e is not null
    window w as (partition by "group", topic, partition order by t)
), crossings as (
    select "group", topic, partition, arg_max(
        pt + (nc - pe) * (t - pt)::double / (e - pe), t) as caught_at
    from steps where pe <= nc and nc < e group by all
), sums as (
    select "group", topic, partition,
        sum(greatest(e - pe, 0)) * 1000.0 / nullif(max(t) - min(t), 0) as rate_in,
        sum(greatest(s - ps, 0)) * 1000.0 / nullif(max(t) - min(t), 0) as rate_expired
    from steps group by all
), unread as (
    select "group", topic, partition, ({last_t} - min(t)) / 1000.0 as at_least
    from steps where e > nc group by all
), consumed as (
    select "group", topic, partition,
        sum(greatest(c - pc, 0)) * 1000.0 / nullif(max(t) - min(t), 0) as rate_out
    from (select *, lag(c) over (partition by "group", topic, partition order by t) as pc
          from points where c is not null)
    group by all
), newest as (
    select * from points where t = (select max(t) from points)
)
select n."group", n.topic, n.partition, greatest(n.e - greatest(n.c, n.s), 0) as lag,
    rate_in, rate_out,
    case when n.e - greatest(n.c, n.s) <= 0 then 0.0
         when n.c < n.s then null
         else coalesce(({last_t} - caught_at) / 1000.0,
                       nullif(at_least, 0)) end as lag_seconds,
    case when n.e - greatest(n.c, n.s) > 0 and rate_expired > 0
         then greatest(n.c - n.s, 0) / rate_expired end as retention
from newest n left join sums using ("group", topic, partition)
left join consumed using ("group", topic, partition)
left join crossings using ("group", topic, partition)
left join unread using ("group", topic, partition)
where n.e is not null and n.c is not null
"""


def in_duckdb(folder: Path, window: Span) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Group, topic, partition -> lag, rates, lag in seconds, seconds of retention left."""
    since, until = window
    with duckdb.connect() as connection:
        rows = connection.sql(
            BY_SERIES.format(folder=folder, since=since, until=until, last_t=UNTIL_MS)
        ).fetchall()
    return {row[:3]: row[3:] for row in rows}


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("seed", "window"),
    [(1, EVERYTHING), (2, Span(START_MS + 7 * STEP_MS, UNTIL_MS)), (3, EVERYTHING)],
    ids=["everything", "a part", "another seed"],
)
def test_series_equal_duckdb(
    engine: dict[str, Any], tmp_path: Path, seed: int, window: Span
) -> None:
    """Lag, rates, lag in seconds and retention of every partition that can be measured."""
    folder = tmp_path
    write_rows(folder, captures(seed, COUNT))
    report = ask(engine, folder, window, by="partition")
    found = {
        (r["group"], r["topic"], r["partition"]): (
            r["lag"],
            r["rate_in"],
            r["rate_out"],
            r["lag_seconds"],
            r["retention_seconds_left"],
        )
        for r in report.items
    }
    expected = in_duckdb(folder, window)
    assert len(expected) >= 2 * (len(SHAPES) - 2)
    for series, figures in expected.items():
        if series[0] == "topic recreated":  # crossings before the recreation mean nothing
            figures = (*figures[:3], found[series][3], figures[4])
        pairs = zip(found[series], figures, strict=True)
        assert all(same(a, b) for a, b in pairs), (series, found[series], figures)


def burrow(points: list[dict[str, Any]], owned: bool) -> tuple[str | None, str]:
    """Burrow's rules over a list of points, oldest first, as its authors order them."""
    last = points[-1]
    if last["lag"] is None:
        return None, "lag_unknown"
    if last["lag"] == 0:
        return "OK", "no_lag"
    recent = points[-10:]
    offsets = [p["c"] for p in recent if p["c"] is not None]
    if len(offsets) < 3:
        return None, "too_few_captures"
    flat = len(set(offsets)) == 1
    if flat and not owned and all(p["e"] > last["c"] for p in recent if p["e"] is not None):
        return "STOP", "commits_stopped"
    for i in range(1, len(offsets)):
        if offsets[i] < offsets[i - 1]:
            if all(offset < offsets[i - 1] for offset in offsets[i:]):
                return "REWIND", "offset_went_back"
            break
    lags = [p["lag"] for p in recent if p["lag"] is not None]
    if 0 in lags:
        return "OK", "was_at_head"
    if flat:
        return "STALL", "offset_stands_still"
    if len(lags) > 1 and all(b >= a for a, b in pairwise(lags)):
        return "WARN", "lag_never_falls"
    return "OK", "progresses"


def series_points(folder_rows: list[dict[str, Any]], window: Span) -> dict[Any, Any]:
    """Group, topic, partition -> points of the window, oldest first."""
    times = [row["captured_at_ms"] for row in folder_rows]
    first = min(t for t in times if t >= window.since_ms)
    width = max((max(t for t in times if t <= window.until_ms) - first) // STRETCHES, 1)
    buckets: dict[Any, dict[int, dict[str, Any]]] = defaultdict(dict)
    for row in sorted(folder_rows, key=lambda row: row["captured_at_ms"]):
        t = row["captured_at_ms"]
        if window.since_ms <= t <= window.until_ms:
            c, s, e = (row[f"{n}_offset"] for n in ("committed", "log_start", "log_end"))
            known = None not in (c, s, e)
            point = {"t": t, "c": c, "e": e, "lag": max(e - max(c, s), 0) if known else None}
            series = (row["group"], row["topic"], row["partition"])
            buckets[series][(t - first) // width] = point
    return {series: list(points.values()) for series, points in buckets.items()}


@pytest.mark.parametrize("seed", [1, 2])
def test_verdicts_equal_burrows_rules(engine: dict[str, Any], tmp_path: Path, seed: int) -> None:
    """Every shape's verdict and rule against the rules written as a list of Python."""
    rows = captures(seed, COUNT)
    write_rows(tmp_path, rows)
    points = series_points(rows, EVERYTHING)
    report = ask(engine, tmp_path, EVERYTHING, by="partition")
    found = {
        (r["group"], r["topic"], r["partition"]): (r["verdict"], r["verdict_rule"])
        for r in report.items
    }
    expected = {series: burrow(points[series], series[0] != "stopped") for series in found}
    assert found == expected
    assert {rule for _, rule in found.values()} >= {
        "offset_stands_still",
        "commits_stopped",
        "offset_went_back",
        "lag_never_falls",
        "too_few_captures",
        "lag_unknown",
    }


def test_shapes_are_told_apart(engine: dict[str, Any], folder: Path) -> None:
    """What a person would say of each shape, by group."""
    report = ask(engine, folder, EVERYTHING, by="group", sort="lag_seconds")
    rows = {r["group"]: r for r in report.items}
    assert set(rows) == set(SHAPES)
    said = {group: (r["trend"], r["verdict"]) for group, r in rows.items()}
    assert said["falls behind"] == ("growing", "WARN")
    assert said["catches up"][0] == "draining"
    assert said["stands still"] == ("growing", "STALL")
    assert said["stopped"] == ("growing", "STOP")
    assert said["rewinds"] == ("growing", "REWIND")
    assert said["idle topic"][0] == "steady"
    assert said["never commits"] == (None, None)
    assert rows["never commits"]["lag"] is None
    assert rows["topic deleted"]["lag"] is None
    assert rows["expires"]["lost"] > 0
    assert rows["expires"]["lag_seconds"] is None
    assert rows["catches up"]["catch_up_seconds"] > 0
    assert rows["falls behind"]["catch_up_seconds"] is None
    assert rows["falls behind"]["lag_seconds_method"] == "interpolated"
    assert rows["falls behind"]["lag_seconds_confidence"] == "high"
    # Stopped before the window began: its record was there in every capture.
    span_s = (COUNT - 1) * STEP_MS / 1_000
    for group in ("stopped", "idle topic"):
        assert rows[group]["lag_seconds_method"] == "at_least"
        assert rows[group]["lag_seconds_confidence"] == "low"
        assert rows[group]["lag_seconds"] == pytest.approx(span_s)


def test_groups_add_up(engine: dict[str, Any], folder: Path) -> None:
    """Rates of a group are the sums of its partitions; a topic's inflow counts once."""
    by_partition = ask(engine, folder, EVERYTHING, by="partition").items
    for row in ask(engine, folder, EVERYTHING, by="group").items:
        mine = [r for r in by_partition if r["group"] == row["group"]]
        for column in ("rate_in", "rate_out", "lag"):
            known = [r[column] for r in mine if r[column] is not None]
            assert row[column] == (pytest.approx(sum(known)) if known else None)
    # Of all readers the one whose clock was set back has watched longest.
    longest = {r["topic"]: r["rate_in"] for r in by_partition if r["group"] == "clock jumps"}
    by_topic = ask(engine, folder, EVERYTHING, by="topic").items
    assert {row["topic"]: row["rate_in"] for row in by_topic} == longest


@pytest.mark.slow("the same of captures that were merged")
def test_compacted_captures_say_the_same(engine: dict[str, Any], tmp_path: Path) -> None:
    """Before and after merging, and with a capture that is there twice, also inside a part."""
    rows = captures(5, COUNT)
    write_rows(tmp_path, rows)
    windows = [EVERYTHING, Span(START_MS, START_MS + 12 * STEP_MS)]
    before = [ask(engine, tmp_path, window, by="partition").items for window in windows]
    files = len(active_files(tmp_path, "rows"))
    assert [done.files for done in compact(tmp_path)] == [files, files]
    assert len(active_files(tmp_path, "rows")) == 1
    assert [ask(engine, tmp_path, window, by="partition").items for window in windows] == before
    newest = max(row["captured_at_ms"] for row in rows)
    write_rows(tmp_path, [row for row in rows if row["captured_at_ms"] == newest])
    assert [ask(engine, tmp_path, window, by="partition").items for window in windows] == before


def test_captures_are_merged_while_a_report_reads(engine: dict[str, Any], tmp_path: Path) -> None:
    """Between Spark's listing of the files and its reading of them: the same answer."""
    write_rows(tmp_path, captures(5, COUNT))
    query = LagQuery(by="partition", top=10_000)
    span = EVERYTHING._asdict()
    expected = lag_report_over(tmp_path, query, **engine, **span).items
    merged: list[int] = []

    def merge_once(text: str) -> None:
        if text.startswith("computing lag") and not merged:
            merged.extend(done.files for done in compact(tmp_path))

    report = lag_report_over(tmp_path, query, **engine, progress=merge_once, **span)
    assert merged
    assert report.items == expected
    assert report.errors == ()


def test_a_broken_capture_is_named_and_left_out(engine: dict[str, Any], tmp_path: Path) -> None:
    """The report goes on without it, or not at all with `strict`."""
    write_rows(tmp_path, captures(6, 12))
    broken = Path(active_files(tmp_path, "rows")[3].path)
    broken.write_bytes(broken.read_bytes()[:50])
    window = Span(START_MS, UNTIL_MS)
    report = ask(engine, tmp_path, window)
    assert [Path(error.target) for error in report.errors] == [broken]
    assert len(report.items) == len(SHAPES)
    with pytest.raises(UsageError, match="cannot be read"):
        ask(engine, tmp_path, window, strict=True)


def test_a_capture_that_breaks_inside_is_one_sentence(
    engine: dict[str, Any], tmp_path: Path
) -> None:
    """A file whose footer is whole and whose pages are not."""
    write_rows(tmp_path, captures(6, 12))
    path = Path(active_files(tmp_path, "rows")[3].path)
    content = bytearray(path.read_bytes())
    pages_end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[4:pages_end] = bytes(pages_end - 4)
    path.write_bytes(content)
    with pytest.raises(KgroupsError, match=path.name) as caught:
        ask(engine, tmp_path, Span(START_MS, UNTIL_MS))
    assert caught.value.code == "BROKEN_CAPTURE"
    assert "\n" not in caught.value.message


def test_where_filters_the_report(engine: dict[str, Any], folder: Path) -> None:
    """A SQL condition on the report's columns; one that fits nothing is a usage error."""
    rows = ask(engine, folder, EVERYTHING, sql="verdict = 'STOP'").items
    assert [row["group"] for row in rows] == ["stopped"]
    wrong = {"colour = 1": "no column `colour`", "lag >": "incomplete", "lags(lag) > 1": "lags"}
    for condition, why in wrong.items():  # names of functions only Spark knows
        with pytest.raises(UsageError, match=why):
            ask(engine, folder, EVERYTHING, sql=condition)


def test_no_more_than_top_rows_come_to_the_driver(
    engine: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many captures and partitions there are."""
    with rows_brought_home(monkeypatch) as sizes:
        report = lag_report_over(
            folder,
            LagQuery(by="partition", top=4),
            since_ms=EVERYTHING.since_ms,
            until_ms=EVERYTHING.until_ms,
            **engine,
        )
    assert len(report.items) == 4
    assert sizes == ([] if "engine" in engine else [4 + 1]), "the rows and the totals"


def test_bad_windows(engine: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    """Nothing collected, nothing in the window, a window that ends before it starts."""
    with pytest.raises(NotFoundError, match="no captures"):
        ask(engine, folder, Span(1, 2))
    with pytest.raises(NotFoundError, match="no captures"):
        ask(engine, tmp_path, Span(1, 2))
    with pytest.raises(UsageError, match="time window is empty"):
        ask(engine, folder, Span(2, 2))
