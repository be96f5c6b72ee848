"""Planned assignments over a window of captures: lag and rates of members, before and after."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kgroups.core.errors import UsageError
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.lag.captures.delta_table import active_files
from kgroups.core.lag.captures.upkeep import compact
from kgroups.core.lag.report import LagQuery, LagReport
from kgroups.core.lag.report_columns import PLANNED_KEYS, compared_figures, report_columns
from kgroups.core.lag.window.window_report import lag_report_over
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)

pytestmark = pytest.mark.spark

START_MS = 1_763_700_000_000
STEP_MS = 60_000
COUNT = 11
UNTIL_MS = START_MS + (COUNT - 1) * STEP_MS

# Records a minute into each partition of the topic, and how many of them are read.
RATE_IN = (600, 60, 60, 60)
RATE_OUT = (300, 60, 60, 60)
# Whom the partitions of each group belong to now.
HELD: dict[str, dict[str, tuple[int, ...]]] = {
    "uneven": {"a": (0, 1, 2), "b": (3,)},
    "one big partition": {"a": (0,), "b": (1, 2, 3)},
    "one member": {"a": (0, 1, 2, 3)},
    "nobody": {},
}


def snapshot_at(step: int) -> ClusterSnapshot:
    """The cluster so many minutes after the start; the last one has a member more."""
    logs = {p: PartitionLog(0, 10_000 + rate * step, leader=1) for p, rate in enumerate(RATE_IN)}
    offsets = {p: CommittedOffset(10_000 + rate * step) for p, rate in enumerate(RATE_OUT)}
    groups = []
    for name, held in sorted(HELD.items()):
        members = tuple(
            Member(f"{name}-{who}", who, f"/{who}", subscription=("t",), assignment={"t": mine})
            for who, mine in held.items()
            if step == COUNT - 1 or who != "b"
        )
        state = "Stable" if members else "Empty"
        groups.append(Group(name, "classic", state, members=members, offsets={"t": offsets}))
    at_ms = START_MS + step * STEP_MS
    return ClusterSnapshot(at_ms, tuple(groups), {"t": Topic("t", logs)}, cluster_id="c1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eleven captures, a minute apart."""
    place = tmp_path_factory.mktemp("captures")
    for step in range(COUNT):
        write_capture(place, snapshot_at(step))
    return place


def ask(spark: SparkSession, folder: Path, **query: Any) -> LagReport:
    """A report over the whole window."""
    asked = LagQuery(top=1_000, **query)
    report = lag_report_over(folder, asked, since_ms=START_MS, until_ms=UNTIL_MS, session=spark)
    assert report.columns == report_columns(asked, "captures")
    return report


@pytest.mark.slow("more rates of planned members")
def test_rates_of_members_before_and_after(spark: SparkSession, folder: Path) -> None:
    """A member's rates are the sums of its partitions', those that it has and would have."""
    report = ask(spark, folder, by="member", assignors=("range", "roundrobin"))
    rows = {(r["group"], r["assignor"], r["client_id"]): r for r in report.items}
    assert len(rows) == 2 * 5
    per_second = [rate / 60 for rate in RATE_IN]
    out = [rate / 60 for rate in RATE_OUT]
    # range gives the first member the first half; roundrobin every second partition.
    planned = {"range": {"a": (0, 1), "b": (2, 3)}, "roundrobin": {"a": (0, 2), "b": (1, 3)}}
    for (group, assignor, who), row in rows.items():
        now = HELD[group][who]
        then = planned[assignor][who] if len(HELD[group]) == 2 else (0, 1, 2, 3)
        assert row["rate_in"] == pytest.approx(sum(per_second[p] for p in now))
        assert row["planned_rate_in"] == pytest.approx(sum(per_second[p] for p in then))
        assert row["rate_out"] == pytest.approx(sum(out[p] for p in now))
        assert row["planned_rate_out"] == pytest.approx(sum(out[p] for p in then))
        assert row["lag"] == (3_000 if 0 in now else 0)
        assert row["planned_lag"] == (3_000 if 0 in then else 0)
    assert report.summary["since_ms"] == START_MS
    assert report.summary["lag"] == 3_000 * len(HELD)


