"""The report end to end on a local session, against plain Python over the same snapshot."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions
from kgroups.cli.commands.lag.lag_options import conditions_on_rows
from kgroups.core.errors import UsageError
from kgroups.core.lag import group_lag
from kgroups.core.lag.captures.capture_tables import capture_tables, plan_tables
from kgroups.core.lag.fleet.planned import Fleet, plan_groups
from kgroups.core.lag.group_lag import (
    LagSummary,
    OffsetRow,
    lag_summary,
    offset_rows,
    owners_known,
)
from kgroups.core.lag.lag_query import KEYS
from kgroups.core.lag.pictures import Pictures
from kgroups.core.lag.questions import Questions
from kgroups.core.lag.report import LagQuery, LagReport, lag_report, lagged_of
from kgroups.core.lag.spark_engine import Spark
from kgroups.core.lag.window.window_figures import FACTS
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from tests.support.lag.driver_traffic import rows_brought_home
from tests.support.lag.made_fleet import TOPICS as TOPIC_COUNT
from tests.support.lag.made_fleet import fleet

pytestmark = pytest.mark.spark

ALL = 100_000
ALL_TOPICS = tuple(f"topic-{number}" for number in range(TOPIC_COUNT))


def ask(session: SparkSession | None, snapshot: ClusterSnapshot, **query: Any) -> LagReport:
    """A report of one snapshot."""
    asked = LagQuery(leader_of=lambda group: infer_leader(Evidence(group)).likeliest, **query)
    return lag_report([snapshot], asked, session=session)


def test_lag_by_group_is_the_arithmetic_of_describe(spark: SparkSession) -> None:
    """Every group's figures equal `lag_summary` over `offset_rows`, with its nulls.

    Groups of the same name in several clusters are several.
    """
    snapshots = [fleet(seed, groups=40, cluster=f"c{seed}") for seed in (1, 2, 3)]
    report = lag_report(snapshots, LagQuery(by="group", top=ALL), session=spark)
    found = {
        (r["cluster"], r["group"]): LagSummary(
            r["lag"], r["lag_max"], *(r[name] for name in LagSummary._fields[2:])
        )
        for r in report.items
    }
    assert len(found) == len(report.items)
    rows = {
        (snapshot.cluster_id, group.group): (offset_rows(snapshot, group), owners_known(group))
        for snapshot in snapshots
        for group in snapshot.groups
    }
    assert found == {
        key: lag_summary(own, owned=owned) for key, (own, owned) in rows.items() if own
    }
    everything = [row for own, _ in rows.values() for row in own]
    total = lag_summary(everything)
    assert report.summary["lag"] == total.lag
    assert report.summary["lost"] == total.lost
    assert report.summary["unknown_partitions"] == total.unknown_partitions
    assert report.summary["beyond_end_partitions"] == total.beyond_end_partitions
    assert report.summary["partitions"] == len(everything)


@pytest.mark.parametrize("by", ["topic", "partition", "member", "client", "host"])
def test_lag_by_other_keys(session: SparkSession | None, by: str) -> None:
    """Sums by any key equal sums over the rows of describe."""
    snapshot = fleet(4, groups=30)
    expected: dict[tuple[Any, ...], list[OffsetRow]] = defaultdict(list)
    for group in snapshot.groups:
        for row in offset_rows(snapshot, group):
            facts = {"cluster": "c1", "group": group.group, **row._asdict()}
            expected[tuple(facts[key] for key in KEYS[by])].append(row)
    found = {
        tuple(r[key] for key in KEYS[by]): (r["lag"], r["partitions"])
        for r in ask(session, snapshot, by=by, top=ALL).items
        if r["partitions"] > 0
    }
    assert found == {key: (lag_summary(rows).lag, len(rows)) for key, rows in expected.items()}


def test_policies_reach_the_columns(session: SparkSession | None) -> None:
    """`uncommitted` and `isolation` change the figures as they change `offset_rows`."""
    snapshot = fleet(6, groups=25)
    for options in ({"uncommitted": "start"}, {"isolation": "read_committed"}):
        report = ask(session, snapshot, top=ALL, **options)
        for row in report.items:
            group = snapshot.group(row["group"])
            assert group is not None
            summary = lag_summary(offset_rows(snapshot, group, **options))  # type: ignore[arg-type]
            assert (row["lag"], row["lag_max"]) == (summary.lag, summary.lag_max)


def check_nothing(report: LagReport) -> None:
    """No rows, totals of nothing."""
    assert report.items == []
    assert report.summary["groups"] == 0
    assert report.summary["lag"] is None


def test_a_cluster_without_groups(session: SparkSession | None) -> None:
    """No rows, no pictures, totals of nothing, and no failure."""
    report = ask(session, fleet(1, groups=0), by="group", pictures=True)
    check_nothing(report)
    assert report.pictures == Pictures()


@pytest.mark.slow("a further plan on Spark")
def test_plans_of_a_cluster_without_groups(spark: SparkSession) -> None:
    """The same with assignors."""
    report = ask(spark, fleet(1, groups=0), by="group", assignors=("range",))
    check_nothing(report)
    assert report.pictures is None


# --- planned assignments ---------------------------------------------------------------------


def by_hand(snapshot: ClusterSnapshot, group: Group, name: str) -> dict[str, set[tuple[str, int]]]:
    """Who gets what, the assignor called directly."""
    request = AssignmentRequest(
        members=[
            MemberSubscription(m.member_id, m.subscription or (), owned=())
            for m in group.members or ()
        ],
        topics={
            topic.topic: TopicPartitions(len(topic.partitions))
            for topic in snapshot.topics.values()
        },
    )
    assignment = assignor(name).assign(request)
    return {m: set(assignment.partitions_of(m)) for m in assignment.member_ids}


@pytest.mark.slow(
    "further plans on Spark; one group after the other: tests/core/planning/test_plan.py"
)
def test_each_type_of_group_is_planned_with_its_own_assignors(spark: SparkSession) -> None:
    """`range` is both sides'; the others plan what they are made for, and the rest is counted."""
    snapshot = fleet(13, 60)
    names = ("range", "uniform", "roundrobin", "cooperative-sticky")
    report = ask(spark, snapshot, by="group", assignors=names, top=ALL)
    planned = defaultdict(set)
    for row in report.items:
        planned[row["group"]].add(row["assignor"])
    alive = [group for group in snapshot.groups if group.members]
    for group in alive:
        kip848 = group.type == "consumer"
        expected = {"range", "uniform"} if kip848 else {"range", "roundrobin", "cooperative-sticky"}
        assert planned[group.group] == expected
    kinds = {group.type: sum(g.type == group.type for g in alive) for group in alive}
    assert report.summary["plans_not_applicable"] == kinds["classic"] + 2 * kinds["consumer"]
    assert report.summary["failed_plans"] == 0
    assert report.errors == ()


