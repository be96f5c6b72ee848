"""Two real consumers that commit one partition in turn, as `history` and `doctor` tell it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from tests.support.cli.runner import run
from tests.support.doctor.findings import Finding, findings, of_code
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("real consumers; quick: tests/core/history/test_rivals.py"),
]

TURNS: Final = 5
PATIENCE_S: Final = 120.0
Commit = Callable[[int], None]


@contextmanager
def consuming(address: str, name: str, **settings: str) -> Iterator[Consumer]:
    """A consumer of the group of this name, whose client id is `owner` unless it is said."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": name,
            "client.id": "owner",
            "enable.auto.commit": False,
            "log_level": 0,
            **settings,
        }
    )
    try:
        yield consumer
    finally:
        consumer.close()


@contextmanager
def owner_of(address: str, name: str, protocol: str = "classic") -> Iterator[Consumer]:
    """One that has subscribed, and owns the partition."""
    with consuming(address, name, **{"group.protocol": protocol}) as owner:
        owner.subscribe([name])
        owns = lambda: owner.poll(0.5) or owner.assignment()  # noqa: E731
        wait_until(owns, "it owns the partition", timeout_s=PATIENCE_S)
        yield owner


@contextmanager
def assigned_to(address: str, name: str) -> Iterator[Consumer]:
    """One that assigns the partition itself."""
    with consuming(address, name, **{"client.id": "rival"}) as rival:
        rival.assign([TopicPartition(name, 0, 0)])
        yield rival


def plainly(consumer: Consumer, name: str) -> Commit:
    """Commits as a consumer does."""

    def commit(offset: int) -> None:
        consumer.commit(offsets=[TopicPartition(name, 0, offset)], asynchronous=False)

    return commit


def in_transactions(consumer: Consumer, name: str, address: str, who: str) -> Commit:
    """Commits in transactions of a producer of its own."""
    settings = {"bootstrap.servers": address, "transactional.id": f"{name}-{who}", "log_level": 0}
    producer = Producer(settings)
    producer.init_transactions(PATIENCE_S)

    def commit(offset: int) -> None:
        producer.begin_transaction()
        places = [TopicPartition(name, 0, offset)]
        metadata = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction(places, metadata, PATIENCE_S)
        producer.commit_transaction(PATIENCE_S)
        wait_until(  # its marker comes later
            lambda: consumer.committed(places, PATIENCE_S)[0].offset == offset,
            "the offset is committed",
            timeout_s=PATIENCE_S,
        )

    return commit


def take_turns(first: Commit, second: Commit) -> None:
    """Each goes on from where it is itself."""
    for turn in range(TURNS):
        first(1_000 + turn)
        second(10 + turn)


def rivals(address: str, name: str) -> list[dict[str, Any]]:
    """As `history` tells them."""
    changes = run("history", name, "-b", address, "-o", "json").document["items"]
    return [one for each in changes if each["commits"] for one in each["commits"]["rivals"]]


def setbacks(address: str, name: str) -> list[Finding]:
    """As `doctor` finds them."""
    return of_code(findings(address, name)[name], "COMMIT_BACKWARDS")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("sure", [False, True])
def test_one_assigns_what_another_owns(kafka: KafkaCluster, protocol: str, sure: bool) -> None:
    """Its plain commits are refused; in transactions they are taken, beside the owner's."""
    address, name = kafka.bootstrap, f"rivals-{protocol}-{sure}".lower()
    create_topics(address, {name: 1})
    with owner_of(address, name, protocol) as owner, assigned_to(address, name) as rival:
        with pytest.raises(KafkaException) as refused:
            plainly(rival, name)(1)
        assert refused.value.args[0].code() in (
            KafkaError.UNKNOWN_MEMBER_ID,
            KafkaError.STALE_MEMBER_EPOCH,
        )
        first = in_transactions(owner, name, address, "owner") if sure else plainly(owner, name)
        take_turns(first, in_transactions(rival, name, address, "rival"))
        (found,) = rivals(address, name)
        (finding,) = setbacks(address, name)
    assert (found["topic"], found["partition"]) == (name, 0)
    assert found["certainty"] == ("certain" if sure else "likely")
    assert len(set(found["producer_ids"])) == (2 if sure else 0)
    assert found["client_ids"] == ["owner"]
    assert found["turns"] == TURNS - 1
    assert finding["level"] == "warning"
    assert finding["evidence"]["rivals"] == found["certainty"]
    assert finding["evidence"]["owner_client_ids"] == ["owner"]


def test_two_that_assign_the_same_partition(kafka: KafkaCluster) -> None:
    """The group has no members, so that both commit as they like."""
    address, name = kafka.bootstrap, "rivals-assigned"
    create_topics(address, {name: 1})
    with assigned_to(address, name) as one, assigned_to(address, name) as other:
        take_turns(plainly(one, name), plainly(other, name))
    (found,) = rivals(address, name)
    assert (found["certainty"], found["client_ids"]) == ("likely", [])
    (finding,) = setbacks(address, name)
    assert finding["evidence"]["turns"] == TURNS - 1
    text = run("history", name, "-b", address).stdout
    assert f"{name}-0 by two in turn (likely)" in text


def test_one_that_goes_back_once(kafka: KafkaCluster) -> None:
    """It reads again: nobody fights."""
    address, name = kafka.bootstrap, "rivals-none"
    create_topics(address, {name: 1})
    with owner_of(address, name) as owner:
        commit = plainly(owner, name)
        for offset in (*range(10, 60, 10), *range(20, 100, 10)):
            commit(offset)
        assert rivals(address, name) == []
        (finding,) = setbacks(address, name)
    assert finding["evidence"]["times"] == 1
    assert "rivals" not in finding["evidence"]
