"""What became of records that share groups were given: folded as Kafka's coordinator does."""

from itertools import pairwise
from random import Random
from uuid import UUID

import pytest

from kgroups.core.deliveries import (
    DeliveryRange,
    ShareState,
    StateRecord,
    decode_state,
    delivery_rows,
    effects_of,
    state_partition,
)
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic, TopicPartition

AT = ("g", UUID(int=7), 0)
Batch = tuple[int, int, int, int]
"""First offset, last offset, number of the state, deliveries."""


def record(start: int, *batches: Batch, snapshot: bool = False) -> StateRecord:
    """An update, or a snapshot."""
    fields = "first_offset", "last_offset", "delivery_state", "delivery_count"
    rows = tuple(Struct(**dict(zip(fields, batch, strict=True))) for batch in batches)
    return StateRecord(AT, snapshot, Struct(start_offset=start, state_batches=rows))


def state(*records: StateRecord) -> ShareState:
    """What they come to."""
    folded = ShareState()
    for each in records:
        folded.take(each)
    return folded


@pytest.mark.parametrize(
    ("records", "ranges"),
    [
        pytest.param([record(5, snapshot=True)], [], id="nothing delivered"),
        pytest.param(
            [record(5, (5, 9, 0, 1), snapshot=True), record(-1, (7, 7, 2, 2))],
            [(5, 6, "available", 1), (7, 7, "acknowledged", 2), (8, 9, "available", 1)],
            id="an update without a start offset leaves it",
        ),
        pytest.param(
            [record(0, (0, 9, 2, 1), snapshot=True), record(8)],
            [(8, 9, "acknowledged", 1)],
            id="what lies before the start offset is gone",
        ),
        pytest.param(
            [record(0, (0, 4, 4, 5), snapshot=True), record(-1, (0, 9, 2, 1))],
            [(0, 4, "archived", 5), (5, 9, "acknowledged", 1)],
            id="more deliveries hold against a later batch",
        ),
        pytest.param(
            [record(0, (0, 4, 2, 1), snapshot=True), record(-1, (0, 4, 0, 1), (5, 6, 2, 1))],
            [(0, 6, "acknowledged", 1)],
            id="of equal deliveries the higher state holds, and neighbours are one range",
        ),
        pytest.param(
            [record(0, (0, 9, 2, 1), snapshot=True), record(3, (3, 3, 0, 1), snapshot=True)],
            [(3, 3, "available", 1)],
            id="a snapshot stands for all before it",
        ),
        pytest.param(
            [record(0, (0, 9, 2, 1), snapshot=True), StateRecord(AT, True, None)],
            [],
            id="deleted",
        ),
    ],
)
def test_ranges(records: list[StateRecord], ranges: list[tuple[object, ...]]) -> None:
    """Records in the order of the log give the state that the coordinator has."""
    assert [tuple(each) for each in state(*records).ranges()] == ranges


@pytest.mark.parametrize("seed", range(50))
def test_ranges_are_those_of_single_records(seed: int) -> None:
    """Any batches: the same as one offset after the other, from the start and the log start on."""
    random = Random(seed)
    batches = [
        (first, first + random.randrange(8), random.choice((0, 2, 4)), random.randrange(1, 4))
        for first in (random.randrange(40) for _ in range(random.randrange(30)))
    ]
    start, log_start = random.randrange(20), random.randrange(20)
    single: dict[int, tuple[int, int]] = {}
    for first, last, number, count in batches:
        for offset in range(first, last + 1):
            single[offset] = max(single.get(offset, (0, 0)), (count, number))
    found = state(record(start, *batches)).ranges(log_start)
    names = {0: "available", 2: "acknowledged", 4: "archived"}
    assert {
        offset: (each.delivery_count, each.state)
        for each in found
        for offset in range(each.first_offset, each.last_offset + 1)
    } == {
        offset: (count, names[number])
        for offset, (count, number) in single.items()
        if offset >= max(start, log_start)
    }
    for one, next_one in pairwise(found):
        assert one.last_offset < next_one.first_offset
        assert one.last_offset + 1 < next_one.first_offset or one[2:] != next_one[2:]


