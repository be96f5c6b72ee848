"""The logs of groups in `__consumer_offsets`, read into their histories."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from kgroups.cli.output.printer import Printer
from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.history.log_entry import LogEntry
from kgroups.core.history.looks import CapturedReader, looks_at
from kgroups.core.history.reader import HistoryReader
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.answers import Placement
from kgroups.core.kafka.lookups.group_log import GroupLogs, read_group_logs
from kgroups.core.snapshot import ClusterSnapshot

CapturesOf = Callable[[str | None], Sequence[ClusterSnapshot]]
"""The captures of a cluster, by its id or where it was reached; None: not known which."""


class GroupHistories(NamedTuple):
    """What was read.

    Args:
        readers: of each group, with what its log said.
        logs: None where `__consumer_offsets` may not be seen.
        captures: that readers know of.
    """

    readers: Mapping[str, HistoryReader]
    placement: Placement
    logs: GroupLogs | None
    captures: Sequence[ClusterSnapshot] = ()


def readers_of(
    names: Sequence[str], since_ms: int, captures: Sequence[ClusterSnapshot]
) -> dict[str, HistoryReader]:
    """A reader for each group, which knows what captures tell."""
    if not captures:
        return {name: HistoryReader(since_ms) for name in names}
    return {name: CapturedReader(since_ms, list(looks_at(name, captures))) for name in names}


def read_histories(
    printer: Printer,
    admin: ClusterAdmin,
    names: Sequence[str],
    since_ms: int,
    captures_of: CapturesOf = lambda _: (),
) -> GroupHistories:
    """The histories of groups from this time on.

    Raises:
        ClusterError: the cluster cannot be asked.
        KgroupsError: as of `captures_of`.
    """

    def take(group: str, entry: LogEntry) -> None:
        readers[group].take(entry)

    printer.progress(f"reading `{OFFSETS_TOPIC}`")
    placement = admin.coordinators(list(names))
    captures = captures_of(placement.cluster_id or placement.bootstrap)
    readers = readers_of(names, since_ms, captures)
    if placement.partitions is None and placement.coordinators:
        return GroupHistories(readers, placement, None)
    return GroupHistories(readers, placement, read_group_logs(admin, placement, take), captures)
