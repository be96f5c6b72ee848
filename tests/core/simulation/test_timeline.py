"""Lines of a timeline: in the words of a scenario, and never Python's."""

import re

import pytest

from kgroups.core.simulation.scenario.event_file import event_text, parse_event
from kgroups.core.simulation.scenario.scenario_events import SCENARIO_EVENTS
from tests.support.simulation.sample_scenarios import EVENTS, scenario, told, with_event

TEXTS = {
    "rolling_restart:members=m-1+m-2": "members m-1+m-2, down 10.0s, pause 30.0s, graceful true",
    "seek:to=timestamp:10s,partitions=0+1": "to timestamp:10000ms, partitions 0+1",
    "load:topic=orders,rate=90/m": "topic orders, rate 1.5/s",
    "network_partition:member=m-1,for=5s": "member m-1, for 5.0s, lost both",
    "deploy:change.static=true,change.topics=orders,change.fetch.min.bytes=5": (
        "kind Deployment, maxSurge 25%, maxUnavailable 25%, startup 5.0s, readiness 5.0s, "
        "minReadySeconds 0, terminationGracePeriodSeconds 30, progressDeadlineSeconds 600, "
        "graceful true, change static=true, topics=orders, fetch.min.bytes=5"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spelled", "text"), TEXTS.items())
def test_an_event_is_told_by_the_keys_of_a_file(spelled: str, text: str) -> None:
    """Times with their units, lists as the command line has them."""
    assert event_text(parse_event(spelled, scenario()).event) == text


def test_no_event_is_told_in_python() -> None:
    """Neither tuples nor objects, nor fields in the place of keys."""
    told = [event_text(with_event(kind, "eager")[1].events[-1].event) for kind in EVENTS]
    assert len(told) == len(SCENARIO_EVENTS)
    assert not [text for text in told if re.search(r"[('{<]|None|True|False|_ms", text)]


@pytest.mark.parametrize("protocol", ["eager", "consumer"])
def test_a_commit_before_a_rejoin_is_told(protocol: str) -> None:
    """It comes before the partitions are given up; those at rest are told on request alone."""
    _, lines = told(with_event("scale_out", protocol)[1])
    commits = [one for one in lines if one.kind == "OffsetCommit"]
    given_up = [one for one in lines if one.kind == "revoked" and one.text != "0 partitions"]
    assert [one.who for one in commits] == [one.who for one in given_up]
    assert all(one.at_ms <= gone.at_ms for one, gone in zip(commits, given_up, strict=True))


STATES = {
    "eager": [
        "UNJOINED -> PREPARING_REBALANCE",
        "PREPARING_REBALANCE -> COMPLETING_REBALANCE",
        "COMPLETING_REBALANCE -> STABLE",
        "STABLE -> PREPARING_REBALANCE",
        "STABLE -> UNJOINED",
    ],
    "consumer": [
        "UNSUBSCRIBED -> JOINING",
        "JOINING -> STABLE",
        "STABLE -> RECONCILING",
        "RECONCILING -> ACKNOWLEDGING",
        "ACKNOWLEDGING -> STABLE",
    ],
}


@pytest.mark.parametrize("protocol", STATES)
def test_a_member_tells_its_state_by_java_s_names(protocol: str) -> None:
    """AbstractCoordinator.MemberState, or the MemberState of KIP-848; in other clients not."""
    run = with_event("scale_in", protocol)[1]
    _, lines = told(run)
    states = {one.text for one in lines if one.kind == "member state"}
    assert set(STATES[protocol]) <= states


def test_a_member_tells_whom_it_asks_for_its_coordinator() -> None:
    """Any broker; to the coordinator a Java consumer has a connection of its own."""
    _, lines = told(with_event("move_coordinator", "eager")[1])
    asked = {one.text for one in lines if one.kind == "FindCoordinator" and "asks" in one.text}
    assert asked == {"asks broker 0"}
    found = [one.text for one in lines if one.kind == "coordinator found"]
    assert {found[0], found[-1]} == {"broker 0, as node 2147483647", "broker 1, as node 2147483646"}
