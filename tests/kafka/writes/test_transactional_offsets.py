"""Offsets committed in a transaction: a real broker and the coordinator library say the same.

One script is carried out by a transactional producer on the broker and by requests on the library;
after each step both are asked what a group has committed, with and without `require_stable`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from kio.schema.errors import ErrorCode
from kio.schema.offset_fetch.v9.request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from kio.schema.offset_fetch.v9.response import OffsetFetchResponse
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i32

from kgroups.core.coordinator.offsets.messages import WriteTxnMarkerRequest
from kgroups.core.kafka.admin import ClusterAdmin, Isolation
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.lag.group_lag import offset_rows
from tests.support.coordinator.coordinator_driver import Harness
from tests.support.coordinator.default_requests import commit, commit_in_transaction, fetched
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.hung_transactions import left_open, transactional
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.transactional_logs import readable
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, produce

pytestmark = pytest.mark.kafka

Answers = dict[int, tuple[int, int]]  # partition -> (offset, error code)
TOPIC, PARTITIONS = "txn-offsets", 2
UNSTABLE = int(ErrorCode.unstable_offset_commit)


class Side(Protocol):
    """Something that coordinates one group."""

    def plain(self, offsets: dict[int, int]) -> None:
        """Commit outside of any transaction."""

    def pending(self, producer: str, offsets: dict[int, int]) -> None:
        """Commit in a transaction of this producer that stays open."""

    def end(self, producer: str, *, committed: bool) -> None:
        """End it."""

    def fetched(self, *, require_stable: bool) -> Answers:
        """What the group has committed for both partitions."""


class Library:
    """The coordinator library."""

    def __init__(self) -> None:
        self._harness = Harness()
        self._ids: dict[str, int] = {}

    def plain(self, offsets: dict[int, int]) -> None:
        self._harness.ask(commit(offsets))

    def pending(self, producer: str, offsets: dict[int, int]) -> None:
        number = self._ids.setdefault(producer, 1000 + len(self._ids))
        answer = self._harness.ask(commit_in_transaction(offsets, number))
        assert {int(one.error_code) for topic in answer.topics for one in topic.partitions} == {0}

    def end(self, producer: str, *, committed: bool) -> None:
        partition = self._harness.coordinator.partition_of("g")
        number = self._ids[producer]
        marker = WriteTxnMarkerRequest(
            version=1,
            producer_id=number,
            producer_epoch=0,
            partition=partition,
            committed=committed,
        )
        self._harness.ask(marker)

    def fetched(self, *, require_stable: bool) -> Answers:
        return fetched(self._harness, *range(PARTITIONS), require_stable=require_stable)


class Broker:
    """The real broker, with a transactional producer of librdkafka for each transaction."""

    def __init__(self, address: str, group: str) -> None:
        self._address, self._group = address, group
        self._wire = WireConnection(address)
        self._producers: dict[str, Producer] = {}

    def close(self) -> None:
        self._wire.close()

    def plain(self, offsets: dict[int, int]) -> None:
        named = {(TOPIC, number): offset for number, offset in offsets.items()}
        commit_offsets(self._address, {self._group: named})

    def pending(self, producer: str, offsets: dict[int, int]) -> None:
        named = {(TOPIC, number): offset for number, offset in offsets.items()}
        self._producers[producer] = left_open(
            self._address, f"{self._group}-{producer}", {}, offsets=(self._group, named)
        )

    def end(self, producer: str, *, committed: bool) -> None:
        open_ = self._producers[producer]
        (open_.commit_transaction if committed else open_.abort_transaction)(30)
        # The producer is answered before the markers are written.
        stable = "the markers are in the log"
        wait_until(lambda: UNSTABLE not in _codes(self.fetched(require_stable=True)), stable)

    def fetched(self, *, require_stable: bool) -> Answers:
        wanted = OffsetFetchRequestTopics(
            name=TopicName(TOPIC), partition_indexes=tuple(i32(n) for n in range(PARTITIONS))
        )
        group = OffsetFetchRequestGroup(
            group_id=GroupId(self._group), member_id=None, member_epoch=i32(-1), topics=(wanted,)
        )
        request = OffsetFetchRequest(groups=(group,), require_stable=require_stable)
        (answer,) = self._wire.ask(request, OffsetFetchResponse).groups
        return {
            int(one.partition_index): (int(one.committed_offset), int(one.error_code))
            for topic in answer.topics
            for one in topic.partitions
        }


def _codes(answers: Answers) -> set[int]:
    return {code for _, code in answers.values()}


@dataclass(frozen=True)
class Step:
    """One thing that happens, and what both sides must answer afterwards."""

    do: Callable[[Any], None]
    shown: Answers
    stable: Answers


def plain(offset: int) -> Callable[[Side], None]:
    """A commit of partition 0 outside of any transaction."""
    return lambda side: side.plain({0: offset})


def pending(producer: str, **offsets: int) -> Callable[[Side], None]:
    """Commits in an open transaction: p0=8 is offset 8 of partition 0."""
    numbered = {int(name[1:]): offset for name, offset in offsets.items()}
    return lambda side: side.pending(producer, numbered)


def end(producer: str, *, committed: bool) -> Callable[[Side], None]:
    """The transaction's end."""
    return lambda side: side.end(producer, committed=committed)


