"""Times of single records, read through librdkafka, which knows every compression."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
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

from kgroups.core.errors import ItemError
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.failures import UNHEARD, BrokerFailure, cluster_error, item_error
from kgroups.core.kafka.librdkafka.librdkafka_client import code_of, make_client
from kgroups.core.lag.rules import Isolation
from kgroups.core.offsets.copy import Moment
from kgroups.core.protocol.errors import MEANINGS
from kgroups.core.snapshot import TopicPartition

# Partitions that are fetched from at once, and the bytes that each is asked for: what comes beyond
# the first record is thrown away.
AT_ONCE: Final = 200
FETCH_BYTES: Final = 16_384
POLL_S: Final = 0.2
LOOK_BACK: Final = (1, 100, 10_000)
"""How far before the end a last record is looked for: transactions leave gaps in a log."""


class RecordTime(NamedTuple):
    """Result of fetching one record.

    Args:
        time_ms: epoch milliseconds; None if there is no record, or it has no time.
        failure: why it could not be read; None if it could.
    """

    time_ms: int | None = None
    failure: BrokerFailure | None = None


class RecordReader:
    """Fetches a record a partition; joins and commits nothing.

    Args:
        is_over: asked while nothing comes, with the seconds since something last came.
    """

    def __init__(self, consumer: Consumer, is_over: Callable[[float], bool]) -> None:
        self._consumer = consumer
        self._is_over = is_over

    def first(self, starts: Mapping[TopicPartition, int]) -> dict[TopicPartition, RecordTime]:
        """The first record from each offset on; silent partitions are absent."""
        return self._read(starts, last=False)

    def last(self, starts: Mapping[TopicPartition, int]) -> dict[TopicPartition, RecordTime]:
        """The last record of each partition, looked for from this offset on."""
        return self._read(starts, last=True)

    def _read(
        self, starts: Mapping[TopicPartition, int], *, last: bool
    ) -> dict[TopicPartition, RecordTime]:
        times: dict[TopicPartition, RecordTime] = {}
        left = iter(starts.items())
        while part := dict(islice(left, AT_ONCE)):
            times |= self._read_part(part, last=last)
        return times

    def _read_part(
        self, starts: Mapping[TopicPartition, int], *, last: bool
    ) -> dict[TopicPartition, RecordTime]:
        times: dict[TopicPartition, RecordTime] = {}
        consumer = self._consumer
        consumer.incremental_assign([ConfluentPartition(*at, o) for at, o in starts.items()])
        left = set(starts)
        heard = time.monotonic()
        while left and not self._is_over(time.monotonic() - heard):
            for message in self._heard():
                heard = time.monotonic()
                at = (message.topic(), message.partition())
                error = message.error()
                if at not in left:
                    continue
                if error is None or error.code() != KafkaError._PARTITION_EOF:
                    times[at] = _told(message, error)
                elif at not in times:
                    times[at] = RecordTime()
                if error is not None or not last:
                    left.discard(at)
                    consumer.incremental_unassign([ConfluentPartition(*at)])
        consumer.incremental_unassign([ConfluentPartition(*at) for at in left])
        return times

    def _heard(self) -> list[Any]:
        """The records that have come: `consume` would wait until it has as many as it may give."""
        first = self._consumer.poll(POLL_S)
        return [] if first is None else [first, *self._consumer.consume(AT_ONCE, timeout=0)]


def _told(message: Any, error: KafkaError | None) -> RecordTime:
    if error is not None:
        return RecordTime(failure=_failure(error))
    kind, at_ms = message.timestamp()
    return RecordTime(None if kind == TIMESTAMP_NOT_AVAILABLE else at_ms)


def _failure(error: KafkaError) -> BrokerFailure:
    code = code_of(error)
    is_plain = code in MEANINGS and code not in UNHEARD  # of connections librdkafka tells more
    return BrokerFailure(code, None if is_plain else error.str())


@contextmanager
def record_reader(
    settings: ClientSettings,
    is_over: Callable[[float], bool],
    isolation: Isolation = "read_uncommitted",
) -> Iterator[RecordReader]:
    """A reader with a consumer of its own.

    Raises:
        BrokerFailure: no broker can be reached.
    """
    consumer = make_client(
        Consumer,
        settings,
        lambda _error: None,
        group_id="kgroups-record-times",  # librdkafka wants one, though nothing is committed
        enable_auto_commit=False,
        enable_partition_eof=True,
        topic_metadata_propagation_max_ms=0,  # a topic that is not there is said to be so at once
        auto_offset_reset="earliest",
        isolation_level=isolation,
        queued_min_messages=1,
        fetch_queue_backoff_ms=1,  # by default a second between two fetches of a partition
        fetch_wait_max_ms=50,
        fetch_message_max_bytes=FETCH_BYTES,
    )
    try:
        yield RecordReader(consumer, is_over)
    except KafkaException as error:
        raise _failure(error.args[0]) from error
    finally:
        consumer.close()


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
    try:
        with record_reader(settings, lambda _silent_s: time.monotonic() >= ends_at) as reader:
            starts = {
                at: max(place.offset, place.log_start)
                for at, place in places.items()
                if max(place.offset, place.log_start) < place.log_end
            }
            moments = _moments(starts, reader.first(starts), at_end=False)
            for back in LOOK_BACK:
                left = {
                    at: max(place.log_start, place.log_end - back)
                    for at, place in places.items()
                    if at not in moments and place.log_start < place.log_end
                }
                moments |= _moments(left, reader.last(left), at_end=True)
    except BrokerFailure as failure:
        text = f"records cannot be read at {settings.bootstrap_servers}: {failure.message}"
        hint = "READ on the topics is required"
        raise cluster_error(BrokerFailure(failure.code, text, hint=hint)) from failure
    return {at: moments.get(at, Moment(at_end=True)) for at in places}


_SILENCE: Final = RecordTime(failure=BrokerFailure("REQUEST_TIMED_OUT", "timed out"))


def _moments(
    asked: Mapping[TopicPartition, int],
    read: Mapping[TopicPartition, RecordTime],
    *,
    at_end: bool,
) -> dict[TopicPartition, Moment]:
    """Times of the records; partitions without a record, or without its time, are absent."""
    moments: dict[TopicPartition, Moment] = {}
    for at in asked:
        record = read.get(at, _SILENCE)
        if record.failure is not None:
            moments[at] = Moment(error=record.failure.code)
        elif record.time_ms is not None:
            moments[at] = Moment(record.time_ms + (1 if at_end else 0), at_end=at_end)
    return moments


RecordPlace = tuple[str, int, int]
"""Topic, partition and offset."""


def next_record_times(
    settings: ClientSettings,
    places: Iterable[RecordPlace],
    *,
    timeout_ms: int = 10_000,
    isolation: Isolation = "read_uncommitted",
) -> tuple[dict[RecordPlace, int], tuple[ItemError, ...]]:
    """When the record at each place, or the next one that is left, was written.

    Costs a fetch each, and READ on the topics.

    Args:
        places: topic, partition and offset; an offset at the log's end has no record.
        timeout_ms: how long nothing may come before the rest is given up.
        isolation: `read_committed` passes over the records of aborted and open transactions.
    Returns:
        Epoch milliseconds of the places that have a record; topics that cannot be read.
    Raises:
        ClusterError: no broker can be reached.
    """
    waiting: dict[TopicPartition, list[int]] = {}
    for topic, partition, offset in sorted(set(places)):
        waiting.setdefault((topic, partition), []).append(offset)
    if not waiting:
        return {}, ()
    try:
        with record_reader(
            settings, lambda silent_s: silent_s * 1000 >= timeout_ms, isolation
        ) as reader:
            times, failed = _read_all(reader, waiting, timeout_ms)
    except BrokerFailure as failure:
        raise cluster_error(failure) from failure
    errors = tuple(
        item_error(topic, failure, f"its records cannot be read: {failure.message}")
        for topic, failure in sorted(failed.items())
    )
    return times, errors


def _read_all(
    reader: RecordReader, waiting: dict[TopicPartition, list[int]], timeout_ms: int
) -> tuple[dict[RecordPlace, int], dict[str, BrokerFailure]]:
    """The times of all places, one place of a partition at a time; failures by topic."""
    times: dict[RecordPlace, int] = {}
    failed: dict[str, BrokerFailure] = {}
    late = BrokerFailure("REQUEST_TIMED_OUT", f"no data for {timeout_ms} ms")
    while waiting:
        starts = {at: offsets[0] for at, offsets in waiting.items()}
        read = reader.first(starts)
        if not read:
            raise late
        for at, offset in starts.items():
            record = read.get(at)
            failure = late if record is None else record.failure
            if failure is not None:
                failed[at[0]] = failure
            elif record is not None and record.time_ms is not None:
                times[(*at, offset)] = record.time_ms
        waiting = {
            at: offsets[1:]
            for at, offsets in waiting.items()
            if len(offsets) > 1 and at[0] not in failed
        }
    return times, failed
