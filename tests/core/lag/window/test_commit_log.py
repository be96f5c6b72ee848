"""Records of `__consumer_offsets` through the Spark data source, from a log in memory."""

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from kgroups.core.coordinator.log import records as r
from kgroups.core.coordinator.log.record_codec import decode_record, encode_key, encode_value
from kgroups.core.lag.report import SMALL_ROWS, LagQuery
from kgroups.core.lag.report_columns import report_columns
from kgroups.core.lag.window.commit_log import (
    COMMITS,
    KnownKeys,
    commits_here,
    parse_record,
    read_commits,
)
from kgroups.core.lag.window.history_report import STRETCHES, lag_history, times_to_ask
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)

pytestmark = pytest.mark.spark

MINUTE_MS = 60_000
NOW_MS = 1_760_000_000_000


class Slice(NamedTuple):
    """One partition of the log in memory."""

    partition: int
    most_records: int = 0


class Raw(NamedTuple):
    """A record as bytes."""

    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True)
class LogInMemory:
    """A commit log that is only data, so that it can travel to Spark's workers.

    Args:
        stated: how many records each partition says that it may have.
        pid: the only process that may read it; None: any.
    """

    partitions: dict[int, list[Raw]]
    stated: int = 0
    pid: int | None = None

    def slices(self, groups: Collection[str] | None = None) -> Sequence[Slice]:
        """One slice a partition."""
        return [Slice(number, self.stated) for number in self.partitions]

    def read(self, part: Slice) -> Iterator[Sequence[Raw]]:
        """Two records at a time."""
        assert self.pid in (None, os.getpid())
        records = self.partitions[part.partition]
        for start in range(0, len(records), 2):
            yield records[start : start + 2]


def commit(
    place: int,
    at_ms: int,
    group: str,
    offset: int | None,
    partition: int = 0,
    metadata: str = "",
    topic_id: UUID | None = None,
) -> Raw:
    """A commit's record, or its tombstone."""
    key = r.OffsetCommitKey(group, "t", partition)
    value = None
    if offset is not None:
        value = r.OffsetCommitValue(
            offset, 3, metadata, commit_timestamp_ms=at_ms, topic_id=topic_id
        )
    record = r.Record(key, value)
    return Raw(place, at_ms, encode_key(key), encode_value(record))


def test_records_by_kind() -> None:
    """A commit, a tombstone, a group's record, an unknown kind, and three kinds of rubbish."""
    good = commit(5, 99, "g", 7)
    assert good.value is not None
    group_key = encode_key(r.GroupMetadataKey("g"))
    cases = [
        (good, (5, 99, "commit", "g", "t", 0, 7, 3, 99, None)),
        (commit(6, 98, "g", None), (6, 98, "tombstone", "g", "t", 0, None, None, None, None)),
        (Raw(7, 97, group_key, None), (7, 97, "other", *[None] * 7)),
        (Raw(8, 96, b"\x7f\x00", b"?"), (8, 96, "other", *[None] * 7)),
    ]
    for raw, expected in cases:
        assert parse_record(raw) == expected
    for rubbish in (
        Raw(1, 1, None, b"value"),
        Raw(1, 1, good.key, good.value[:5]),
        Raw(1, 1, good.key and good.key[:-2], good.value),
    ):
        parsed = parse_record(rubbish)
        assert parsed[2] == "broken"
        assert parsed[-1]


RECORDS = st.builds(
    commit,
    st.integers(0, 2**40),
    st.integers(-1, 2**50),
    st.text(max_size=12),
    st.none() | st.integers(0, 2**50),
    st.integers(0, 2**31 - 1),
    st.text(max_size=3) | st.integers(120, 300).map("x".__mul__),
    st.none() | st.uuids(),
)


