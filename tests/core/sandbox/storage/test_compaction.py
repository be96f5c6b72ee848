"""`__consumer_offsets` of a long run: the last record of a key stays where it was."""

from collections.abc import Sequence
from pathlib import Path

import hypothesis.strategies as st
import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from hypothesis import given

from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.protocol.batches import build_batch, read_records, split_batches
from kgroups.core.sandbox.limits import Limits
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.sandbox.storage.partition_log import DELETE_RETENTION_MS, PartitionLog, compact
from kgroups.core.sandbox.storage.topics import OFFSETS_TOPIC
from tests.support.kafka.workload import fetch_offsets

Pair = tuple[bytes | None, bytes | None]
BOUND = 8 * 1024
COMMITS = 1500

pairs = st.tuples(st.sampled_from([b"a", b"b", b"c", b"d"]), st.none() | st.binary(max_size=3))
logs = st.lists(st.lists(pairs, min_size=1, max_size=4), min_size=1, max_size=12)


def log_of(batches: Sequence[Sequence[Pair]], now_ms: int = 0) -> PartitionLog:
    """A log of these batches."""
    log = PartitionLog()
    for batch in batches:
        log.append(split_batches(build_batch(batch, now_ms)), 0)
    return log


def whole(log: PartitionLog) -> bytes:
    """Every batch that is there."""
    return log.read(log.start_offset, 1 << 30)


@given(logs)
def test_the_last_record_of_each_key_stays(batches: list[list[Pair]]) -> None:
    """At its offset, in order; start, end and the last batch as before; once more changes nothing.

    The last batch may hold records of a key that it overtakes itself.
    """
    log = log_of(batches)
    before = log.records()
    in_last_batch = log.end_offset - len(batches[-1])
    latest = {record.key: record.offset for record in before}
    log.compact(now_ms=1)
    assert log.records() == [
        one for one in before if latest[one.key] == one.offset or one.offset >= in_last_batch
    ]
    assert (log.start_offset, log.end_offset) == (0, len(before))
    assert log.size_bytes == len(whole(log))
    left = whole(log)
    log.compact(now_ms=1)
    assert whole(log) == left


@given(logs, st.data())
def test_what_is_left_is_read_from_any_offset(
    batches: list[list[Pair]], data: st.DataObject
) -> None:
    """A read in a gap begins with the next batch, and a log put back from its bytes is the same."""
    log = log_of(batches)
    log.compact(now_ms=1)
    offset = data.draw(st.integers(0, log.end_offset - 1))
    found = split_batches(log.read(offset, 1 << 30), stored=True)
    first = found[0][0]
    assert first.base_offset + first.last_offset_delta >= offset
    records = [one for _, batch in found for one in read_records(batch) if one.offset >= offset]
    assert records == [one for one in log.records() if one.offset >= offset]
    assert log.size_from(offset, 1 << 30) == sum(len(batch) for _, batch in found)
    again = PartitionLog()
    for header, batch in split_batches(whole(log), stored=True):
        again.restore(header, batch)
    assert (again.records(), again.end_offset) == (log.records(), log.end_offset)
    assert log_of(batches).append(split_batches(build_batch([(b"z", b"")], 0)), 0) == log.append(
        split_batches(build_batch([(b"z", b"")], 0)), 0
    )


@pytest.mark.parametrize(("age_ms", "stays"), [(DELETE_RETENTION_MS, True), (10**9, False)])
def test_a_tombstone_stays_for_a_day(age_ms: int, stays: bool) -> None:
    """Who reads behind learns of a deletion; after that the tombstone goes too."""
    log = log_of([[(b"a", b"1")], [(b"a", None)], [(b"b", b"1")]], now_ms=7)
    log.compact(now_ms=7 + age_ms)
    assert [one.offset for one in log.records()] == ([1, 2] if stays else [2])


def test_records_without_a_key_are_kept() -> None:
    """There is nothing to tell which of them is the last."""
    log = log_of([[(None, b"1")], [(None, b"2")], [(b"a", b"3")]])
    log.compact(now_ms=1)
    assert len(log.records()) == 3
    assert compact([], now_ms=1) == []


def test_a_rewrite_that_fails_changes_nothing() -> None:
    """When the file cannot be replaced the log stays as it is."""

    def refuse(_: Sequence[bytes]) -> None:
        raise OSError(28, "no space left")

    log = log_of([[(b"a", b"1")], [(b"a", b"2")]])
    before = whole(log)
    log.on_rewrite = refuse
    with pytest.raises(OSError, match="no space"):
        log.compact(now_ms=1)
    assert whole(log) == before


def read_all(servers: str, partition: int, end: int) -> dict[bytes, tuple[int, bytes | None]]:
    """Key -> offset and value of its last record, as a real consumer reads the topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "reader",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    found: dict[bytes, tuple[int, bytes | None]] = {}
    try:
        consumer.assign([TopicPartition(OFFSETS_TOPIC, partition, OFFSET_BEGINNING)])
        while True:
            message = consumer.poll(20)
            assert message is not None, "the consumer is stuck in a gap"
            if message.error():
                assert message.offset() == end
                return found
            key, offset = message.key(), message.offset()
            assert key is not None
            assert offset is not None
            found[key] = (offset, message.value())
    finally:
        consumer.close()


def test_a_long_run_does_not_grow(tmp_path: Path) -> None:
    """Many commits: memory and file stay near the bound, and nothing that counts is lost."""
    partition = offsets_partition("g", 50)
    file = tmp_path / "logs" / f"{OFFSETS_TOPIC}-{partition}.log"
    limits = Limits(offsets_log_bytes=BOUND)
    with Sandbox(brokers=1, topics={"t": 4}, data_dir=tmp_path, limits=limits) as cluster:
        servers = cluster.bootstrap_servers
        consumer = Consumer({"bootstrap.servers": servers, "group.id": "g", "log_level": 0})
        for number in range(COMMITS):
            place = TopicPartition("t", number % 4, number)
            consumer.commit(offsets=[place], asynchronous=False)
            assert file.stat().st_size <= BOUND + 200
        consumer.close()
        end = cluster.log_end_offsets(OFFSETS_TOPIC)[partition]
        assert end >= COMMITS
        before = read_all(servers, partition, end)
        told = [line for line in cluster.events if "compacted from" in str(line)]
        assert len(told) >= COMMITS * 100 // BOUND // 2
    with Sandbox(brokers=1, data_dir=tmp_path, limits=limits) as cluster:
        servers = cluster.bootstrap_servers
        assert cluster.log_end_offsets(OFFSETS_TOPIC)[partition] == end
        assert read_all(servers, partition, end) == before
        assert fetch_offsets(servers, "g") == {("t", n): COMMITS - 4 + n for n in range(4)}
