"""What reports on lag ask the cluster about times: next records, past log ends."""

from collections.abc import Sequence

from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions
from kgroups.cli.source import cluster
from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_by_time import ends_at
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
        from kgroups.core.kafka.lookups.next_records import next_record_times  # librdkafka

        return next_record_times(admin.settings, places, timeout_ms=options.timeout_ms)


def ends_then(
    admin: ClusterAdmin, snapshot: ClusterSnapshot, times_ms: Sequence[int], printer: Printer
) -> Ends:
    """Where the logs of the snapshot's topics ended at these times.

    Raises:
        ClusterError: the cluster cannot be reached.
    """
    ends: Ends = {}
    for number, at_ms in enumerate(times_ms, start=1):
        printer.progress(f"reading past log ends, {number} of {len(times_ms)} times")
        ends[at_ms] = ends_at(admin, snapshot.topics, at_ms)
    return ends
