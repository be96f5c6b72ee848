"""Advice that is tried: what it would come to, where it would not help, and when time is over."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kgroups.core.coordinator.config import SESSION_TIMEOUT
from kgroups.core.doctor import proofs
from kgroups.core.doctor.cluster_facts import GroupSettings
from kgroups.core.doctor.examine import examine
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding, Proof
from kgroups.core.doctor.proofs import Prover
from kgroups.core.history.changes import Change
from kgroups.core.history.roster import Departure, Difference
from kgroups.core.offsets.group_settings import Setting
from tests.core.doctor.test_detectors import (
    BOTH,
    facts,
    falling_behind,
    member,
    reads,
    skewed,
    storm,
    watched,
)
from tests.support.history.group_log import GroupLog
from tests.support.history.group_log import member as recorded

PAIR = member("app-1", t=(0,)), member("app-2", t=(1,))
EACH_HAS_ONE = (member("a", t=(0,)), member("b", t=(1,)))
TIMES = 5


def away(gone_after_ms: int, back_after_ms: int, instance: str | None = None) -> tuple[Change, ...]:
    """A member that is lost so long after its last commit and then comes back, again and again."""
    log = GroupLog().group(1, recorded("app-1/a", [0]), recorded("app-2/0", [1]))
    for turn in range(TIMES):
        log.wait(60_000).commit(0, turn).commit(1, turn)
        log.group(2 * turn + 2, recorded("app-1/a", [0, 1]), after_ms=gone_after_ms)
        back = recorded(f"app-2/{turn + 1}", [1], instance=instance)
        log.group(2 * turn + 3, recorded("app-1/a", [0]), back, after_ms=back_after_ms)
    return log.read()


def crashes() -> tuple[Change, ...]:
    """A process that is started again after 10 s, while the one before has a session of 45 s."""
    log = GroupLog().group(1, recorded("app-1/a", [0]), recorded("app-2/0", [1]))
    for turn in range(TIMES):
        log.wait(60_000).commit(0, turn).commit(1, turn)
        first, old = recorded("app-1/a", [0]), recorded(f"app-2/{turn}", [1])
        log.group(2 * turn + 2, first, old, recorded(f"app-2/{turn + 1}"), after_ms=10_000)
        log.group(2 * turn + 3, first, recorded(f"app-2/{turn + 1}", [1]), after_ms=35_000)
    return log.read()


def found(given: DoctorFacts, code: str) -> list[Finding]:
    """Findings of this code, with all the time that their proofs take."""
    findings = examine(given, Prover(lambda: 0.0)).findings
    return [finding for finding in findings if finding.code == code]


def proof_of(finding: Finding) -> Proof:
    """Its proof."""
    assert finding.proof is not None
    assert finding.proof.before.keys() == finding.proof.after.keys()
    return finding.proof


@pytest.mark.parametrize(
    ("changes", "change", "assumes", "before"),
    [
        (storm(TIMES, 0), "max.poll.interval.ms=480000", "5 polls of up to 320s", 10),
        (away(46_000, 8_000), "session.timeout.ms=90000", "5 pauses of up to 53s", 10),
        (away(1_000, 8_000), "group.instance.id", "5 restarts of up to 8s", 10),
        (crashes(), "group.instance.id", "5 crashes of up to 10s", 5),
    ],
    ids=["polls", "pauses", "restarts", "crashes"],
)
def test_a_storm_is_played_again(
    changes: tuple[Change, ...], change: str, assumes: str, before: int
) -> None:
    """As often as it was away, with its settings and with what would end it."""
    (finding,) = found(facts(*PAIR, changes=changes), "REBALANCE_STORM")
    proof = proof_of(finding)
    assert (proof.change, proof.by, proof.assumes) == (change, "simulation", assumes)
    assert (proof.before["rebalances"], proof.after["rebalances"]) == (before, 0)
    assert finding.next == f"kgroups explain {change.partition('=')[0]}"


def of_kip848(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The same changes of members whose session is not in the records."""

    def bare(gone: Departure) -> Departure:
        return gone._replace(seat=gone.seat._replace(session_timeout_ms=None))

    def with_bare(members: Difference) -> Difference:
        pairs = tuple(pair._replace(old=bare(pair.old)) for pair in members.replaced)
        return members._replace(left=tuple(map(bare, members.left)), replaced=pairs)

    return tuple(replace(change, members=with_bare(change.members)) for change in changes)


@pytest.mark.parametrize(("session_ms", "longer_ms"), [(6_000, 30_000), (45_000, None)])
def test_a_session_of_the_group(session_ms: int, longer_ms: int | None) -> None:
    """The brokers' setting is played, and its advice is of the group; not beyond their bounds."""
    given = facts(*PAIR, changes=of_kip848(away(46_000, 8_000)))
    own = {SESSION_TIMEOUT: Setting(str(session_ms), "default")}
    group = replace(given.group, type="consumer", assignor="uniform")
    given = replace(
        given,
        group=group,
        snapshot=replace(given.snapshot, groups=(group,)),
        settings=GroupSettings(None, "", own),
    )
    (finding,) = found(given, "REBALANCE_STORM")
    if longer_ms is None:
        assert finding.proof is None
        ((code, why),) = examine(given, Prover(lambda: 0.0)).unproved
        assert (code, why.partition(":")[0]) == ("REBALANCE_STORM", "proof")
        return
    proof = proof_of(finding)
    assert proof.change == f"consumer.session.timeout.ms={longer_ms}"
    assert (proof.before["rebalances"], proof.after["rebalances"]) == (2 * TIMES, 0)
    assert finding.next == f"kgroups config g --set {proof.change}"


