"""The data sources against a live cluster: every record once, in a batch and over restarts."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kgroups.core.coordinator.log.record_codec import decode_record
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import read_settings
from kgroups.core.kafka.librdkafka.offsets_topic import OffsetsTopic
from kgroups.core.lag.captures.capture_tables import capture_tables
from kgroups.core.lag.group_lag import lag_summary, offset_rows
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.sources.consumer_offsets import ConsumerOffsets, OffsetsStream
from kgroups.core.sources.kafka_groups import KafkaGroups
from tests.support.cli.runner import run
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster with commits, a deleted commit and a group with a member."""
    with (
        Sandbox(brokers=1, topics={"t": 4}) as cluster,
        LiveGroup(cluster.bootstrap_servers, "live", [MemberSpec("m", ("t",))]) as group,
    ):
        group.wait_stable(4)
        place = cluster.bootstrap_servers
        commit_offsets(place, {f"g{n}": {("t", p): n + p for p in range(4)} for n in range(3)})
        deleted = run("delete-offsets", "g1", "--topic", "t", "--yes", "-b", place)
        assert deleted.exit_code == 0, deleted.stderr
        yield place


@pytest.fixture(scope="module")
def source(spark: SparkSession) -> SparkSession:
    """The session with both sources."""
    spark.dataSource.register(ConsumerOffsets)
    spark.dataSource.register(KafkaGroups)
    return spark


def records_of(address: str) -> dict[tuple[int, int], tuple[Any, ...]]:
    """What the topic holds, read by a plain consumer and decoded one by one."""
    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": "plain", "enable.auto.commit": False}
    )
    found: dict[tuple[int, int], tuple[Any, ...]] = {}
    for part in OffsetsTopic(read_settings(address)).slices():
        consumer.assign([TopicPartition("__consumer_offsets", part.partition, part.start)])
        place = part.start
        while place < part.end:
            (message,) = consumer.consume(1, timeout=60) or (None,)
            assert message is not None, f"no record at {part}"
            offset_in_log, key = message.offset(), message.key()
            assert offset_in_log is not None
            assert key is not None
            place = offset_in_log + 1
            record = decode_record(key, message.value())
            assert record is not None
            kind = type(record.key).__name__.removesuffix("Key")
            offset = getattr(record.value, "offset", None)
            told = (kind, record.key.group_id, record.value is None, offset)
            found[part.partition, offset_in_log] = told
    consumer.close()
    return found


def told_by(frame: DataFrame) -> dict[tuple[int, int], tuple[Any, ...]]:
    """The same of the source's rows, each of which is there once."""
    rows = frame.collect()
    found = {
        (r.log_partition, r.log_offset): (
            r.record,
            r.group_id,
            r.value is None,
            r.committed_offset,
        )
        for r in rows
    }
    assert len(found) == len(rows), "a record is there twice"
    return found


def read(source: SparkSession, address: str, name: str, **options: str) -> DataFrame:
    """A batch of a source."""
    reader = source.read.format(name).option("kafka.bootstrap.servers", address)
    return reader.options(**options).load()


def test_every_record_of_the_topic(source: SparkSession, address: str) -> None:
    """Commits, tombstones, metadata of groups, with their values."""
    frame = read(source, address, "consumer_offsets").cache()
    expected = records_of(address)
    assert told_by(frame) == expected
    kinds = {kind for kind, *_ in expected.values()}
    assert kinds >= {"OffsetCommit", "GroupMetadata"}
    assert frame.where("kind = 'tombstone' and `group` = 'g1'").count() == 4
    values = [
        json.loads(row.value)
        for row in frame.where("record = 'GroupMetadata'").collect()
        if row.value
    ]
    assert {m["client_id"] for value in values for m in value["members"]} == {"m"}
    frame.unpersist()


@pytest.mark.slow("more of a stream")
def test_a_stream_over_restarts(source: SparkSession, address: str, tmp_path: Path) -> None:
    """With a checkpoint: what came meanwhile is read, and nothing a second time."""
    reader = source.readStream.format("consumer_offsets")
    stream = reader.option("kafka.bootstrap.servers", address).load()
    for more in range(2):
        commit_offsets(address, {"streamed": {("t", 0): 100 + more}})
        query = (
            stream.writeStream.format("parquet")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start(str(tmp_path / "records"))
        )
        try:
            query.processAllAvailable()
        finally:
            query.stop()
    assert told_by(source.read.parquet(str(tmp_path / "records"))) == records_of(address)


def test_the_partitions_of_some_groups(address: str) -> None:
    """Of the topic's fifty those that hold them, each once, as the coordinator places them."""
    log = OffsetsTopic(read_settings(address))
    by_number = {part.partition: part for part in log.slices()}
    groups = ["g0", "g1", "live", "nobody"]
    with ClusterAdmin(read_settings(address)) as admin:
        told = {group.offsets_partition for group in admin.snapshot(["g0", "g1", "live"]).groups}
    assert {*log.slices(groups)} == {by_number[number] for number in told if number is not None}
    assert log.slices(["nobody"]) == log.slices([]) == ()


def test_what_is_available_now(address: str) -> None:
    """A stream that is to end reads what was there when it began, however much comes."""
    log = OffsetsTopic(read_settings(address))
    ending, endless = (OffsetsStream(log, from_start=True) for _ in range(2))
    ending.prepareForTriggerAvailableNow()
    first = ending.latestOffset({})
    assert first == endless.latestOffset({})
    commit_offsets(address, {"later": {("t", 0): 1}})
    assert ending.latestOffset(first) == first
    assert endless.latestOffset(first) != first


@pytest.mark.slow("more of a stream")
def test_a_topic_that_was_made_anew() -> None:
    """A checkpoint of another topic is an error: a stream would leave records out."""
    stream = OffsetsStream(OffsetsTopic(read_settings("127.0.0.1:1")), from_start=True)
    with pytest.raises(
        Exception, match="`__consumer_offsets-3` ends at 5, before the checkpoint's 9"
    ):
        stream.partitions({"3": 9}, {"3": 5})
    parts = stream.partitions({"1": 2, "2": 4}, {"0": 1, "1": 3, "2": 4})
    assert [tuple(part.value) for part in parts] == [(0, 0, 1), (1, 2, 3)]


def test_groups_members_and_partitions(source: SparkSession, address: str) -> None:
    """A row each, with the figures of `describe`."""
    with ClusterAdmin(read_settings(address)) as admin:
        snapshot = admin.snapshot(isolation="read_committed")
    lags = {g.group: lag_summary(offset_rows(snapshot, g)).lag for g in snapshot.groups}
    groups = {row.group: row for row in read(source, address, "kafka_groups").collect()}
    assert {name: row.lag for name, row in groups.items()} == lags
    assert (groups["live"].state, groups["live"].member_count) == ("Stable", 1)
    (member,) = read(source, address, "kafka_groups", by="member").collect()
    assert (member.group, member.client_id) == ("live", "m")
    rows = read(source, address, "kafka_groups", by="partition").toArrow()
    facts = capture_tables([snapshot]).rows
    assert rows.drop_columns("captured_at_ms") == facts.drop_columns("captured_at_ms")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "topic"}, "option `by` is `topic`"),
        ({"kafka.bootstrap.servers": "127.0.0.1:1", "timeout": "1s"}, "127.0.0.1:1"),
    ],
)
def test_what_fails(source: SparkSession, address: str, options: dict[str, str], said: str) -> None:
    """The library's own sentence is in what Spark says."""
    with pytest.raises(PySparkException, match=said):
        read(source, address, "kafka_groups", **options).collect()