@given(RECORDS, st.integers(0, 5), st.binary(max_size=8), st.integers(-1, 60))
def test_the_short_way_says_what_the_codec_says(
    record: Raw, version: int, more: bytes, cut: int
) -> None:
    """Whatever the version, the length and the bytes: parsed alone, from known keys, by codec."""
    value = record.value
    if value is not None:
        # Mostly as it was written; else of another version, longer, or cut off.
        value = (version.to_bytes(2, "big") if version else value[:2]) + value[2:]
        value = value + more if cut % 2 else value if cut < 0 else value[:cut]
    record = record._replace(value=value)
    assert record.key is not None
    keys: KnownKeys = {}
    first = parse_record(record, keys)
    assert parse_record(record, keys) == parse_record(record) == first
    assert len(keys) == 1
    failure = None
    said = None
    try:
        said = decode_record(record.key, value)
    except DecodeError as exc:
        failure = str(exc)
    if failure is not None:
        assert first[2:] == ("broken", *[None] * 6, failure)
        return
    assert said is not None
    assert isinstance(said.key, r.OffsetCommitKey)
    if isinstance(said.value, r.OffsetCommitValue):
        assert first[2] == "commit"
        assert first[6] == said.value.offset
        at_ms = said.value.commit_timestamp_ms
        assert first[8] == (at_ms if at_ms >= 0 else record.timestamp_ms)
        assert first[7] == (said.value.leader_epoch if said.value.leader_epoch >= 0 else None)
    else:
        assert first[2] == "tombstone"
    assert first[3:6] == (said.key.group_id, said.key.topic, said.key.partition)


@pytest.mark.slow("the rows themselves; a history of them through Spark's tasks is in every run")
def test_the_data_source_reads_every_slice(spark: SparkSession) -> None:
    """Every record of every partition of the log, once, with its place."""
    log = LogInMemory(
        {
            3: [commit(i, i, "g", i) for i in range(5)],
            9: [commit(40, 1, "h", 1), Raw(41, 2, None, None)],
        }
    )
    frame = read_commits(spark, log, log.slices())
    assert frame.schema == COMMITS
    found = [tuple(row) for row in frame.collect()]
    rows = {(row[0], row[1], row[3]) for row in found}
    assert rows == {(3, i, "commit") for i in range(5)} | {(9, 40, "commit"), (9, 41, "broken")}
    here = commits_here(log, log.slices()).to_pylist()
    assert sorted(found) == sorted(tuple(row.values()) for row in here)
    assert commits_here(log, ()).num_rows == 0


@pytest.mark.parametrize(
    ("stated", "session"), [(0, "duckdb"), (SMALL_ROWS, "spark")], indirect=["session"]
)
def test_a_history_of_some_groups_is_of_these_alone(
    session: SparkSession | None, stated: int
) -> None:
    """Whether read here or by Spark's tasks: commits of others in the same partition are left out.

    So are those before the window. A short log is read in this process, however Spark runs.
    """
    records = [commit(i, NOW_MS - MINUTE_MS, f"g{i % 3}", i) for i in range(9)]
    others = [Raw(41, NOW_MS, b"", None), commit(42, NOW_MS - 3 * MINUTE_MS, "g1", 1)]
    pid = None if stated else os.getpid()
    report = lag_history(
        fleet_now({"g1": 7}, 10),
        LogInMemory({3: others, 9: records}, stated, pid),
        LagQuery(groups=["g1"], by="topic"),
        since_ms=NOW_MS - 2 * MINUTE_MS,
        until_ms=NOW_MS,
        session=session,
    )
    assert [(row["topic"], row["lag"], row["commits"]) for row in report.items] == [("t", 3, 3)]
    assert report.summary["records"] == {"commit": 4, "tombstone": 0, "other": 0, "broken": 1}
    assert [error.target for error in report.errors] == ["__consumer_offsets-3 offset 41"]


def fleet_now(commits: dict[str, int], end: int) -> ClusterSnapshot:
    """Groups as they are now, on one topic of one partition."""
    return ClusterSnapshot(
        captured_at_ms=NOW_MS,
        groups=tuple(
            Group(name, "classic", "Empty", offsets={"t": {0: CommittedOffset(offset)}})
            for name, offset in sorted(commits.items())
        ),
        topics={"t": Topic("t", {0: PartitionLog(0, end, leader=1)})},
        cluster_id="c1",
    )


