"""Records that are to be passed over: the next few, or all before the first one like this."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from kgroups.core.kafka.lookups.offsets_log import OffsetsLog
from kgroups.core.kafka.lookups.record_walk import Allowance, End, Spot, Stand, walk
from kgroups.core.protocol.batches import Record

MOST_KEPT: Final = 100


@dataclass(slots=True)
class Passed:
    """Records between a commit and where it is to be put.

    Args:
        offset: where it is to be put; how far was looked where `end` says why it was not found.
        record_count: records that a reader would have got on the way.
        kept: the first of them.
        last_ms: when the last one of them was written; None if that is not known.
    """

    offset: int
    record_count: int = 0
    kept: list[Record] = field(default_factory=list)
    last_ms: int | None = None
    end: End | None = None

    def pass_by(self, spot: Spot) -> None:
        """Take what is passed over."""
        self.offset = spot.next_offset
        if isinstance(spot, End):
            self.end = spot
        elif isinstance(spot, Record):
            self.record_count += 1
            self.last_ms = spot.timestamp_ms if spot.timestamp_ms >= 0 else None
            if len(self.kept) < MOST_KEPT:
                self.kept.append(spot)


async def pass_records(
    log: OffsetsLog,
    stand: Stand,
    allowance: Allowance,
    number: int | None,
    fits: Callable[[Record], bool],
    progress: Callable[[], None],
) -> Passed:
    """Past this many records that a reader gets; None: up to the first one that fits.

    Raises:
        BrokerFailure: the log cannot be read.
        CorruptBatch: what it holds cannot be understood.
    """
    passed = Passed(max(stand.committed, stand.log_start))
    if stand.committed > stand.log_end:
        passed.pass_by(End(stand.committed, "beyond_end"))
        return passed

    def take(spot: Spot) -> bool:
        if number is None and isinstance(spot, Record) and fits(spot):
            return True
        passed.pass_by(spot)
        if isinstance(spot, Record) and passed.record_count % 1_000 == 0:
            progress()
        return passed.record_count == number

    await walk(log, passed.offset, allowance, take)
    return passed
