"""The search for ages against a log whose times are known; figures of time of groups."""

import random
from bisect import bisect_left
from dataclasses import replace

import pytest

from kgroups.core.lag.ages import CLOSE_MS, MOST_QUESTIONS, PRECISE, QUESTIONS, AgeSearch
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.lag.group_times import TimeFigures, Times, catch_up_seconds, group_times, is_usual
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group, PartitionLog, Topic

NOW = 1_795_223_045_678
AT = ("t", 0)


def searched(log: list[int], offsets: list[int]) -> tuple[dict[int, float], int]:
    """Ages in milliseconds by offset, and how many questions it took.

    Args:
        log: the times of records, ascending.
    """
    search = AgeSearch([(*AT, offset) for offset in offsets], NOW)
    questions = 0
    while (times := search.times()) and questions < MOST_QUESTIONS:
        questions += 1
        found = bisect_left(log, times[AT])
        search.take(times, {AT: None if found == len(log) else found})
    return {place[2]: age * 1_000 for place, age in search.ages_s.items()}, questions


@pytest.mark.parametrize("age_ms", [0, 1, 7, 500, 59_999, 3_600_000, 86_400_000 * 400])
def test_one_record(age_ms: int) -> None:
    """To within a hundredth or ten milliseconds, in a bounded number of questions."""
    ages, questions = searched([NOW - age_ms], [0])
    assert abs(ages[0] - age_ms) <= max(CLOSE_MS, age_ms * (PRECISE - 1))
    assert questions <= QUESTIONS


@pytest.mark.parametrize("seed", range(20))
def test_many_places_of_one_log(seed: int) -> None:
    """Answers for one place serve the others; all that is said is true."""
    chance = random.Random(seed)
    log = sorted(NOW - int(10 ** chance.uniform(0, 10)) for _ in range(200))
    offsets = chance.sample(range(200), chance.choice([1, 3, 10]))
    ages, questions = searched(log, offsets)
    assert questions <= MOST_QUESTIONS
    for offset, found in ages.items():
        true = NOW - log[offset]
        assert abs(found - true) <= max(CLOSE_MS, true * (PRECISE - 1)), (offset, true)
    if len(offsets) <= 3:
        assert set(ages) == set(offsets)


def test_records_from_the_future() -> None:
    """A producer's clock that is ahead makes no negative age."""
    assert searched([NOW + 60_000], [0])[0][0] <= CLOSE_MS


def test_a_log_that_does_not_answer() -> None:
    """It is asked no more, and its ages are unknown; the others go on."""
    search = AgeSearch([("t", 0, 5), ("u", 0, 5)], NOW)
    times = search.times()
    search.take(times, {("t", 0): "NOT_LEADER_OR_FOLLOWER", ("u", 0): 3})
    assert set(search.times()) == {("u", 0)}


def test_nothing_to_look_for() -> None:
    """No question is asked."""
    search = AgeSearch([], NOW)
    assert (search.times(), search.ages_s) == ({}, {})


def cluster(committed: dict[int, int], ends: dict[int, int], at_ms: int = NOW) -> ClusterSnapshot:
    """One group on one topic."""
    logs = {n: PartitionLog(0, end, leader=1) for n, end in ends.items()}
    commits = {n: CommittedOffset(offset) for n, offset in committed.items()}
    group = Group("g", "classic", "Empty", members=(), offsets={"t": commits})
    return ClusterSnapshot(at_ms, (group,), {"t": Topic("t", logs)})


def test_lag_in_seconds() -> None:
    """Nothing for what is read, ages where they are known; the group has the largest of all."""
    now = cluster({0: 10, 1: 4, 2: 0, 3: 1}, {0: 10, 1: 9, 2: 9, 3: 9})
    ages = {("t", 1, 4): 30.0, ("t", 2, 0): 90.0}
    (group,) = now.groups
    found = group_times(now, group, offset_rows(now, group), Times(ages, "bisected"))
    assert [(row.lag_seconds, row.lag_seconds_method) for _, row in found.rows] == [
        (0.0, "at_head"),
        (30.0, "bisected"),
        (90.0, "bisected"),
        (None, None),
    ]
    assert found.total == TimeFigures(), "nobody knows how old the lag of partition 3 is"
    assert (found.oldest_s, found.unknown) == (90.0, 1)
    known = group_times(now, group, offset_rows(now, group)[:3], Times(ages, "bisected"))
    assert known.total == TimeFigures(90.0, "bisected")
    assert (known.oldest_s, known.unknown) == (90.0, 0)


