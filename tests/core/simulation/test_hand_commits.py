"""Applications that commit by themselves: waiting or not, by partition, or outside Kafka."""

from typing import Any

import pytest

from kgroups.core.simulation.scenario.variation import varied
from tests.support.simulation.sample_scenarios import (
    BASE,
    in_protocol,
    ran,
    refused,
    scenario,
    told,
)

PROTOCOLS = ("eager", "cooperative", "consumer")
MODES = ("sync", "async", "outside")
# One member, six partitions with 1,000 records each to read and 100 a poll at 10 ms each.
DRAIN = """\
until: 5m
topics:
  orders: {partitions: 6, backlog: 6000}
groups:
  app:
    members:
      m: {topics: [orders], processing: 10ms, commit: sync}
    settings: {max.poll.records: 100, session.timeout.ms: 10s}
"""
CRASH: dict[str, Any] = {
    "at": "30s",
    "crash": {"group": "app", "member": "m", "restart_after": "1s"},
}


def committing(how: str, text: str = DRAIN) -> str:
    """The scenario with another way to commit."""
    return text.replace("commit: sync", f"commit: {how}")


def test_a_commit_that_is_waited_for_costs_a_round_trip_a_poll() -> None:
    """60 polls; 50 ms one way; the one that does not wait is faster by 60 times 100 ms."""
    slow = DRAIN.replace("until: 5m", "until: 5m\nnetwork: {latency: 50ms}")
    sync, nowait = (ran(committing(how, slow)) for how in ("sync", "async"))
    assert sync.requests["OffsetCommit"] == nowait.requests["OffsetCommit"] == 60
    assert sync.catch_up_ms - nowait.catch_up_ms == pytest.approx(6_000, abs=1_000)
    assert (sync.unread, sync.lag, nowait.lag) == (0, 0, 0)


@pytest.mark.parametrize(
    ("how", "most"),
    [
        # A batch of 100 begins again, or what is left of it.
        ("sync", 100),
        ("async", 100),
        ("outside", 100),
        ("{mode: sync, per: partition}", 100),
        # Up to 3 s of batches of 1 s, and the batch in work.
        ("{mode: sync, every: 3s}", 400),
        # All of 27 s, and the batch in work.
        ("none", 2_800),
    ],
)
def test_what_a_crash_reads_again(how: str, most: int) -> None:
    """A record takes 10 ms; whatever was handed out and not committed is read again."""
    found = ran(committing(how), CRASH)
    assert 0 < found.read_again <= most, found.read_again
    if how in ("none", "{mode: sync, every: 3s}"):
        assert found.read_again > 100
    assert found.unread == 0


def test_partitions_are_committed_one_by_one() -> None:
    """1,000 of one partition and 200 of another, 20 ms each from 3.0 s on: 20 s, then 4 s more."""
    text = committing("{mode: sync, per: partition}").replace("10ms", "20ms")
    text = text.replace("max.poll.records: 100", "max.poll.records: 1200")
    crash = {**CRASH, "at": "25s"}
    assert ran(text, crash).read_again == 200
    assert ran(text.replace(", per: partition", ""), crash).read_again == 1_200


def test_offsets_outside_kafka_are_sought() -> None:
    """Nothing is committed, nothing lost, and Kafka knows nothing of it."""
    found = ran(committing("outside"), CRASH)
    assert found.requests.get("OffsetCommit", 0) == 0
    # What is stored needs no OffsetFetch.
    assert found.requests.get("OffsetFetch", 0) == 0
    assert (found.unread, found.lag) == (0, 6_000)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mode", MODES)
def test_a_group_that_commits_by_hand_lives_through_everything(mode: str, protocol: str) -> None:
    """Crashes, restarts and cuts; in the end all is read, and committed where it is."""
    text = in_protocol(BASE, protocol).replace(
        "processing: 2ms", f"processing: 2ms, commit: {mode}"
    )
    text = text.replace("rate: 60", "rate: 12").replace("until: 4m", "until: 170s")
    found = ran(
        text,
        {"at": "30s", "crash": {"group": "app", "member": "m-1", "restart_after": "5s"}},
        {"at": "50s", "rolling_restart": {"group": "app", "down": "2s", "pause": "5s"}},
        {"at": "80s", "network_partition": {"group": "app", "member": "m-2", "for": "15s"}},
        {"at": "115s", "move_coordinator": {"group": "app"}},
        {"at": "120s", "scale_out": {"group": "app"}},
    )
    assert found.settled
    assert found.unread <= 6
    assert mode == "outside" or found.lag <= 12


