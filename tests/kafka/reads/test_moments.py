"""Past log ends and times of records, of a real broker that was told the times."""

from collections import Counter
from dataclasses import replace

import pytest
from confluent_kafka import Producer

from kgroups.core.errors import ClusterError, ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings, read_settings
from kgroups.core.kafka.librdkafka.offsets_topic import OffsetsTopic
from kgroups.core.kafka.lookups.offsets_by_time import ends_at
from kgroups.core.kafka.lookups.record_times import next_record_times, record_moments
from kgroups.core.kafka.lookups.record_walk import Stand
from kgroups.core.lag.rules import Isolation
from kgroups.core.lag.window.commit_log import parse_record
from kgroups.core.lag.window.unread import Place
from kgroups.core.offsets.copy import Moment
from kgroups.core.snapshot import PartitionLog, Topic
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.hung_transactions import transactional
from tests.support.kafka.workload import commit_offsets, create_topics, expire_records

pytestmark = pytest.mark.kafka

NOON_MS = 1_763_700_000_000
MINUTE_MS = 60_000
TOPIC, GROUP = "moments", "moments-reader"


def write(bootstrap: str, partition: int, minutes: range, topic: str = TOPIC) -> None:
    """Ten records a minute, as if written then."""
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for minute in minutes:
        for _ in range(10):
            at_ms = NOON_MS + minute * MINUTE_MS
            producer.produce(topic, b"x" * 100, partition=partition, timestamp=at_ms)
    assert producer.flush(60) == 0


@pytest.fixture(scope="module")
def settings(kafka: KafkaCluster) -> ClientSettings:
    """Of a broker with ten records a minute in partition 0 for an hour, half of that in 1."""
    create_topics(kafka.bootstrap, {TOPIC: 3})
    write(kafka.bootstrap, 0, range(60))
    write(kafka.bootstrap, 1, range(0, 60, 2))
    commit_offsets(kafka.bootstrap, {GROUP: {(TOPIC, number): 0 for number in range(3)}})
    return read_settings(kafka.bootstrap, None)


def test_ends_at_times_gone_by(settings: ClientSettings) -> None:
    """Where the log ended then; before its first record at 0, after its last at its end."""
    times = [NOON_MS - 1, NOON_MS + 10 * MINUTE_MS, NOON_MS + 600 * MINUTE_MS]
    with ClusterAdmin(settings) as admin:
        topics = dict(admin.snapshot([GROUP]).topics)
        topics["gone"] = Topic("gone", {0: PartitionLog(0, 5, leader=1)})
        ends = {at_ms: ends_at(admin, topics, at_ms) for at_ms in times}
    assert [ends[at_ms].get((TOPIC, 0)) for at_ms in times] == [0, 100, 600]
    assert [ends[at_ms].get((TOPIC, 1)) for at_ms in times] == [0, 50, 300]
    assert [ends[at_ms].get((TOPIC, 2)) for at_ms in times] == [0, 0, 0]
    assert not any(("gone", 0) in found for found in ends.values())


def asked(
    settings: ClientSettings, places: list[Place], isolation: Isolation = "read_uncommitted"
) -> tuple[dict[Place, int], tuple[ItemError, ...]]:
    """Times of the records at these places."""
    with ClusterAdmin(settings) as admin:
        topics = admin.topics(sorted({place[0] for place in places})).topics
        return next_record_times(admin, topics, places, isolation=isolation)


@pytest.mark.parametrize("through_librdkafka", [False, True])
def test_times_of_the_next_records(settings: ClientSettings, *, through_librdkafka: bool) -> None:
    """Several places of one partition, places without a record, a topic that is not there."""
    settings = replace(settings, through_librdkafka=through_librdkafka)
    places = [(TOPIC, 0, 0), (TOPIC, 0, 105), (TOPIC, 0, 599), (TOPIC, 0, 600)]
    places += [(TOPIC, 1, 299), (TOPIC, 2, 0), ("gone", 0, 3)]
    found, errors = asked(settings, places)
    minutes = {place: (at_ms - NOON_MS) / MINUTE_MS for place, at_ms in found.items()}
    expected = {(TOPIC, 0, 0): 0, (TOPIC, 0, 105): 10, (TOPIC, 0, 599): 59, (TOPIC, 1, 299): 58}
    assert minutes == expected
    codes = [(error.target, error.code) for error in errors]
    assert codes == [("gone", "UNKNOWN_TOPIC_OR_PARTITION")]
    assert asked(settings, []) == ({}, ())


