"""Consumers that assign themselves partitions and are no members of their group."""

import pytest

from kgroups.core.simulation.engine.run import simulate
from tests.support.simulation.sample_scenarios import (
    BASE,
    in_protocol,
    ran,
    refused,
    scenario,
    told,
)

PROTOCOLS = ("eager", "consumer")
MANUAL = BASE.replace("until: 4m", "until: 3m").replace(
    "m: {count: 3, topics: [orders], processing: 2ms}",
    "a: {assign: {orders: [0, 1, 2]}}\n      b: {assign: {orders: [3, 4, 5]}}",
)
MIXED = MANUAL.replace("b: {assign: {orders: [3, 4, 5]}}", "b: {topics: [orders]}")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_they_read_and_commit_and_join_nothing(protocol: str) -> None:
    """Without JoinGroup and heartbeats; the group is Empty, and takes their offsets."""
    found = ran(in_protocol(MANUAL, protocol))
    assert found.settled
    assert set(found.requests) == {"FindCoordinator", "OffsetCommit", "OffsetFetch"}
    assert not found.errors
    assert (found.state, found.rebalance_count, found.unowned_ms) == ("Empty", 0, 0)
    assert [one.partitions for one in found.members] == [3, 3]
    assert found.unread <= 6
    assert found.lag <= 60 * 6


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("commit", ["{mode: sync, every: 1s}", "async", "outside"])
def test_each_way_to_commit(commit: str, protocol: str) -> None:
    """A round trip, none, or nothing at all."""
    text = in_protocol(MANUAL, protocol).replace("]}}", f"]}}, commit: {commit}}}")
    found = ran(
        text.replace("until: 3m", "until: 90s"), {"at": "60s", "move_coordinator": {"group": "app"}}
    )
    assert found.settled
    assert found.unread <= 6
    assert (found.requests.get("OffsetCommit", 0) == 0) == (commit == "outside")
    assert commit == "outside" or found.lag <= 120


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_group_with_members_refuses_their_commits(protocol: str) -> None:
    """UNKNOWN_MEMBER_ID, every five seconds for three minutes; both read three partitions."""
    found = ran(in_protocol(MIXED, protocol))
    refused = found.errors["OffsetCommit UNKNOWN_MEMBER_ID"]
    assert 30 <= refused <= 36
    assert [one.partitions for one in found.members] == [3, 6]
    # From about 3 s on.
    assert found.doubled_ms == pytest.approx(3 * 177_000, rel=0.03)


def test_who_dies_reads_on_from_its_commit() -> None:
    """Nobody takes over; 30 records a second, commits every five seconds."""
    crash = {"at": "62s", "crash": {"group": "app", "member": "a", "restart_after": "9s"}}
    found = ran(MANUAL, crash)
    assert found.longest_unowned_ms == 9_000
    assert 0 < found.read_again <= 30 * 5
    assert found.unread <= 6


def test_who_is_closed_commits_first() -> None:
    """Nothing is read again."""
    restart = {"group": "app", "members": ["a"], "down": "2s", "pause": "1s"}
    found = ran(MANUAL, {"at": "62s", "rolling_restart": restart})
    assert found.read_again == 0
    assert "LeaveGroup" not in found.requests


def test_a_run_that_says_no_end_rests() -> None:
    """Though nobody is in the group, and one of them is gone for good."""
    text = MANUAL.replace("until: 3m\n", "").replace("rate: 60", "rate: 0")
    outcome = simulate(
        scenario(text, events=[{"at": "30s", "scale_in": {"group": "app", "members": ["a"]}}])
    )
    assert outcome.settled
    assert outcome.end_ms < 60_000


def test_partitions_that_are_added_are_not_theirs() -> None:
    """`all` are those of the start."""
    text = MANUAL.replace("[0, 1, 2]", "all").replace("[3, 4, 5]", "[5]")
    grown = {"at": "60s", "add_partitions": {"topic": "orders", "partitions": 9}}
    found = ran(text, grown, {"at": "70s", "scale_out": {"group": "app", "like": "b"}})
    assert [one.partitions for one in found.members] == [6, 1, 1]
    assert len(found.partitions) == 6


def test_they_seek_and_pause() -> None:
    """60 s of 30 records a second again."""
    found = ran(MANUAL, {"at": "60s", "seek": {"group": "app", "member": "a", "to": "beginning"}})
    assert found.read_again == pytest.approx(1_800, abs=10)
    paused = ran(MANUAL, {"at": "60s", "pause": {"group": "app", "member": "a", "for": "30s"}})
    assert paused.peak_unread == pytest.approx(900, rel=0.1)


def test_what_needs_a_subscription_is_refused() -> None:
    """`subscribe` and `unsubscribe` of who has none; and members of the ZooKeeper era."""
    for event in ("subscribe: {group: app, topics: [orders]}", "unsubscribe: {group: app}"):
        text = f"{MANUAL}events:\n  - {{at: 2m, {event}}}\n"
        assert "assigns itself its partitions" in refused(text).message
    assert "cannot choose partitions by hand" in refused(in_protocol(MANUAL, "zookeeper")).message


@pytest.mark.parametrize(
    ("commit", "said"),
    [("sync", "no answer came in time"), ("async", "the coordinator is not known")],
)
def test_a_commit_that_finds_no_coordinator(commit: str, said: str) -> None:
    """One that is waited for ends with `default.api.timeout.ms`; both are made up for."""
    text = MANUAL.replace("]}}", f"]}}, commit: {{mode: {commit}, every: 3s}}}}").replace(
        "until: 3m", "until: 90s"
    )
    text = text.replace("brokers: 3", "brokers: 1\nnetwork: {latency: 100ms}")
    text = text.replace("    settings:", "    settings:\n      default.api.timeout.ms: 5s")
    down = {"at": "30s", "broker_down": {"broker": 0, "for": "20s"}}
    outcome, lines = told(scenario(text, events=[down]))
    assert any(one.kind == "commit failed" and said in one.text for one in lines)
    assert outcome.settled
    assert outcome.groups[0].lag < 300


def test_an_assignor_may_give_partitions_to_all() -> None:
    """`broadcast`: everybody reads everything, so all but the first reads again."""
    settings = {"partition.assignment.strategy": "broadcast"}
    members = {"m": {"count": 3, "topics": ["orders"], "settings": settings}}
    found = ran(BASE, groups={"app": {"members": members}}, until="2m")
    assert found.settled
    assert [member.partitions for member in found.members] == [6, 6, 6]
    assert found.doubled_ms > 0
    assert found.read_again == pytest.approx(found.records * 2 / 3, rel=0.05)
    crash = {"at": "30s", "crash": {"group": "app", "member": "m-1", "restart_after": "1s"}}
    again = simulate(
        scenario(BASE, groups={"app": {"members": members}}, events=[crash], until="2m")
    ).groups[0]
    assert again.settled
    assert [member.partitions for member in again.members] == [6, 6, 6]