@pytest.mark.slow(
    "further plans on Spark; one group after the other: tests/core/planning/test_plan.py"
)
def test_a_cooperative_plan_counts_what_comes_in_its_second_round(spark: SparkSession) -> None:
    """A partition on its way from one member to another belongs to the new one."""
    logs = {p: PartitionLog(0, 10, leader=1) for p in range(4)}
    members = (
        Member("m1", "c", "/h", subscription=("t",), assignment={"t": (0, 1, 2, 3)}),
        Member("m2", "c", "/h", subscription=("t",), assignment={}),
    )
    group = Group("g", "classic", "Stable", members=members, offsets={})
    snapshot = ClusterSnapshot(1, (group,), {"t": Topic("t", logs)}, cluster_id="c1")
    query = {"by": "member", "assignors": ("cooperative-sticky",), "sort": "kept"}
    stays, comes = ask(spark, snapshot, **query).items
    assert (stays["planned_partitions"], stays["kept"], stays["moved_out"]) == (2, 2, 2)
    assert (comes["planned_partitions"], comes["kept"], comes["moved_in"]) == (2, 0, 2)


def classic_fleet(seed: int, groups: int) -> ClusterSnapshot:
    """The classic groups of a fleet."""
    snapshot = fleet(seed, groups)
    kept = tuple(g for g in snapshot.groups if g.type == "classic")
    return ClusterSnapshot(1, kept, snapshot.topics, cluster_id="c1")