@pytest.mark.slow("rates of plans on Spark; rates: tests/core/lag/window/test_trends.py")
def test_the_first_table_says_what_would_help(spark: SparkSession, folder: Path) -> None:
    """By group: what the assignor gains, what a member could at best, and which is more.

    Here all lag is in one partition, so that neither can help.
    """
    report = ask(spark, folder, by="group", assignors=("range",))
    rows = {r["group"]: r for r in report.items}
    assert set(rows) == {"uneven", "one big partition", "one member"}
    for row in rows.values():
        assert (row["best"], row["best_gain"], row["gain_with_member"]) == ("none", 0, 0)
    assert rows["uneven"]["member_rate_in_max"] == pytest.approx(12.0)
    assert rows["uneven"]["planned_member_rate_in_max"] == pytest.approx(11.0)


@pytest.mark.slow("half a minute of Spark; reports of one window are in every run")
def test_planned_assignments_of_two_windows(spark: SparkSession, folder: Path) -> None:
    """Each is what a report of its own says; the change is the difference."""
    half_ms = 5 * STEP_MS
    windows = ((START_MS + half_ms, UNTIL_MS), (START_MS, UNTIL_MS - half_ms))

    def go(by: str, window: tuple[int, int], compare_ms: int = 0) -> LagReport:
        query = LagQuery(by=by, assignors=("range",), top=1_000, compare_ms=compare_ms)
        since_ms, until_ms = window
        report = lag_report_over(folder, query, since_ms=since_ms, until_ms=until_ms, session=spark)
        assert report.columns == report_columns(query, "captures")
        return report

    for by in ("group", "member"):
        keys = PLANNED_KEYS[by]
        both = go(by, windows[0], half_ms)
        now, then = (
            {tuple(row[key] for key in keys): row for row in go(by, window).items}
            for window in windows
        )
        assert {tuple(row[key] for key in keys) for row in both.items} == {*now, *then}
        figures = compared_figures(LagQuery(by=by, assignors=("range",)))
        assert figures.keys() >= {"lag", "planned_lag"}
        for row in both.items:
            key = tuple(row[key] for key in keys)
            is_new = key not in then
            assert row["compared"] == ("new" if is_new else "both")
            for name, is_number in figures.items():
                was = None if is_new else then[key][name]
                assert (row[name], row[f"{name}_before"]) == (now[key][name], was)
                if is_number:
                    is_known = None not in (row[name], was)
                    assert row[f"{name}_change"] == (row[name] - was if is_known else None)
        assert both.summary["lag"] == 3_000 * len(HELD)
        changes = [row["lag_change"] for row in both.items]
        assert 1_500 in changes
        assert changes == sorted(changes, key=lambda change: (change is None, -(change or 0)))


@pytest.mark.slow("of plans; that of lag is in every run")
def test_merged_captures_say_the_same(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    """Members and topics are those of the newest capture inside the window, however filed."""
    for step in range(COUNT):
        write_capture(tmp_path, snapshot_at(step))
    query = {"by": "member", "assignors": ("range",)}
    before = ask(spark, folder, **query).items
    assert [done.table for done in compact(tmp_path)] == ["rows", "members", "topics", "captures"]
    assert ask(spark, tmp_path, **query).items == before
    inside = LagQuery(by="member", assignors=("range",))
    earlier = lag_report_over(
        tmp_path, inside, since_ms=START_MS, until_ms=UNTIL_MS - STEP_MS, session=spark
    )
    assert {row["client_id"] for row in earlier.items} == {"a"}


@pytest.mark.slow("one more start of Spark for a file that is broken")
def test_a_broken_file_of_members_is_named(spark: SparkSession, tmp_path: Path) -> None:
    """It is left out, or refused with `strict`."""
    for step in range(3):
        write_capture(tmp_path, snapshot_at(step))
    broken = Path(active_files(tmp_path, "members")[-1].path)
    broken.write_bytes(b"PAR1")
    query = LagQuery(by="member", assignors=("range",))

    def go(strict: bool) -> LagReport:
        window = (START_MS, UNTIL_MS)
        return lag_report_over(
            *(tmp_path, query), since_ms=window[0], until_ms=window[1], strict=strict, session=spark
        )

    assert [Path(error.target) for error in go(False).errors] == [broken]
    with pytest.raises(UsageError, match="cannot be read"):
        go(True)
