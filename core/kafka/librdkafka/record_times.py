"""When the next record of a reader was written: read through librdkafka, one record a partition."""

import time
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
)
from confluent_kafka import (
    TopicPartition as ConfluentPartition,
)

from kgroups.core.errors import ClusterError
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.librdkafka.librdkafka_client import code_of, make_client
from kgroups.core.offsets.copy import Moment
from kgroups.core.snapshot import TopicPartition

POLL_S: Final = 0.2
BATCH: Final = 500
LOOK_BACK: Final = (1, 100, 10_000)
"""How far before the end a last record is looked for: transactions leave gaps in a log."""


class Place(NamedTuple):
    """Where a reader stands in a log."""

    offset: int
    log_start: int
    log_end: int


def record_times(
    settings: ClientSettings, places: Mapping[TopicPartition, Place], timeout_ms: int
) -> dict[TopicPartition, Moment]:
    """For each partition the time of the next record; just after the last one where all is read.

    Args:
        settings: how to reach the cluster and enter it.
        places: where the reader stands.
        timeout_ms: for all of it.
    Raises:
        ClusterError: nothing at all could be read.
    """
    ends_at = time.monotonic() + timeout_ms / 1000
    consumer = _consumer(settings)
    try:
        starts = {
            at: max(place.offset, place.log_start)
            for at, place in places.items()
            if max(place.offset, place.log_start) < place.log_end
        }
        found = _told(_read(consumer, starts, ends_at, last=False))
        for back in LOOK_BACK:
            left = {
                at: max(place.log_start, place.log_end - back)
                for at, place in places.items()
                if at not in found and place.log_start < place.log_end
            }
            found |= _told(_read(consumer, left, ends_at, last=True))
        return {at: found.get(at, Moment(at_end=True)) for at in places}
    except KafkaException as error:
        raise _failure(settings, error.args[0]) from error
    finally:
        consumer.close()


def _told(moments: Mapping[TopicPartition, Moment]) -> dict[TopicPartition, Moment]:
    """Those that say something."""
    return {
        at: moment
        for at, moment in moments.items()
        if moment.time_ms is not None or moment.error is not None
    }


def _read(
    consumer: Consumer, starts: Mapping[TopicPartition, int], ends_at: float, *, last: bool
) -> dict[TopicPartition, Moment]:
    """The first record from each offset on, or the last one of the partition."""
    found: dict[TopicPartition, Moment] = {}
    left = set(starts)
    if starts:
        consumer.assign([ConfluentPartition(*at, offset) for at, offset in starts.items()])
    while left and time.monotonic() < ends_at:
        done: list[TopicPartition] = []
        for message in consumer.consume(BATCH, timeout=POLL_S):
            at = (message.topic(), message.partition())
            error = message.error()
            if at not in left:
                continue
            if error is None:
                found[at] = _moment(message, last=last)
            elif error.code() != KafkaError._PARTITION_EOF:
                found[at] = Moment(error=code_of(error))
            if not last or error is not None:
                left.discard(at)
                done.append(at)
        if done:
            consumer.pause([ConfluentPartition(*at) for at in _assigned(done, starts)])
    return found | {at: Moment(error="REQUEST_TIMED_OUT") for at in left if at not in found}


def _assigned(
    done: Iterable[TopicPartition], starts: Mapping[TopicPartition, int]
) -> list[TopicPartition]:
    return [at for at in done if at in starts]


def _moment(message: Any, *, last: bool) -> Moment:
    kind, time_ms = message.timestamp()
    if kind == TIMESTAMP_NOT_AVAILABLE:
        return Moment(at_end=last)
    return Moment(time_ms + 1, at_end=True) if last else Moment(time_ms)


def _consumer(settings: ClientSettings) -> Consumer:
    """A consumer that joins and commits nothing; librdkafka wants a group id all the same."""
    return make_client(
        Consumer,
        settings,
        lambda _error: None,
        group_id="kgroups-copy-offsets",
        enable_auto_commit=False,
        enable_partition_eof=True,
        auto_offset_reset="earliest",
        isolation_level="read_uncommitted",
        fetch_wait_max_ms=50,
        fetch_message_max_bytes=65_536,
        queued_max_messages_kbytes=4_096,
    )


def _failure(settings: ClientSettings, error: KafkaError) -> ClusterError:
    return ClusterError(
        f"records cannot be read at {settings.bootstrap_servers}: {error.str()}",
        hint="it takes the right to read the topics",
        code=code_of(error),
    )