def test_a_member_that_is_away_just_now() -> None:
    """Another one stands in for it."""
    (finding,) = found(facts(PAIR[0], changes=away(46_000, 8_000)), "REBALANCE_STORM")
    assert proof_of(finding).after["rebalances"] == 0


def test_a_storm_that_no_setting_ends() -> None:
    """Members come and go by themselves: nothing is simulated, and nothing is missed."""
    log = GroupLog().group(1, recorded("app-1/a", [0, 1]))
    for turn in range(6):
        log.wait(60_000).group(2 * turn + 2, recorded("app-1/a", [0]), recorded(f"x{turn}/1", [1]))
        log.wait(60_000).group(2 * turn + 3, recorded("app-1/a", [0, 1]))
    given = facts(BOTH, changes=log.read())
    (finding,) = found(given, "REBALANCE_STORM")
    assert finding.proof is None
    assert examine(given, Prover(lambda: 0.0)).unproved == ()


def test_a_group_that_cannot_be_simulated() -> None:
    """Without members there is nothing to play; the advice stands, and that is said."""
    result = examine(facts(state="Empty", changes=away(46_000, 8_000)))
    (finding,) = (each for each in result.findings if each.code == "REBALANCE_STORM")
    assert finding.proof is None
    (unproved,) = result.unproved
    assert unproved[0] == "REBALANCE_STORM"
    assert unproved[1].startswith("proof: the group cannot be")


def test_one_more_member() -> None:
    """It halves the busiest one's partitions; where each has one, more partitions are planned."""
    (finding,) = found(falling_behind(), "FALLING_BEHIND")
    proof = proof_of(finding)
    assert (proof.change, proof.by) == ("one more member", "plan")
    assert (proof.before, proof.after) == ({"partitions_max": 2}, {"partitions_max": 1})
    assert finding.next == "kgroups plan g --add-members 1"
    (finding,) = found(
        watched(
            reads({0: 1_500, 1: 1_500}, 22_000, 22_000, members=EACH_HAS_ONE),
            reads({0: 1_000, 1: 1_000}, 21_000, 21_000, members=EACH_HAS_ONE),
        ),
        "FALLING_BEHIND",
    )
    assert proof_of(finding).change == "3 partitions of t and one more member"
    assert proof_of(finding).after == {"reading_members": 3}
    assert finding.next == "kgroups plan g --set-partitions t=3 --add-members 1"


def test_members_in_reserve_are_not_missed() -> None:
    """Without them the busiest member has as many partitions."""
    (finding,) = found(facts(BOTH, member("spare", "t")), "IDLE_MEMBERS")
    assert proof_of(finding).before == proof_of(finding).after == {"partitions_max": 2}
    (finding,) = found(facts(member("a", "t"), member("b", "t")), "IDLE_MEMBERS")
    assert finding.proof is None


def shared(besides: int) -> DoctorFacts:
    """The owner of a hot partition has another one, to which so many records come in 10 s."""
    pair = member("a", t=(0, 1)), member("b", t=(2, 3))
    ends = 20_000, 10_000 + besides, 10_000, 10_000
    now = reads({0: 10_000, 1: ends[1], 2: 10_000, 3: 10_000}, *ends, members=pair)
    before = reads({0: 9_000, 1: 10_000, 2: 10_000, 3: 10_000}, *[10_000] * 4, members=pair)
    return watched(now, before)


def test_another_strategy_for_a_hot_partition() -> None:
    """It helps where the owner reads others, too; the partition itself stays whole."""
    (finding,) = found(shared(5_000), "HOT_PARTITION")
    proof = proof_of(finding)
    assert (proof.before, proof.after) == ({"owner_rate_in": 1_500.0}, {"owner_rate_in": 1_000.0})
    assert "--assignor roundrobin" in finding.next or "--add-members 1" in finding.next
    for given in (shared(500), skewed(1_000)):
        (finding,) = found(given, "HOT_PARTITION")
        assert "neither more members nor another strategy" in finding.impact
        assert finding.next.startswith("kgroups describe g")
        proof_of(finding)


def ticks(step_s: float) -> Iterator[float]:
    """A clock on which so much passes whenever somebody looks."""
    now_s = 0.0
    while True:
        yield now_s
        now_s += step_s


@pytest.mark.parametrize("given", [falling_behind(), facts(*PAIR, changes=away(46_000, 8_000))])
def test_a_proof_that_takes_too_long_is_given_up(given: DoctorFacts) -> None:
    """The finding stands without it, with the reason; so do others when the run's time is over."""
    clock = ticks(proofs.PROOF_S + 0.1)
    prover = Prover(lambda: next(clock))
    code = examine(given).findings[0].code
    said = []
    for _ in range(4):
        result = examine(given, prover)
        assert [each.code for each in result.findings] == [code]
        assert result.findings[0].proof is None
        said.append(dict(result.unproved)[code])
    assert said[0] == "proof: it takes more than 3s"
    assert said[-1] == "proof: 9s for all groups are over"


def test_findings_that_are_only_worth_knowing_leave_time_for_the_others() -> None:
    """Idle members of many groups do not use up what a storm needs."""
    clock = ticks(0.02)
    prover = Prover(lambda: next(clock))
    idle = facts(BOTH, member("spare", "t"))
    reasons = [dict(examine(idle, prover).unproved).get("IDLE_MEMBERS") for _ in range(30)]
    assert reasons[-1] == "proof: 1s for all groups are over"
    (finding,) = examine(falling_behind(), prover).findings
    assert finding.proof is not None
