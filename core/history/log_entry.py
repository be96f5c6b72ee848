"""A record of a group with its place in the log."""

from typing import NamedTuple

from kgroups.core.coordinator.log.records import Record


class LogEntry(NamedTuple):
    """A record as the coordinator wrote it.

    Args:
        offset: in the group's partition of `__consumer_offsets`.
        at_ms: epoch milliseconds, by the coordinator's clock.
        is_torn: compaction has removed records between the group's previous one and this one.
        producer_id: of the transaction that it was written in; -1: in none.
    """

    offset: int
    at_ms: int
    record: Record
    is_torn: bool = False
    producer_id: int = -1