NONE = (-1, 0)
OPEN = (-1, UNSTABLE)

SCRIPTS = {
    "committed": [
        Step(plain(5), {0: (5, 0), 1: NONE}, {0: (5, 0), 1: NONE}),
        Step(pending("a", p0=8, p1=3), {0: (5, 0), 1: NONE}, {0: OPEN, 1: OPEN}),
        Step(end("a", committed=True), {0: (8, 0), 1: (3, 0)}, {0: (8, 0), 1: (3, 0)}),
    ],
    "aborted": [
        Step(plain(5), {0: (5, 0), 1: NONE}, {0: (5, 0), 1: NONE}),
        Step(pending("a", p0=8, p1=3), {0: (5, 0), 1: NONE}, {0: OPEN, 1: OPEN}),
        Step(end("a", committed=False), {0: (5, 0), 1: NONE}, {0: (5, 0), 1: NONE}),
    ],
    "a plain commit written later wins": [
        Step(pending("a", p0=8), {0: NONE, 1: NONE}, {0: OPEN, 1: NONE}),
        Step(plain(9), {0: (9, 0), 1: NONE}, {0: OPEN, 1: NONE}),
        Step(end("a", committed=True), {0: (9, 0), 1: NONE}, {0: (9, 0), 1: NONE}),
    ],
}


@contextmanager
def broker_side(address: str, group: str) -> Iterator[Broker]:
    """The real broker with a group of its own."""
    side = Broker(address, group)
    try:
        yield side
    finally:
        side.close()


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> str:
    """The broker, with the topic and ten records in each partition."""
    create_topics(kafka.bootstrap, {TOPIC: PARTITIONS})
    produce(kafka.bootstrap, {(TOPIC, number): 10 for number in range(PARTITIONS)})
    return kafka.bootstrap


@pytest.mark.parametrize("name", SCRIPTS)
def test_both_answer_equally(name: str, address: str) -> None:
    """While it is pending readers see what was there, or 88 if they want it stable."""
    library = Library()
    with broker_side(address, f"txn-{name.replace(' ', '-')}") as broker:
        for step in SCRIPTS[name]:
            for side in (broker, library):
                step.do(side)
                seen = side.fetched(require_stable=False), side.fetched(require_stable=True)
                assert seen == (step.shown, step.stable), (type(side).__name__, seen)