@pytest.mark.slow(
    "further plans on Spark; one group after the other: tests/core/planning/test_plan.py"
)
@pytest.mark.share(2)
@pytest.mark.parametrize("seed", [11, 12])
def test_planned_members_are_what_the_assignor_says(spark: SparkSession, seed: int) -> None:
    """Partitions, lag and moves of every member under two assignors, against plain Python."""
    snapshot = classic_fleet(seed, 40)
    names = ("range", "roundrobin")
    report = ask(spark, snapshot, by="member", assignors=names, top=ALL)
    found = {(r["group"], r["assignor"], r["member_id"]): r for r in report.items}
    expected = 0
    for group in snapshot.groups:
        rows = {(r.topic, r.partition): r for r in offset_rows(snapshot, group)}
        for name in names:
            for member, cells in by_hand(snapshot, group, name).items() if group.members else ():
                expected += 1
                row = found[group.group, name, member]
                now = {cell for cell, r in rows.items() if r.member_id == member}
                assert row["partitions"] == len(now)
                assert row["planned_partitions"] == len(cells)
                assert row["kept"] == len(now & cells)
                assert row["moved_in"] == len(cells - now)
                assert row["moved_out"] == len(now - cells)
                for prefix, held in (("", now), ("planned_", cells)):
                    lags = [rows[cell].lag if cell in rows else None for cell in held]
                    known = [lag for lag in lags if lag is not None]
                    total = sum(known) if known or not held else None
                    assert row[f"{prefix}lag"] == total
                    assert row[f"{prefix}unknown_partitions"] == lags.count(None)
    assert len(found) == expected > 50


