"""What brokers of each release have written, in `tests/data/broker_logs`, beside the records."""

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from kgroups.core.history.broker_log import BrokerLog, elections, fenced_members, with_logs
from kgroups.core.history.changes import Change
from kgroups.core.history.roster import Departure, Difference, Replacement, Seat

SAMPLES: Final = Path(__file__).parents[2] / "data" / "broker_logs"
AHEAD_MS: Final = 3_600_000 + 250
GROUPS: Final = ("log-classic", "log-classic-java", "log-consumer", "log-consumer-java")
_NUMBER: Final = re.compile(r"(?:Assignment|now empty|Bumped)")
_LEFT: Final = re.compile(
    r"has left|has failed|left the consumer|fenced from|old member|previously"
)
_IDS: Final = re.compile(r"(?:slow|steady|inst|j\d)-[0-9a-f-]{36}|[\w+/-]{22}(?![\w+/-])")

Told = list[tuple[str, str | None, str | None]]
CLOSED: Final = "the consumer is being closed"
CLASSIC: Final[Told] = [
    ("slow", None, "not provided"),
    ("slow", None, "not provided"),
    ("inst", "static_return", None),
    ("inst", "session_timeout", None),
    ("steady", None, "not provided"),
]
JAVA: Final[Told] = [
    ("j1", "member_closed", CLOSED),
    ("j2", "member_closed", CLOSED),
    ("j3", "session_timeout", None),
]


def without_reasons(told: Told) -> Told:
    """As before KIP-800, of Kafka 3.2."""
    return [(who, None if reason else cause, None) for who, cause, reason in told]


FENCED: Final = {
    # by Kafka 2.8; 3.3 to 4.0 with the old coordinator; the new one
    "given member.id a-1 is identified as a known static member one,but not matching the expected"
    " member.id a-2 during operation heartbeat, will respond with instance fenced error": "a-1",
    "Request memberId=a-1 for static member with groupInstanceId=one is fenced by current"
    " memberId=a-2 during operation heartbeat": "a-1",
    "Request memberId=a-1 for static member with groupInstanceId=one is fenced by existing"
    " memberId=a-2 during operation heartbeat": "a-1",
    "[GroupId log] Static member new with instance id one cannot join the group because the"
    " instance id is owned by member a-2.": "new",
    "[GroupId log] Static member a-1 with instance id one is fenced by existing member a-2.": "a-1",
}


@pytest.mark.parametrize("line", FENCED)
def test_members_that_were_fenced(line: str) -> None:
    """By instance id; a line without a group is about the one whose member it names."""
    seats = [Seat("a", name, "one", "/h", 1) for name in ("a-1", "a-2")]
    swap = Difference(replaced=(Replacement(Departure(seats[0]), seats[1]),))
    log = BrokerLog({"log": [Change(1, "members", 1, members=swap)], "other": []})
    for text in (line, line, line.replace("one", "two").replace("a-1", "x").replace("new", "x")):
        log.take(f"[2026-11-27 14:57:05,590] INFO {text} (kafka.Group)\n".encode())
    fenced = {"one": 1, "two": 1} if "GroupId" in line else {"one": 1}
    assert fenced_members("log", [log, log]) == fenced
    assert log.fenced["log", "one"] == {FENCED[line]}
    assert fenced_members("other", [log]) == {}


CASES: Final[dict[tuple[str, str], Told]] = {
    ("2.8", "log-classic"): without_reasons(CLASSIC),
    ("2.8", "log-classic-java"): without_reasons(JAVA[:2]),
    ("3.3", "log-classic"): CLASSIC,
    ("3.3", "log-classic-java"): JAVA[:2],
    ("3.9", "log-classic"): CLASSIC,
    ("3.9", "log-classic-java"): JAVA,
    ("4.4", "log-classic"): CLASSIC,
    ("4.4", "log-classic-java"): JAVA,
}