def test_a_partition_that_many_groups_read(settings: ClientSettings) -> None:
    """Each place is a fetch of its own; none waits for the pauses of a reader that has enough."""
    places = [(TOPIC, 0, offset) for offset in range(600)]
    times, errors = asked(settings, places)
    assert not errors
    assert times == {place: NOON_MS + place[2] // 10 * MINUTE_MS for place in places}


def test_records_that_expired_meanwhile(settings: ClientSettings) -> None:
    """Of a place that was deleted since it was looked up, the next record that is left."""
    create_topics(settings.bootstrap_servers, {"moments-expired": 1})
    write(settings.bootstrap_servers, 0, range(3), "moments-expired")
    expire_records(settings.bootstrap_servers, {("moments-expired", 0): 20})
    found, errors = asked(settings, [("moments-expired", 0, 5), ("moments-expired", 0, 99)])
    assert found == {("moments-expired", 0, 5): NOON_MS + 2 * MINUTE_MS}
    assert [error.code for error in errors] == ["OFFSET_OUT_OF_RANGE"]


def test_records_that_are_long(settings: ClientSettings) -> None:
    """One answer is for many partitions: those whose record finds no room are asked again."""
    create_topics(settings.bootstrap_servers, {"moments-long": 4})
    producer = Producer({"bootstrap.servers": settings.bootstrap_servers, "log_level": 0})
    for number in range(3):
        at_ms = NOON_MS + number
        producer.produce("moments-long", b"x" * 50_000, partition=number, timestamp=at_ms)
    assert producer.flush(60) == 0
    found = asked(settings, [("moments-long", number, 0) for number in range(4)])
    assert found == ({("moments-long", number, 0): NOON_MS + number for number in range(3)}, ())


def test_records_of_transactions(settings: ClientSettings) -> None:
    """An aborted record is passed over in the view of committed ones, and none is behind it."""
    bootstrap = settings.bootstrap_servers
    create_topics(bootstrap, {"moments-aborted": 1})
    producer = transactional(bootstrap, "moments")
    producer.begin_transaction()
    producer.produce("moments-aborted", b"x", partition=0, timestamp=NOON_MS)
    assert producer.flush(60) == 0
    place = ("moments-aborted", 0, 0)
    assert asked(settings, [place], "read_committed") == ({}, ())  # it is open
    producer.abort_transaction(60)
    assert asked(settings, [place], "read_committed") == ({}, ())
    assert asked(settings, [place]) == ({place: NOON_MS}, ())
    stands = {("moments-aborted", 0): Stand(1, 0, 2)}  # the record is read, the marker is not
    with ClusterAdmin(settings) as admin:
        told = record_moments(admin, admin.topics(["moments-aborted"]).topics, stands)
    assert told == {("moments-aborted", 0): Moment(NOON_MS + 1, at_end=True)}


def test_a_cluster_that_is_not_there() -> None:
    """The failure is that of an unreachable cluster."""
    topics = {TOPIC: Topic(TOPIC, {0: PartitionLog(leader=1)})}
    with ClusterAdmin(read_settings("127.0.0.1:1", None)) as nowhere, pytest.raises(ClusterError):
        next_record_times(nowhere, topics, [(TOPIC, 0, 0)], timeout_ms=1_500)


@pytest.mark.slow("reads all that the tests have committed")
def test_every_commit_is_read_without_waiting(kafka: KafkaCluster) -> None:
    """All slices of the offsets topic, each to its end; none waits for records that cannot come."""
    create_topics(kafka.bootstrap, {"counted": 1})
    for offset in range(20):
        groups = [f"counted-{number}" for number in range(50)]
        commit_offsets(kafka.bootstrap, {group: {("counted", 0): offset} for group in groups})
    log = OffsetsTopic(read_settings(kafka.bootstrap, None))
    found: Counter[str] = Counter()
    for part in log.slices():
        places = []
        for records in log.read(part):
            for record in records:
                places.append(record.offset)
                _, _, kind, group, *_ = parse_record(record)
                if kind == "commit" and group.startswith("counted-"):
                    found[group] += 1
        assert places == sorted(set(places))
        assert all(part.start <= place < part.end for place in places)
    assert found == {f"counted-{number}": 20 for number in range(50)}
