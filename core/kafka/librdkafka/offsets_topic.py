"""The records of a topic, as a rule `__consumer_offsets`, as they lie in its log."""

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from confluent_kafka import (
    OFFSET_INVALID,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
)

from kgroups.core.coordinator.placement import OFFSETS_TOPIC, offsets_partition
from kgroups.core.errors import ClusterError, KgroupsError
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.failures import BrokerFailure, cluster_error
from kgroups.core.kafka.librdkafka.librdkafka_client import code_of, make_client

BATCH = 10_000
POLL_S = 0.1


class LogSlice(NamedTuple):
    """Offsets of one partition of the topic: from `start` up to, not with, `end`."""

    partition: int
    start: int
    end: int

    @property
    def most_records(self) -> int:
        """It has so many, or less where it is compacted."""
        return self.end - self.start


class LogRecord(NamedTuple):
    """A record as bytes; `value` is None for a tombstone."""

    offset: int
    timestamp_ms: int | None
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class OffsetsTopic:
    """A cluster's `__consumer_offsets`; small and without connections, so it can travel.

    Nothing is joined and nothing is committed.

    Args:
        settings: how to reach the cluster and enter it.
        timeout_ms: how long nothing may come before reading fails.
        topic: another topic that is read whole instead.
    """

    settings: ClientSettings
    timeout_ms: int = 10_000
    topic: str = OFFSETS_TOPIC

    def slices(self, groups: Collection[str] | None = None) -> tuple[LogSlice, ...]:
        """Every partition with the bounds that it has now, empty ones left out.

        Args:
            groups: only partitions that hold these; None: all.
        Raises:
            ClusterError: the cluster does not answer, or the topic may not be described.
        """
        timeout_s = self.timeout_ms / 1000
        consumer = self._consumer()
        try:
            topic = consumer.list_topics(self.topic, timeout=timeout_s).topics[self.topic]
            if topic.error is not None:
                raise KafkaException(topic.error)
            slices = []
            numbers: Collection[int] = topic.partitions
            if groups is not None:
                numbers = {offsets_partition(group, len(numbers)) for group in groups}
            for partition in sorted(numbers):
                bounds = consumer.get_watermark_offsets(
                    TopicPartition(self.topic, partition), timeout=timeout_s
                )
                if bounds is not None and bounds[0] < bounds[1]:
                    slices.append(LogSlice(partition, *bounds))
            if slices:
                self._check_rights(consumer, slices[0])
            return tuple(slices)
        except KafkaException as error:
            raise self._failure(error.args[0]) from error
        finally:
            consumer.close()

    def _check_rights(self, consumer: Consumer, part: LogSlice) -> None:
        """Fetch once: to see the topic takes another right than to read it."""
        consumer.assign([TopicPartition(self.topic, part.partition, part.start)])
        message = consumer.poll(self.timeout_ms / 1000)
        error = None if message is None else message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise self._failure(error)

    def read(self, part: LogSlice) -> Iterator[list[LogRecord]]:
        """The committed records of a slice, in lists of some thousands, in order.

        Raises:
            ClusterError: the partition cannot be read, or nothing comes for `timeout_ms`.
        """
        consumer = self._consumer()
        try:
            consumer.assign([TopicPartition(self.topic, part.partition, part.start)])
            heard = time.monotonic()
            place = part.start
            while True:
                # It waits until it has as many as were asked: never for more than can come, which
                # is what is left of the slice and the word that the partition has ended.
                most = min(BATCH, part.end - place + 1)
                messages = consumer.consume(most, timeout=POLL_S)
                batch, ended = self._records(messages, part.end)
                if batch:
                    yield batch
                position = consumer.position([TopicPartition(self.topic, part.partition)])[0].offset
                if ended or (position != OFFSET_INVALID and position >= part.end):
                    return
                place = max(place, position)
                if messages:
                    heard = time.monotonic()
                elif (time.monotonic() - heard) * 1000 > self.timeout_ms:
                    raise ClusterError(
                        f"no data from `{self.topic}-{part.partition}` for {self.timeout_ms} ms",
                        hint="increase `--timeout`",
                    )
        except KafkaException as error:
            raise self._failure(error.args[0]) from error
        finally:
            consumer.close()

    def _records(self, messages: list[Any], end: int) -> tuple[list[LogRecord], bool]:
        """The records before `end`, and whether the slice ended; EOF stands at the last stable."""
        batch = []
        ended = False
        for message in messages:
            error = message.error()
            if error is not None:
                if error.code() != KafkaError._PARTITION_EOF:
                    raise self._failure(error)
                ended = True
            elif message.offset() >= end:
                ended = True
            else:
                kind, at_ms = message.timestamp()
                time_ms = at_ms if kind != TIMESTAMP_NOT_AVAILABLE else None
                batch.append(LogRecord(message.offset(), time_ms, message.key(), message.value()))
        return batch, ended

    def _consumer(self) -> Consumer:
        """A consumer that joins and commits nothing; librdkafka wants a group id all the same."""
        return make_client(
            Consumer,
            self.settings,
            lambda _error: None,
            group_id="kgroups-lag-history",
            enable_auto_commit=False,
            enable_partition_eof=True,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
        )

    def _failure(self, error: KafkaError) -> KgroupsError:
        """librdkafka's error in our words."""
        code, where = code_of(error), self.settings.bootstrap_servers
        text, hint = f"`{self.topic}` cannot be read at {where}: {error.str()}", None
        if code.endswith("_AUTHORIZATION_FAILED"):
            text = f"not authorized to read `{self.topic}` at {where}"
            hint = "DESCRIBE and READ on the topic are required"
            if self.topic == OFFSETS_TOPIC:
                hint += "; `kgroups lag collect` needs neither"
        return cluster_error(BrokerFailure(code, text, hint=hint))