def test_two_open_transactions_end_in_either_order(address: str) -> None:
    """The partition is unstable until both have ended; what was committed later counts."""
    library = Library()
    with broker_side(address, "txn-two") as broker:
        for side in (broker, library):
            side.pending("a", {0: 8})
            side.pending("b", {0: 9})
        broker._producers["b"].commit_transaction(30)
        library.end("b", committed=True)
        wait_until(
            lambda: broker.fetched(require_stable=False)[0] == (9, 0), "the markers are in the log"
        )
        assert library.fetched(require_stable=False)[0] == (9, 0)
        for side in (broker, library):
            assert side.fetched(require_stable=True)[0] == OPEN
            side.end("a", committed=True)
            assert side.fetched(require_stable=True)[0] == (9, 0)


def test_describe_shows_what_counts_meanwhile(address: str) -> None:
    """A pending commit is no commit yet: the lag is that of the last one that counts."""
    with broker_side(address, "txn-described") as broker:
        broker.plain({0: 4})
        broker.pending("a", {0: 10})
        assert described(address, "txn-described") == (4, 6)
        broker.end("a", committed=True)
        assert described(address, "txn-described") == (10, 0)


def described(address: str, group: str) -> tuple[int | None, int | None]:
    """Committed offset and lag of partition 0 as `describe` shows them."""
    with ClusterAdmin(ClientSettings(address), timeout_ms=30_000) as admin:
        snapshot = admin.snapshot([group])
    found = snapshot.group(group)
    assert found is not None
    assert snapshot.errors == ()
    row = next(row for row in offset_rows(snapshot, found) if row.partition == 0)
    return row.committed_offset, row.lag


def test_read_committed_waits_for_the_end(address: str) -> None:
    """Records appear with the end of their transaction; until then lag is measured before them."""
    at, group = ("txn-records", 0), "txn-pipeline"
    create_topics(address, {at[0]: 1})
    produce(address, {at: 3})
    commit_offsets(address, {group: {at: 3}})
    producer = left_open(address, "txn-pipeline-producer", {at: 4})
    assert readable(address, at, 3) == []
    assert isolated_lag(address, group) == {"read_uncommitted": 4, "read_committed": 0}
    producer.commit_transaction(30)
    wait_until(lambda: len(readable(address, at, 3)) == 4, "its records can be read")
    # The marker takes up an offset of its own.
    assert isolated_lag(address, group) == {"read_uncommitted": 5, "read_committed": 5}


def isolated_lag(address: str, group: str) -> dict[str, int | None]:
    """Lag by isolation as `describe --isolation` shows it."""
    lags: dict[str, int | None] = {}
    kinds: tuple[Isolation, ...] = ("read_uncommitted", "read_committed")
    with ClusterAdmin(ClientSettings(address), timeout_ms=30_000) as admin:
        for isolation in kinds:
            snapshot = admin.snapshot([group], isolation=isolation)
            found = snapshot.group(group)
            assert found is not None
            (row,) = offset_rows(snapshot, found, isolation=isolation)
            lags[isolation] = row.lag
    return lags


def test_a_member_that_left_is_refused(address: str) -> None:
    """Its metadata is of a generation that is over: 25 there, as from the library's check."""
    with LiveGroup(address, "txn-member", [MemberSpec("txn-m", (TOPIC,))]) as group:
        group.wait_stable(PARTITIONS)
        settings = {"bootstrap.servers": address, "group.id": "txn-member", "log_level": 0}
        gone = Consumer(settings)
        gone.subscribe([TOPIC])
        wait_until(lambda: (gone.poll(0.1), gone.assignment())[1], "it has joined")
        stale = gone.consumer_group_metadata()
        gone.close()
        producer = transactional(address, "txn-left")
        producer.begin_transaction()
        with pytest.raises(KafkaException) as refused:
            producer.send_offsets_to_transaction([TopicPartition(TOPIC, 0, 1)], stale, 30)
        assert refused.value.args[0].name() == "UNKNOWN_MEMBER_ID"
        producer.abort_transaction(30)
