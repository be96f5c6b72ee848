"""kafka-python and aiokafka join too, together with librdkafka or alone."""

import asyncio
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, Self, TypeVar

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from kgroups.core.sandbox.cluster import Cluster
from kgroups.core.sandbox.options import SandboxOptions
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.waiting import DeadlinePassed, wait_for_thread, wait_until
from tests.support.sandbox.kafka_python import (
    ConsumerRebalanceListener,
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    TopicPartition,
)
from tests.support.sandbox.librdkafka_members import Member, produce

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


# kafka-python never ends a join during which `poll` ran out of time; polls this long (they end
# earlier when there are records) seldom do, and a pair that met it is replaced by a new one.
POLL_MS = 1_000
TRIES = 3


@pytest.fixture(scope="module")
def cluster() -> Iterator[Sandbox]:
    """Three brokers with every topic there from the start."""
    names = [f"{kind}-{attempt}" for kind in ("pure", "mixed") for attempt in range(TRIES)]
    with Sandbox(brokers=3, topics=dict.fromkeys(["t", *names], 4)) as running:
        yield running


class PythonMember(ConsumerRebalanceListener):  # type: ignore[misc]
    """A kafka-python consumer polled in a thread."""

    def __init__(self, servers: str, group: str, topic: str, name: str) -> None:
        self.values: list[str] = []
        self._owned: set[int] = set()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(servers, group, topic, name))
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Commit and leave."""
        self._done.set()
        wait_for_thread(self._thread)

    def _run(self, servers: str, group: str, topic: str, name: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            consumer = KafkaConsumer(
                bootstrap_servers=servers.split(","),
                group_id=group,
                client_id=name,
                auto_offset_reset="earliest",
                heartbeat_interval_ms=200,
                session_timeout_ms=6000,
            )
            consumer.subscribe([topic], listener=self)
            while not self._done.is_set():
                for records in consumer.poll(timeout_ms=POLL_MS).values():
                    self.values += [record.value.decode() for record in records]
            consumer.close()

    def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        """What was given up is not owned any more."""
        self._owned -= {one.partition for one in revoked}

    def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        """What was given is owned."""
        self._owned |= {one.partition for one in assigned}

    def partitions(self) -> set[int]:
        """What is assigned now."""
        return set(self._owned)


Other = TypeVar("Other", PythonMember, Member)


class Owner(Protocol):
    """A member of whatever library."""

    def partitions(self) -> set[int]:
        """What is assigned to it now."""
        ...


def split(count: int, *members: Owner) -> Callable[[], bool]:
    """Whether the members have `count` partitions each, none of them twice."""

    def settled() -> bool:
        owned = [member.partitions() for member in members]
        shares = [len(each) for each in owned]
        return shares == [count] * len(members) and len(set().union(*owned)) == sum(shares)

    return settled


def test_kafka_python_group(cluster: Sandbox) -> None:
    """Two kafka-python members share a topic, read it whole, and one takes over from the other."""
    servers = cluster.bootstrap_servers
    with settled_pair(servers, "pure", PythonMember) as (topic, first, second):
        producer = KafkaProducer(bootstrap_servers=servers.split(","))
        for number in range(40):
            producer.send(topic, b"v%d" % number, partition=number % 4)
        producer.flush(60)
        producer.close()
        wait_until(lambda: len(first.values) + len(second.values) == 40, what="40 records")
        second.leave()
        wait_until(split(4, first), what="all four")


@contextmanager
def settled_pair(
    servers: str, kind: str, other: Callable[[str, str, str, str], Other]
) -> Iterator[tuple[str, PythonMember, Other]]:
    """A topic, a kafka-python member of a group of that name and another one, two partitions each.

    Args:
        other: makes the second from servers, group, topic and client id.
    """
    for attempt in range(TRIES):
        name = f"{kind}-{attempt}"
        with (
            PythonMember(servers, name, name, "a") as first,
            other(servers, name, name, "b") as second,
        ):
            try:
                wait_until(split(2, first, second), what="two shares of two", timeout_s=60)
            except DeadlinePassed:
                if attempt == TRIES - 1:
                    raise
                continue
            yield name, first, second
            return


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


def test_kafka_python_beside_librdkafka(cluster: Sandbox) -> None:
    """Members of different libraries share a topic when both offer range."""

    def librdkafka(servers: str, group: str, topic: str, name: str) -> Member:
        return Member(servers, group, [topic], name, partition_assignment_strategy="range")

    servers = cluster.bootstrap_servers
    with settled_pair(servers, "mixed", librdkafka) as (topic, python, librd):
        produce(servers, topic, 40)
        wait_until(lambda: len(python.values) + len(librd.values) == 40, what="40 records")
        assert len(python.values) == len(librd.values) == 20


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
            consumers = [_aio_consumer(servers, f"c{number}") for number in range(2)]
            seen: list[str] = []
            for consumer in consumers:
                await consumer.start()
            async with asyncio.timeout(30):
                while len(seen) < 40 or [len(c.assignment()) for c in consumers] != [2, 2]:
                    for consumer in consumers:
                        for records in (await consumer.getmany(timeout_ms=50)).values():
                            seen += [record.value.decode() for record in records]
                await consumers[0].stop()
                while len(consumers[1].assignment()) != 4:
                    await consumers[1].getmany(timeout_ms=50)
            await consumers[1].stop()
            assert set(seen) == {f"v{number}" for number in range(40)}

    asyncio.run(scenario())


def _aio_consumer(servers: str, name: str) -> Any:
    return AIOKafkaConsumer(
        "aio",
        bootstrap_servers=servers,
        group_id="aio",
        client_id=name,
        auto_offset_reset="earliest",
        heartbeat_interval_ms=200,
        session_timeout_ms=6000,
    )


def test_consumer_offsets_can_be_read(cluster: Sandbox) -> None:
    """`__consumer_offsets` is a topic like any other, with real records for whoever reads it."""
    from kgroups.core.coordinator.log.record_codec import decode_record
    from kgroups.core.coordinator.log.records import OffsetCommitKey, OffsetCommitValue, Record

    servers = cluster.bootstrap_servers
    cluster.create_topic("watched", 4)
    produce(servers, "watched", 20)
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
