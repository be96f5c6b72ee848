"""The logs of groups in `__consumer_offsets`, read into their histories."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kgroups.cli.output.printer import Printer
from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.history.log_entry import LogEntry
from kgroups.core.history.reader import HistoryReader
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.answers import Placement
from kgroups.core.kafka.lookups.group_log import GroupLogs, read_group_logs


class GroupHistories(NamedTuple):
    """What was read.

    Args:
        readers: of each group, with what its log said.
        logs: None where `__consumer_offsets` may not be seen.
    """

    readers: Mapping[str, HistoryReader]
    placement: Placement
    logs: GroupLogs | None


def read_histories(
    printer: Printer, admin: ClusterAdmin, names: Sequence[str], since_ms: int
) -> GroupHistories:
    """The histories of groups from this time on.

    Raises:
        ClusterError: the cluster cannot be asked.
    """
    readers = {name: HistoryReader(since_ms) for name in names}

    def take(group: str, entry: LogEntry) -> None:
        readers[group].take(entry)

    printer.progress(f"reading `{OFFSETS_TOPIC}`")
    placement = admin.coordinators(list(names))
    if placement.partitions is None and placement.coordinators:
        return GroupHistories(readers, placement, None)
    return GroupHistories(readers, placement, read_group_logs(admin, placement, take))
