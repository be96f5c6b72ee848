"""`kgroups peek` on real logs: transactions, compaction, a right that is missing."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin._acl import AclOperation
from confluent_kafka.admin._resource import ResourceType

from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.guarded import allow, write_properties
from tests.support.kafka.hung_transactions import transactional
from tests.support.kafka.transactional_logs import readable
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    COMPACTED_AT_ONCE,
    admin_of,
    commit_offsets,
    create_topics,
    end_offsets,
    fetch_offsets,
    produce,
)

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("transactions and compaction; all else: tests/cli/commands/test_peek.py"),
]

TXN, SQUEEZED = "peek-txn", "peek-compacted"


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> Iterator[str]:
    """A log with committed, aborted and open transactions."""
    address = kafka.bootstrap
    create_topics(address, {TXN: 1})
    produce(address, {(TXN, 0): 2})  # 0, 1
    first, second, third = (transactional(address, f"peek-{n}") for n in range(3))
    for producer in (first, second, third):
        producer.begin_transaction()
    for name, producer in (("a", first), ("b", second)):
        for number in range(3):
            producer.produce(TXN, b"v", key=f"{name}{number}".encode(), partition=0)
            assert producer.flush(60) == 0  # a batch each: 2 to 7
    first.abort_transaction(60)
    marked(address, 8)
    second.commit_transaction(60)
    marked(address, 9)
    produce(address, {(TXN, 0): 1})  # 10
    third.produce(TXN, b"v", key=b"open", partition=0)  # 11
    assert third.flush(60) == 0
    produce(address, {(TXN, 0): 1})  # 12
    yield address
    third.abort_transaction(60)


def marked(address: str, offset: int) -> None:
    """Wait for the marker at this offset: brokers write them after they have answered."""
    wait_until(lambda: end_offsets(address, [(TXN, 0)]) == {(TXN, 0): offset + 1}, "the marker")


def told(address: str, group: str, *words: str) -> list[tuple[Any, ...]]:
    """Kind or reason, offset, and the offset after it."""
    outcome = run("peek", group, *words, "-b", address, "-o", "json")
    assert outcome.exit_code == 0, outcome.stderr
    return [
        (each["reason"] or each["kind"], each["offset"], each["next_offset"])
        for each in outcome.document["items"]
    ]


def test_transactions(address: str) -> None:
    """Aborted records and markers are gaps; from an open transaction on nothing is stable."""
    commit_offsets(address, {"peek-txn": {(TXN, 0): 2}})
    stable = [
        ("aborted", 2, 5),
        ("record", 5, 6),
        ("record", 6, 7),
        ("record", 7, 8),
        ("control", 8, 10),
        ("record", 10, 11),
        ("open_transaction", 11, 11),
    ]
    assert told(address, "peek-txn") == stable[:2]
    before = [("record", 0, 1), ("record", 1, 2)]
    assert told(address, "peek-txn", "--around", "9") == [*before, *stable]
    every = told(address, "peek-txn", "--around", "20", "--isolation", "read_uncommitted")
    assert [each for each in every if each[0] != "record"] == [
        ("control", 8, 10),
        ("log_end", 13, 13),
    ]
    assert len(every) == 13


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
def test_it_is_what_a_consumer_gets(address: str, isolation: str) -> None:
    """From every offset of the log on, record by record."""
    got = [each.offset() for each in readable(address, (TXN, 0), isolation=isolation)]
    assert got, "the log has records"
    for start in range(13):
        commit_offsets(address, {"peek-each": {(TXN, 0): start}})
        words = ("--around", "20", "--isolation", isolation)
        seen = told(address, "peek-each", *words)
        assert [each[1] for each in seen if each[0] == "record"] == got, (start, seen)
        covered = [each[1:] for each in seen if each[1] >= start]
        assert all(one[1] == other[0] for one, other in pairwise(covered))


def test_nothing_changes(address: str) -> None:
    """No group appears, and what was committed stays."""
    commit_offsets(address, {"peek-still": {(TXN, 0): 3}})
    groups, offsets = group_names(address), fetch_offsets(address, "peek-still")
    told(address, "peek-still", "--around", "3", "--stuck", "--over", "100ms")
    assert group_names(address) <= groups
    assert fetch_offsets(address, "peek-still") == offsets


def group_names(address: str) -> set[str]:
    """Every group there is."""
    admin = admin_of(address)
    listed = admin.list_consumer_groups().result(60)
    return {group.group_id for group in listed.valid}


def test_compaction(address: str) -> None:
    """What the cleaner took is a gap; what it left is read."""
    create_topics(address, {SQUEEZED: 1}, config=COMPACTED_AT_ONCE)
    producer = Producer({"bootstrap.servers": address, "linger.ms": 0, "log_level": 0})
    for number in range(20):
        producer.produce(SQUEEZED, b"v", key=b"keep" if number == 3 else b"k", partition=0)
        assert producer.flush(60) == 0
    commit_offsets(address, {"peek-compacted": {(SQUEEZED, 0): 0}})
    expected = [("compacted", 0, 3), ("record", 3, 4), ("compacted", 4, 18)]
    wait_until(
        lambda: told(address, "peek-compacted", "--around", "1")[:3] == expected,
        "the log is compacted",
    )


def test_a_right_that_is_missing(guarded_kafka: KafkaCluster, tmp_path: Path) -> None:
    """DESCRIBE shows the commits; the records take READ on the topic, which is named."""
    bootstrap, topic = guarded_kafka.bootstrap, "peek-seen"
    create_topics(bootstrap, {topic: 1})
    produce(bootstrap, {(topic, 0): 2})
    commit_offsets(bootstrap, {"mine-peek": {(topic, 0): 1}})
    allow(bootstrap, "User:alice", ResourceType.TOPIC, topic, AclOperation.DESCRIBE)
    way = write_properties(
        guarded_kafka, tmp_path / "alice", ("SASL_SSL", "SCRAM-SHA-512", "alice")
    )
    ask = partial(run, "peek", "mine-peek", *way, "-o", "json")
    refused = ask()
    (error,) = refused.document["errors"]
    assert (refused.exit_code, error["code"]) == (3, "TOPIC_AUTHORIZATION_FAILED")
    assert (error["target"], error["hint"]) == (f"{topic}-0", "READ on the topic is required")
    allow(bootstrap, "User:alice", ResourceType.TOPIC, topic, AclOperation.READ)
    wait_until(lambda: ask().exit_code == 0, "the right is known")
