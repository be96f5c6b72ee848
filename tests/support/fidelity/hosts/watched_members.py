"""Members of the Python libraries that tell of what they get, give up and read."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import OFFSET_BEGINNING, Consumer
from confluent_kafka import TopicPartition as TopicPlace

from kgroups.core.snapshot import TopicPartition
from tests.support.fidelity.hosts.watch import Watch
from tests.support.kafka.waiting import wait_for_thread

POLL_MS: Final = 1_000

Json = Mapping[str, Any]


def _places(partitions: Iterable[Any]) -> list[tuple[str, int]]:
    return [(each.topic, each.partition) for each in partitions]


class WatchedMember:
    """A consumer that is polled by a thread of its own.

    Attributes:
        failure: what ended its thread.
    """

    owned: frozenset[TopicPartition] = frozenset()

    def __init__(self, asked: Json) -> None:
        self.watch = Watch(asked, time.sleep)
        self.failure: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(asked,), daemon=True)
        self._thread.start()

    def subscribe(self, topics: Sequence[str]) -> None:
        """Members that are watched keep what they read."""
        raise NotImplementedError

    def close(self) -> None:
        """Leave the group, unless static, and end."""
        self._stop.set()
        wait_for_thread(self._thread)

    def _run(self, asked: Json) -> None:
        try:
            self._poll(asked)
        except BaseException as failure:
            self.failure = failure

    def _poll(self, asked: Json) -> None:
        raise NotImplementedError


class WatchedLibrdkafka(WatchedMember):
    """One of librdkafka, which takes Java's names as they are."""

    def _poll(self, asked: Json) -> None:
        watch = self.watch
        settings = {
            "bootstrap.servers": asked["servers"],
            "group.id": asked["group"],
            "client.id": asked["client"],
            "group.protocol": asked["protocol"],
            "auto.offset.reset": "earliest",
            "log_level": 0,
            **watch.settings,
        }
        classic = asked["protocol"] == "classic"
        assignor = "partition.assignment.strategy" if classic else "group.remote.assignor"
        settings[assignor] = asked["strategy"]
        if asked["instance"]:
            settings["group.instance.id"] = asked["instance"]
        consumer = Consumer(settings)
        self._subscribe(consumer, [asked["pattern"]] if asked["pattern"] else asked["topics"])
        while not self._stop.is_set():
            while not watch.wishes.empty():
                self._grant(consumer, watch.wishes.get_nowait())
            record = consumer.poll(0.1)
            if record is None or record.error() is not None:
                continue
            topic, number, offset = record.topic(), record.partition(), record.offset()
            assert topic is not None
            assert number is not None
            assert offset is not None
            time.sleep(watch.read([(topic, number, offset, offset + 1)]))
            if watch.sync:
                consumer.commit(asynchronous=False)
            elif watch.commits:
                consumer.commit(asynchronous=True)
        consumer.close()

    def _subscribe(self, consumer: Consumer, topics: list[str]) -> None:
        watch = self.watch
        consumer.subscribe(
            topics,
            on_assign=lambda _, found: watch.got(_places(found)),
            on_revoke=lambda _, found: watch.gave(_places(found)),
            on_lost=lambda _, found: watch.lost(_places(found)),
        )

    def _grant(self, consumer: Consumer, wish: Json) -> None:
        held = consumer.assignment()
        match wish["what"]:
            case "pause":
                consumer.pause(held)
            case "resume":
                consumer.resume(held)
            case "subscribe":
                self._subscribe(consumer, wish["topics"])
            case "unsubscribe":
                consumer.unsubscribe()
            case "seek":
                for one in held:
                    consumer.seek(TopicPlace(one.topic, one.partition, OFFSET_BEGINNING))


# Java's names of the settings of kafka-python and aiokafka.
PYTHON_NAMES: Final[Mapping[str, str]] = {
    "session.timeout.ms": "session_timeout_ms",
    "heartbeat.interval.ms": "heartbeat_interval_ms",
    "max.poll.interval.ms": "max_poll_interval_ms",
    "metadata.max.age.ms": "metadata_max_age_ms",
    "auto.commit.interval.ms": "auto_commit_interval_ms",
    "enable.auto.commit": "enable_auto_commit",
}