def test_history_tells_stopped_from_standing_still(session: SparkSession | None) -> None:
    """Commit times decide: no commits for longer than they went on, or the same one on and on."""
    records: list[Raw] = []
    for minute in range(20):
        at_ms = NOW_MS - (60 - minute) * MINUTE_MS
        records.append(commit(len(records), at_ms, "stopped", 100 * minute))
    for minute in range(60):
        at_ms = NOW_MS - (60 - minute) * MINUTE_MS + 1
        records.append(commit(len(records), at_ms, "stands still", 500))
        records.append(commit(len(records), at_ms, "keeps up", 100 * minute))
        records.append(commit(len(records), at_ms, "rewound", 3_000 if minute < 55 else minute))
    records.append(Raw(len(records), NOW_MS, b"", None))
    latest = {"stopped": 1_900, "stands still": 500, "keeps up": 5_900, "rewound": 59}
    report = lag_history(
        fleet_now(latest, 5_900),
        LogInMemory({0: records}),
        LagQuery(by="group"),
        since_ms=NOW_MS - 120 * MINUTE_MS,
        until_ms=NOW_MS,
        session=session,
    )
    assert report.columns == report_columns(LagQuery(by="group"), "history")
    rows = {row["group"]: row for row in report.items}
    said = {name: (row["lag"], row["verdict"], row["commits"]) for name, row in rows.items()}
    assert said == {
        "stopped": (4_000, "STOP", 20),
        "stands still": (5_400, "STALL", 60),
        "keeps up": (0, "OK", 60),
        "rewound": (5_841, "REWIND", 60),
    }
    assert rows["stopped"]["commit_age_seconds"] == pytest.approx(41 * 60)
    assert rows["keeps up"]["commit_age_seconds"] == pytest.approx(60, abs=1)
    assert rows["keeps up"]["rate_out"] == pytest.approx(100 / 60, rel=0.05)
    assert all(row["rate_in"] is None for row in rows.values())
    assert report.summary["records"] == {"commit": 200, "tombstone": 0, "other": 0, "broken": 1}
    (error,) = report.errors
    assert error.target == "__consumer_offsets-0 offset 200"


def test_a_partition_that_is_stuck_under_an_owner_stalls(session: SparkSession | None) -> None:
    """The group goes on committing elsewhere: STALL, as a report on captures says, not STOP."""
    records: list[Raw] = []
    for minute in range(60):
        at_ms = NOW_MS - (60 - minute) * MINUTE_MS
        records.append(commit(len(records), at_ms, "g", 100 * minute, partition=1))
        if minute < 20:
            records.append(commit(len(records), at_ms, "g", 100 * minute, partition=0))
    held = {"t": {0: CommittedOffset(1_900), 1: CommittedOffset(5_900)}}
    members = (Member("m", "c", "/h", assignment={"t": (0, 1)}),)
    now = replace(
        fleet_now({}, 6_000),
        groups=(Group("g", "classic", "Stable", members=members, offsets=held),),
        topics={"t": Topic("t", dict.fromkeys((0, 1), PartitionLog(0, 6_000, leader=1)))},
    )
    report = lag_history(
        now,
        LogInMemory({0: records}),
        LagQuery(by="partition"),
        since_ms=NOW_MS - 120 * MINUTE_MS,
        until_ms=NOW_MS,
        session=session,
    )
    stuck = next(row for row in report.items if row["partition"] == 0)
    assert (stuck["verdict"], stuck["verdict_rule"]) == ("STALL", "offset_stands_still")