def test_rows() -> None:
    """Counts from the start offset on; records before their last delivery, and after it."""
    topics = {"t": Topic("t", {n: PartitionLog(0, 100) for n in range(3)})}
    offsets = {n: CommittedOffset(10) for n in range(4)}
    group = Group("g", "share", "Empty", offsets={"t": offsets})
    batches = ((10, 11, 0, 1), (12, 14, 0, 4), (15, 19, 2, 1), (20, 20, 4, 1), (21, 22, 4, 5))
    states: dict[TopicPartition, ShareState | str] = {
        ("t", 0): state(record(10, *batches, snapshot=True)),
        ("t", 1): ShareState(),
        ("t", 2): "TOPIC_AUTHORIZATION_FAILED",
    }
    row, unused, hidden, unknown = delivery_rows(group, topics, states, 5)
    assert row[2:12] == (10, 100, 5, 5, 3, 77, 5, 4, 3, 2)
    assert row.ranges[1] == DeliveryRange(12, 14, "available", 4)
    assert (unused.start_offset, unused.no_state, unused.available) == (None, None, 0)
    assert (hidden.error, hidden.available) == ("TOPIC_AUTHORIZATION_FAILED", None)
    assert (unknown.log_end_offset, unknown.available) == (None, None)
    assert row.dead_letter_topic is None
    (row, *_) = delivery_rows(group, topics, states, None, "dlq")
    assert row.dead_letter_topic == "dlq"
    assert (row.last_delivery, row.gave_up, row.delivery_count_max) == (None, None, 4)


@pytest.mark.parametrize("seed", range(50))
def test_effects_are_those_of_single_records(seed: int) -> None:
    """Unread records before the new offset are skipped; what is done from there on comes again."""
    random = Random(seed)
    end = 60
    batches = [
        (first, min(first + random.randrange(8), end - 1), random.choice((0, 2, 4)), 1)
        for first in (random.randrange(end) for _ in range(random.randrange(20)))
    ]
    start, log_start, offset = random.randrange(30), random.randrange(20), random.randrange(end)
    offset = max(offset, log_start)
    folded = state(record(start, *batches))
    done = {
        at
        for each in folded.ranges()
        if each.state != "available"
        for at in range(each.first_offset, each.last_offset + 1)
    } | set(range(start))
    kept = range(log_start, end)
    assert effects_of(folded, PartitionLog(log_start, end), offset) == (
        sum(1 for at in kept if at < offset and at not in done),
        sum(1 for at in kept if at >= offset and at in done),
    )


def test_effects_that_are_not_known() -> None:
    """Nothing was delivered yet, or nobody knows where the log begins."""
    assert effects_of(ShareState(), PartitionLog(0, 9), 3) is None
    assert effects_of(state(record(5)), PartitionLog(), 7) is None


def test_bytes() -> None:
    """Kinds that we do not know are passed over; what is broken or newer is told."""
    assert decode_state(b"\x00\x09", b"") is None
    key = b"\x00\x01" + b"\x00\x01g" + UUID(int=7).bytes + b"\x00\x00\x00\x00"
    assert decode_state(key, None) == StateRecord(AT, False, None)
    with pytest.raises(DecodeError, match="version 9 of ShareUpdateValue is not known"):
        decode_state(key, b"\x00\x09")
    for broken in (b"", key[:-1]):
        with pytest.raises(DecodeError):
            decode_state(broken, None)


def test_a_hash_without_an_absolute_value() -> None:
    """Kafka takes 0 for it; any other is the remainder."""
    assert 0 <= state_partition(AT, "AAAAAAAAAAAAAAAAAAAABw", 50) < 50
