"""Records of one group out of batches: of others, removed ones, transactions, broken bytes."""

import struct
from collections.abc import Sequence
from typing import Final

from kgroups.core.coordinator.log import records as r
from kgroups.core.coordinator.log.record_codec import encode_key, encode_record
from kgroups.core.history.sieve import Sieve, Unread
from kgroups.core.protocol.batches import (
    CONTROL,
    TRANSACTIONAL,
    build_batch,
    place_batch,
    read_batch_header,
    read_records,
    thinned_batch,
    whole_batches,
)

COMMITTED: Final = struct.pack(">hh", 0, 1)
ABORTED: Final = struct.pack(">hh", 0, 0)
_ATTRIBUTES, _PRODUCER = 21, 43


def commit(offset: int, group: str = "g") -> tuple[bytes, bytes | None]:
    """A commit as bytes."""
    return encode_record(r.Record(r.OffsetCommitKey(group, "t", 0), r.OffsetCommitValue(offset)))


class Log:
    """Batches one behind the other."""

    def __init__(self) -> None:
        self.end = 0
        self.data = b""

    def add(
        self,
        *records: tuple[bytes | None, bytes | None],
        attributes: int = 0,
        producer: int = -1,
        keep: Sequence[int] | None = None,
    ) -> "Log":
        """One batch; of a compacted one only some records are left."""
        batch = place_batch(build_batch(records, 99), self.end, 0)
        self.end += len(records)
        if keep is not None:
            left = list(read_records(batch))
            batch = thinned_batch(read_batch_header(batch), [left[at] for at in keep])
        changed = bytearray(batch)
        struct.pack_into(">h", changed, _ATTRIBUTES, attributes)
        struct.pack_into(">q", changed, _PRODUCER, producer)
        self.data += bytes(changed)
        return self

    def marker(self, key: bytes, producer: int) -> "Log":
        """The end of a transaction."""
        return self.add((key, b""), attributes=CONTROL | TRANSACTIONAL, producer=producer)

    def read(self, stable: int = -1, group: str = "g") -> tuple[list[tuple[int, bool]], Unread]:
        """Offsets that the group has committed, and whether compaction was at work before."""
        found: list[tuple[int, bool]] = []
        unread = Unread()
        sieve = Sieve(
            [group],
            lambda _, entry: found.append((entry.record.value.offset, entry.is_torn)),  # type: ignore[union-attr]
            unread,
        )
        for header, batch in whole_batches(self.data):
            sieve.pass_batch(header, batch)
        sieve.end(stable)
        return found, unread


def test_records_of_other_groups_are_passed_over() -> None:
    """Those too whose names begin or end alike."""
    log = Log().add(commit(1), commit(2, "gg"), commit(3, "xg")).add(commit(4))
    assert log.read()[0] == [(1, False), (4, False)]


def test_where_compaction_was_at_work() -> None:
    """A hole in a batch, or between two; the next record of the group tells it once."""
    log = Log().add(commit(1)).add(commit(2, "x"), commit(3, "x"), keep=[1])
    log.add(commit(4)).add(commit(5))
    log.end += 3
    log.add(commit(6))
    assert log.read()[0] == [(1, False), (4, True), (5, False), (6, True)]


def test_commits_of_transactions() -> None:
    """They count when their producer's marker says so, and never when it aborts."""
    log = Log().add(commit(1), attributes=TRANSACTIONAL, producer=7)
    log.add(commit(2), attributes=TRANSACTIONAL, producer=8).add(commit(3))
    log.marker(COMMITTED, 7).marker(ABORTED, 8)
    assert log.read()[0] == [(3, False), (1, False)]


def test_transactions_without_a_marker() -> None:
    """Below the last stable offset compaction has removed it; above, they are open."""
    log = Log().add(commit(1), attributes=TRANSACTIONAL, producer=7)
    log.add(commit(2), attributes=TRANSACTIONAL, producer=8)
    assert log.read(stable=1)[0] == [(1, False)]


def test_what_cannot_be_read() -> None:
    """Broken values are counted; a share group's records are of another kind."""
    key = encode_key(r.OffsetCommitKey("g", "t", 0))
    share = struct.pack(">hh", 11, 1) + b"g"
    found, unread = Log().add((key, b"\0")).add((share, b"x"), (None, b"x"), commit(5)).read()
    assert found == [(5, False)]
    assert (unread.broken, unread.others) == ({"g": 1}, {"g"})
