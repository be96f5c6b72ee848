"""Logs with transactions in them, perhaps compacted, and what consumers get of them."""

import random
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError, Message, Producer
from confluent_kafka import TopicPartition as ConfluentPartition

from kgroups.core.snapshot import TopicPartition
from tests.support.kafka.hung_transactions import transactional
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import COMPACTED_AT_ONCE, configure


def reader(address: str, isolation: str = "read_committed") -> Consumer:
    """A consumer without a group that is told where a log ends."""
    return Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": isolation,
            "fetch.wait.max.ms": 10,
            "log_level": 0,
        }
    )


def readable(
    address: str, at: TopicPartition, start: int = 0, *, isolation: str = "read_committed"
) -> list[Message]:
    """All that a consumer gets of a partition from an offset on."""
    found: list[Message] = []
    consumer = reader(address, isolation)
    try:
        consumer.assign([ConfluentPartition(*at, start)])
        while True:
            message = consumer.poll(60)
            assert message is not None, f"a record of {at}, or the end of the log"
            if (error := message.error()) is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return found
            found.append(message)
    finally:
        consumer.close()


def write_in_transactions(
    address: str,
    name: str,
    rounds: int,
    dice: random.Random,
    write: Callable[[Producer, int], None],
) -> None:
    """Plain records, and those of two producers whose transactions lie within one another.

    Args:
        name: what the transactional ids begin with.
        write: gives the records of a round to a producer.
    """
    plain = Producer({"bootstrap.servers": address, "linger.ms": 0, "log_level": 0})
    others = [transactional(address, f"{name}-{letter}") for letter in "ab"]
    is_open = [False, False]
    for turn in range(rounds):
        which = dice.randrange(3)
        producer = plain if which == 2 else others[which]
        if which < 2 and not is_open[which]:
            producer.begin_transaction()
            is_open[which] = True
        write(producer, turn)
        assert producer.flush(60) == 0
        if which < 2 and dice.random() < 0.4:
            end = producer.abort_transaction if dice.random() < 0.5 else producer.commit_transaction
            end(60)
            is_open[which] = False
    for producer, begun in zip(others, is_open, strict=True):
        if begun:
            producer.commit_transaction(60)


def compact(address: str, topic: str, partitions: int, *, keep: float) -> None:
    """Compact a topic once and for all, until each log has less than such a part of its records."""
    places = [(topic, number) for number in range(partitions)]

    def left() -> list[int]:
        return [len(readable(address, at)) for at in places]

    before = left()
    configure(address, topic, COMPACTED_AT_ONCE)
    last = Producer({"bootstrap.servers": address, "log_level": 0})
    for _, number in places:  # in a segment of its own
        last.produce(topic, f"last of {topic}".encode(), b"last", number)
    assert last.flush(60) == 0
    wait_until(
        lambda: all(now < keep * then for now, then in zip(left(), before, strict=True)),
        f"{topic} is compacted",
    )
    configure(address, topic, {"cleanup.policy": "delete"})
    wait_until(lambda: left() == left(), "it is at rest")
