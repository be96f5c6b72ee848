"""Commits of a topic that does not exist, which a broker accepts from nobody.

Brokers drop a deleted topic's commits at once, so the state is brought about as a corrupted past
would leave it: a commit record appended to `__consumer_offsets`, then a restart that loads it.
"""

import time

from confluent_kafka import Producer

from kgroups.core.coordinator.log.record_codec import encode_record
from kgroups.core.coordinator.log.records import OffsetCommitKey, OffsetCommitValue, Record
from kgroups.core.coordinator.placement import OFFSETS_TOPIC, offsets_partition
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.workload import SeedingFailed, admin_of


def commit_to_vanished_topic(
    cluster: KafkaCluster, group: str, topic: str, offsets: dict[int, int]
) -> None:
    """Leave `group` with commits (partition -> offset) of a topic that is not there.

    Restarts the cluster, so use one of the test's own. Only a producer whose client id is
    `__admin_client` may append to the internal topic.
    """
    known = admin_of(cluster.bootstrap).list_topics(OFFSETS_TOPIC, timeout=60)
    count = len(known.topics[OFFSETS_TOPIC].partitions)
    at = offsets_partition(group, count)
    failures: list[str] = []
    now_ms = time.time_ns() // 1_000_000
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "client.id": "__admin_client", "log_level": 0}
    )

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            failures.append(str(error))

    for partition, offset in offsets.items():
        commit = OffsetCommitValue(offset, commit_timestamp_ms=now_ms)
        key, value = encode_record(Record(OffsetCommitKey(group, topic, partition), commit))
        producer.produce(OFFSETS_TOPIC, value, key, partition=at, on_delivery=delivered)
    left = producer.flush(60)
    if failures or left:
        raise SeedingFailed(f"{OFFSETS_TOPIC} refused the record: {failures}, {left} not sent")
    cluster.restart()