def test_ends_of_logs_make_rates_and_lag_over_time(session: SparkSession | None) -> None:
    """Asked where the log ended, a history has rates in, trend and a line, as captures have."""
    minutes = 60
    begin_ms = NOW_MS - minutes * MINUTE_MS
    records: list[Raw] = []
    for minute in range(minutes):
        at_ms = begin_ms + minute * MINUTE_MS
        records.append(commit(len(records), at_ms, "slow", 50 * minute))
        records.append(commit(len(records), at_ms, "keeps up", 100 * minute))
    # Committed before the window, and never again; another that was deleted half way.
    records.append(commit(len(records), begin_ms - MINUTE_MS, "old", 0))
    records.append(commit(len(records), begin_ms - MINUTE_MS, "deleted", 0))
    records.append(commit(len(records), begin_ms + 30 * MINUTE_MS, "deleted", None))
    latest = {"slow": 50 * 59, "keeps up": 100 * 59, "old": 0}
    times = times_to_ask(begin_ms, NOW_MS, 12)
    ends = {at_ms: {("t", 0): (at_ms - begin_ms) * 100 // MINUTE_MS} for at_ms in times}
    assert len(times) == 12
    report = lag_history(
        fleet_now(latest, 6_000),
        LogInMemory({0: records}),
        LagQuery(by="group", pictures=True),
        since_ms=begin_ms,
        until_ms=NOW_MS,
        ends=ends,
        session=session,
    )
    rows = {row["group"]: row for row in report.items}
    assert set(rows) == set(latest)
    for row in rows.values():
        assert row["rate_in"] == pytest.approx(100 / 60, rel=0.05)
    assert rows["slow"]["rate_out"] == pytest.approx(50 / 60, rel=0.05)
    assert rows["slow"]["trend"] == rows["old"]["trend"] == "growing"
    assert rows["slow"]["lag_seconds_method"] == "interpolated"
    assert rows["slow"]["lag_seconds"] == pytest.approx(30 * 60, rel=0.05)
    assert rows["keeps up"]["trend"] == "steady"
    # Committed before the window and never again: the end of the log is all that was seen of it.
    assert (rows["old"]["verdict"], rows["old"]["commits"]) == ("STOP", 0)
    assert rows["old"]["lag_peak"] == 6_000
    assert report.pictures is not None
    line = [row["lag"] for row in report.pictures.over_time if row["group"] == "slow"]
    assert len(line) == 12
    assert line == sorted(line)
    assert line[-1] == pytest.approx(50 * 55, rel=0.05)


def test_rates_are_over_one_span(session: SparkSession | None) -> None:
    """A topic of three hours in a window of a day; a group that committed in the last hour."""
    hour_ms = 60 * MINUTE_MS
    begin_ms = NOW_MS - 3 * hour_ms
    stuck = [commit(m, NOW_MS - (60 - m) * MINUTE_MS, "stuck", min(m, 20) * 60) for m in range(60)]
    times = times_to_ask(NOW_MS - 24 * hour_ms, NOW_MS, 24, begin_ms)
    assert len(times) == 24
    assert begin_ms <= times[0] < times[-1] < NOW_MS
    ends = {at_ms: {("t", 0): (at_ms - begin_ms) // 1_000} for at_ms in times}
    now = fleet_now({"stuck": 1_200}, 3 * 3_600)
    history = lag_history(
        now,
        LogInMemory({0: stuck}),
        LagQuery(by="group"),
        since_ms=NOW_MS - 24 * hour_ms,
        until_ms=NOW_MS,
        ends=ends,
        record_times={("t", 0, 1_200): begin_ms + 1_200_000},
        age_method="bisected",
        session=session,
    )
    (row,) = history.items
    assert row["rate_in"] == pytest.approx(1.0, rel=0.01)
    assert row["rate_out"] == pytest.approx(1_200 / 3_600, rel=0.2)
    assert row["catch_up_seconds"] is None
    assert (row["trend"], row["verdict"]) == ("growing", "STALL")
    ages = ("lag_seconds", "lag_seconds_method", "lag_seconds_confidence")
    assert [row[name] for name in ages] == [3 * 3_600 - 1_200, "bisected", "high"]


def test_a_window_that_ended_is_told_as_it_was(session: SparkSession | None) -> None:
    """With the ends of that time: the commit that stood then, and the log's end then."""
    then_ms = NOW_MS - 30 * MINUTE_MS
    log = LogInMemory(
        {
            0: [
                commit(0, then_ms - 20 * MINUTE_MS, "g", 10),
                commit(1, then_ms - MINUTE_MS, "g", 40),
                commit(2, then_ms + MINUTE_MS, "g", 90),
                commit(3, then_ms + MINUTE_MS, "later", 90),
            ]
        }
    )
    report = lag_history(
        fleet_now({"g": 90, "later": 90}, 100),
        log,
        since_ms=then_ms - 60 * MINUTE_MS,
        until_ms=then_ms,
        ends={then_ms: {("t", 0): 70}, then_ms - 30 * MINUTE_MS: {("t", 0): 5}},
        session=session,
    )
    rows = {row["group"]: row for row in report.items}
    assert (rows["g"]["lag"], rows["g"]["commits"]) == (30, 2)
    assert rows["g"]["commit_age_seconds"] == pytest.approx(60)
    assert (rows["later"]["lag"], rows["later"]["unknown_partitions"]) == (None, 1)
    assert report.summary["lag"] == 30


@pytest.mark.parametrize(("span_ms", "count"), [(86_400_000, 24), (600, 7), (1_000, 600), (5, 3)])
def test_times_are_the_last_of_their_stretches(span_ms: int, count: int) -> None:
    """Each inside the window, no two in one stretch, spread over the whole of it."""
    times = times_to_ask(NOW_MS, NOW_MS + span_ms, count)
    width = max(span_ms // STRETCHES, 1)
    stretches = [(at_ms - NOW_MS) // width for at_ms in times]
    assert stretches == sorted(set(stretches))
    assert all((at_ms + 1 - NOW_MS) % width == 0 for at_ms in times)
    assert all(NOW_MS <= at_ms < NOW_MS + span_ms for at_ms in times)
    assert len(times) == min(count, span_ms, STRETCHES) or span_ms < STRETCHES
