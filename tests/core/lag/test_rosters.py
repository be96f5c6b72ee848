"""Reports of one snapshot: which commits are stale, and ages by the next record.

Who is idle and how uneven it is: `window/test_plain_truth.py`, by the same SQL.
"""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from kgroups.core.lag.report import LagQuery, LagReport, lag_report
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)

pytestmark = pytest.mark.spark

ALL = 100_000


def ask(
    session: SparkSession | None, snapshot: ClusterSnapshot, by: str, **query: Any
) -> LagReport:
    """A report of one snapshot."""
    return lag_report([snapshot], LagQuery(by=by, top=ALL, **query), session=session)


def test_stale_commits(session: SparkSession | None) -> None:
    """A topic that is gone, and one that the group left; not one that waits for its reader."""
    logs = {0: PartitionLog(0, 10, leader=1), 1: PartitionLog(0, 10, leader=1)}
    commits = {0: CommittedOffset(4), 1: CommittedOffset(4)}
    reader = Member("m", "c", "/h", assignment={"read": (0,)})
    offsets = {"read": {0: CommittedOffset(1)}, "left": commits, "gone": commits}
    groups = (
        Group("alive", "classic", "Stable", members=(reader,), offsets=offsets),
        Group("empty", "classic", "Empty", members=(), offsets=offsets),
        Group("unknown", "classic", None, members=None, offsets=offsets),
    )
    topics = {name: Topic(name, logs) for name in ("read", "left")}
    snapshot = ClusterSnapshot(1, groups, topics, cluster_id="c1")
    found = {r["group"]: r["stale_partitions"] for r in ask(session, snapshot, "group").items}
    assert found == {"alive": 4, "empty": 2, "unknown": 2}
    by_topic = {r["topic"]: r["stale_partitions"] for r in ask(session, snapshot, "topic").items}
    assert by_topic == {"read": 0, "left": 2, "gone": 6}
    where = ask(session, snapshot, "topic", sql="stale_partitions = partitions").items
    assert [row["topic"] for row in where] == ["gone"]


def test_lag_in_seconds_by_the_next_record(session: SparkSession | None) -> None:
    """The oldest unread record decides; at the head it is 0, expired or not asked unknown."""
    at_ms = 1_000_000
    log = PartitionLog(10, 100, leader=1)
    commits = {p: CommittedOffset(offset) for p, offset in enumerate((40, 60, 100, 5, 50))}
    groups = (
        Group("g", "classic", "Empty", offsets={"t": commits}),
        Group("h", "classic", "Empty", offsets={"read": {2: CommittedOffset(100)}}),
        Group("i", "classic", "Empty", offsets={"expired": {3: CommittedOffset(5)}}),
        Group("j", "classic", "Empty", offsets={"both": {p: commits[p] for p in (2, 3)}}),
    )
    partitions = {"t": range(5), "read": (2,), "expired": (3,), "both": (2, 3)}
    topics = {name: Topic(name, dict.fromkeys(own, log)) for name, own in partitions.items()}
    snapshot = ClusterSnapshot(at_ms, groups, topics, cluster_id="c1")
    # The clock of the producer of partition 4 runs a minute ahead.
    times = {("t", 0, 40): at_ms - 5_000, ("t", 1, 60): at_ms - 7_500, ("t", 4, 50): at_ms + 60_000}

    def seconds(by: str) -> dict[Any, Any]:
        query = LagQuery(by=by, top=ALL, times=True)
        report = lag_report([snapshot], query, session=session, record_times=times)
        return {
            (r["group"], r.get("partition")): (
                *(r["lag_seconds"], r["lag_seconds_method"]),
                r["lag_seconds_confidence"],
            )
            for r in report.items
        }

    assert seconds("partition") == {
        ("g", 0): (5.0, "record", "high"),
        ("g", 1): (7.5, "record", "high"),
        ("g", 2): (0.0, "at_head", "high"),
        ("g", 3): (None, None, None),
        ("g", 4): (0.0, "record", "high"),
        ("h", 2): (0.0, "at_head", "high"),
        ("i", 3): (None, None, None),
        ("j", 2): (0.0, "at_head", "high"),
        ("j", 3): (None, None, None),
    }
    assert seconds("group") == {
        # Nobody knows how old the records of its partition 3 are, so nobody knows the oldest.
        ("g", None): (None, None, None),
        ("h", None): (0.0, "at_head", "high"),
        ("i", None): (None, None, None),
        # One partition is at the head, of the other nobody can say: 0 would be a lie.
        ("j", None): (None, None, None),
    }
