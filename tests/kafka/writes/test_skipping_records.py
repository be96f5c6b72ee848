"""`reset-offsets --to next` past 500 poison records, in compacted and transactional logs."""

import random
from itertools import pairwise
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as ConfluentPartition

from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    COMPACTED_AT_ONCE,
    commit_offsets,
    configure,
    create_topics,
    fetch_offsets,
)

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("real transactions; the rules: tests/cli/commands/test_skipping_records.py"),
]

TOPICS = TXN, SQUEEZED = "skip-txn", "skip-compacted"
POISON = 250
"""Of each topic."""
SEED = 37


def write(address: str) -> None:
    """Plain records, and two producers whose transactions lie within one another."""
    dice = random.Random(SEED)
    plain = Producer({"bootstrap.servers": address, "linger.ms": 0, "log_level": 0})
    others = [
        Producer({"bootstrap.servers": address, "transactional.id": name, "log_level": 0})
        for name in ("skip-a", "skip-b")
    ]
    for producer in others:
        producer.init_transactions(60)
    is_open = [False, False]
    for _ in range(700):
        which = dice.randrange(3)
        producer = plain if which == 2 else others[which]
        if which < 2 and not is_open[which]:
            producer.begin_transaction()
            is_open[which] = True
        for topic in TOPICS:
            for _ in range(dice.randint(1, 2)):
                producer.produce(topic, b"v", key=b"k%d" % dice.randrange(600), partition=0)
        assert producer.flush(60) == 0
        if which < 2 and dice.random() < 0.4:
            end = producer.abort_transaction if dice.random() < 0.5 else producer.commit_transaction
            end(60)
            is_open[which] = False
    for producer, begun in zip(others, is_open, strict=True):
        if begun:
            producer.commit_transaction(60)


def readable(address: str, topic: str) -> list[int]:
    """The offsets that a reader of committed records gets."""
    consumer = reader(address)
    consumer.assign([ConfluentPartition(topic, 0, 0)])
    found: list[int] = []
    while True:
        message = consumer.poll(60)
        assert message is not None, "a record, or the end of the log"
        if message.error():
            break
        found.append(message.offset() or 0)
    consumer.close()
    return found


def reader(address: str) -> Consumer:
    """A consumer that is told where the log ends."""
    return Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "skip-reader",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 10,
        }
    )


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> str:
    """The two logs, one of them compacted once and for all."""
    address = kafka.bootstrap
    create_topics(address, dict.fromkeys(TOPICS, 1))
    write(address)
    before = len(readable(address, SQUEEZED))
    configure(address, SQUEEZED, COMPACTED_AT_ONCE)
    last = Producer({"bootstrap.servers": address, "log_level": 0})
    last.produce(SQUEEZED, b"v", key=b"last", partition=0)  # in a segment of its own
    assert last.flush(60) == 0
    wait_until(lambda: len(readable(address, SQUEEZED)) < 0.8 * before, "the log is compacted")
    configure(address, SQUEEZED, {"cleanup.policy": "delete"})
    wait_until(lambda: readable(address, SQUEEZED) == readable(address, SQUEEZED), "it is at rest")
    return address


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("topic", TOPICS)
def test_the_reader_resumes_at_the_following_record(
    address: str, tmp_path: Path, topic: str, number: int
) -> None:
    """Wherever it stands before the poison record: at it, or in the gap before."""
    dice = random.Random(SEED)
    offsets = readable(address, topic)
    places = dice.sample(range(1, len(offsets) - number), POISON if number == 1 else 20)
    wide = sum(other - one > 1 for one, other in pairwise(offsets))
    assert wide > 50, "gaps are many"
    prefix = f"{topic}-{number}"
    stands = {
        f"{prefix}-{place}": dice.randint(offsets[place - 1] + 1, offsets[place])
        for place in places
    }
    commit_offsets(address, {group: {(topic, 0): at} for group, at in stands.items()})
    outcome = run(
        *("reset-offsets", f"{prefix}-*", "--to", f"next:{number}", "--all-topics", "--yes"),
        *("-b", address, "--undo-dir", str(tmp_path), "--timeout", "60s", "-o", "json"),
    )
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.document["summary"]["done"] == len(stands)
    passed = {
        item["group"]: [each["offset"] for each in item["passed_records"]]
        for item in outcome.document["items"]
    }
    consumer = reader(address)
    for place in places:
        group = f"{prefix}-{place}"
        assert passed[group] == offsets[place : place + number]
        commit = fetch_offsets(address, group)[topic, 0]
        consumer.assign([ConfluentPartition(topic, 0, commit)])
        message = consumer.poll(60)
        assert message is not None, "a record"
        assert message.offset() == offsets[place + number], group
    consumer.close()
    assert (
        run(
            "reset-offsets",
            "--undo",
            "last",
            "--yes",
            "-b",
            address,
            "--timeout",
            "60s",
            "--undo-dir",
            str(tmp_path),
        ).exit_code
        == 0
    )
    for group in dice.sample(list(stands), 10):
        assert fetch_offsets(address, group)[topic, 0] == stands[group]
