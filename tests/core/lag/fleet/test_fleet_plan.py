"""The fleet's dry run: changes made to every group, patterns, and the rules of a library."""

from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kgroups.core.lag.captures.capture_tables import plan_tables
from kgroups.core.lag.report import LagQuery, lag_report
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    Change,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
)
from kgroups.core.planning.fleet import Fleet, next_fleet
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.planning.plan import plan_group
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from tests.support.lag.made_fleet import fleet

pytestmark = pytest.mark.spark

ALL = 100_000


def rows_of(
    spark: SparkSession,
    snapshot: ClusterSnapshot,
    later: Fleet | None = None,
    leader: str | None = None,
    **query: Any,
) -> list[dict[str, Any]]:
    """The rows of a report."""
    asked = LagQuery(
        top=ALL, leader_of=lambda group: infer_leader(Evidence(group), leader).likeliest, **query
    )
    return lag_report([snapshot], asked, later=later, session=spark).items


def consumers(*changes: Change) -> tuple[ClusterSnapshot, Fleet]:
    """Two members on four partitions with lag, and the fleet after the changes."""
    logs = {p: PartitionLog(0, 100 * (p + 1), leader=1) for p in range(4)}
    first = Member("app-1", "app", "/h", subscription=("t",), assignment={"t": (0, 1)})
    second = Member("app-2", "app", "/h", subscription=("t",), assignment={"t": (2, 3)})
    offsets = {"t": {p: CommittedOffset(0) for p in range(4)}}
    group = Group(
        "g", "classic", "Stable", "consumer", "range", members=(first, second), offsets=offsets
    )
    snapshot = ClusterSnapshot(1, (group,), {"t": Topic("t", logs)}, cluster_id="c1")
    return snapshot, next_fleet(snapshot, lambda _: changes)


@pytest.mark.slow("further plans on Spark; without it: tests/core/planning/test_fleet.py")
def test_a_fleet_after_changes(spark: SparkSession) -> None:
    """Members before and after, what moves, lag that follows; new partitions are empty."""
    snapshot, later = consumers(RemoveMember("app-2"), SetPartitions("t", 6), AddMembers(2, "z"))
    query: dict[str, Any] = {"assignors": ("range",), "leader": "java"}
    found = rows_of(spark, snapshot, later, by="member", **query)
    rows = {row["member_id"]: row for row in found}
    assert {who: row["change"] for who, row in rows.items()} == {
        "app-1": "stays", "app-2": "leaves", "z-new-1": "joins", "z-new-2": "joins",
    }  # fmt: skip
    assert (rows["app-1"]["planned_partitions"], rows["app-1"]["kept"]) == (2, 2)
    assert (rows["app-2"]["moved_out"], rows["app-2"]["planned_partitions"]) == (2, 0)
    joined = sorted(rows[f"z-new-{n}"]["planned_lag"] for n in (1, 2))
    assert joined == [0, 700]  # t-2 and t-3 as they were, t-4 and t-5 empty
    assert sum(row["planned_unknown_partitions"] for row in found) == 0
    (row,) = rows_of(spark, snapshot, later, by="group", **query)
    assert (row["member_count"], row["planned_member_count"], row["moved"]) == (2, 3, 4)
    assert (row["partitions"], row["planned_partitions"], row["idle_members"]) == (4, 6, 0)
    assert row["gain"] == 0


def test_a_fleets_plan_is_that_of_its_groups(spark: SparkSession) -> None:
    """Where no id has to be drawn, a group's row says what `plan_group` says of it."""
    changes: list[Change] = [RemoveMembers(1), SetPartitions("topic-3", 9)]
    snapshot = fleet(14, 24)
    kept = [g for g in snapshot.groups if g.type == "classic" and len(g.members or ()) > 1]
    snapshot = replace(snapshot, groups=tuple(kept))
    later = next_fleet(snapshot, lambda _: changes)
    names = ("range", "roundrobin", "sticky", "cooperative-sticky")
    rows = rows_of(spark, snapshot, later, by="member", assignors=names, leader="java")
    found = {(r["group"], r["assignor"], r["member_id"]): r for r in rows}
    assert len(kept) > 3
    for group in kept:
        for name in names:
            plan = plan_group(snapshot, group, changes, name, "java")
            for planned in plan.members:
                row = found[group.group, name, planned.member_id]
                assert row["planned_partitions"] == planned.partitions
            mine = [row for key, row in found.items() if key[:2] == (group.group, name)]
            moved = sum(row["moved_in"] for row in mine)
            assert moved == sum(
                move.kind not in ("kept", "newly_unassigned") for move in plan.moves
            )


def read_by_pattern() -> ClusterSnapshot:
    """Two members of a KIP-848 group that subscribe by a pattern alone; it matches two topics."""
    topics = {
        name: Topic(name, {p: PartitionLog(0, 10, leader=1) for p in range(2)}, topic_id)
        for name, topic_id in (
            ("in-1", "AAAAAAAAAAIAAAAAAAAAAg"),
            ("in-2", "AAAAAAAAAAIAAAAAAAAAAw"),
            ("out", "AAAAAAAAAAIAAAAAAAAABA"),
        )
    }
    members = tuple(
        Member(f"m{n}", "c", "/h", member_protocol="consumer", subscription=(),
               subscription_regex="in-.*", assignment={}, target_assignment={})
        for n in range(2)
    )  # fmt: skip
    group = Group("g", "consumer", "Stable", "consumer", "uniform", members=members, offsets={})
    return ClusterSnapshot(1, (group,), topics, cluster_id="c1")


def test_patterns_of_members_are_resolved() -> None:
    """What is planned is told the topics that a pattern matches."""
    members, _topics = plan_tables([read_by_pattern()], {}, lambda _group: "java")
    assert members["subscription"].to_pylist() == [["in-1", "in-2"]] * 2


@pytest.mark.slow("a further plan on Spark")
def test_members_with_patterns_are_planned(spark: SparkSession) -> None:
    """With the topics that their pattern matches."""
    items = rows_of(spark, read_by_pattern(), by="member", assignors=("uniform",))
    assert sorted(row["planned_partitions"] for row in items) == [2, 2]


@pytest.mark.slow("further plans on Spark; without it: tests/core/planning/test_fleet.py")
def test_the_leaders_library_counts(spark: SparkSession) -> None:
    """Static members come first for Java, by member id for sarama; what is said wins."""
    logs = {p: PartitionLog(0, 1, leader=1) for p in range(3)}
    members = (
        Member("z-1", "z", "/h", instance_id="i", subscription=("t",), assignment={"t": (0, 1)}),
        Member("a-1", "a", "/h", subscription=("t",), assignment={"t": (2,)}),
    )
    group = Group("g", "classic", "Stable", "consumer", "range", members=members, offsets={})
    snapshot = ClusterSnapshot(1, (group,), {"t": Topic("t", logs)}, cluster_id="c1")
    sizes = {}
    for leader in ("java", "sarama"):
        found = rows_of(spark, snapshot, by="member", assignors=("range",), leader=leader)
        sizes[leader] = {row["member_id"]: row["planned_partitions"] for row in found}
    assert sizes == {"java": {"z-1": 2, "a-1": 1}, "sarama": {"z-1": 1, "a-1": 2}}
