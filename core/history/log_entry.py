"""A record of a group with its place in the log."""

from typing import Final, NamedTuple

from kgroups.core.coordinator.log.records import Record

WHOLE: Final = -1


class LogEntry(NamedTuple):
    """A record as the coordinator wrote it.

    Args:
        offset: in the group's partition of `__consumer_offsets`.
        at_ms: epoch milliseconds, by the coordinator's clock.
        is_torn: compaction has removed records between the group's previous one and this one.
        producer_id: of the transaction that it was written in; -1: in none.
        counts_ms: from when on it counts: at once, in a transaction from its marker on; None: the
            marker is gone.
        whole_from: offset of a batch; no record of the partition is missing after it up to where
            this one counts; `WHOLE`: none is missing before it.
    """

    offset: int
    at_ms: int
    record: Record
    is_torn: bool = False
    producer_id: int = -1
    counts_ms: int | None = None
    whole_from: int = WHOLE
