"""What else kafka-python does, and aiokafka in the cluster's own event loop."""

import asyncio
import warnings

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from kgroups.core.sandbox.cluster import Cluster
from kgroups.core.sandbox.options import SandboxOptions
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.waiting import wait_until
from tests.support.sandbox.kafka_python import (
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    TopicPartition,
)
from tests.support.sandbox.librdkafka_members import Member

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_kafka_python_admin(cluster: Sandbox) -> None:
    """Its admin client lists and describes groups and reads and deletes offsets."""
    servers = cluster.bootstrap_servers
    with Member(servers, "seen", ["t"], "librd") as member:
        wait_until(lambda: len(member.partitions()) == 4, what="the partitions")
        admin = KafkaAdminClient(bootstrap_servers=servers.split(","))
        listed = {group["group_id"] for group in admin.list_groups()}
        assert "seen" in listed
        described = admin.describe_groups(["seen"])["seen"]
        assert described["group_state"] == "Stable"
        assert [one["client_id"] for one in described["members"]] == ["librd"]
        admin.close()


def test_aiokafka_in_the_same_loop() -> None:
    """`async with Cluster` serves clients of its own event loop, without a thread."""

    async def scenario() -> None:
        async with Cluster(SandboxOptions(brokers=2, topics={"aio": 4})) as cluster:
            servers = cluster.bootstrap_servers
            producer = AIOKafkaProducer(bootstrap_servers=servers, enable_idempotence=True)
            await producer.start()
            for number in range(40):
                await producer.send("aio", b"v%d" % number, partition=number % 4)
            await producer.stop()
            consumer = AIOKafkaConsumer(
                "aio", bootstrap_servers=servers, group_id="aio", auto_offset_reset="earliest"
            )
            await consumer.start()
            seen: list[str] = []
            async with asyncio.timeout(60):
                while len(seen) < 40:
                    for records in (await consumer.getmany(timeout_ms=50)).values():
                        seen += [record.value.decode() for record in records]
            await consumer.stop()
            assert set(seen) == {f"v{number}" for number in range(40)}

    asyncio.run(scenario())


def test_consumer_offsets_can_be_read(cluster: Sandbox) -> None:
    """`__consumer_offsets` is a topic like any other, with real records for whoever reads it.

    What the group has read kafka-python has produced.
    """
    from kgroups.core.coordinator.log.record_codec import decode_record
    from kgroups.core.coordinator.log.records import OffsetCommitKey, OffsetCommitValue, Record

    servers = cluster.bootstrap_servers
    cluster.create_topic("watched", 4)
    producer = KafkaProducer(bootstrap_servers=servers.split(","))
    for number in range(20):
        producer.send("watched", b"v%d" % number, partition=number % 4)
    producer.flush(60)
    producer.close()
    with Member(servers, "watched", ["watched"], "m") as member:
        wait_until(lambda: len(member.values) == 20, what="20 records")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        consumer = KafkaConsumer(
            bootstrap_servers=servers.split(","), exclude_internal_topics=False
        )
        partitions = [TopicPartition("__consumer_offsets", number) for number in range(50)]
        consumer.assign(partitions)
        consumer.seek_to_beginning(*partitions)
        offsets = {}

        def commits_seen() -> bool:
            for records in consumer.poll(timeout_ms=100).values():
                for record in records:
                    match decode_record(record.key, record.value):
                        case Record(OffsetCommitKey("watched", _, partition), value) if value:
                            assert isinstance(value, OffsetCommitValue)
                            offsets[partition] = value.offset
            return offsets == {0: 5, 1: 5, 2: 5, 3: 5}

        wait_until(commits_seen, what="the commits of the group")
        consumer.close()
