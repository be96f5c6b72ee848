"""Transactions that stay open: of producers that do nothing, and of producers that nobody knows.

The second kind hangs for good, as after the faults that KIP-890 closed: records reach a partition
after the coordinator has ended their transaction, or without it ever hearing of them. Brokers take
such records while `transaction.partition.verification.enable` is off.
"""

import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._resource import ResourceType
from crc32c import crc32c
from kio.schema.produce.v9.request import PartitionProduceData, ProduceRequest, TopicProduceData
from kio.schema.produce.v9.response import ProduceResponse
from kio.schema.txn_offset_commit.v3.request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kio.schema.txn_offset_commit.v3.response import TxnOffsetCommitResponse
from kio.schema.types import GroupId, ProducerId, TopicName, TransactionalId
from kio.static.primitive import Records, i16, i32, i32Timedelta, i64

from kgroups.core.protocol.batches import TRANSACTIONAL, build_batch
from tests.support.cli.runner import run
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import admin_of, configure

VERIFICATION = "transaction.partition.verification.enable"
STRANGER = 7_000_000
"""The first producer id of those that no coordinator has given out."""


def transactional(address: str, transactional_id: str, timeout_ms: int = 60_000) -> Producer:
    """A producer that is ready to begin a transaction."""
    settings = {
        "bootstrap.servers": address,
        "transactional.id": transactional_id,
        "transaction.timeout.ms": timeout_ms,
        "log_level": 0,
    }
    producer = Producer(settings)
    producer.init_transactions(30)
    return producer


def left_open(
    address: str,
    transactional_id: str,
    records: Mapping[tuple[str, int], int],
    *,
    offsets: tuple[str, Mapping[tuple[str, int], int]] | None = None,
    timeout_ms: int = 600_000,
) -> Producer:
    """A producer whose transaction has these records, and commits of a group, and no end."""
    producer = transactional(address, transactional_id, timeout_ms)
    producer.begin_transaction()
    for (topic, number), count in records.items():
        for _ in range(count):
            producer.produce(topic, b"pending", partition=number)
    assert producer.flush(30) == 0, "the records are with the broker"
    if offsets is not None:
        group, commits = offsets
        nobody = Consumer({"bootstrap.servers": address, "group.id": group, "log_level": 0})
        rows = [TopicPartition(*at, offset) for at, offset in commits.items()]
        producer.send_offsets_to_transaction(rows, nobody.consumer_group_metadata(), 30)
        nobody.close()
    return producer


@contextmanager
def unverified(address: str, broker: int) -> Iterator[None]:
    """The broker takes records of transactions that their coordinator has not heard of."""
    admin = admin_of(address)

    def be(value: str) -> None:
        configure(address, str(broker), {VERIFICATION: value}, kind=ResourceType.BROKER)
        asked = ConfigResource(ResourceType.BROKER, str(broker))

        def is_so() -> bool:
            (answer,) = admin.describe_configs([asked]).values()
            return bool(answer.result(60)[VERIFICATION].value == value)

        wait_until(is_so, f"{VERIFICATION} is {value}")

    be("false")
    try:
        yield
    finally:
        be("true")


def hang(
    address: str, at: tuple[str, int], producer_id: int, *, records: int = 1, age_s: float = 0
) -> None:
    """Append records of a transaction that no coordinator knows; takes `unverified`."""
    topic, number = at
    written_ms = time.time_ns() // 1_000_000 - round(age_s * 1_000)
    batch = _transactional_batch(producer_id, records, written_ms)
    part = PartitionProduceData(index=i32(number), records=Records(batch))
    request = ProduceRequest(
        transactional_id=TransactionalId(f"stranger-{producer_id}"),
        acks=i16(-1),
        timeout=i32Timedelta.parse(timedelta(seconds=30)),
        topic_data=(TopicProduceData(name=TopicName(topic), partition_data=(part,)),),
    )

    def taken() -> bool:
        with WireConnection(address) as wire:
            (answer,) = wire.ask(request, ProduceResponse).responses
        return int(answer.partition_responses[0].error_code) == 0

    wait_until(taken, "the leader takes the records")


def hang_offsets(
    address: str, group: str, commits: Mapping[tuple[str, int], int], producer_id: int
) -> None:
    """Commits of a transaction that no coordinator knows; takes `unverified`."""
    rows = tuple(
        TxnOffsetCommitRequestTopic(
            name=TopicName(topic),
            partitions=(
                TxnOffsetCommitRequestPartition(
                    partition_index=i32(number), committed_offset=i64(offset), committed_metadata=""
                ),
            ),
        )
        for (topic, number), offset in commits.items()
    )
    request = TxnOffsetCommitRequest(
        transactional_id=TransactionalId(f"stranger-{producer_id}"),
        group_id=GroupId(group),
        producer_id=ProducerId(producer_id),
        producer_epoch=i16(0),
        topics=rows,
    )

    def taken() -> bool:
        with WireConnection(address) as wire:
            answer = wire.ask(request, TxnOffsetCommitResponse)
        return all(int(row.error_code) == 0 for each in answer.topics for row in each.partitions)

    wait_until(taken, "the coordinator takes the commits")


def end_hung_offsets(address: str, group: str, producer_id: int) -> None:
    """End such a transaction if it is still open, as its partition holds commits of other groups.

    Those come after it, and whoever reads what is committed does not see them.
    """
    words = ("abort", group, "--producer-id", str(producer_id), "--yes", "--force")
    outcome = run("transactions", *words, "-b", address, "--timeout", "60s")
    assert outcome.exit_code in (0, 5), outcome  # 5: there is none


def _transactional_batch(producer_id: int, records: int, written_ms: int) -> bytes:
    """A batch of a transaction: attributes, producer id, epoch and sequence in its header."""
    batch = bytearray(build_batch([(None, b"hung")] * records, written_ms))
    struct.pack_into(">h", batch, 21, TRANSACTIONAL)
    struct.pack_into(">qhi", batch, 43, producer_id, 0, 0)
    struct.pack_into(">I", batch, 17, crc32c(memoryview(batch)[21:]))
    return bytes(batch)