def test_rates_between_two_looks() -> None:
    """Records a second in and out, and how long the rest takes at them."""
    before = cluster({0: 10, 1: 0}, {0: 100, 1: 50}, NOW - 10_000)
    now = cluster({0: 60, 1: 20}, {0: 120, 1: 60})
    (group,) = now.groups
    found = group_times(now, group, offset_rows(now, group), Times(before=before))
    assert [row[2:] for _, row in found.rows] == [(2.0, 5.0, 20.0), (1.0, 2.0, 40.0)]
    assert found.total == TimeFigures(None, None, 3.0, 7.0, 25.0)


GONE_BACK = [
    ("commit", {0: 5}, {0: 120}, (2.0, None, None)),
    ("log", {0: 20}, {0: 90}, (None, 1.0, None)),
    ("nothing read", {0: 10}, {0: 120}, (2.0, 0.0, None)),
    ("caught up", {0: 120}, {0: 120}, (2.0, 11.0, 0.0)),
]


@pytest.mark.parametrize(
    ("committed", "ends", "expected"), [c[1:] for c in GONE_BACK], ids=[c[0] for c in GONE_BACK]
)
def test_rates_that_are_none(
    committed: dict[int, int], ends: dict[int, int], expected: tuple[float | None, ...]
) -> None:
    """What went back has no rate; what never catches up has no time."""
    before = cluster({0: 10}, {0: 100}, NOW - 10_000)
    now = cluster(committed, ends)
    (group,) = now.groups
    found = group_times(now, group, offset_rows(now, group), Times(before=before))
    assert found.rows[0][1][2:] == expected


def test_a_group_that_was_not_there() -> None:
    """No rates; nor where no time has passed."""
    now = cluster({0: 10}, {0: 100})
    (group,) = now.groups
    rows = offset_rows(now, group)
    nobody = replace(now, groups=(), captured_at_ms=NOW - 1)
    for before in (nobody, now):
        (_, figures) = group_times(now, group, rows, Times(before=before)).rows[0]
        assert figures == TimeFigures()


CATCHING_UP = [
    ("nothing is unread", (0, None, None), 0.0),
    ("reads faster than records come", (1_000, 1.0, 3.0), 500.0),
    ("as fast", (1_000, 1.0, 1.0), None),
    ("unknown lag", (None, 1.0, 2.0), None),
    ("rounding is no gain", (5_000, 100.0, 100.00000000000001), None),
    ("less than a hundredth is no gain", (5_000, 100.0, 100.9), None),
    ("lag that came in just now, and rounding", (500, 100.0, 100.00000000000001), 5.0),
    ("lag that came in just now, and fell", (500, 100.0, 300.0), 2.5),
    ("from 3 to 6 records in 3 s", (6, 2.0, 1.0), 3.0),
    ("few records seldom", (6, 0.1, 0.0), 60.0),
    ("few records, and none comes", (6, 0.0, 0.0), None),
    ("falls behind", (1_001, 100.0, 90.0), None),
]


@pytest.mark.parametrize(
    ("rates", "expected"), [c[1:] for c in CATCHING_UP], ids=[c[0] for c in CATCHING_UP]
)
def test_catching_up(
    rates: tuple[int | None, float | None, float | None], expected: float | None
) -> None:
    """Never at a rate that is no larger than what comes in; usual lag is no trend."""
    keeps_up = is_usual(*rates[:2])
    assert catch_up_seconds(*rates, keeps_up=keeps_up) == expected


def test_one_partition_that_is_stuck() -> None:
    """What others read says nothing of it: the group keeps up if every partition does."""
    before = cluster({0: 95, 1: 50}, {0: 100, 1: 200}, NOW - 3_000)
    now = cluster({0: 397, 1: 50}, {0: 403, 1: 200})
    (group,) = now.groups
    found = group_times(now, group, offset_rows(now, group), Times(before=before))
    assert [row.catch_up_seconds for _, row in found.rows] == [6 / 101, None]
    assert found.total.catch_up_seconds is None
