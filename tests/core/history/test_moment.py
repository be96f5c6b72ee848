"""How exact it is what a group had committed: case by case."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from kgroups.core.coordinator.log import records as r
from kgroups.core.history.log_entry import WHOLE, LogEntry
from kgroups.core.history.moment import UNKNOWN, LastLook, MomentReader, Standing, last_look
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group

AT_MS = 1_000
T0 = ("t", 0)


def record(
    place: int,
    at_ms: int,
    offset: int | None,
    *,
    counts_ms: int | None = 0,
    whole_from: int = WHOLE,
    partition: int = 0,
) -> LogEntry:
    """A commit of `offset`, or its deletion; counts at once unless told."""
    value = None if offset is None else r.OffsetCommitValue(offset)
    counted_ms = at_ms if counts_ms == 0 else counts_ms
    one = r.Record(r.OffsetCommitKey("g", "t", partition), value)
    return LogEntry(place, at_ms, one, counts_ms=counted_ms, whole_from=whole_from)


def exact(offset: int | None) -> Standing:
    """What stood at the moment."""
    return Standing(offset, "exact", "records", AT_MS)


class Case(NamedTuple):
    """Records in the order in which they count, and what they tell of partition 0."""

    name: str
    log: Sequence[LogEntry]
    told: Standing | None
    look: LastLook | None = None


SEEN = LastLook(700, {T0: 50}, {})
CASES = [
    Case("the last before it", [record(0, 100, 5), record(1, 900, 6)], exact(6)),
    Case("one of that millisecond", [record(0, 1_000, 5), record(1, 1_001, 6)], exact(5)),
    Case("a deletion", [record(0, 100, 5), record(1, 900, None)], exact(None)),
    Case("nothing yet", [record(0, 1_001, 5)], exact(None)),
    Case(
        "nothing, but a record is missing",
        [record(3, 1_001, 5, whole_from=3)],
        UNKNOWN,
    ),
    Case(
        "no record is missing up to the next",
        [record(3, 900, 5, whole_from=3), record(4, 1_001, 6, whole_from=3)],
        exact(5),
    ),
    Case(
        "one is missing before the next",
        [record(3, 900, 5), record(9, 1_001, 6, whole_from=9)],
        Standing(5, "at_the_latest", "records", 900),
    ),
    Case(
        "one is missing before the next, which is of another partition",
        [record(3, 900, 5), record(9, 1_001, 6, whole_from=9, partition=1)],
        exact(5),
    ),
    Case("the last of an old group", [record(3, 100, 5, whole_from=3)], exact(5)),
    Case(
        "a transaction that is open at the moment",
        [record(0, 100, 5), record(1, 900, 6, counts_ms=1_100)],
        exact(5),
    ),
    Case(
        "one that has ended",
        [record(0, 100, 5), record(1, 200, 6, counts_ms=1_000)],
        exact(6),
    ),
    Case(
        "one that ended after a later commit",
        [record(0, 100, 5), record(2, 500, 7), record(1, 200, 6, counts_ms=900)],
        exact(7),
    ),
    Case(
        "one that ended after a deletion, which releases take in different ways",
        [record(2, 500, None), record(1, 200, 6, counts_ms=900)],
        Standing(None, "at_the_latest", "records", 500),
    ),
    Case(
        "one that ended after a deletion, and a commit after that",
        [record(2, 500, None), record(1, 200, 6, counts_ms=900), record(4, 950, 8)],
        exact(8),
    ),
    Case(
        "its marker is gone",
        [record(0, 100, 5), record(1, 200, 6, counts_ms=None)],
        Standing(5, "at_the_latest", "records", 100),
    ),
    Case(
        "records are missing between it and its marker",
        [record(1, 200, 6, counts_ms=900, whole_from=5), record(9, 1_001, 7, whole_from=9)],
        UNKNOWN,
    ),
    Case(
        "clocks that differ",
        [record(0, 100, 5), record(1, 1_001, 6), record(2, 999, 7)],
        Standing(5, "at_the_latest", "records", 100),
    ),
    Case(
        "a capture where records are missing",
        [record(9, 1_001, 6, whole_from=9)],
        Standing(50, "at_the_latest", "captures", 700),
        SEEN,
    ),
    Case(
        "a capture before the last record",
        [record(3, 900, 5), record(9, 1_001, 6, whole_from=9)],
        Standing(5, "at_the_latest", "records", 900),
        SEEN,
    ),
    Case(
        "a capture after it",
        [record(3, 100, 5), record(9, 1_001, 6, whole_from=9)],
        Standing(50, "at_the_latest", "captures", 700),
        SEEN,
    ),
    Case(
        "a capture alone: its records have been deleted since",
        [],
        Standing(50, "at_the_latest", "captures", 700),
        SEEN,
    ),
    Case(
        "a capture that contradicts a whole log, which was made anew",
        [record(0, 1_001, 6)],
        Standing(50, "at_the_latest", "captures", 700),
        SEEN,
    ),
    Case("a capture does not make it less exact", [record(3, 100, 5)], exact(5), SEEN),
    Case(
        "a capture in which nothing is committed",
        [record(9, 1_001, 6, whole_from=9)],
        Standing(None, "at_the_latest", "captures", 700),
        LastLook(700, {("t", 1): 4}, {}),
    ),
    Case("no record at all", [], None),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exactness(case: Case) -> None:
    """What is told of partition 0."""
    reader = MomentReader(AT_MS, case.look)
    for entry in case.log:
        reader.take(entry)
    assert reader.standings().get(T0) == case.told
    assert (reader.records, reader.captures) == (len(case.log), int(case.look is not None))


def test_records_that_are_not_understood() -> None:
    """Any of them may be a commit."""
    reader = MomentReader(AT_MS)
    reader.take(record(0, 100, 5))
    told = reader.standings(doubted=True)
    assert told == {T0: Standing(5, "at_the_latest", "records", 100)}


def test_the_last_look() -> None:
    """Of those before the moment the last one that knows the commits of the group."""

    def capture(at_ms: int, offset: int | None, name: str = "g") -> ClusterSnapshot:
        commits = None if offset is None else {"t": {0: CommittedOffset(offset)}}
        return ClusterSnapshot(at_ms, (Group(name, "classic", "Empty", offsets=commits),), {})

    captures = [capture(1, 5), capture(2, 6), capture(3, None), capture(4, 9, "h"), capture(9, 7)]
    assert last_look("g", captures, 8) == LastLook(2, {T0: 6}, {})
    assert last_look("g", captures, 0) is None
