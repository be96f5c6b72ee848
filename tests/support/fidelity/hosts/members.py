"""Members of the Python libraries; those that are watched tell what they get, give up and read."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
)
from confluent_kafka import TopicPartition as TopicPlace

from kgroups.core.snapshot import TopicPartition
from tests.support.fidelity.hosts.settings import called
from tests.support.fidelity.hosts.watch import Watch
from tests.support.kafka.waiting import wait_for_thread

# kafka-python never ends a join during which its poll ran out of time.
POLL_MS: Final = 1_000
DONE_S: Final = 60.0
BOOTSTRAP_MS: Final = 240_000
"""kafka-python's thread dies if the first broker does not answer in time: 30 s by default."""
UNSUBSCRIBED_S: Final = 0.05
REBALANCED: Final = (
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.STALE_MEMBER_EPOCH,
    KafkaError.UNKNOWN_MEMBER_ID,
)
"""A commit came too late: whoever gets the partition reads the records again."""

Json = Mapping[str, Any]


def _places(partitions: Iterable[Any]) -> list[tuple[str, int]]:
    return [(each.topic, each.partition) for each in partitions]


def _ranges(found: Mapping[Any, Sequence[Any]]) -> list[tuple[str, int, int, int]]:
    """Of the records of a poll: topic, partition, first offset and the one after the last."""
    return [
        (place.topic, place.partition, records[0].offset, records[-1].offset + 1)
        for place, records in found.items()
    ]


def _reads(asked: Json) -> Json:
    """What a consumer subscribes to, as arguments."""
    return {"pattern": asked["pattern"]} if asked["pattern"] else {"topics": asked["topics"]}


class HostedThread:
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

    def close(self) -> None:
        """Leave the group, unless static, and end."""
        self._stop.set()
        wait_for_thread(self._thread, timeout_s=DONE_S)

    def _run(self, asked: Json) -> None:
        try:
            self._poll(asked)
        except BaseException as failure:
            self.failure = failure

    def _poll(self, asked: Json) -> None:
        raise NotImplementedError


class HostedLibrdkafka(HostedThread):
    """One of librdkafka, which takes Java's names as they are."""

    def _poll(self, asked: Json) -> None:
        watch = self.watch
        settings = {
            "bootstrap.servers": asked["servers"],
            "group.id": asked["group"],
            "group.protocol": asked["protocol"],
            "auto.offset.reset": "earliest",
            "log_level": 0,
            **watch.settings,
            **called(asked),
        }
        if "metadata.max.age.ms" in settings:  # it has that one too, which is not when it looks
            settings["topic.metadata.refresh.interval.ms"] = settings.pop("metadata.max.age.ms")
        classic = asked["protocol"] == "classic"
        assignor = "partition.assignment.strategy" if classic else "group.remote.assignor"
        settings[assignor] = asked["strategy"]
        consumer = Consumer(settings)
        if asked.get("assigned"):
            places = [(topic, number) for topic, number in asked["assigned"]]
            consumer.assign(self._starts(places))
            watch.got(places)
        else:
            self._subscribe(consumer, [asked["pattern"]] if asked["pattern"] else asked["topics"])
        while not self._stop.is_set():
            while not watch.wishes.empty():
                self._grant(consumer, watch.wishes.get_nowait())
            record = consumer.poll(0.1)
            self.owned = frozenset(_places(consumer.assignment()))
            if record is None or record.error() is not None:
                continue
            topic, number, offset = record.topic(), record.partition(), record.offset()
            assert topic is not None
            assert number is not None
            assert offset is not None
            ranges = [(topic, number, offset, offset + 1)]
            time.sleep(watch.read(ranges))
            watch.keep(ranges)
            if watch.sync:
                self._commit(consumer)
            elif watch.commits:
                consumer.commit(asynchronous=True)
        consumer.close()

    def _commit(self, consumer: Consumer) -> None:
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as refused:
            if refused.args[0].code() not in REBALANCED:
                raise

    def _starts(self, places: Sequence[tuple[str, int]]) -> list[TopicPlace]:
        """Partitions with where to begin: what is kept outside Kafka, or what is committed."""
        stored = [(place, self.watch.stored(place)) for place in places]
        return [TopicPlace(*place, OFFSET_INVALID if at is None else at) for place, at in stored]

    def _assigned(self, consumer: Consumer, found: Sequence[TopicPlace]) -> None:
        if self.watch.store is not None:
            consumer.assign(self._starts(_places(found)))
        self.watch.got(_places(found))

    def _subscribe(self, consumer: Consumer, topics: list[str]) -> None:
        watch = self.watch
        consumer.subscribe(
            topics,
            on_assign=self._assigned,
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
    "max.poll.records": "max_poll_records",
}


def python_settings(
    asked: Json, given: Mapping[str, Any], assignors: Mapping[str, type]
) -> dict[str, Any]:
    """Arguments of a consumer of kafka-python or aiokafka; what is not given is its default.

    Args:
        given: settings by Java's names.
    """
    return {
        "bootstrap_servers": asked["servers"].split(","),
        "group_id": asked["group"],
        "auto_offset_reset": "earliest",
        "partition_assignment_strategy": (assignors[asked["strategy"]],),
        **{PYTHON_NAMES[name]: value for name, value in given.items() if name in PYTHON_NAMES},
        **{name.replace(".", "_"): value for name, value in called(asked).items()},
    }


