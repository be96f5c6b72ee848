"""Times that lag reports ask the cluster for: next records, past log ends."""

from collections.abc import Mapping, Sequence

from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions
from kgroups.cli.source import cluster
from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_by_time import ends_at, record_ages
from kgroups.core.lag.window.unread import unread_places
from kgroups.core.snapshot import ClusterSnapshot, TopicPartition

Times = dict[tuple[str, int, int], int]
Ends = dict[int, dict[TopicPartition, int]]


def next_times(
    options: GlobalOptions, snapshot: ClusterSnapshot, printer: Printer
) -> tuple[Times, tuple[ItemError, ...]]:
    """When the next record of each commit that lags was written; topics that cannot be read.

    Raises:
        ClusterError: the cluster cannot be reached.
    """
    places = unread_places(snapshot)
    printer.waiting(f"fetching {len(places):,} records for their times")
    with cluster(options) as admin:
        from kgroups.core.kafka.lookups.record_times import next_record_times  # batches

        return next_record_times(admin, snapshot.topics, places, timeout_ms=options.timeout_ms)


def bisected_times(
    admin: ClusterAdmin, snapshot: ClusterSnapshot, printer: Printer, *, unread: bool
) -> tuple[Times, dict[TopicPartition, int]]:
    """When the next record of each commit that lags was written, and the first one of each log.

    Args:
        unread: whether the former are wanted.
    """
    starts = {
        (name, number): log.log_start_offset
        for name, topic in snapshot.topics.items()
        for number, log in topic.partitions.items()
        if log.log_start_offset is not None and log.log_start_offset < (log.log_end_offset or 0)
    }
    places = {(*at, offset) for at, offset in starts.items()}
    if unread:
        places |= {*unread_places(snapshot)}
    printer.progress(f"bisecting the ages of {len(places):,} records")
    now_ms = snapshot.captured_at_ms
    ages = record_ages(admin, places, now_ms)
    times = {place: now_ms - round(age_s * 1_000) for place, age_s in ages.items()}
    first = {at: times[*at, offset] for at, offset in starts.items() if (*at, offset) in times}
    return times, first


def ends_then(
    admin: ClusterAdmin,
    snapshot: ClusterSnapshot,
    times_ms: Sequence[int],
    printer: Printer,
    first_ms: Mapping[TopicPartition, int],
) -> Ends:
    """Where the logs of the snapshot's topics ended at these times.

    Args:
        first_ms: when the first record of each log was written: before, its end is not known.
    """
    ends: Ends = {}
    for number, at_ms in enumerate(times_ms, start=1):
        printer.progress(f"reading past log ends, {number} of {len(times_ms)} times")
        answers = ends_at(admin, snapshot.topics, at_ms)
        ends[at_ms] = {at: end for at, end in answers.items() if first_ms.get(at, at_ms) <= at_ms}
    return ends
