"""Commits of a topic that does not exist, which a broker accepts from nobody.

Brokers drop a deleted topic's commits at once, so the state is brought about as a corrupted past
would leave it: a commit record appended to `__consumer_offsets`, then a restart that loads it.
"""

import struct

from confluent_kafka import Producer

from kgroups.core.coordinator.placement import offsets_partition
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.workload import SeedingFailed, admin_of

OFFSETS_TOPIC = "__consumer_offsets"


def _string(text: str) -> bytes:
    """A string of the non-flexible record versions: length as int16, then UTF-8."""
    data = text.encode()
    return struct.pack(">h", len(data)) + data


def offset_commit_record(
    group: str, topic: str, partition: int, offset: int, *, now_ms: int
) -> tuple[bytes, bytes]:
    """Key (version 1) and value (version 3) of one commit in `__consumer_offsets`.

    Source: OffsetCommitKey.json and OffsetCommitValue.json of Kafka's group coordinator.
    """
    key = struct.pack(">h", 1) + _string(group) + _string(topic) + struct.pack(">i", partition)
    value = struct.pack(">hqi", 3, offset, -1) + _string("") + struct.pack(">q", now_ms)
    return key, value


def commit_to_vanished_topic(
    cluster: KafkaCluster, group: str, topic: str, offsets: dict[int, int], *, now_ms: int
) -> None:
    """Leave `group` with commits (partition -> offset) of a topic that is not there.

    Restarts the cluster, so use one of the test's own. Only a producer whose client id is
    `__admin_client` may append to the internal topic.
    """
    known = admin_of(cluster.bootstrap).list_topics(OFFSETS_TOPIC, timeout=60)
    count = len(known.topics[OFFSETS_TOPIC].partitions)
    at = offsets_partition(group, count)
    failures: list[str] = []
    producer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "client.id": "__admin_client", "log_level": 0}
    )

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            failures.append(str(error))

    for partition, offset in offsets.items():
        key, value = offset_commit_record(group, topic, partition, offset, now_ms=now_ms)
        producer.produce(OFFSETS_TOPIC, value, key, partition=at, on_delivery=delivered)
    left = producer.flush(60)
    if failures or left:
        raise SeedingFailed(f"{OFFSETS_TOPIC} refused the record: {failures}, {left} not sent")
    cluster.restart()