class HostedKafkaPython(HostedThread):
    """One of kafka-python."""

    def __init__(self, asked: Json, assignors: Mapping[str, type]) -> None:
        self._assignors = assignors
        super().__init__(asked)

    def _poll(self, asked: Json) -> None:
        from kafka.errors import CommitFailedError, RebalanceInProgressError

        from tests.support.sandbox.kafka_python import (
            ConsumerRebalanceListener,
            KafkaConsumer,
            TopicPartition,
        )

        watch = self.watch

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # it has no types
            def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
                for each in assigned:
                    offset = watch.stored((each.topic, each.partition))
                    if offset is not None:
                        consumer.seek(each, offset)
                watch.got(_places(assigned))

            def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
                watch.gave(_places(revoked))

            def on_partitions_lost(self, lost: Iterable[Any]) -> None:
                watch.lost(_places(lost))

        consumer: Any = KafkaConsumer(
            **python_settings(asked, watch.settings, self._assignors),
            bootstrap_timeout_ms=BOOTSTRAP_MS,
        )
        if asked.get("assigned"):
            consumer.assign([TopicPartition(*place) for place in asked["assigned"]])
            watch.got([(topic, number) for topic, number in asked["assigned"]])
        else:
            consumer.subscribe(**_reads(asked), listener=Listener())
        is_late = False  # it keeps its positions through a rebalance, and so has to commit again
        while not self._stop.is_set():
            while not watch.wishes.empty():
                self._grant(consumer, watch.wishes.get_nowait(), Listener())
            found = consumer.poll(timeout_ms=POLL_MS)
            self.owned = frozenset(_places(consumer.assignment()))
            if not found and not is_late:
                continue
            ranges = _ranges(found)
            time.sleep(watch.read(ranges))
            watch.keep(ranges)
            if watch.sync:
                is_late = True
                with suppress(CommitFailedError, RebalanceInProgressError):
                    consumer.commit()
                    is_late = False
            elif watch.commits:
                consumer.commit_async()
        consumer.close()

    def _grant(self, consumer: Any, wish: Json, listener: Any) -> None:
        held = consumer.assignment()
        match wish["what"]:
            case "pause":
                consumer.pause(*held)
            case "resume":
                consumer.resume(*consumer.paused())
            case "subscribe":
                consumer.subscribe(topics=wish["topics"], listener=listener)
            case "unsubscribe":
                consumer.unsubscribe()
                self.watch.left()
            case "seek":
                consumer.seek_to_beginning(*held)


class HostedAiokafka:
    """One of aiokafka, in an event loop that it shares."""

    def __init__(
        self, do: Callable[[Any], Any], asked: Json, assignors: Mapping[str, type]
    ) -> None:
        self.watch = Watch(asked, time.sleep)
        self.failure: BaseException | None = None
        self._consumer: Any = None
        self._unsubscribed = False
        self._do = do
        do(self._open(asked, assignors))

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """What it believes to own."""
        return frozenset(_places(self._consumer.assignment()))

    def close(self) -> None:
        """Leave the group, unless static, and end."""
        self._do(self._end())

    async def _open(self, asked: Json, assignors: Mapping[str, type]) -> None:
        from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
        from aiokafka import TopicPartition as AiokafkaPartition

        watch = self.watch

        class Listener(ConsumerRebalanceListener):  # type: ignore[misc]  # it has no types
            async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
                for each in assigned:
                    offset = watch.stored((each.topic, each.partition))
                    if offset is not None:
                        consumer.seek(each, offset)
                watch.got(_places(assigned))

            async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
                watch.gave(_places(revoked))

        settings = python_settings(asked, watch.settings, assignors)
        self._consumer = consumer = AIOKafkaConsumer(**settings)
        self._listener: Any = Listener()
        if asked.get("assigned"):
            consumer.assign([AiokafkaPartition(*place) for place in asked["assigned"]])
            watch.got([(topic, number) for topic, number in asked["assigned"]])
        else:
            consumer.subscribe(**_reads(asked), listener=self._listener)
        await consumer.start()
        self._polling = asyncio.create_task(self._poll())

    async def _poll(self) -> None:
        from aiokafka.errors import CommitFailedError

        try:
            while True:
                while not self.watch.wishes.empty():
                    await self._grant(self.watch.wishes.get_nowait())
                if self._unsubscribed:
                    await asyncio.sleep(UNSUBSCRIBED_S)  # a poll would throw
                    continue
                found = await self._consumer.getmany(timeout_ms=200, max_records=1)
                ranges = _ranges(found)
                if ranges:
                    await asyncio.sleep(self.watch.read(ranges))
                    self.watch.keep(ranges)
                if ranges and (self.watch.commits or self.watch.sync):
                    with suppress(CommitFailedError):
                        await self._consumer.commit()
        except asyncio.CancelledError:
            raise
        except BaseException as failure:
            self.failure = failure

    async def _grant(self, wish: Json) -> None:
        consumer, held = self._consumer, self._consumer.assignment()
        match wish["what"]:
            case "pause":
                consumer.pause(*held)
            case "resume":
                consumer.resume(*consumer.paused())
            case "subscribe":
                consumer.subscribe(topics=wish["topics"], listener=self._listener)
            case "unsubscribe":
                consumer.unsubscribe()
                self._unsubscribed = True
                self.watch.left()
            case "seek":
                await consumer.seek_to_beginning(*held)

    async def _end(self) -> None:
        self._polling.cancel()
        await self._consumer.stop()
