"""Deploys: pods are made and ended as Kubernetes' controllers do it, and what that does to a group.

Times were computed by hand from the controllers' rules.
"""

from typing import Any

import pytest

from kgroups.core.simulation.figures.figure_fields import values_of
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.kubernetes.deploy_event import Amount, Deploy, fenceposts
from kgroups.core.simulation.scenario.event_file import parse_event
from tests.support.simulation.sample_scenarios import (
    BASE,
    in_protocol,
    ran,
    scenario,
    told,
)

FOUR = BASE.replace("count: 3", "count: 4").replace("until: 4m\n", "")


def deployed(text: str = FOUR, **keys: Any) -> tuple[GroupOutcome, list[tuple[int, str, str]]]:
    """What came of a deploy at one minute, and when its pods started and were told to end."""
    event = {"at": "60s", "deploy": {"group": "app", **keys}}
    outcome, lines = told(scenario(text, events=[event]))
    (group,) = outcome.groups
    moves = [
        ((one.at_ms - 60_000 + 500) // 1_000, one.kind, one.who)
        for one in lines
        if one.kind in ("started", "closed", "killed") and one.at_ms > 60_000
    ]
    return group, moves


@pytest.mark.parametrize(
    ("surge", "unavailable", "replicas", "expected"),
    [
        # 25 % of 10: 2.5 pods, up to 3 and down to 2; of 3: 0.75, up to 1 and down to 0.
        ("25%", "25%", 10, (3, 2)),
        ("25%", "25%", 3, (1, 0)),
        ("25%", "25%", 4, (1, 1)),
        ("0", "25%", 3, (0, 1)),
        ("0", "0", 5, (0, 1)),
        ("0%", "0%", 5, (0, 1)),
        ("100%", "0", 7, (7, 0)),
        ("2", "1", 5, (2, 1)),
    ],
)
def test_shares_are_rounded_as_kubernetes_does(
    surge: str, unavailable: str, replicas: int, expected: tuple[int, int]
) -> None:
    """The surge up, the unavailable down, and one may be missing where both are nothing."""

    def amount(text: str) -> Amount:
        return Amount(int(text.rstrip("%")), percent=text.endswith("%"))

    assert fenceposts(amount(surge), amount(unavailable), replicas) == expected


def test_a_surge_of_one_replaces_pod_by_pod() -> None:
    """One more is made, and only when it is available one of the old ends: four times 5 + 5 s."""
    group, moves = deployed(maxSurge=1, maxUnavailable=0)
    (deploy,) = group.deploys
    assert moves == [
        (5, "started", "m-5"),
        (10, "closed", "m-4"),
        (15, "started", "m-6"),
        (20, "closed", "m-3"),
        (25, "started", "m-7"),
        (30, "closed", "m-2"),
        (35, "started", "m-8"),
        (40, "closed", "m-1"),
    ]
    assert (deploy.completed, deploy.took_ms, deploy.replicas) == (True, 40_000, 4)
    assert deploy.settled_ms is not None
    assert deploy.settled_ms >= 40_000


def test_one_may_be_missing_and_one_too_many() -> None:
    """The default with four: one is made and one ended at once, and then two at a time.

    At 0 s five pods with the new one; three must be available, so one old one ends, and its place
    is made anew at once. At 10 s the two new ones are available: two old ones end, two are made.
    At 20 s the last old one ends.
    """
    _, moves = deployed()
    assert moves == [
        (0, "closed", "m-4"),
        (5, "started", "m-5"),
        (5, "started", "m-6"),
        (10, "closed", "m-3"),
        (10, "closed", "m-2"),
        (15, "started", "m-7"),
        (15, "started", "m-8"),
        (20, "closed", "m-1"),
    ]


def test_all_at_once() -> None:
    """Everything may be missing: all end, all are made."""
    group, moves = deployed(maxSurge=0, maxUnavailable="100%")
    assert [one[:2] for one in moves] == [(0, "closed")] * 4 + [(5, "started")] * 4
    assert group.deploys[0].took_ms == 10_000


def test_a_pod_has_to_be_ready_for_a_while() -> None:
    """`minReadySeconds` counts from readiness on, as a bare number in seconds."""
    group, _ = deployed(maxSurge=4, maxUnavailable=0, minReadySeconds=20, readiness="1s")
    assert group.deploys[0].took_ms == 5_000 + 1_000 + 20_000


def test_a_stateful_set_goes_down_its_ordinals() -> None:
    """The next one ends when the one before it is ready; names stay."""
    group, moves = deployed(kind="StatefulSet", startup="3s", readiness="6s")
    assert moves == [
        (0, "closed", "m-4"),
        (3, "started", "m-4"),
        (9, "closed", "m-3"),
        (12, "started", "m-3"),
        (18, "closed", "m-2"),
        (21, "started", "m-2"),
        (27, "closed", "m-1"),
        (30, "started", "m-1"),
    ]
    assert group.deploys[0].replicas == 4


def test_static_members_of_a_stateful_set_cost_no_rebalance() -> None:
    """They come back by their names; pods of a Deployment never do, and the old ids time out."""
    static = FOUR.replace("count: 4", "static: true, count: 4")
    kept, _ = deployed(static, kind="StatefulSet")
    assert kept.deploys[0].rebalances == 0
    renamed, _ = deployed(static)
    assert renamed.deploys[0].rebalances >= 3
    assert any(one.cause.endswith("timed out") for one in renamed.rebalances)


def test_who_does_not_end_in_time_is_killed() -> None:
    """A record that takes two minutes holds the consumer's close up; the grace period ends it."""
    poison = {"at": "55s", "poison_record": {"group": "app", "member": "m-4", "for": "2m"}}
    event = {
        "at": "60s",
        "deploy": {"group": "app", "maxSurge": 0, "terminationGracePeriodSeconds": 8},
    }
    _, lines = told(scenario(FOUR, events=[poison, event]))
    (killed,) = [one for one in lines if one.kind == "killed"]
    assert (killed.who, killed.at_ms) == ("m-4", 68_000)


def test_an_application_that_ignores_sigterm_costs_a_session() -> None:
    """It never says good-bye: its partitions wait until the session is over."""
    clean, _ = deployed()
    abrupt, moves = deployed(graceful=False)
    assert {kind for _, kind, _ in moves} == {"killed", "started"}
    assert abrupt.deploys[0].unowned_ms > clean.deploys[0].unowned_ms + 5_000


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize(
    ("before", "after"),
    [("eager", "cooperative"), ("eager", "consumer"), ("consumer", "eager")],
)
def test_a_protocol_is_changed_member_by_member(before: str, after: str, kind: str) -> None:
    """While both are there the broker brings them together; in the end the group is the new one."""
    group, _ = deployed(in_protocol(FOUR, before), kind=kind, change={"protocol": after})
    (deploy,) = group.deploys
    assert (deploy.completed, group.protocol, group.state) == (True, after, "Stable")
    assert group.settled


def test_an_assignor_that_the_old_members_lack_fails() -> None:
    """The broker refuses each new member; the old ones that are left go on, undisturbed."""
    change = {"settings": {"partition.assignment.strategy": "sticky"}}
    group, moves = deployed(change=change, maxUnavailable=0, progressDeadlineSeconds=300)
    (deploy,) = group.deploys
    assert (deploy.completed, deploy.took_ms, deploy.rebalances) == (False, None, 0)
    assert deploy.failure == "JoinGroup was answered INCONSISTENT_GROUP_PROTOCOL"
    assert sum(one.running for one in group.members) == 4
    # Started again at once, then after 10, 20, 40, 80 s, and 5 s of start-up each time.
    assert [at for at, kind, _ in moves if kind == "started"] == [5, 10, 25, 50, 95, 180]
    values = values_of([group])
    assert (values["deploys_failed"], values["deploy_seconds"]) == (1, 0)


def test_other_topics() -> None:
    """What nobody reads any more is no partition without an owner, and what is new has one."""
    text = FOUR.replace("  orders:", "  bills: {partitions: 2, rate: 10}\n  orders:")
    group, _ = deployed(text, change={"topics": ["bills"]})
    assert group.settled
    assert {(one.topic, one.owner is not None) for one in group.partitions} == {("bills", True)}


def test_a_deploy_takes_over_from_another() -> None:
    """The new manifest counts: pods of the first that run are old now, the others never start."""
    events = [
        {"at": "60s", "deploy": {"group": "app", "change": {"protocol": "cooperative"}}},
        {"at": "72s", "deploy": {"group": "app", "change": {"client_id": "v3"}}},
    ]
    group = ran(FOUR, events=events)
    first, second = group.deploys
    assert (first.completed, first.failure) == (False, "another deploy took over")
    assert (second.completed, second.replicas) == (True, 4)
    assert group.protocol == "cooperative"
    assert sum(one.running for one in group.members) == 4


def test_scaling_waits_for_a_deploy() -> None:
    """What is scaled is what there is when all is replaced."""
    events = [
        {"at": "60s", "deploy": {"group": "app"}},
        {"at": "61s", "scale_in": {"group": "app", "count": 1}},
    ]
    group = ran(FOUR, events=events)
    assert group.deploys[0].replicas == 4
    assert sum(one.running for one in group.members) == 3


def test_a_pod_that_dies_meanwhile_is_started_again() -> None:
    """The old one that is down is replaced first; a new one comes back by itself."""
    events = [
        {"at": "55s", "crash": {"group": "app", "member": "m-1", "restart_after": "10m"}},
        {"at": "60s", "deploy": {"group": "app", "maxUnavailable": 1, "maxSurge": 0}},
        {"at": "67s", "crash": {"group": "app", "member": "m-5"}},
    ]
    group = ran(FOUR, events=events)
    assert group.deploys[0].completed
    lives = {one.name: (one.lives, one.running) for one in group.members}
    assert lives["m-1"] == (1, False)
    assert lives["m-5"] == (2, True)


def test_the_command_line_spells_changes_with_dots() -> None:
    """Of the members, and of their settings."""
    text = "deploy:at=5m,maxSurge=50%,change.static=true,change.topics=orders"
    event = parse_event(text + ",change.max.poll.records=7", scenario()).event
    assert isinstance(event, Deploy)
    assert (event.surge, event.change.static) == (Amount(50, percent=True), True)
    assert (event.change.topics, event.change.settings) == (("orders",), (("max_poll_records", 7),))
