"""Each detector: a group in which it fires, with its object and level, and one that is near it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import pytest

from kgroups.core.doctor.cluster_facts import RecordAge
from kgroups.core.doctor.examine import examine
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding
from kgroups.core.history.causes import with_causes
from kgroups.core.history.changes import Change
from kgroups.core.lag.group_lag import offset_rows
from kgroups.core.lag.group_times import Times, group_times
from kgroups.core.offsets.expiry import Expiry, GroupExpiry
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from tests.support.history.group_log import POLL_MS, GroupLog, read
from tests.support.history.group_log import member as recorded

HOUR_MS: Final = 3_600_000
Logs = dict[str, dict[int, PartitionLog]]
WELL: Final = PartitionLog(0, 100, leader=1, racks=(None, None), in_sync_replicas=(1, 2))


def member(name: str, *topics: str, **owned: tuple[int, ...]) -> Member:
    """A member of a classic group."""
    read = topics or tuple(owned) or ("t",)
    return Member(f"{name}-id", name, "/10.0.0.1", subscription=read, assignment=owned)


def facts(
    *members: Member,
    logs: Logs | None = None,
    commits: dict[str, dict[int, int]] | None = None,
    state: str | None = None,
    changes: tuple[Change, ...] | None = None,
) -> DoctorFacts:
    """A group whose partitions are read to the end unless something else is said."""
    logs = {"t": {0: WELL, 1: WELL}} if logs is None else logs
    ends = {
        t: {n: log.log_end_offset or 0 for n, log in found.items()} for t, found in logs.items()
    }
    found = ends if commits is None else commits
    offsets = {t: {n: CommittedOffset(at) for n, at in by.items()} for t, by in found.items()}
    state = ("Stable" if members else "Empty") if state is None else state
    group = Group("g", "classic", state, "consumer", "range", members=members, offsets=offsets)
    snapshot = ClusterSnapshot(
        10_000, (group,), {name: Topic(name, partitions) for name, partitions in logs.items()}
    )
    rows = offset_rows(snapshot, group)
    return DoctorFacts(snapshot, group, rows, changes=changes, span_ms=24 * HOUR_MS)


def watched(now: DoctorFacts, before: DoctorFacts, over_s: float = 10.0) -> DoctorFacts:
    """The group after so many seconds in which it was looked at."""
    then = replace(before.snapshot, captured_at_ms=now.snapshot.captured_at_ms - int(over_s * 1000))
    assert now.rows is not None
    times = group_times(now.snapshot, now.group, now.rows, Times(before=then))
    return replace(now, times=times, over_seconds=over_s, before=before.group)


def logs_of(*ends: int, topic: str = "t") -> Logs:
    """Partitions that end there."""
    return {topic: {n: WELL._replace(log_end_offset=end) for n, end in enumerate(ends)}}


BOTH = member("app", t=(0, 1))


def reads(
    commits: dict[int, int], *ends: int, members: tuple[Member, ...] = (BOTH,)
) -> DoctorFacts:
    """Two partitions that end and are committed there."""
    return facts(*members, logs=logs_of(*ends), commits={"t": commits})


def no_consumer() -> DoctorFacts:
    """Records come in, and there are no members."""
    late = {0: 50, 1: 50}
    return watched(reads(late, 200, 200, members=()), reads(late, 100, 100, members=()))


def stalled(over_s: float = 10.0) -> DoctorFacts:
    """One of two partitions stands still though records wait."""
    return watched(reads({0: 200, 1: 50}, 200, 200), reads({0: 100, 1: 50}, 100, 100), over_s)


def skewed(hottest: int, over_s: float = 10.0) -> DoctorFacts:
    """One of four partitions has all the lag; this was committed of it, 10 s before nothing."""
    now = reads({**SKEWED, 0: hottest}, *[10_000] * 4, members=(ALL,))
    return watched(now, reads(SKEWED, 5_000, *[10_000] * 3, members=(ALL,)), over_s)


def rebalancing(first: str, last: str, over_s: float) -> DoctorFacts:
    """A group in these states at both looks."""
    return watched(facts(BOTH, state=last), facts(BOTH, state=first), over_s)


def falling_behind() -> DoctorFacts:
    """Half of what comes in is read."""
    return watched(
        reads({0: 1_500, 1: 1_500}, 22_000, 22_000), reads({0: 1_000, 1: 1_000}, 21_000, 21_000)
    )


def storm(generations: int, wait_ms: int) -> tuple[Change, ...]:
    """A client that is too slow to poll, leaves and comes back, again and again."""
    log = GroupLog().group(1, recorded("app-1/a", [0, 1]))
    log.group(2, recorded("app-1/a", [0]), recorded("app-2/0", [1])).commit(0, 1).commit(1, 1)
    for turn in range(generations):
        log.wait(POLL_MS - 1_000).commit(0, 2 + turn)
        log.group(3 + 2 * turn, recorded("app-1/a", [0, 1]), after_ms=1_500)
        log.group(
            4 + 2 * turn,
            recorded("app-1/a", [0]),
            recorded(f"app-2/{turn + 1}", [1]),
            after_ms=20_000,
        ).commit(1, 2 + turn)
        log.wait(wait_ms)
    return log.read()


def deploys() -> tuple[Change, ...]:
    """Members that are replaced one after the other, six times."""
    log = GroupLog().group(1, recorded("app-1/0", [0]), recorded("app-2/0", [1]))
    for turn in range(1, 7):
        first, second = f"app-1/{turn}", f"app-2/{turn}"
        log.wait(600_000).commit(0, turn).commit(1, turn)
        log.group(4 * turn, recorded(f"app-2/{turn - 1}", [0, 1]))
        log.group(4 * turn + 1, recorded(first, [0]), recorded(f"app-2/{turn - 1}", [1]))
        log.commit(0, turn).commit(1, turn)
        log.group(4 * turn + 2, recorded(first, [0, 1]))
        log.group(4 * turn + 3, recorded(first, [0]), recorded(second, [1]))
    return log.read()


def back(offset: int) -> tuple[Change, ...]:
    """A member commits 10, then this."""
    log = GroupLog().group(1, recorded("app-1/a", [0, 1])).commit(0, 10).commit(0, offset)
    return log.group(2, recorded("app-1/a", [0]), recorded("app-2/b", [1])).read()


def expiring(in_ms: int) -> DoctorFacts:
    """A group without members, one of whose commits is deleted then; the other is in use."""
    given = facts()
    expires = Expiry("expires", given.snapshot.captured_at_ms + in_ms, 1)
    rows = {("t", 0): expires, ("t", 1): Expiry("in_use", None, 1)}
    return replace(given, expiry=GroupExpiry(rows, expires, 1))


def only(name: str, **log: object) -> Logs:
    """One partition, of which something is otherwise."""
    return {name: {0: WELL._replace(**log)}}  # type: ignore[arg-type]


def holding(waits: bool) -> DoctorFacts:
    """A member of KIP-848 is an epoch behind; another one waits for a partition, or does not."""
    slow = replace(BOTH, assignment={"t": (0,)}, target_assignment={"t": (0,)}, member_epoch=4)
    new = replace(
        member("new"),
        member_epoch=5,
        assignment={} if waits else {"t": (1,)},
        target_assignment={"t": (1,)},
    )
    made = facts(slow, new, state="Reconciling")
    group = replace(made.group, type="consumer", group_epoch=5, target_epoch=5)
    made = replace(made, group=group)
    return watched(made, made, 30.0)


def swaps(hosts: str, stays_ms: int = 20_000) -> tuple[Change, ...]:
    """Members with one instance id on these hosts, each in the place of the one before."""
    log = GroupLog()
    for turn, host in enumerate(hosts):
        log.group(1, recorded(f"app/{turn}", [0], instance="one")._replace(client_host=host))
        log.wait(stays_ms)
    return log.read()


def roll(*, leave_ms: int, joins_between: bool = False) -> tuple[Change, ...]:
    """Members with another strategy come once the last of the two with the old one has left."""
    log = GroupLog().group(1, recorded("a/1", [0]), recorded("b/1", [1])).wait(600_000)
    log.group(2, recorded("b/1", [0, 1]), after_ms=0)
    if joins_between:
        log.group(3, recorded("b/1", [0]), recorded("a/2", [1]), after_ms=20_000)
    log.group(4, after_ms=leave_ms)
    return log.group(5, recorded("a/3", [0, 1]), after_ms=5_000, protocol="sticky").read()


def added(offset: int, before: Sequence[int] = (0, 1), after_ms: int = 1_000) -> DoctorFacts:
    """A third partition is assigned and committed; its log starts at 0."""
    log = GroupLog().group(1, recorded("app/1", before)).commit(0, 90).commit(1, 90)
    log.group(2, recorded("app/1", [0, 1, 2])).wait(after_ms - 1_000).commit(2, offset)
    commits = {"t": {0: 90, 1: 90, 2: offset}}
    everything = member("app", t=(0, 1, 2))
    return facts(everything, logs=logs_of(90, 90, offset), commits=commits, changes=log.read())


def lost_members(count: int, *, advances: bool = True, deploy: bool = False) -> DoctorFacts:
    """Member after member is lost while partition 1 stands at 10 and waits."""
    log = GroupLog().group(1, recorded("app-1/0", [0, 1]))
    log.commit(0, 1).commit(1, 10)
    for turn in range(1, count + 1):
        log.wait(20_000).group(2 * turn).group(2 * turn + 1, recorded(f"app-1/{turn}", [0, 1]))
        if advances:
            log.commit(0, 100 * turn)
        log.commit(1, 10)
    reader = read(log.entries)
    changes = with_causes(reader.end())
    if deploy:
        changes = tuple(replace(each, cause="deploy") for each in changes)
    end = 100 * count if advances else 200
    commits = {"t": {0: 100 * count if advances else 1, 1: 10}}
    made = facts(BOTH, logs=logs_of(end, 50), commits=commits, changes=changes)
    return replace(made, standing=reader.standing)


ALL = member("app", t=(0, 1, 2, 3))
SKEWED = {0: 0, 1: 9_990, 2: 9_990, 3: 9_990}

Made = Callable[[], DoctorFacts]
# Code: what fires, at which level, about what; then what is near it and silent.
CASES: Final[dict[str, tuple[Made, str, dict[str, object], Made]]] = {
    "NO_CONSUMER": (
        no_consumer, "error", {}, lambda: reads({0: 100, 1: 100}, 100, 100, members=())
    ),
    "STALLED_PARTITION": (
        stalled,
        "error",
        {"topic": "t", "partition": 1, "client_id": "app", "member_id": "app-id"},
        lambda: watched(reads({0: 200, 1: 51}, 200, 200), reads({0: 100, 1: 50}, 100, 100)),
    ),
    "FALLING_BEHIND": (
        falling_behind,
        "warning",
        {},
        lambda: watched(
            reads({0: 2_000, 1: 2_000}, 22_000, 22_000), reads({0: 1_000, 1: 1_000}, 21_000, 21_000)
        ),
    ),
    "HOT_PARTITION": (
        lambda: skewed(1_000),
        "warning",
        {"topic": "t", "partition": 0, "client_id": "app", "member_id": "app-id"},
        lambda: reads(dict.fromkeys(range(4), 5_000), *[10_000] * 4, members=(ALL,)),
    ),
    "DATA_LOST": (
        lambda: facts(BOTH, logs=only("t", log_start_offset=60), commits={"t": {0: 10}}),
        "error",
        {"topic": "t", "partition": 0, "client_id": "app", "member_id": "app-id"},
        lambda: facts(BOTH, logs=only("t", log_start_offset=10), commits={"t": {0: 10}}),
    ),
    "OFFSETS_EXPIRING": (
        lambda: expiring(3_600_000),
        "warning",
        {},
        lambda: expiring(3 * 24 * HOUR_MS),
    ),
    "TOPIC_MISSING": (
        lambda: facts(member("app", "gone"), logs={}, commits={"gone": {0: 1}}),
        "error",
        {"topic": "gone"},
        lambda: facts(member("app", "t")),
    ),
    "STALE_COMMITS": (
        lambda: facts(
            BOTH, logs={**logs_of(1, 1), **logs_of(9, topic="old")},
            commits={"t": {0: 1, 1: 1}, "old": {0: 5}},
        ),
        "info",
        {"topic": "old"},
        lambda: facts(
            BOTH, logs={**logs_of(1, 1), **logs_of(9, topic="old")},
            commits={"t": {0: 1, 1: 1}, "old": {0: 9}},
        ),
    ),
    "PARTITIONS_UNAVAILABLE": (
        lambda: facts(BOTH, logs=only("t", in_sync_replicas=(1,)), commits={"t": {0: 100}}),
        "warning",
        {"topic": "t", "partition": 0, "client_id": "app", "member_id": "app-id"},
        lambda: facts(BOTH),
    ),
    "IDLE_MEMBERS": (
        lambda: facts(BOTH, member("spare", "t")),
        "info",
        {},
        lambda: facts(BOTH, member("spare", "t"), state="PreparingRebalance"),
    ),
    "MIXED_APPLICATIONS": (
        lambda: facts(BOTH, member("other", "u")),
        "warning",
        {},
        lambda: facts(BOTH, member("other", "t", "u")),
    ),
    "REBALANCE_STUCK": (
        lambda: rebalancing("PreparingRebalance", "CompletingRebalance", 30.0),
        "warning",
        {},
        lambda: rebalancing("Stable", "PreparingRebalance", 30.0),
    ),
    "REBALANCE_STORM": (
        lambda: facts(BOTH, changes=storm(5, 0)),
        "error",
        {"client_id": "app-2"},
        lambda: facts(BOTH, changes=deploys()),
    ),
    "SLOW_REVOCATION": (
        lambda: holding(waits=True),
        "warning",
        {"client_id": "app", "member_id": "app-id"},
        lambda: holding(waits=False),
    ),
    "INSTANCE_ID_CONFLICT": (
        lambda: facts(BOTH, changes=swaps("ABAB")),
        "error",
        {"instance_id": "one"},
        lambda: facts(BOTH, changes=swaps("ABAB", 600_000)),
    ),
    "ASSIGNOR_CONFLICT": (
        lambda: facts(BOTH, changes=roll(leave_ms=90_000)),
        "warning",
        {},
        lambda: facts(BOTH, changes=roll(leave_ms=90_000, joins_between=True)),
    ),
    "NEW_PARTITIONS_SKIPPED": (
        lambda: added(5_000_000),
        "warning",
        {"topic": "t", "partition": 2},
        lambda: added(0),
    ),
    "COMMIT_BACKWARDS": (
        lambda: facts(BOTH, changes=back(4)),
        "warning",
        {"topic": "t", "partition": 0},
        lambda: facts(BOTH, changes=back(11)),
    ),
}  # fmt: skip


def found(given: DoctorFacts, code: str) -> list[Finding]:
    """Findings of this code."""
    return [finding for finding in examine(given).findings if finding.code == code]


def test_a_short_look_proves_no_stall() -> None:
    """A healthy reader commits every 5 s: what stands still for less is worth knowing at most."""
    for over_s in (1.0, 3.0, 9.9):
        (finding,) = found(stalled(over_s), "STALLED_PARTITION")
        assert (finding.level, finding.certainty) == ("info", "possible")
        assert finding.next == "kgroups doctor g --over 30s"


def test_a_burst_is_no_hot_partition() -> None:
    """Without rates it may be one; where it is being read it is one."""
    now = reads(SKEWED, *[10_000] * 4, members=(ALL,))
    for given in (now, skewed(9_000), skewed(1_000, 9.0)):
        (finding,) = found(given, "HOT_PARTITION")
        assert (finding.level, finding.certainty) == ("info", "possible")


def test_a_short_look_proves_no_stuck_rebalance() -> None:
    """It is not examined; a group that came to rest in between, or that has just begun, is well."""
    states = ("PreparingRebalance", "PreparingRebalance")
    short = examine(rebalancing(*states, 29.0))
    assert ("REBALANCE_STUCK", "long_rates") in short.not_examined
    rested = replace(rebalancing(*states, 30.0), has_settled=True)
    assert found(rested, "REBALANCE_STUCK") == []
    began = watched(facts(BOTH, state="PreparingRebalance"), facts(state="Empty"), 30.0)
    assert found(began, "REBALANCE_STUCK") == []


def test_a_record_that_member_after_member_is_lost_at() -> None:
    """It is said without a look at rates, and once of a partition that is watched, too."""
    for given in (lost_members(3), replace(lost_members(3), over_seconds=10.0)):
        (finding,) = found(given, "STALLED_PARTITION")
        assert (finding.level, finding.certainty) == ("error", "likely")
        assert (finding.where["topic"], finding.where["partition"]) == ("t", 1)
        assert finding.evidence["members_lost"] == 3
        assert finding.evidence["committed_offset"] == 10
    watched_too = lost_members(3)
    watched_too = replace(watched(watched_too, watched_too), standing=watched_too.standing)
    assert len(found(watched_too, "STALLED_PARTITION")) == 1
    assert "STALLED_PARTITION" not in dict(examine(watched_too).not_examined)
    assert dict(examine(lost_members(3)).not_examined)["STALLED_PARTITION"] == "rates"


def test_members_that_are_lost_for_other_reasons() -> None:
    """Two may be chance; a deploy is no loss; where nothing goes on, it is no single record."""
    for given in (
        lost_members(2),
        lost_members(4, deploy=True),
        lost_members(4, advances=False),
    ):
        assert found(given, "STALLED_PARTITION") == []


def test_a_static_member_that_crashes_is_not_two() -> None:
    """It looks the same, and is worth knowing; a broker that fenced two makes it certain."""
    (finding,) = found(facts(BOTH, changes=swaps("AAAA")), "INSTANCE_ID_CONFLICT")
    assert (finding.level, finding.certainty) == ("info", "possible")
    assert found(facts(BOTH, changes=swaps("AB")), "INSTANCE_ID_CONFLICT") == []
    for fenced, certain in ((1, []), (2, [("error", "certain")])):
        given = replace(facts(BOTH, changes=()), fenced={"one": fenced})
        told = found(given, "INSTANCE_ID_CONFLICT")
        assert [(each.level, each.certainty) for each in told] == certain


def test_a_group_that_is_stopped_to_change_its_strategy() -> None:
    """All members left within a minute: that is how one does it."""
    (finding,) = found(facts(BOTH, changes=roll(leave_ms=10_000)), "ASSIGNOR_CONFLICT")
    assert (finding.level, finding.certainty) == ("info", "possible")


def test_new_partitions_that_may_have_been_read() -> None:
    """What a consumer can have read by then; a partition that came back is not new."""
    (finding,) = found(added(5_000), "NEW_PARTITIONS_SKIPPED")
    assert (finding.level, finding.certainty) == ("info", "possible")
    assert finding.evidence["records"] == 5_000
    assert finding.next == "kgroups reset-offsets g --topic t:2 --to earliest --dry-run"
    assert found(added(5_000, before=(0, 1, 2)), "NEW_PARTITIONS_SKIPPED") == []
    empty = replace(added(5_000), ends={("t", 2): 0})
    assert found(empty, "NEW_PARTITIONS_SKIPPED") == []


def test_a_member_that_holds_others_up_is_not_a_stuck_group() -> None:
    """One fault has one finding."""
    assert found(holding(waits=True), "REBALANCE_STUCK") == []
    assert found(holding(waits=False), "REBALANCE_STUCK")


def test_of_a_topic_that_may_not_be_described_nothing_is_said() -> None:
    """Whether it exists is not known; brokers hide what was committed there."""
    given = facts(member("app", closed=(0,)), logs={}, commits={})
    hidden = replace(given.snapshot, errors=(broker_error("closed", "TOPIC_AUTHORIZATION_FAILED"),))
    (row,) = offset_rows(hidden, given.group)
    assert (row.lag_status, row.error) == ("unknown", "TOPIC_AUTHORIZATION_FAILED")
    assert found(given, "TOPIC_MISSING")
    assert found(replace(given, snapshot=hidden, rows=[row]), "TOPIC_MISSING") == []


def test_the_cause_of_a_storm_is_in_its_evidence() -> None:
    """With how many rebalances it is behind, and how sure that is."""
    (finding,) = found(CASES["REBALANCE_STORM"][0](), "REBALANCE_STORM")
    assert finding.evidence["cause"] == "poll_timeout"
    assert finding.certainty in ("likely", "possible")
    assert finding.next == "kgroups explain max.poll.interval.ms"


def test_seldom_rebalances_are_no_storm() -> None:
    """As many, over a day."""
    assert found(facts(BOTH, changes=storm(5, 4 * HOUR_MS)), "REBALANCE_STORM") == []


def test_what_was_not_looked_at_is_named() -> None:
    """By what is missing."""
    missing = dict(examine(facts(BOTH)).not_examined)
    assert missing == {
        "STALLED_PARTITION": "rates",
        "FALLING_BEHIND": "rates",
        "REBALANCE_STUCK": "long_rates",
        "REBALANCE_STORM": "history",
        "NEW_PARTITIONS_SKIPPED": "history",
        "SLOW_REVOCATION": "long_rates",
        "INSTANCE_ID_CONFLICT": "history",
        "ASSIGNOR_CONFLICT": "history",
        "COMMIT_BACKWARDS": "history",
        "OFFSETS_EXPIRING": "expiry",
        "HANGING_TRANSACTION": "transactions",
        "OFFSETS_PENDING": "pending",
        "PHANTOM_LAG": "rates",
        "COORDINATOR_UNSTABLE": "offsets_partition",
        "GROUP_NEAR_LIMIT": "settings",
        "THROTTLED": "rates",
    }


def test_worst_and_surest_first() -> None:
    """As a person reads."""
    given = facts(
        BOTH, member("spare", "t"), logs=only("t", log_start_offset=60), commits={"t": {0: 1}}
    )
    levels = [finding.level for finding in examine(given).findings]
    assert levels[0] == "error"
    assert levels == sorted(levels, key=["error", "warning", "info"].index)


def test_nothing_is_wrong_with_a_quiet_group() -> None:
    """Steady members that have read everything."""
    given = watched(reads({0: 200, 1: 200}, 200, 200), reads({0: 100, 1: 100}, 100, 100))
    assert examine(replace(given, changes=back(11))).findings == ()


def test_a_reset_is_no_setback() -> None:
    """Of a group without members, by a tool."""
    log = GroupLog().group(1, recorded("app-1/a", [0, 1])).commit(0, 10).group(2)
    log.commit(0, 4).group(3, recorded("app-1/b", [0, 1]))
    assert found(facts(BOTH, changes=log.read()), "COMMIT_BACKWARDS") == []


def test_growing_is_no_storm() -> None:
    """Eight members, each by itself; coming and going again and again is one."""
    log, present = GroupLog(), []
    for number in range(8):
        present.append(recorded(f"app-{number}/a", [number]))
        log.group(number + 1, *present)
    assert found(facts(BOTH, changes=log.read()), "REBALANCE_STORM") == []
    for turn in range(4):
        extra = recorded(f"app-9{turn}/a", [8])
        log.wait(60_000).group(9 + 2 * turn, *present, extra)
        log.wait(60_000).group(10 + 2 * turn, *present)
    (finding,) = found(facts(BOTH, changes=log.read()), "REBALANCE_STORM")
    assert finding.level == "error"


def test_a_group_that_has_just_started_comes_to_rest() -> None:
    """Round after round of the same members for a while; if it goes on, it is a storm."""
    two = recorded("app-1/a", [0]), recorded("app-2/b", [1])
    log = GroupLog().group(1, two[0])
    for turn in range(20):
        log.group(2 + turn, *two, after_ms=2_000)
    assert found(facts(BOTH, changes=log.read()), "REBALANCE_STORM") == []
    for turn in range(20, 60):
        log.group(2 + turn, *two, after_ms=2_000)
    (finding,) = found(facts(BOTH, changes=log.read()), "REBALANCE_STORM")
    assert finding.evidence["cause"] == "member_rejoined"


def test_a_new_owner_begins_at_the_last_commit() -> None:
    """What the old one commits late goes back once; again and again is something else."""
    two = recorded("app-1/a", [0]), recorded("app-2/b", [1])
    log = GroupLog().group(1, *two).commit(0, 10).commit(0, 9)
    (finding,) = found(facts(BOTH, changes=log.group(2, *two).read()), "COMMIT_BACKWARDS")
    assert finding.level == "info"
    log = GroupLog().group(1, *two).commit(0, 10).wait(60_000).commit(0, 9)
    (finding,) = found(facts(BOTH, changes=log.group(2, *two).read()), "COMMIT_BACKWARDS")
    assert finding.level == "warning"
    log = GroupLog().group(1, *two)
    for _ in range(3):
        log.commit(0, 10).commit(0, 9)
    (finding,) = found(facts(BOTH, changes=log.group(2, *two).read()), "COMMIT_BACKWARDS")
    assert finding.level == "warning"


def test_two_that_commit_a_partition_in_turn() -> None:
    """They are in the evidence; in a group without members too, which a reset alone is not."""
    for members, owners in (([recorded("app-1/a", [0, 1])], ["app-1"]), ([], None)):
        log = GroupLog().group(1, recorded("app-1/a", [0, 1])).group(2, *members)
        for turn in range(5):
            log.commit(0, 50 + turn).commit(0, 20 + turn)
        given = facts(BOTH, changes=log.read())
        (finding,) = found(given, "COMMIT_BACKWARDS")
        assert (finding.level, finding.certainty) == ("warning", "certain")
        assert "two commit it in turn" in finding.impact
        assert finding.evidence["rivals"] == "likely"
        assert finding.evidence["turns"] == 4
        assert finding.evidence["owner_client_ids"] == owners


@pytest.mark.parametrize(("contested", "expected"), [(0, None), (1, "likely")])
def test_a_stalled_partition_that_two_commit(contested: int, expected: str | None) -> None:
    """Partition 1 stands still: only its own rivals are in the evidence."""
    log = GroupLog().group(1, recorded("app-1/a", [0, 1]))
    for turn in range(5):
        log.commit(contested, 50 + turn).commit(contested, 20 + turn)
    (finding,) = found(replace(stalled(), changes=log.read()), "STALLED_PARTITION")
    assert finding.where["partition"] == 1
    assert finding.evidence.get("rivals") == expected


def test_a_member_that_restarts_is_not_behind() -> None:
    """All that is unread has come between the looks."""
    (finding,) = found(
        watched(
            reads({0: 1_010, 1: 1_010}, 2_000, 2_000),
            reads({0: 1_000, 1: 1_000}, 1_000, 1_000),
            30.0,
        ),
        "FALLING_BEHIND",
    )
    assert (finding.level, finding.certainty) == ("info", "possible")


@pytest.mark.parametrize(
    ("ages", "left"),
    [
        ({("t", 0): RecordAge(3_000.0, 3_600.0)}, 1_200),  # half of what comes is read
        ({("t", 0): RecordAge(3_000.0, 3_600.0), ("t", 1): RecordAge(3_500.0, 3_600.0)}, 200),
        ({("t", 0): RecordAge(4_000.0, 3_600.0)}, 0),  # its segment is not deleted yet
        ({}, None),
    ],
)
def test_when_retention_reaches_the_commit(
    ages: dict[tuple[str, int], RecordAge], left: int | None
) -> None:
    """What is unread grows older by the share that is not read."""
    now, then = (
        reads({0: 1_500, 1: 1_500}, 22_000, 22_000),
        reads({0: 1_000, 1: 1_000}, 21_000, 21_000),
    )
    (finding,) = found(replace(watched(now, then), ages=ages), "FALLING_BEHIND")
    assert finding.evidence["retention_seconds_left"] == left


def test_an_owner_that_reads_others() -> None:
    """It has backlogs of two partitions, and has read one of them for 20 s."""
    now = reads({0: 300, 1: 50}, 2_000, 2_000)
    (finding,) = found(
        watched(now, reads({0: 100, 1: 50}, 1_000, 1_000), 20.0), "STALLED_PARTITION"
    )
    assert (finding.level, finding.certainty) == ("info", "possible")
    assert finding.next == "kgroups doctor g --over 60s"


def test_nothing_left_to_read() -> None:
    """A topic that is missing is an error where members read no other, committed or not."""
    levels = [
        found(facts(member("app", *topics), logs=logs_of(1, 1), commits={}), "TOPIC_MISSING")
        for topics in (("gone",), ("gone", "t"))
    ]
    assert [[finding.level for finding in each] for each in levels] == [["error"], ["warning"]]
