"""When the next records of readers were written: fetched through librdkafka, a record each."""

from collections.abc import Iterable

from kgroups.core.errors import ItemError
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.failures import BrokerFailure, cluster_error, item_error
from kgroups.core.kafka.librdkafka.record_reader import RecordReader, record_reader
from kgroups.core.lag.rules import Isolation
from kgroups.core.snapshot import TopicPartition

Place = tuple[str, int, int]


def next_record_times(
    settings: ClientSettings,
    places: Iterable[Place],
    *,
    timeout_ms: int = 10_000,
    isolation: Isolation = "read_uncommitted",
) -> tuple[dict[Place, int], tuple[ItemError, ...]]:
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
) -> tuple[dict[Place, int], dict[str, BrokerFailure]]:
    """The times of all places, one place of a partition at a time; failures by topic."""
    times: dict[Place, int] = {}
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