def test_who_waits_for_a_commit_is_in_no_rebalance_until_it_is_answered() -> None:
    """An eager member joins again at its next poll, which comes after the answer."""
    text = BASE.replace("processing: 2ms", "processing: 2ms, commit: sync")
    text = text.replace("brokers: 3", "brokers: 3\nnetwork: {latency: 100ms}")
    text = text.replace("until: 4m", "until: 60s")
    event = {"at": "30s", "scale_out": {"group": "app"}}
    outcome, lines = told(scenario(text, events=[event]), every_request=True)
    assert outcome.settled
    after = [one for one in lines if one.at_ms > 30_000 and one.who == "m-1"]
    joins = next(n for n, one in enumerate(after) if one.kind == "JoinGroup")
    commits = [one for one in after[:joins] if one.kind == "OffsetCommit"]
    assert commits


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_commit_during_a_cooperative_rebalance_fails_and_is_made_up_for(mode: str) -> None:
    """It reads on while it rejoins, and the member between two generations cannot commit."""
    text = in_protocol(BASE, "cooperative").replace(
        "processing: 2ms", f"processing: 2ms, commit: {mode}"
    )
    text = text.replace("brokers: 3", "brokers: 3\nnetwork: {latency: 60ms}")
    text = text.replace("until: 4m", "until: 60s")
    event = {"at": "30s", "scale_out": {"group": "app"}}
    outcome, lines = told(scenario(text, events=[event]))
    failed = [one for one in lines if one.kind == "commit failed" and one.at_ms > 30_000]
    assert any("REBALANCE_IN_PROGRESS" in one.text for one in failed), failed
    assert outcome.groups[0].lag <= 36


@pytest.mark.share(3)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("how", ["enable.auto.commit: false", *MODES])
def test_a_member_without_partitions_polls_on(how: str, protocol: str) -> None:
    """Four Java members on three partitions; each polls before `max.poll.interval.ms` is over."""
    text = in_protocol(BASE, protocol).replace("partitions: 6", "partitions: 3")
    text = text.replace("count: 3", "count: 4").replace("until: 4m", "until: 2m")
    text = text.replace("interval.ms: 60s", "interval.ms: 8s").replace("rate: 60", "rate: 6")
    if how not in MODES:
        text = text.replace("    settings:", f"    settings:\n      {how}")
    else:
        text = text.replace("processing: 2ms", f"processing: 2ms, commit: {how}")
    found = ran(text)
    assert found.settled
    assert sorted(one.partitions for one in found.members) == [0, 1, 1, 1]
    assert found.rebalance_count <= 4, found.causes


def test_ways_to_commit_can_vary() -> None:
    """`per` stays."""
    one = scenario(committing("{mode: sync, per: partition}"))
    plan = varied(one, {"commit": "async"}).groups[0].members[0].commit
    assert plan is not None
    assert (plan.mode, plan.per) == ("async", "partition")
    nothing = varied(one, {"commit": "none"}).groups[0].members[0]
    assert (nothing.commits, nothing.auto_commits) == (None, False)


def test_a_group_says_it_for_all_its_members() -> None:
    """A member may say otherwise."""
    text = BASE.replace("    members:", "    commit: {mode: sync, every: 2s}\n    members:")
    text = text.replace(
        "    settings:", "      n: {topics: [orders], commit: outside}\n    settings:"
    )
    plans = [one.commit for one in scenario(text).groups[0].members]
    assert [(one.mode, one.every_ms) for one in plans if one] == [("sync", 2_000)] * 3 + [
        ("outside", 0)
    ]


def test_a_commit_that_finds_no_coordinator_is_given_up_after_its_time() -> None:
    """`default.api.timeout.ms`; the application polls on."""
    text = BASE.replace("processing: 2ms", "processing: 2ms, commit: sync")
    text = text.replace("    settings:", "    settings:\n      default.api.timeout.ms: 5s")
    text = text.replace("brokers: 3", "brokers: 1\nnetwork: {latency: 100ms}")
    text = text.replace("until: 4m", "until: 2m")
    down = {"at": "30s", "broker_down": {"broker": 0, "for": "30s"}}
    outcome, lines = told(scenario(text, events=[down]))
    assert outcome.settled
    assert any(one.kind == "commit failed" and "in time" in one.text for one in lines)
    assert outcome.groups[0].unread < 60


def test_members_of_the_zookeeper_era_commit_by_themselves() -> None:
    """In ZooKeeper."""
    text = in_protocol(BASE, "zookeeper").replace("processing: 2ms", "commit: sync")
    assert "commits by itself" in refused(text).message