def test_planned_groups_name_the_gain(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """One busy member and one idle: the plan relieves the busy one, and says by how much.

    Of groups in which there is nothing to gain none comes to the driver.
    """
    logs = {p: PartitionLog(0, 100 * (p + 1), leader=1) for p in range(4)}
    busy = Member("m1", "c", "/h", subscription=("t",), assignment={"t": (0, 1, 2, 3)})
    idle = Member("m2", "c", "/h", subscription=("t",), assignment={})
    offsets = {"t": {p: CommittedOffset(0) for p in range(4)}}
    group = Group("g", "classic", "Stable", members=(busy, idle), offsets=offsets)
    others = [replace(group, group=f"{n}", members=(busy,)) for n in range(9)]
    snapshot = ClusterSnapshot(1, (group, *others), {"t": Topic("t", logs)}, cluster_id="c1")
    with rows_brought_home(monkeypatch) as sizes:
        (row,) = ask(spark, snapshot, by="group", assignors=("range",), top=1).items
    assert sizes
    assert max(sizes) <= 1 + 2, "the row and both of totals"
    assert row == {
        "cluster": "c1",
        "group": "g",
        "assignor": "range",
        "best": "member",
        "best_gain": 600,
        "gain": 300,
        "gain_with_member": 600,
        "member_count": 2,
        "planned_member_count": 2,
        "idle_members": 1,
        "partitions": 4,
        "lag": 1000,
        "member_lag_max": 1000,
        "member_lag_stddev": 500.0,
        "planned_idle_members": 0,
        "planned_partitions": 4,
        "planned_lag": 1000,
        "planned_member_lag_max": 700,
        "planned_member_lag_stddev": 200.0,
        "moved": 2,
    }


@pytest.mark.slow(
    "further reports on Spark; the plans themselves: tests/core/planning/test_plan.py"
)
@pytest.mark.share(2)
@pytest.mark.parametrize("seed", [31, 32])
def test_no_member_more_gains_more_than_promised(spark: SparkSession, seed: int) -> None:
    """`gain_with_member` is a bound: with a member more no assignor relieves the busiest more."""
    snapshot = classic_fleet(seed, 40)
    report = ask(spark, snapshot, by="group", assignors=("range",), top=ALL)
    as_planned = 0
    for row in report.items:
        group = snapshot.group(row["group"])
        assert group is not None
        joined = (*(group.members or ()), Member("zz", "c", "/h", subscription=ALL_TOPICS))
        if row["member_lag_max"] is None:
            assert row["best_gain"] is row["gain_with_member"] is None
            continue
        # Only what somebody reads now is in the member's figures.
        lag = {
            (r.topic, r.partition): r.lag or 0
            for r in offset_rows(snapshot, group)
            if r.member_id is not None
        }
        for name in ("range", "roundrobin"):
            plan = by_hand(snapshot, replace(group, members=joined), name)
            if not set(lag) <= set().union(*plan.values()):
                continue  # a topic that is gone takes its lag with it
            busiest = max(sum(lag.get(cell, 0) for cell in cells) for cells in plan.values())
            assert row["member_lag_max"] - busiest <= row["gain_with_member"]
            as_planned += 1
    assert as_planned >= 15


# --- where the work is done ------------------------------------------------------------------


@pytest.mark.slow("a longer look at what Spark plans")
def test_nothing_is_computed_in_python_on_the_driver(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the driver's own arithmetic and assignors out of order, the report is the same."""
    snapshot = classic_fleet(22, 30)
    query = {"by": "member", "assignors": ("range",), "top": ALL}
    before = ask(spark, snapshot, **query)

    def broken(*_args: Any, **_kwargs: Any) -> Any:
        raise AssertionError("computed on the driver")

    for name in ("partition_lag", "offset_rows", "lag_summary"):
        monkeypatch.setattr(group_lag, name, broken)
    monkeypatch.setattr(RangeAssignor, "assign", broken)
    assert ask(spark, snapshot, **query).items == before.items


def test_assignors_run_inside_spark(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The plan of the query hands groups to Python in Arrow batches, and nothing else."""
    monkeypatch.setattr(Spark, "keep", lambda _, answer: answer)  # which has no plan to look at
    engine, snapshot = Spark(spark), classic_fleet(23, 5)
    questions = Questions.of(engine, LagQuery(), KEYS["group"])
    lagged = lagged_of(questions, engine.rows(capture_tables([snapshot]).rows), FACTS)
    members, topics = map(engine.rows, plan_tables([snapshot], {}, lambda _: "java"))
    fleet_of = Fleet(members, topics, lagged, is_planned=True)
    engine.frame(plan_groups(questions, fleet_of, ("range",))).explain()
    plan = capsys.readouterr().out
    assert "MapInArrow" in plan
    assert "ArrowEvalPython" not in plan
    assert "BatchEvalPython" not in plan
    engine.frame(lagged).explain()
    assert "Python" not in capsys.readouterr().out


# --- bad questions ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (LagQuery(by="rack"), "a lag report without planned assignments cannot be by `rack`"),
        (LagQuery(by="topic", assignors=("range",)), "with planned assignments cannot be by"),
        (LagQuery(assignors=("rnage",)), "unknown assignor `rnage`"),
        (LagQuery(top=0), "`--top` must be at least 1"),
        (LagQuery(sort="colour"), "has no column `colour` to sort by"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_questions_are_usage_errors(query: LagQuery, message: str) -> None:
    """Each names what is wrong, before a session is looked for."""
    with pytest.raises(UsageError) as caught:
        lag_report([fleet(1)], query)
    assert message in caught.value.message


FAILING: list[tuple[str, Callable[[dict[str, Any]], bool | None]]] = [
    ("lag > 500", lambda row: _above(row["lag"], 500)),
    ("not lag <= 500 and unknown_partitions = 0", lambda row: _known_above(row, 500)),
    ("group ~ 'group-.*[13579]' and lag_max >= 0", lambda row: _odd(row)),
    ("group = 'nobody' or lag < 0", lambda row: None if row["lag"] is None else False),
]


def _above(lag: int | None, limit: int) -> bool | None:
    return None if lag is None else lag > limit


def _known_above(row: dict[str, Any], limit: int) -> bool | None:
    if row["unknown_partitions"] != 0:
        return False
    return _above(row["lag"], limit)


def _odd(row: dict[str, Any]) -> bool | None:
    if row["group"][-1] not in "13579" or not row["group"].startswith("group-"):
        return False
    return None if row["lag_max"] is None else row["lag_max"] >= 0


def test_conditions_on_rows(session: SparkSession | None) -> None:
    """What Spark finds is what plain Python finds, unknown apart, also beyond the rows shown."""
    snapshot = fleet(2, groups=40)
    conditions = conditions_on_rows([text for text, _ in FAILING])
    every = ask(session, snapshot, top=ALL, fail_on=conditions)
    few = ask(session, snapshot, top=1, fail_on=conditions, sort="partitions")
    codes = {True: "CHECK_FAILED", None: "CHECK_UNDETERMINED"}
    for text, expected in FAILING:
        answers = {row["group"]: expected(row) for row in every.items}
        wanted = {name: codes[answer] for name, answer in answers.items() if answer is not False}
        found, (first, *more) = (
            [error for error in report.errors if error.message.startswith(f"`{text}` ")]
            for report in (every, few)
        )
        assert {error.target: error.code for error in found} == wanted
        assert first.target in wanted
        assert len(more) == (len(wanted) > 1)
        assert all(f"for {len(wanted) - 1} more row" in error.message for error in more)


def test_a_condition_on_another_report(session: SparkSession | None) -> None:
    """A column that only other reports have is refused."""
    (condition,) = conditions_on_rows(["lag_seconds > 5m"])
    with pytest.raises(UsageError, match="this report has no column `lag_seconds`"):
        ask(session, fleet(1, groups=3), fail_on=[condition])