def lines(release: str) -> list[bytes]:
    """The sample of a release."""
    return (SAMPLES / f"{release}.log").read_bytes().splitlines(keepends=True)


def time_ms(line: str) -> int:
    """When it was written, by the log's clock."""
    found = re.search(r"(\S+ [\d:]+),(\d{3})", line)
    assert found is not None
    moment = datetime.fromisoformat(found[1].lstrip("[")).replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1000 + int(found[2])


def changes(release: str, group: str) -> list[Change]:
    """The changes that the lines are about, by a clock that is behind the log's."""
    found = []
    for raw in lines(release):
        line = raw.decode()
        at_ms = time_ms(line) - AHEAD_MS
        if not re.search(rf"{group}(?![\w-])", line):
            continue
        if _NUMBER.search(line):
            number = int(re.findall(r"(?:generation|epoch to) (\d+)", line)[0])
            found.append(Change(at_ms, "rebalance", number))
        elif _LEFT.search(line):
            *_, member = (one for one in _IDS.findall(line))
            seat = Seat(member.partition("-")[0], member, None, "", 0)
            gone = Difference(left=(Departure(seat),))
            found.append(Change(at_ms + 200, "rebalance", members=gone, cause="as records have it"))
    return found


@pytest.mark.parametrize(("release", "group"), CASES)
def test_what_a_log_says_of_members(release: str, group: str) -> None:
    """Causes become certain where the log tells them; the clocks' difference is known."""
    known = changes(release, group)
    log = BrokerLog({group: known})
    for line in lines(release):
        log.take(line)
    explained = with_logs(group, known, [log])
    told = [
        (
            gone.seat.client_id,
            change.cause if change.certainty == "certain" else None,
            gone.reason,
        )
        for change in explained
        for gone in change.members.left
    ]
    assert told == CASES[release, group]
    assert log.apart_ms == AHEAD_MS


@pytest.mark.parametrize("release", ["4.0", "4.4"])
def test_a_member_that_left_several_times_under_one_id(release: str) -> None:
    """The line nearest before the change is taken; KIP-848 members keep their ids."""
    known = changes(release, "log-consumer")
    log = BrokerLog({"log-consumer": known})
    for line in lines(release):
        log.take(line)
    (expired,) = (
        change
        for change in with_logs("log-consumer", known, [log])
        if change.certainty == "certain"
    )
    assert expired.cause == "session_timeout"
    assert log.apart_ms == AHEAD_MS


def test_why_the_broker_began_a_rebalance() -> None:
    """Of a change in which no member came or went."""
    line = (
        b"[2026-11-27 14:45:57,496] INFO [GroupCoordinator id=1] Preparing to rebalance group g in"
        b" state PreparingRebalance with old generation 5 (reason: Leader a re-joining group during"
        b" Stable; client reason: cached metadata has changed from (a) to (b)). (org.apache.X)\n"
    )
    change = Change(0, "rebalance", 6, cause="member_rejoined", certainty="possible")
    log = BrokerLog({"g": [change]})
    log.take(line)
    (explained,) = with_logs("g", [change], [log])
    assert (explained.cause, explained.certainty) == ("topics_changed", "certain")
    assert explained.reason is not None
    assert explained.reason.startswith("Leader a re-joining")


MOVES: Final = {"2.8": (1, 2), "3.3": (0, 1), "3.9": (1, 1), "4.0": (1, 2), "4.4": (0, 2)}
"""Partition, and how often its leader changed: broker 1 took over, and in some let go again."""


def taken(lines: Iterable[bytes], epochs: dict[int, int | None], *changes: Change) -> BrokerLog:
    """A log that was read for a group."""
    log = BrokerLog({"log": list(changes)}, epochs)
    for line in lines:
        log.take(line)
    return log