def python_settings(asked: Json, assignors: Mapping[str, type]) -> dict[str, Any]:
    """Arguments of a consumer of kafka-python or aiokafka; what is not given is its default."""
    given = asked["watch"]["settings"]
    settings: dict[str, Any] = {
        "bootstrap_servers": asked["servers"].split(","),
        "group_id": asked["group"],
        "client_id": asked["client"],
        "auto_offset_reset": "earliest",
        "partition_assignment_strategy": (assignors[asked["strategy"]],),
        **{PYTHON_NAMES[name]: value for name, value in given.items() if name in PYTHON_NAMES},
    }
    if asked["instance"]:
        settings["group_instance_id"] = asked["instance"]
    return settings


class WatchedKafkaPython(WatchedMember):
    """One of kafka-python."""

    def __init__(self, asked: Json, assignors: Mapping[str, type]) -> None:
        self._assignors = assignors
        super().__init__(asked)

    def _poll(self, asked: Json) -> None:
        from tests.support.sandbox.kafka_python import ConsumerRebalanceListener, KafkaConsumer

        watch = self.watch

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # it has no types
            def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
                watch.got(_places(assigned))

            def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
                watch.gave(_places(revoked))

            def on_partitions_lost(self, lost: Iterable[Any]) -> None:
                watch.lost(_places(lost))

        consumer: Any = KafkaConsumer(**python_settings(asked, self._assignors))
        topics: Json = {"pattern": asked["pattern"]} if asked["pattern"] else {}
        consumer.subscribe(**(topics or {"topics": asked["topics"]}), listener=Listener())
        while not self._stop.is_set():
            found = consumer.poll(timeout_ms=POLL_MS)
            if not found:
                continue
            ranges = [
                (place.topic, place.partition, records[0].offset, records[-1].offset + 1)
                for place, records in found.items()
            ]
            time.sleep(watch.read(ranges))
            if watch.commits:
                consumer.commit_async()
        consumer.close()


class WatchedAiokafka:
    """One of aiokafka, in an event loop that it shares."""

    owned: frozenset[TopicPartition] = frozenset()

    def __init__(
        self, do: Callable[[Any], Any], asked: Json, assignors: Mapping[str, type]
    ) -> None:
        self.watch = Watch(asked, time.sleep)
        self.failure: BaseException | None = None
        self._do = do
        do(self._open(asked, assignors))

    def subscribe(self, topics: Sequence[str]) -> None:
        """Members that are watched keep what they read."""
        raise NotImplementedError

    def close(self) -> None:
        """Leave the group, unless static, and end."""
        self._do(self._end())

    async def _open(self, asked: Json, assignors: Mapping[str, type]) -> None:
        from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener

        watch = self.watch

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # it has no types
            async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
                watch.got(_places(assigned))

            async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
                watch.gave(_places(revoked))

        self._consumer: Any = AIOKafkaConsumer(**python_settings(asked, assignors))
        topics: Json = {"pattern": asked["pattern"]} if asked["pattern"] else {}
        self._consumer.subscribe(**(topics or {"topics": asked["topics"]}), listener=Listener())
        await self._consumer.start()
        self._polling = asyncio.create_task(self._poll())

    async def _poll(self) -> None:
        try:
            while True:
                found = await self._consumer.getmany(timeout_ms=200, max_records=1)
                ranges = [
                    (place.topic, place.partition, records[0].offset, records[-1].offset + 1)
                    for place, records in found.items()
                ]
                if ranges:
                    await asyncio.sleep(self.watch.read(ranges))
                if ranges and self.watch.commits:
                    await self._consumer.commit()
        except asyncio.CancelledError:
            raise
        except BaseException as failure:
            self.failure = failure

    async def _end(self) -> None:
        self._polling.cancel()
        await self._consumer.stop()
