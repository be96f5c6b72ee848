"""One partition's log: offsets, epochs, times, deleted records, idempotent producers."""

import struct

import pytest

from kgroups.core.protocol.batches import build_batch, read_batch_header, split_batches
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.sandbox.storage.partition_log import PartitionLog, TimestampAnswer
from tests.core.protocol.test_batches import sealed, their_batch


def append(log: PartitionLog, count: int, *, timestamp_ms: int = 0, epoch: int = 0) -> int:
    """Append a batch of `count` records; its first offset."""
    batch = build_batch([(None, b"x")] * count, timestamp_ms)
    return log.append(split_batches(batch), epoch)


def offsets(data: bytes) -> list[int]:
    """Base offsets of the batches in an answer."""
    return [header.base_offset for header, _ in split_batches(data)]


def test_offsets_follow_each_other() -> None:
    """Batches lie one after the other and are found by any offset in them."""
    log = PartitionLog()
    assert [append(log, count) for count in (3, 1, 5)] == [0, 3, 4]
    assert (log.start_offset, log.end_offset) == (0, 9)
    assert offsets(log.read(0, 10_000)) == [0, 3, 4]
    assert offsets(log.read(2, 10_000)) == [0, 3, 4]
    assert offsets(log.read(3, 10_000)) == [3, 4]
    assert offsets(log.read(8, 10_000)) == [4]
    assert log.read(9, 10_000) == b""


def test_read_is_bounded_but_gets_on() -> None:
    """A limit cuts after whole batches; the first batch comes all the same if asked."""
    log = PartitionLog()
    for _ in range(4):
        append(log, 1)
    size = len(log.read(3, 10_000))
    assert offsets(log.read(0, 2 * size)) == [0, 1]
    assert offsets(log.read(0, 2 * size + 1)) == [0, 1]
    assert offsets(log.read(0, 1)) == [0]
    assert log.read(0, 1, at_least_one=False) == b""


def test_size_counts_to_what_is_enough() -> None:
    """A waiting Fetch asks how much there is, not for the bytes."""
    log = PartitionLog()
    assert log.size_from(0, 1) == 0
    for _ in range(3):
        append(log, 1)
    size = len(log.read(2, 10_000))
    assert log.size_from(0, 10_000) == 3 * size
    assert log.size_from(0, size) == size
    assert log.size_from(3, 1) == 0


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_find_timestamp_reads_compressed_batches(codec: int) -> None:
    """The first record of a time or later is found inside its batch."""
    log = PartitionLog()
    append(log, 2, timestamp_ms=500)
    log.append(split_batches(their_batch(codec)), 0)
    assert log.find_timestamp(0) == TimestampAnswer(0, 500)
    assert log.find_timestamp(501) == TimestampAnswer(2, 1_000)
    assert log.find_timestamp(1_011) == TimestampAnswer(4, 1_020)
    assert log.find_timestamp(1_041) is None
    assert log.find_max_timestamp() == TimestampAnswer(6, 1_040)


def test_times_out_of_order() -> None:
    """The latest time is found where it is, and a search takes the first offset that fits."""
    log = PartitionLog()
    for timestamp_ms in (100, 900, 300):
        append(log, 2, timestamp_ms=timestamp_ms)
    assert log.find_max_timestamp() == TimestampAnswer(2, 900)
    assert log.find_timestamp(200) == TimestampAnswer(2, 900)
    assert PartitionLog().find_max_timestamp() is None


def test_deleted_records() -> None:
    """The start moves into a batch; batches before it are forgotten, times before it not found."""
    log = PartitionLog()
    for timestamp_ms in (100, 200, 300):
        append(log, 4, timestamp_ms=timestamp_ms)
    log.delete_before(6)
    assert (log.start_offset, log.end_offset) == (6, 12)
    assert offsets(log.read(6, 10_000)) == [4, 8]
    assert log.find_timestamp(0) == TimestampAnswer(6, 200)
    assert [record.offset for record in log.records()] == [6, 7, 8, 9, 10, 11]
    log.delete_before(12)
    assert log.find_max_timestamp() is None
    assert append(log, 1) == 12
    assert offsets(log.read(12, 10_000)) == [12]


EPOCHS = [
    ("the epoch now ends at the end", 7, (7, 9)),
    ("an older epoch ends where the next began", 2, (2, 6)),
    ("an epoch between two is the one before", 4, (2, 6)),
    ("an epoch before the first", 1, (1, 2)),
    ("an epoch that nobody knows yet", 8, (-1, -1)),
]


@pytest.mark.parametrize(("epoch", "expected"), [c[1:] for c in EPOCHS], ids=[c[0] for c in EPOCHS])
def test_end_of_epoch(epoch: int, expected: tuple[int, int]) -> None:
    """Where each leader epoch ended (KIP-320)."""
    log = PartitionLog(start_offset=2, end_offset=2)
    append(log, 4, epoch=2)
    append(log, 3, epoch=7)
    assert log.end_of_epoch(epoch, 7) == expected


def idempotent(producer_id: int, epoch: int, sequence: int, count: int = 2) -> bytes:
    """A batch of an idempotent producer."""
    batch = bytearray(build_batch([(None, b"x")] * count, 0))
    struct.pack_into(">qhi", batch, 43, producer_id, epoch, sequence)
    return sealed(batch)


SEQUENCES = [
    ("the next sequence", (0, 6), ErrorCode.NONE, None),
    ("a repeated batch", (0, 2), ErrorCode.NONE, 2),
    ("a gap", (0, 8), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, None),
    ("an old epoch", (-1, 0), ErrorCode.INVALID_PRODUCER_EPOCH, None),
    ("a new epoch from 0", (1, 0), ErrorCode.NONE, None),
    ("a new epoch not from 0", (1, 6), ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, None),
]


@pytest.mark.parametrize(
    ("place", "error", "earlier"), [c[1:] for c in SEQUENCES], ids=[c[0] for c in SEQUENCES]
)
def test_idempotent_producer(place: tuple[int, int], error: ErrorCode, earlier: int | None) -> None:
    """Repeats give the old offset, gaps and old epochs are refused."""
    log = PartitionLog()
    for sequence in (0, 2, 4):
        log.append(split_batches(idempotent(5, 3, sequence)), 0)
    epoch, sequence = place
    header = read_batch_header(idempotent(5, 3 + epoch, sequence))
    assert log.producers.check(header) == (error, earlier)


def test_sequences_wrap() -> None:
    """After 2^31 - 1 comes 0."""
    log = PartitionLog()
    log.append(split_batches(idempotent(5, 0, 2**31 - 2)), 0)
    header = read_batch_header(idempotent(5, 0, 0))
    assert log.producers.check(header) == (ErrorCode.NONE, None)


def test_a_batch_that_cannot_be_kept_is_not_in_the_log() -> None:
    """A full disk takes nothing: neither record nor offset."""

    def full(_: bytes) -> None:
        raise OSError("no space")

    log = PartitionLog(on_append=full)
    with pytest.raises(OSError, match="no space"):
        append(log, 1)
    assert log.end_offset == 0
    assert log.read(0, 1000) == b""


def test_waiting_is_woken() -> None:
    """An append wakes who waits, until it has stopped waiting."""
    log = PartitionLog()
    woken: list[int] = []

    def wake() -> None:
        woken.append(log.end_offset)

    log.wait(wake)
    append(log, 1)
    log.unwait(wake)
    append(log, 1)
    assert woken == [1]
