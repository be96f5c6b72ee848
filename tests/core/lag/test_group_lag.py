"""Lag arithmetic as pure Python: the case table, row sets and totals."""

import pytest

from kgroups.core.lag.group_lag import LagSummary, OffsetRow, lag_summary, offset_rows
from kgroups.core.lag.rules import LAG_STATUSES, partition_lag
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from tests.support.lag.lag_cases import LAG_CASES, LagCase


@pytest.mark.parametrize("case", LAG_CASES, ids=lambda case: case.id)
def test_partition_lag(case: LagCase) -> None:
    """Every line of the case table."""
    assert partition_lag(**case.facts) == (case.lag, case.status, case.lost)


@pytest.mark.parametrize("case", LAG_CASES, ids=lambda case: case.id)
def test_offset_rows_do_the_same_arithmetic(case: LagCase) -> None:
    """The short cut in `offset_rows` and the topic look-up agree with `partition_lag`."""
    facts = dict(case.facts)
    log = PartitionLog(
        facts["log_start"],
        facts["log_end"],
        facts.get("last_stable"),
        leader=1,
        error=facts.get("error"),
    )
    committed = facts["committed"]
    commits = {} if committed is None else {"t": {0: CommittedOffset(committed)}}
    group = Group(
        "g",
        "classic",
        "Stable",
        members=(Member("m", "c", "/h", assignment={"t": (0,)}),),
        offsets=commits if facts.get("commits_known", True) else None,
    )
    options = {key: facts[key] for key in ("uncommitted", "isolation") if key in facts}
    (row,) = offset_rows(snapshot(group, {"t": Topic("t", {0: log})}), group, **options)
    assert (row.lag, row.lag_status, row.lost) == (case.lag, case.status, case.lost)
    assert (row.member_id, row.client_id, row.host) == ("m", "c", "/h")


def test_every_status_has_a_case() -> None:
    """The table leaves no status out."""
    assert {case.status for case in LAG_CASES} == set(LAG_STATUSES)


def snapshot(group: Group, topics: dict[str, Topic]) -> ClusterSnapshot:
    """A cluster with one group."""
    return ClusterSnapshot(captured_at_ms=1, groups=(group,), topics=topics)


def test_row_set_is_assigned_and_committed() -> None:
    """Rows are the union of commits and assignments, by topic then partition, each once."""
    logs = {p: PartitionLog(0, 10, leader=1) for p in range(12)}
    group = Group(
        "g",
        "consumer",
        "Stable",
        members=(
            Member("m1", "c1", "/1", assignment={"b": (11, 2), "a": (0,)}),
            Member("m2", "c2", "/2", assignment={"b": (2, 3)}),
            Member("m3", "c3", "/3", assignment=None),
        ),
        offsets={"b": {2: CommittedOffset(4, 7, "note"), 1: CommittedOffset(5)}, "z": {}},
    )
    rows = offset_rows(snapshot(group, {"a": Topic("a", logs), "b": Topic("b", logs)}), group)
    assert [(r.topic, r.partition, r.committed_offset, r.lag, r.member_id) for r in rows] == [
        ("a", 0, None, None, "m1"),
        ("b", 1, 5, 5, None),
        ("b", 2, 4, 6, "m1"),
        ("b", 3, None, None, "m2"),
        ("b", 11, None, None, "m1"),
    ]
    assert rows[2].leader_epoch == 7
    assert rows[2].metadata == "note"
    assert rows[0].metadata is None
    assert lag_summary(rows) == LagSummary(total=11, max=6, lost=0, unknown_partitions=3)


def test_what_is_gone_is_a_row_with_an_error() -> None:
    """A deleted topic, a partition that is not there and one without a leader."""
    group = Group(
        "g",
        "classic",
        "Empty",
        offsets={
            "gone": {0: CommittedOffset(4)},
            "here": {0: CommittedOffset(4), 9: CommittedOffset(4)},
        },
    )
    rows = offset_rows(snapshot(group, {"here": Topic("here", {0: PartitionLog()})}), group)
    assert [(r.topic, r.partition, r.lag, r.lag_status, r.error) for r in rows] == [
        ("gone", 0, None, "topic_missing", "UNKNOWN_TOPIC_OR_PARTITION"),
        ("here", 0, None, "leaderless", "LEADER_NOT_AVAILABLE"),
        ("here", 9, None, "topic_missing", "UNKNOWN_TOPIC_OR_PARTITION"),
    ]


@pytest.mark.parametrize(
    ("lags", "expected"),
    [
        ([], LagSummary(0, 0, 0, 0)),
        ([None, None], LagSummary(None, None, None, 2)),
        ([0, None], LagSummary(0, 0, 0, 1)),
        ([3, 5], LagSummary(8, 5, 0, 0)),
    ],
    ids=["no rows is 0", "nothing known is null", "0 is known", "total and max"],
)
def test_lag_summary(lags: list[int | None], expected: LagSummary) -> None:
    """Null is not 0: a sum over nothing known is not known."""
    known = OffsetRow("t", 0, 0, 0, 0, None, 0, "ok", 0, None, "", None, None, None, None)
    unknown = known._replace(committed_offset=None, lag=None, lag_status="no_commit", lost=None)
    rows = [unknown if lag is None else known._replace(lag=lag) for lag in lags]
    assert lag_summary(rows) == expected


def test_a_group_without_anything_has_no_rows() -> None:
    """Neither members nor offsets asked for."""
    group = Group("g", "classic", "Empty")
    assert offset_rows(snapshot(group, {}), group) == []