@pytest.mark.parametrize("release", MOVES)
def test_coordinators_that_moved(release: str) -> None:
    """Elections are told apart by epoch, whoever tells of them; undated without a clock."""
    partition, times = MOVES[release]
    lines = (SAMPLES / "moves" / f"{release}.log").read_bytes().splitlines(keepends=True)
    log = taken(lines, {partition: times, 7: 1})
    assert elections(partition, [log, log], 0) == (times, None)
    assert elections(7, [log], 0) is None
    assert log.matched == times


def epoch_line(minute: int, epoch: int) -> bytes:
    """A leader of partition 3 was elected at this time of the log's clock."""
    return (
        f"[2026-11-27 14:{minute:02}:00,000] INFO [GroupCoordinator id=1] Scheduling loading of"
        f" metadata from __consumer_offsets-3 with epoch {epoch} (o.a.k.CoordinatorRuntime)\n"
    ).encode()


def group_line(minute: int, generation: int) -> bytes:
    """The group's leader assigned at this time of the log's clock."""
    return (
        f"[2026-11-27 14:{minute:02}:00,000] INFO [GroupCoordinator 1]: Assignment received from"
        f" leader a for group log for generation {generation}. (kafka.Group)\n"
    ).encode()


BEGIN_MS: Final = time_ms("[2026-11-27 14:00:00,000]")


def test_elections_are_dated_by_the_records_clock() -> None:
    """Once a generation tells how far apart the clocks are; those before `--since` are left out."""
    lines = [epoch_line(1, 4), epoch_line(30, 5), group_line(31, 2), epoch_line(50, 6)]
    log = taken(lines, {3: None}, Change(BEGIN_MS - 29 * 60_000, "rebalance", 2))
    assert log.apart_ms == 3_600_000
    assert elections(3, [log], 0) == (3, BEGIN_MS - 10 * 60_000)
    assert elections(3, [log], BEGIN_MS - 40 * 60_000) == (2, BEGIN_MS - 10 * 60_000)
    assert elections(3, [log], BEGIN_MS) is None


def test_elections_of_another_time_or_cluster() -> None:
    """Every cluster has such partitions: the leader that is there now has to be among them."""
    lines = [epoch_line(1, 4), epoch_line(2, 5)]
    for epoch, found in ((5, (2, None)), (9, None), (None, None)):
        assert elections(3, [taken(lines, {3: epoch})], 0) == found


@pytest.mark.parametrize(
    ("minutes", "days"),
    [((1, 20, 50), 0), ((1, 2, 3), 2)],
    ids=["they do not agree on the clock", "two days apart"],
)
def test_a_log_of_groups_of_the_same_name(minutes: tuple[int, ...], days: int) -> None:
    """Generations that another cluster has, too, say nothing: nothing of the log is taken."""
    begin_ms = BEGIN_MS - days * 24 * 3_600_000
    known = [Change(begin_ms + n * 60_000, "rebalance", n) for n in (1, 2, 3)]
    reason = b"[2026-11-27 14:00:00,000] INFO Preparing to rebalance group log in state Stable with"
    reason += b" old generation 1 (reason: metadata has changed) (kafka.Group)\n"
    lines = [group_line(minute, n) for n, minute in enumerate(minutes, 1)]
    log = taken([*lines, reason, epoch_line(1, 4)], {3: 4}, *known)
    assert (log.matched, log.apart_ms, elections(3, [log], 0)) == (0, None, None)
    assert all(change.reason is None for change in with_logs("log", known, [log]))


@pytest.mark.parametrize("number", range(3))
def test_a_log_of_something_else(number: int) -> None:
    """Another group, another day, no log at all."""
    known = changes("4.4", "log-classic")
    if number == 0:
        log = BrokerLog({"other": known})
    else:
        late = [replace(one, number=None, at_ms=one.at_ms + 10**9) for one in known]
        log = BrokerLog({"log-classic": late if number == 1 else known})
    for line in lines("4.4") if number < 2 else (b"\0group log-classic\n", b"\xff" * 90, b"x"):
        log.take(line)
    assert log.apart_ms is None
    assert number == 1 or not log.matched
