"""Lag arithmetic as pure Python: the case table, row sets and totals."""

import pytest

from kgroups.core.group_item import describe_item
from kgroups.core.lag.captures.capture_tables import capture_tables
from kgroups.core.lag.group_lag import (
    LagSummary,
    OffsetRow,
    lag_summary,
    offset_rows,
    owners_known,
)
from kgroups.core.lag.rules import LAG_STATUSES, Isolation, partition_lag
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from tests.support.lag.lag_cases import LAG_CASES, LagCase

STARTED = CommittedOffset(12)


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
    commits = (
        {}
        if committed is None
        else {"t": {0: CommittedOffset(committed, lag=facts.get("lag_told"))}}
    )
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


def test_row_set_is_what_is_read_or_committed() -> None:
    """Rows are every partition of topics committed, assigned or subscribed to, each once."""
    logs = {p: PartitionLog(0, 10, leader=1) for p in (0, 1, 2, 3, 11)}
    group = Group(
        "g",
        "consumer",
        "Stable",
        members=(
            Member("m1", "c1", "/1", assignment={"b": (11, 2), "a": (0,)}),
            Member("m2", "c2", "/2", assignment={"b": (2, 3)}),
            Member("m3", "c3", "/3", subscription=("c", "not there"), assignment=None),
        ),
        offsets={"b": {2: CommittedOffset(4, 7, "note"), 1: CommittedOffset(5)}, "z": {}},
    )
    topics = {
        "a": Topic("a", {0: logs[0], 1: logs[1]}),
        "b": Topic("b", logs),
        "c": Topic("c", {0: logs[0]}),
        "others": Topic("others", logs),
    }
    rows = offset_rows(snapshot(group, topics), group)
    assert [(r.topic, r.partition, r.committed_offset, r.lag, r.member_id) for r in rows] == [
        ("a", 0, None, None, "m1"),
        ("a", 1, None, None, None),
        ("b", 0, None, None, None),
        ("b", 1, 5, 5, None),
        ("b", 2, 4, 6, "m1"),
        ("b", 3, None, None, "m2"),
        ("b", 11, None, None, "m1"),
        ("c", 0, None, None, None),
    ]
    assert rows[4].leader_epoch == 7
    assert rows[4].metadata == "note"
    assert rows[4].shared_with == ("m2",)
    assert rows[0].metadata is None
    assert lag_summary(rows) == LagSummary(11, 6, 0, 6, 4, 0)


def test_every_owner_of_a_partition_is_told() -> None:
    """An assignor may give a partition to several: each of them has its lag."""
    members = tuple(Member(name, "c", "/h", assignment={"t": (0, 1)}) for name in "abc")
    group = Group("g", "classic", "Stable", members=members, offsets={"t": {0: CommittedOffset(4)}})
    logs = {0: PartitionLog(0, 10, leader=1), 1: PartitionLog(0, 10, leader=1)}
    cluster = snapshot(group, {"t": Topic("t", logs)})
    rows = offset_rows(cluster, group)
    assert [(row.member_id, row.shared_with) for row in rows] == [("a", ("b", "c"))] * 2
    item = describe_item(cluster, group, rows, ("members", "offsets"))
    assert [member["lag"] for member in item["members"]] == [6, 6, 6]
    assert item["offsets"][0]["shared_with"] == ["b", "c"]


@pytest.mark.parametrize("state", ["PreparingRebalance", "CompletingRebalance", "Stable", None])
def test_owners_are_unknown_while_brokers_do_not_tell_them(state: str | None) -> None:
    """Null is not 0: in a rebalance nobody knows what is without an owner."""
    group = Group("g", "classic", state, members=(), offsets={"t": {0: CommittedOffset(12)}})
    cluster = snapshot(group, {"t": Topic("t", {0: PartitionLog(0, 10, leader=1)})})
    summary = lag_summary(offset_rows(cluster, group), owned=owners_known(group))
    assert summary.unowned_partitions == (1 if state == "Stable" else None)
    assert summary.beyond_end_partitions == 1


@pytest.mark.parametrize(
    ("told", "isolation", "lag"),
    [
        (3, "read_uncommitted", 3),
        (3, "read_committed", 1),
        (1, "read_committed", 0),
        (50, "read_uncommitted", 8),
        (None, "read_uncommitted", 8),
    ],
)
def test_what_a_share_group_is_done_with_is_no_lag(
    told: int | None, isolation: Isolation, lag: int
) -> None:
    """Its coordinator tells what is left; never more than there is after the start offset."""
    group = Group("g", "share", "Empty", members=(), offsets={"t": {0: STARTED._replace(lag=told)}})
    log = PartitionLog(0, 20, last_stable_offset=18, leader=1)
    cluster = snapshot(group, {"t": Topic("t", {0: log})})
    (row,) = offset_rows(cluster, group, isolation=isolation)
    assert (row.lag, row.lag_status) == (lag, "ok")
    (captured,) = capture_tables([cluster]).rows.to_pylist()
    assert [captured[name] for name in ("committed_offset", "commits_known", "lag_told")] == [
        *(12, True, told)
    ]


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
        ([], LagSummary(0, 0, 0, 0, 0, 0)),
        ([None, None], LagSummary(None, None, None, 2, 2, 0)),
        ([0, None], LagSummary(0, 0, 0, 1, 2, 0)),
        ([3, 5], LagSummary(8, 5, 0, 0, 2, 0)),
    ],
    ids=["no rows is 0", "nothing known is null", "0 is known", "total and max"],
)
def test_lag_summary(lags: list[int | None], expected: LagSummary) -> None:
    """Null is not 0: a sum over nothing known is not known."""
    known = OffsetRow("t", 0, 0, 0, 0, None, 0, "ok", 0, None, "", *(None,) * 8)
    unknown = known._replace(committed_offset=None, lag=None, lag_status="no_commit", lost=None)
    rows = [unknown if lag is None else known._replace(lag=lag) for lag in lags]
    assert lag_summary(rows) == expected


def test_a_group_without_anything_has_no_rows() -> None:
    """Neither members nor offsets asked for."""
    group = Group("g", "classic", "Empty")
    assert offset_rows(snapshot(group, {}), group) == []
