"""`reset-offsets --to next` past 500 poison records, in compacted and transactional logs."""

import random
from itertools import pairwise
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka import TopicPartition as ConfluentPartition

from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.transactional_logs import (
    compact,
    readable,
    reader,
    write_in_transactions,
)
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("real transactions; the rules: tests/cli/commands/test_skipping_records.py"),
]

TOPICS = TXN, SQUEEZED = "skip-txn", "skip-compacted"
POISON = 250
"""Of each topic."""
SEED = 37


def write(address: str) -> None:
    """Plain records and transactions."""
    dice = random.Random(SEED)

    def give(producer: Producer, _turn: int) -> None:
        for topic in TOPICS:
            for _ in range(dice.randint(1, 2)):
                producer.produce(topic, b"v", key=b"k%d" % dice.randrange(600), partition=0)

    write_in_transactions(address, "skip", 700, dice, give)


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> str:
    """The two logs, one of them compacted once and for all."""
    address = kafka.bootstrap
    create_topics(address, dict.fromkeys(TOPICS, 1))
    write(address)
    compact(address, SQUEEZED, 1, keep=0.8)
    return address


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("topic", TOPICS)
def test_the_reader_resumes_at_the_following_record(
    address: str, tmp_path: Path, topic: str, number: int
) -> None:
    """Wherever it stands before the poison record: at it, or in the gap before."""
    dice = random.Random(SEED)
    offsets = [message.offset() or 0 for message in readable(address, (topic, 0))]
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
    undone = run(
        *("reset-offsets", "--undo", "last", "--yes", "--undo-dir", str(tmp_path)),
        *("-b", address, "--timeout", "60s"),
    )
    assert undone.exit_code == 0, undone.stderr
    for group in dice.sample(list(stands), 10):
        assert fetch_offsets(address, group)[topic, 0] == stands[group]
