"""Captures read back as snapshots: what was captured, by old collectors and new ones."""

from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.lag.captures.capture_tables import capture_tables
from kgroups.core.lag.captures.captured_snapshots import captured_snapshots
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.lag.captures.delta_table import append, dated
from kgroups.core.lag.captures.hour_table import HOUR_MS
from kgroups.core.lag.captures.retention import roll_up
from kgroups.core.lag.captures.table_columns import PLANNED
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.rounds import rounds_of
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from tests.support.lag.made_fleet import fleet

TOPIC_ID = "AAAAAAAAAAAAAAAAAAAABw"
CLASSIC = Group(
    "g-classic",
    "classic",
    "Stable",
    assignor="range",
    leader="b",
    generation=7,
    members=(
        Member("a", "app-1", "/h", assignment={"t": (0, 1)}, subscription=("t",), generation=6),
        Member("b", "app-2", "/h", assignment={"t": (1,)}, subscription=("t",), generation=6),
    ),
    offsets={"t": {0: CommittedOffset(4)}},
)
CONSUMER = Group(
    "g-consumer",
    "consumer",
    "Reconciling",
    assignor="uniform",
    group_epoch=9,
    target_epoch=9,
    members=(
        Member(
            *("m", "app", "/h", None, "consumer"),
            member_epoch=8,
            subscription=("t",),
            assignment={"t": (0, 1)},
            target_assignment={"t": (0,)},
        ),
    ),
    offsets={},
)
EMPTY = Group("g-empty", "classic", "Empty", members=(), offsets={"t": {1: CommittedOffset(9)}})


def captured(at_ms: int = 1_000, cluster: str = "c1") -> ClusterSnapshot:
    """A cluster with these groups."""
    topic = Topic("t", {0: PartitionLog(0, 10, 10), 1: PartitionLog(5, 20, 20)}, TOPIC_ID)
    return ClusterSnapshot(at_ms, (CLASSIC, CONSUMER, EMPTY), {"t": topic}, cluster_id=cluster)


def read(
    folder: Path, *, cluster: str | None = "c1", until_ms: int = 1 << 45
) -> list[ClusterSnapshot]:
    """All of them."""
    return captured_snapshots(folder, None, cluster, since_ms=0, until_ms=until_ms)


def test_groups_are_as_they_were(tmp_path: Path) -> None:
    """State, generation or epoch, leader, members and all that each of them had; commits; lag."""
    write_capture(tmp_path, captured())
    (found,) = read(tmp_path)
    assert found.groups == (CLASSIC, CONSUMER, EMPTY)
    assert [*map(rounds_of, found.groups)] == [*map(rounds_of, (CLASSIC, CONSUMER, EMPTY))]
    assert found.topics == captured().topics
    for group in found.groups:
        assert offset_rows(found, group) == offset_rows(captured(), group)


def test_a_whole_fleet_and_some_of_it(tmp_path: Path) -> None:
    """Whatever a partition may be, its lag is what it was; groups not asked for are left out."""
    taken = [fleet(seed, at_ms=seed) for seed in (1, 2)]
    for each in taken:
        write_capture(tmp_path, each)
    for was, now in zip(taken, read(tmp_path), strict=True):
        assert now.captured_at_ms == was.captured_at_ms
        for group in now.groups:
            lags = [row.lag for row in offset_rows(was, was.needed(group.group))]
            assert [row.lag for row in offset_rows(now, group)] == lags
    (one, _) = captured_snapshots(tmp_path, ["group-003"], "c1", since_ms=0, until_ms=9)
    assert [group.group for group in one.groups] == ["group-003"]


def test_captures_of_another_cluster(tmp_path: Path) -> None:
    """They are refused; one whose name nobody knows has to be the only one."""
    write_capture(tmp_path, captured())
    with pytest.raises(UsageError, match="are of `c1`, not of cluster `c2`"):
        read(tmp_path, cluster="c2")
    assert len(read(tmp_path, cluster=None)) == 1
    write_capture(tmp_path, captured(2_000, "c2"))
    with pytest.raises(UsageError, match="are of 2 clusters: `c1`, `c2`"):
        read(tmp_path, cluster=None)
    assert [one.captured_at_ms for one in read(tmp_path, cluster="c2")] == [2_000]
    with pytest.raises(NotFoundError, match="no captures in the window"):
        read(tmp_path, until_ms=5)


def test_captures_of_before(tmp_path: Path) -> None:
    """Without the new columns: commits are there, members are not known; other readers see both."""
    old = capture_tables([captured(500)]).members.select([column.name for column in PLANNED])
    append(tmp_path, "members", dated(old))
    write_capture(tmp_path, replace(captured(500), groups=(CLASSIC,)))
    write_capture(tmp_path, captured())
    members = str(tmp_path / "members")
    question = f"""
        SELECT count(*), count(generation)
        FROM read_parquet('{members}/**', union_by_name = true) WHERE "group" = 'g-classic'
    """
    assert duckdb.connect().execute(question).fetchall() == [(6, 4)]
    by_delta = DeltaTable(members).to_pyarrow_table().filter(pc.field("group") == "g-classic")
    assert (by_delta.num_rows, by_delta["generation"].null_count) == (6, 2)
    append(tmp_path / "old", "members", dated(old))
    tables = capture_tables([captured(500)])
    append(tmp_path / "old", "rows", dated(tables.rows))
    write_capture(tmp_path / "old", replace(captured(500), groups=()))
    (found,) = read(tmp_path / "old")
    assert [group.members for group in found.groups] == [None, None, ()]
    assert [group.offsets for group in found.groups] == [CLASSIC.offsets, {}, EMPTY.offsets]


def test_hours_that_are_rolled_up(tmp_path: Path) -> None:
    """The last capture of each hour is left."""
    times = [HOUR_MS + 1, HOUR_MS + 2, 2 * HOUR_MS + 1]
    for at_ms in times:
        write_capture(tmp_path, captured(at_ms))
    assert len(read(tmp_path)) == 3
    list(roll_up(tmp_path, before_ms=1 << 45))
    found = read(tmp_path)
    assert [one.captured_at_ms for one in found] == times[1:]
    assert found[0].groups == (CLASSIC, CONSUMER, EMPTY)
