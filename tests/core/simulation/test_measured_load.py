"""Loads measured from looks at a group: what they say, and where they cannot say anything."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.cli.exits import now_ms
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.live.from_group import scenario_of_group
from kgroups.core.simulation.live.measured_load import MeasuredLoad, looks_in, measured_load
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from kgroups.core.snapshot_file import write_snapshot
from kgroups.core.times import parse_duration_ms
from tests.support.cli.runner import Outcome, run

AT_MS = 1_700_000_000_000
MINUTE_MS = 60_000
# Ends and commits of partitions 0 and 1, which m-0 and m-1 own; a minute lies between two looks.
Offsets = Sequence[tuple[int, int]]
BUSY: Offsets = ((100_000, 10_000), (100_000, 99_990))
BUSY_LATER: Offsets = ((106_000, 16_000), (101_200, 101_180))
KEPT_UP: Offsets = ((1_000, 1_000), (500, 500))
KEPT_UP_LATER: Offsets = ((1_600, 1_595), (500, 500))


def snapshot(
    offsets: Offsets, at_ms: int, owners: Sequence[str] = ("m-0", "m-1")
) -> ClusterSnapshot:
    """Topic `t`, read by group `g`."""
    logs = {n: PartitionLog(0, end, leader=1) for n, (end, _) in enumerate(offsets)}
    commits = {n: CommittedOffset(at) for n, (_, at) in enumerate(offsets)}
    owned: dict[str, tuple[int, ...]] = {}
    for number, owner in enumerate(owners):
        owned[owner] = (*owned.get(owner, ()), number)
    members = tuple(
        Member(name, "app", "/h", subscription=("t",), assignment={"t": numbers})
        for name, numbers in owned.items()
    )
    group = Group(
        "g", "classic", "Stable", "consumer", "range", members=members, offsets={"t": commits}
    )
    return ClusterSnapshot(at_ms, (group,), {"t": Topic("t", logs)}, cluster_id="c")


def load_of(*looks: ClusterSnapshot) -> MeasuredLoad:
    """The load between these."""
    return measured_load(looks_in(looks, "g"))


def test_members_that_keep_up_say_only_how_long_it_takes_at_most() -> None:
    """595 records in a minute: no more than 101 ms each."""
    load = load_of(snapshot(KEPT_UP, AT_MS), snapshot(KEPT_UP_LATER, AT_MS + MINUTE_MS))
    assert (load.record_ms, load.busy) == (None, 0)
    assert load.most_record_ms == pytest.approx(MINUTE_MS / 595)


def test_a_member_whose_partitions_changed_is_not_asked() -> None:
    """What it committed is not its own work alone."""
    before = snapshot(BUSY, AT_MS, owners=("m-1", "m-0"))
    load = load_of(before, snapshot(BUSY_LATER, AT_MS + MINUTE_MS))
    assert (load.record_ms, load.most_record_ms) == (None, None)
    assert load.rates == {("t", 0): 100.0, ("t", 1): 20.0}


def test_commits_and_logs_that_went_back_are_no_measure() -> None:
    """A reset says nothing about speed, a topic made anew nothing about the rate."""
    later: Offsets = ((50, 9_000), (101_200, 101_180))
    load = load_of(snapshot(BUSY, AT_MS), snapshot(later, AT_MS + MINUTE_MS))
    assert load.rates == {("t", 1): 20.0}
    assert load.record_ms is None


def test_the_scenario_has_what_was_measured_and_says_so() -> None:
    """Rates by partition, the backlog where it lies, and a group that needs as long as it did."""
    now = snapshot(BUSY_LATER, AT_MS + MINUTE_MS)
    scenario = scenario_of_group(now, "g", load_of(snapshot(BUSY, AT_MS), now))
    (topic,) = scenario.topics
    assert (topic.rate, topic.weights, topic.backlogs) == (120.0, (100.0, 20.0), (90_000, 20))
    assert {member.record.mean_ms for member in scenario.groups[0].members} == {10.0}
    assert scenario.measured == (
        "`t` receives 120 records per second over 60 s",
        "a record takes 10 ms to process, by 1 member that was behind",
    )
    assert not any("second" in text or "process" in text for text in scenario.assumed)
    outcome = simulate(replace(scenario, until_ms=MINUTE_MS))
    # Both read 100 records a second at most: m-0 falls behind no further, m-1 keeps up.
    lags = [partition.partition for partition in outcome.groups[0].partitions]
    assert lags == [0, 1]
    assert outcome.groups[0].unread == pytest.approx(90_000, rel=0.01)


def test_what_cannot_be_measured_is_assumed_and_said() -> None:
    """A partition that is new receives what the other does; nobody was behind."""
    now = snapshot(KEPT_UP_LATER, AT_MS + MINUTE_MS)
    load = load_of(snapshot(KEPT_UP, AT_MS), now)
    load = load._replace(rates={("t", 0): 10.0})
    scenario = scenario_of_group(now, "g", load)
    assert scenario.topics[0].rate == 20.0
    assert "1 partition of `t` receives as much as the others" in scenario.assumed
    assert (
        "a record takes 1 ms to process: no member was behind, so it could not be measured"
        in scenario.assumed
    )


def captured(folder: Path, at_ms: int, count: int = 3) -> None:
    """Captures half a minute apart, the group in each of them."""
    half = ((103_000, 13_000), (100_600, 100_590))
    for n, each in enumerate((BUSY, half, BUSY_LATER)[:count]):
        write_capture(folder, snapshot(each, at_ms + n * MINUTE_MS // 2))


def simulated(folder: Path, at_ms: int) -> Outcome:
    """The command, with a snapshot for the group itself and captures for its load."""
    write_snapshot(snapshot(BUSY_LATER, at_ms + MINUTE_MS), folder / "g.json")
    line = ("simulate", "--from-group", "g", "--from", str(folder / "g.json"), "--until", "60s")
    return run(*line, "--captures", str(folder / "captures"))


def test_the_command_measures_in_captures(tmp_path: Path) -> None:
    """As in looks at the cluster; what was measured is told."""
    at_ms = now_ms() - round(parse_duration_ms("1h"))
    captured(tmp_path / "captures", at_ms)
    found = simulated(tmp_path, at_ms)
    assert found.exit_code == 0, found.stderr
    assert "measured: `t` receives 120 records per second over 60 s" in found.stderr
    assert "measured: a record takes 10 ms to process" in found.stderr
    assert "10 records per second" not in found.stderr


def test_one_capture_is_no_window(tmp_path: Path) -> None:
    """Rates need two."""
    at_ms = now_ms() - round(parse_duration_ms("1h"))
    captured(tmp_path / "captures", at_ms, count=1)
    found = simulated(tmp_path, at_ms)
    assert found.exit_code == 5
    assert "`g` is in 1 captures of the window" in found.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--from-group", "g", "--from", "g.json", "--over", "5s"), "requires a cluster or"),
        (("deploy.yaml", "--over", "5s"), "require `--from-group`"),
        (("deploy.yaml", "--captures", "DIR"), "require `--from-group`"),
    ],
)
def test_where_nothing_can_be_measured(options: tuple[str, ...], message: str) -> None:
    """It is said before anything is read."""
    found = run("simulate", *options)
    assert found.exit_code == 2
    assert message in found.stderr


def test_an_empty_rack_of_librdkafka() -> None:
    """Its classic members show one where none is configured; under KIP-848 they send none."""
    now = snapshot(KEPT_UP, AT_MS)
    (group,) = now.groups
    members = tuple(replace(member, rack="") for member in group.members or ())
    now = replace(now, groups=(replace(group, members=members),))
    scenario = scenario_of_group(now, "g")
    assert scenario.groups[0].long_running
    (plan,) = scenario.groups
    under_848 = replace(scenario, groups=(replace(plan, protocol="consumer"),), until_ms=MINUTE_MS)
    outcome = simulate(under_848)
    (group_then,) = outcome.groups
    assert (group_then.state, group_then.errors, group_then.never_owned) == ("Stable", {}, 0)
