"""Figures that were wrong once, each in a cluster of its own, all in a few reports."""

from pathlib import Path
from typing import Any

import pytest

from kgroups.cli.commands.lag.lag_options import conditions_on_rows
from kgroups.core.lag.report import LagQuery
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.capture_writer import captured_row, write_finished

pytestmark = pytest.mark.spark

MINUTE_MS = 60_000
# The first moment of a day, which all the captures are of.
START_MS = 1_760_054_400_000
LAST = 1_439
UNTIL_MS = START_MS + LAST * MINUTE_MS
Row = dict[str, Any]


def at(minute: float, committed: int | None, end: int, start: int = 0, **more: Any) -> Row:
    """A partition of one group that somebody reads, so many minutes after the day began."""
    return captured_row(
        START_MS + round(minute * MINUTE_MS),
        group_state="Stable",
        committed_offset=committed,
        log_start_offset=start,
        log_end_offset=end,
        member_id="m",
        **more,
    )


def lives() -> dict[str, list[Row]]:
    """Cluster -> rows of its captures; the newest capture is the last minute's."""
    minutes = range(LAST - 11, LAST + 1)
    peak = {m: (13_800, 14_000) if 700 <= m < 720 else (0, 0) for m in range(LAST + 1)}
    return {
        # 20 minutes of 24 hours, between two of 60 points.
        "peak": [
            at(m, 50_000 - lag, 50_000, partition=partition)
            for m, lags in peak.items()
            for partition, lag in enumerate(lags)
        ],
        # A capture every 8 s, for 80 s.
        "short": [at(LAST - s / 60, 1_000 - 5 * s, 2_000 - 10 * s) for s in range(0, 88, 8)],
        # Partition 1 has lost records, and how old the next one is nobody knows.
        "unknown age": [
            at(m, committed, 600 + 60 * m, start, partition=partition)
            for m in minutes
            for partition, committed, start in ((0, 597 + 60 * m, 0), (1, 10, 100))
        ],
        # Log start goes on by a record a second, and reaches the commit of partition 1 in 4,000 s.
        "no commit": [
            at(m, committed, 10**6, 60 * m, partition=partition)
            for m in minutes
            for partition, committed in ((0, None), (1, 60 * LAST + 4_000))
        ],
        # 100 records a minute; the second group has come with the last capture.
        "new reader": [at(m, 100 * m, 100 * m + 200) for m in minutes]
        + [at(LAST, 1_000, 100 * LAST + 200, group="new")],
        # One partition at the head, one that gains.
        "well and behind": [
            at(m, committed, 10**6, partition=partition)
            for m in minutes
            for partition, committed in ((0, 10**6), (1, 10**6 - 500 - (LAST - m) * 10))
        ],
        # Committed before the day began, and another partition that falls behind: two hours of
        # captures, a record a second.
        "older than the captures": [
            at(m, committed, 20_000 + 60 * m, partition=partition)
            for m in range(LAST - 120, LAST + 1)
            for partition, committed in ((0, 10), (1, 20_000 + 60 * (LAST - 60)))
        ],
        # Nothing committed, 80 records.
        "uncommitted": [at(m, None, 80) for m in minutes],
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A commit a cluster."""
    place = tmp_path_factory.mktemp("known")
    for cluster, rows in lives().items():
        rows = sorted(
            (row | {"cluster": cluster} for row in rows), key=lambda r: r["captured_at_ms"]
        )
        write_finished(place, cluster, rows, {row["captured_at_ms"] for row in rows})
    return place


def ask(engine: dict[str, Any], folder: Path, **query: Any) -> dict[tuple[str, str], Row]:
    """The rows of a report over the day, by cluster and group or topic."""
    asked = LagQuery(**query)
    since_ms = UNTIL_MS - 1_440 * MINUTE_MS
    report = lag_report_over(folder, asked, since_ms=since_ms, until_ms=UNTIL_MS, **engine)
    return {(row["cluster"], row[asked.by]): row for row in report.items}


def test_by_group(engine: dict[str, Any], folder: Path) -> None:
    """Peaks of every capture, nothing known that is not, a window as long as what was captured."""
    rows = ask(engine, folder)
    peak = rows["peak", "g"]
    assert (peak["lag"], peak["lag_peak"], peak["partition_lag_peak"]) == (0, 27_800, 14_000)
    short = rows["short", "g"]
    assert (short["rate_in"], short["rate_out"]) == (pytest.approx(10), pytest.approx(5))
    assert (short["trend"], short["verdict"]) == ("growing", "WARN")
    unknown = rows["unknown age", "g"]
    ages = ("lag_seconds", "lag_seconds_method", "lag_seconds_confidence")
    assert [unknown[name] for name in ages] == [None, None, None]
    assert unknown["lost"] == 90
    assert rows["no commit", "g"]["retention_seconds_left"] == pytest.approx(4_000)
    behind = rows["well and behind", "g"]
    assert (behind["lag"], behind["verdict_rule"]) == (500, "progresses")
    assert rows["uncommitted", "g"]["lag_peak"] is None


def test_by_topic(engine: dict[str, Any], folder: Path) -> None:
    """Records come into a topic as often as they do, however short a reader has been there."""
    row = ask(engine, folder, by="topic")["new reader", "t"]
    assert row["rate_in"] == pytest.approx(100 / 60)
    assert row["catch_up_seconds"] is None


GATES = {
    "lag_seconds > 3h": ["CHECK_UNDETERMINED"],
    "lag_seconds >= 2h": ["CHECK_FAILED"],
    "lag_seconds > 1h": ["CHECK_FAILED"],
    "lag_seconds < 3h": ["CHECK_UNDETERMINED"],
    "lag_seconds < 2h": [],
    "not lag_seconds > 3h": ["CHECK_UNDETERMINED"],
}


def test_a_lower_bound(engine: dict[str, Any], folder: Path) -> None:
    """What was unread in every capture is at least that old, and a gate knows no more."""
    query = LagQuery(fail_on=conditions_on_rows([*GATES]), sql="cluster LIKE 'older%'")
    since_ms = UNTIL_MS - 1_440 * MINUTE_MS
    report = lag_report_over(folder, query, since_ms=since_ms, until_ms=UNTIL_MS, **engine)
    (row,) = report.items
    ages = ("lag_seconds", "lag_seconds_method", "lag_seconds_confidence")
    assert [row[name] for name in ages] == [7_200.0, "at_least", "low"]
    assert {
        text: [error.code for error in report.errors if error.message.startswith(f"`{text}` ")]
        for text in GATES
    } == GATES
    assert all("lag_seconds is at least 7200" in error.message for error in report.errors)


def test_without_commits(engine: dict[str, Any], folder: Path) -> None:
    """What is assumed of the lag now is assumed of the lag then."""
    row = ask(engine, folder, uncommitted="start")["uncommitted", "g"]
    assert (row["lag"], row["lag_peak"], row["trend"]) == (80, 80, "steady")
