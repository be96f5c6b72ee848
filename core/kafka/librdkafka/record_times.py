"""Where readers stand, told by the times of records: the next one, or just after the last one."""

import time
from collections.abc import Mapping
from typing import Final, NamedTuple

from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.failures import BrokerFailure, cluster_error
from kgroups.core.kafka.librdkafka.record_reader import RecordTime, record_reader
from kgroups.core.offsets.copy import Moment
from kgroups.core.snapshot import TopicPartition

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
    try:
        with record_reader(settings, lambda _silent_s: time.monotonic() >= ends_at) as reader:
            starts = {
                at: max(place.offset, place.log_start)
                for at, place in places.items()
                if max(place.offset, place.log_start) < place.log_end
            }
            found = _moments(starts, reader.first(starts), at_end=False)
            for back in LOOK_BACK:
                left = {
                    at: max(place.log_start, place.log_end - back)
                    for at, place in places.items()
                    if at not in found and place.log_start < place.log_end
                }
                found |= _moments(left, reader.last(left), at_end=True)
    except BrokerFailure as failure:
        text = f"records cannot be read at {settings.bootstrap_servers}: {failure.message}"
        hint = "READ on the topics is required"
        raise cluster_error(BrokerFailure(failure.code, text, hint=hint)) from failure
    return {at: found.get(at, Moment(at_end=True)) for at in places}


_SILENCE: Final = RecordTime(failure=BrokerFailure("REQUEST_TIMED_OUT", "timed out"))


def _moments(
    asked: Mapping[TopicPartition, int],
    read: Mapping[TopicPartition, RecordTime],
    *,
    at_end: bool,
) -> dict[TopicPartition, Moment]:
    """What the records say; partitions without a record, or without its time, are absent."""
    told: dict[TopicPartition, Moment] = {}
    for at in asked:
        record = read.get(at, _SILENCE)
        if record.failure is not None:
            told[at] = Moment(error=record.failure.code)
        elif record.time_ms is not None:
            told[at] = Moment(record.time_ms + (1 if at_end else 0), at_end=at_end)
    return told
