"""Faults of zones, spot instances and brokers, and cuts in one direction."""

from typing import Any

import pytest

from kgroups.core.simulation.figures.outcome import GroupOutcome
from tests.support.simulation.sample_scenarios import BASE, ZONES, scenario, told


def struck(
    text: str, *events: dict[str, Any], **keys: Any
) -> tuple[GroupOutcome, list[tuple[int, str, str]]]:
    """What comes of faults, and when processes ended and started after the first minute."""
    outcome, lines = told(scenario(text, events=list(events), **keys))
    (group,) = outcome.groups
    lives = ("started", "closed", "killed")
    return group, [
        (one.at_ms, one.kind, one.who) for one in lines if one.kind in lives and one.at_ms > 50_000
    ]


def test_a_zone_takes_its_members_with_it() -> None:
    """Those of its rack end without a word, and start when it is back."""
    event = {"at": "60s", "zone_outage": {"rack": "z", "for": "90s"}}
    group, lives = struck(ZONES, event)
    assert lives == [
        (60_000, "killed", "z-1"),
        (60_000, "killed", "z-2"),
        (150_000, "started", "z-1"),
        (150_000, "started", "z-2"),
    ]
    assert group.settled
    assert any("timed out" in one.cause for one in group.rebalances)


def test_a_zone_takes_its_brokers_with_it() -> None:
    """The group's coordinator is broker 0: nobody answers until another one takes over."""
    apart, _ = struck(ZONES, {"at": "60s", "zone_outage": {"rack": "z", "for": "60s"}})
    event = {"at": "60s", "zone_outage": {"rack": "z", "brokers": [0], "for": "60s"}}
    together, _ = struck(ZONES, event)
    broken = "OffsetCommit NETWORK_EXCEPTION"
    assert together.errors[broken] > apart.errors.get(broken, 0)


def test_spot_instances_end_with_a_notice() -> None:
    """Who closes in time says good-bye; who is busy is killed; each has a successor."""
    poison = {"at": "59s", "poison_record": {"group": "app", "member": "z-1", "for": "5m"}}
    eviction = {"group": "app", "rack": "z", "count": 2, "notice": "20s", "restart_after": "15s"}
    _, lives = struck(ZONES, poison, {"at": "60s", "spot_eviction": eviction})
    kinds = {who: [(kind, at // 1_000) for at, kind, w in lives if w == who] for _, _, who in lives}
    assert kinds["z-1"] == [("killed", 80), ("started", 95)]
    assert kinds["z-2"] == [("closed", 60), ("started", 75)]
    assert set(kinds) == {"z-1", "z-2"}


def test_chance_decides_who_is_evicted() -> None:
    """By the seed, and no more than there are."""
    event = {"at": "60s", "spot_eviction": {"group": "app", "count": 9}}
    group, _ = struck(BASE, event)
    assert sum(one.running for one in group.members) == 0
    one = {"at": "60s", "spot_eviction": {"group": "app"}}
    gone = set()
    for seed in range(8):
        found, _ = struck(BASE, one, seed=seed)
        gone |= {member.name for member in found.members if not member.running}
    assert len(gone) > 1


@pytest.mark.parametrize(
    "error", ["REBALANCE_IN_PROGRESS", "UNKNOWN_MEMBER_ID", "NETWORK_EXCEPTION"]
)
def test_a_sync_that_fails_costs_another_generation(error: str) -> None:
    """The member joins again, and the group settles all the same; without it once less."""
    grows = {"at": "60s", "scale_out": {"group": "app"}}
    fails = {"at": "59s", "request_error": {"group": "app", "error": error}}
    plain, _ = struck(BASE, grows)
    failed, _ = struck(BASE, fails, grows)
    assert failed.settled
    assert failed.errors[f"SyncGroup {error}"] == plain.errors.get(f"SyncGroup {error}", 0) + 1
    assert failed.epoch is not None
    assert plain.epoch is not None
    assert failed.epoch > plain.epoch - (error == "NETWORK_EXCEPTION")


def test_only_requests_of_the_member_fail_so_many_times() -> None:
    """By name and kind: heartbeats, which usually go a shorter way, too."""
    error = "COORDINATOR_LOAD_IN_PROGRESS"
    fails = {"group": "app", "member": "m-2", "api": "Heartbeat", "error": error, "times": 2}
    events = [{"at": "60s", "request_error": fails}]
    outcome, lines = told(scenario(BASE, events=events))
    (group,) = outcome.groups
    assert group.errors[f"Heartbeat {error}"] == 2
    assert {line.who for line in lines if error in line.text and line.kind == "Heartbeat"} == {
        "m-2"
    }


def test_a_slow_broker_costs_sessions_when_it_is_slower_than_they_are() -> None:
    """Two seconds more are nothing to a session of ten; forty are too many."""
    slow = {"at": "60s", "slow_broker": {"broker": 0, "by": "2s", "for": "2m"}}
    slower = {"at": "60s", "slow_broker": {"broker": 0, "by": "40s", "for": "2m"}}
    other = {"at": "60s", "slow_broker": {"broker": 1, "by": "40s", "for": "2m"}}
    assert struck(BASE, slow)[0].rebalance_count == struck(BASE)[0].rebalance_count
    assert struck(BASE, other)[0].rebalance_count == struck(BASE)[0].rebalance_count
    assert struck(BASE, slower)[0].rebalance_count > struck(BASE)[0].rebalance_count


def test_a_cut_of_answers_keeps_the_session_alive() -> None:
    """Heartbeats arrive, nobody hears the answers: until the client gives the connection up.

    A cut of nine seconds stays below `request.timeout.ms`; the one in flight arrives, and counts.
    """
    cut: dict[str, Any] = {"group": "app", "member": "m-1", "for": "9s"}
    found = {}
    for lost in ("both", "requests", "answers"):
        event = {"at": "60s", "network_partition": {**cut, "lost": lost}}
        found[lost], _ = struck(BASE, event)
    assert found["requests"].rebalance_count >= found["answers"].rebalance_count
    assert found["both"].rebalance_count >= found["answers"].rebalance_count
    assert found["answers"].rebalance_count == 1
    assert found["both"].rebalance_count > 1
