"""When things were so: where logs ended at times gone by, and when records were written.

A log does not say how long it was an hour ago, but it finds the first record that is not older
than a time: there it ended then, as far as its records' times are in order.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

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
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.failures import BrokerFailure, cluster_error
from kgroups.core.kafka.librdkafka.librdkafka_client import CODES, make_client
from kgroups.core.kafka.reads.log_bounds import Bound, read_bounds
from kgroups.core.kafka.transport.broker_connections import Cluster, Deadline
from kgroups.core.snapshot import Topic, TopicPartition

Place = tuple[str, int, int]

# Partitions that one consumer fetches from at once, and the bytes that it asks each for: what is
# fetched beyond the first record is thrown away.
FETCHED_AT_ONCE = 200
FETCH_BYTES = 16_384
POLL_S = 0.2


def ends_at(
    admin: ClusterAdmin, topics: Mapping[str, Topic], times_ms: Sequence[int]
) -> dict[int, dict[TopicPartition, int]]:
    """Where each partition's log ended at each time; one request a leader and time.

    Args:
        admin: the cluster.
        topics: with their leaders and log end offsets; a partition without an end is left out.
        times_ms: epoch milliseconds.
    Returns:
        Time to partition to offset. A partition whose answer failed is absent at that time.
    Raises:
        ClusterError: the cluster cannot be asked.
    """
    return {at_ms: _ends_at(admin, topics, at_ms) for at_ms in times_ms}


def _ends_at(
    admin: ClusterAdmin, topics: Mapping[str, Topic], at_ms: int
) -> dict[TopicPartition, int]:
    # `read_bounds` puts an answer into a field of the log; -1 stands for "nothing that young".
    moment = Bound("log_end_offset", at_ms, "read_uncommitted")

    async def ask(cluster: Cluster, deadline: Deadline) -> dict[str, Topic]:
        return await read_bounds(cluster, topics, (moment,), deadline)

    found: dict[TopicPartition, int] = {}
    for name, topic in admin.over_wire(ask).items():
        for number, log in topic.partitions.items():
            now = topics[name].partitions[number].log_end_offset
            then = log.log_end_offset
            if log.error is None and now is not None and then is not None:
                found[name, number] = now if then < 0 else min(then, now)
    return found


def next_record_times(
    settings: ClientSettings, places: Iterable[Place], *, timeout_ms: int = 10_000
) -> tuple[dict[Place, int], tuple[ItemError, ...]]:
    """When the record at each place, or the next one that is left, was written.

    Costs a fetch each, and READ on the topics.

    Args:
        places: topic, partition and offset; an offset at the log's end has no record.
        timeout_ms: how long nothing may come before the rest is given up.
    Returns:
        Epoch milliseconds of the places that have a record; topics that cannot be read.
    Raises:
        ClusterError: no broker can be reached.
    """
    waiting: dict[TopicPartition, list[int]] = {}
    for topic, partition, offset in sorted(set(places)):
        waiting.setdefault((topic, partition), []).append(offset)
    found: dict[Place, int] = {}
    failed: dict[str, BrokerFailure] = {}
    if not waiting:
        return found, ()
    consumer = _consumer(settings)
    try:
        while waiting:
            # One place of a partition at a time: a consumer stands at one only.
            chunk = {at: offsets[0] for at, offsets in islice(waiting.items(), FETCHED_AT_ONCE)}
            silent = _fetch(consumer, chunk, found, failed, timeout_ms)
            late = BrokerFailure("REQUEST_TIMED_OUT", f"nothing came for {timeout_ms} ms")
            if silent == set(chunk):
                raise cluster_error(late)
            failed |= {topic: late for topic, _ in silent}
            for at in chunk:
                del waiting[at][0]
            waiting = {at: left for at, left in waiting.items() if left and at[0] not in failed}
    except KafkaException as error:
        raise cluster_error(_failure(error.args[0])) from error
    finally:
        consumer.close()
    errors = tuple(
        ItemError(topic, failure.code, f"its records cannot be read: {failure.message}")
        for topic, failure in sorted(failed.items())
    )
    return found, errors


def _failure(error: KafkaError) -> BrokerFailure:
    name = error.name()
    return BrokerFailure(CODES.get(name, name.removeprefix("_")), error.str())


def _fetch(
    consumer: Consumer,
    chunk: Mapping[TopicPartition, int],
    found: dict[Place, int],
    failed: dict[str, BrokerFailure],
    timeout_ms: int,
) -> set[TopicPartition]:
    """Takes the first record of each partition from its place on; those that gave nothing."""
    consumer.incremental_assign([ConfluentPartition(*at, offset) for at, offset in chunk.items()])
    left = set(chunk)
    heard = time.monotonic()
    while left and (time.monotonic() - heard) * 1000 < timeout_ms:
        for message in consumer.consume(FETCHED_AT_ONCE, timeout=POLL_S):
            heard = time.monotonic()
            answered = _note(message, chunk, left, found, failed)
            if answered is not None:
                left.discard(answered)
                consumer.incremental_unassign([ConfluentPartition(*answered)])
    consumer.incremental_unassign([ConfluentPartition(*at) for at in left])
    return left


def _note(
    message: Any,
    chunk: Mapping[TopicPartition, int],
    left: set[TopicPartition],
    found: dict[Place, int],
    failed: dict[str, BrokerFailure],
) -> TopicPartition | None:
    """Keeps what a message says; the partition that it settles, None for one that does not."""
    at = (message.topic(), message.partition())
    if at not in left:
        return None
    error = message.error()
    if error is not None:
        if error.code() != KafkaError._PARTITION_EOF:
            failed[at[0]] = _failure(error)
        return at
    kind, at_ms = message.timestamp()
    if kind != TIMESTAMP_NOT_AVAILABLE:
        found[(*at, chunk[at])] = at_ms
    return at


def _consumer(settings: ClientSettings) -> Consumer:
    """A consumer that joins and commits nothing, and fetches little."""
    return make_client(
        Consumer,
        settings,
        lambda _error: None,
        group_id="kgroups-lag-moments",
        enable_auto_commit=False,
        enable_partition_eof=True,
        topic_metadata_propagation_max_ms=0,  # a topic that is not there is said to be so at once
        auto_offset_reset="earliest",
        queued_min_messages=1,
        fetch_message_max_bytes=FETCH_BYTES,
    )
