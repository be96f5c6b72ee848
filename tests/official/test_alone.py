"""Scenarios about all groups of a cluster, on one that holds nothing but theirs."""

import time
from collections.abc import Iterator, Mapping

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.official_tools import Answer
from tests.support.kafka.vanished import commit_to_vanished_topic
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    Offsets,
    commit_offsets,
    create_topics,
    fetch_offsets,
    produce,
)
from tests.support.official.running import run_ours, without_undo

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "a broker of its own; the embedded cluster: tests/official/test_on_sandbox.py"
    ),
]

ONE, TWO, HALVES = "alone-one", "alone-two", "alone-halves"
MODES = ("", "--dry-run", "--execute")


@pytest.fixture(scope="module")
def alone() -> Iterator[KafkaCluster]:
    """A broker of this module's own, with 100 records in each partition."""
    with KafkaCluster() as cluster:
        create_topics(cluster.bootstrap, {ONE: 1, TWO: 2, HALVES: 1})
        produce(cluster.bootstrap, {(ONE, 0): 100, (TWO, 0): 100, (TWO, 1): 100})
        yield cluster


def only(cluster: KafkaCluster, groups: Mapping[str, Offsets]) -> None:
    """Make these the only groups of the cluster."""
    with ClusterAdmin(ClientSettings(cluster.bootstrap)) as admin:
        admin.delete_groups(admin.group_names())
    commit_offsets(cluster.bootstrap, groups)


def ask(cluster: KafkaCluster, line: str) -> Answer:
    """Our answer to an official line."""
    return run_ours(["--bootstrap-server", cluster.bootstrap, *line.split()])


def names(cluster: KafkaCluster) -> list[str]:
    """All groups there are."""
    with ClusterAdmin(ClientSettings(cluster.bootstrap)) as admin:
        return list(admin.group_names())


def test_delete_all_groups(alone: KafkaCluster) -> None:
    """Three groups go, and none is left; then there is none to delete."""
    only(alone, {f"all-{number}": {(ONE, 0): 1} for number in range(3)})
    told = ask(alone, "--delete --all-groups")
    listed = "'all-0', 'all-1', 'all-2'"
    said = f"Deletion of requested consumer groups ({listed}) was successful.\n"
    assert told == Answer(said, "", 0)
    assert names(alone) == []
    told = ask(alone, "--delete --all-groups")
    assert told == Answer("Deletion of requested consumer groups () was successful.\n", "", 0)
    assert ask(alone, "--list") == Answer("", "", 0)
    header = "GROUP                     STATE               \n"
    assert ask(alone, "--list --state") == Answer(header, "", 0)


def test_types_of_classic_groups(alone: KafkaCluster) -> None:
    """Where all are classic, `--type` and `classic` show all, `consumer` none."""
    only(alone, {"simple-a": {(ONE, 0): 1}, "simple-b": {(TWO, 0): 1}})
    for line in ("--list --type", "--list --type Classic", "--list --type consumer,classic"):
        rows = [row.split() for row in ask(alone, line).stdout.splitlines()]
        assert rows == [["GROUP", "TYPE"], ["simple-a", "Classic"], ["simple-b", "Classic"]]
    told = ask(alone, "--list --type Consumer")
    assert (told.status, told.stdout.split()) == (0, ["GROUP", "TYPE"])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("chosen", ["--all-groups", "--group all-0 --group all-1 --group all-2"])
def test_reset_of_all_groups_on_a_topic(alone: KafkaCluster, chosen: str, mode: str) -> None:
    """The plan is the same in each mode; only `--execute` commits it."""
    start: dict[str, Offsets] = {f"all-{number}": {(ONE, 0): number} for number in range(3)}
    only(alone, start)
    told = ask(alone, f"--reset-offsets {chosen} --topic {ONE} --to-offset 50 {mode}")
    assert told.status == 0
    assert ("WARN: No action will be performed" in told.stderr) is (mode == "")
    rows = [row.split() for row in told.stdout.splitlines() if row]
    assert rows[1:] == [[name, ONE, "0", "50"] for name in start]
    wanted = {name: {(ONE, 0): 50} for name in start} if mode == "--execute" else start
    assert {name: fetch_offsets(alone.bootstrap, name) for name in start} == wanted


@pytest.mark.parametrize("mode", MODES)
def test_reset_of_all_groups_on_all_topics(alone: KafkaCluster, mode: str) -> None:
    """Two groups with two topics each: every group on what it has committed."""
    start: dict[str, Offsets] = {
        "all-0": {(ONE, 0): 1, (TWO, 0): 2},
        "all-1": {(ONE, 0): 3, (TWO, 1): 4},
    }
    only(alone, start)
    told = ask(alone, f"--reset-offsets --all-groups --all-topics --to-offset 50 {mode}")
    rows = [row.split() for row in told.stdout.splitlines() if row]
    assert rows[1:] == [
        [group, topic, str(number), "50"]
        for group, offsets in start.items()
        for topic, number in offsets
    ]
    wanted = start
    if mode == "--execute":
        wanted = {group: dict.fromkeys(offsets, 50) for group, offsets in start.items()}
    assert {name: fetch_offsets(alone.bootstrap, name) for name in start} == wanted


def test_reset_to_a_moment_between_records(alone: KafkaCluster) -> None:
    """A time with a zone, between two batches of 50: the second begins at 50."""
    only(alone, {"halves": {(HALVES, 0): 7}})
    produce(alone.bootstrap, {(HALVES, 0): 50})
    between_ms = time.time_ns() // 1_000_000 + 2
    wait_until(lambda: time.time_ns() // 1_000_000 > between_ms, "the clock moves on")
    produce(alone.bootstrap, {(HALVES, 0): 50})
    seconds, millis = divmod(between_ms, 1_000)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds + 19_800))
    told = ask(
        alone,
        f"--reset-offsets --group halves --topic {HALVES} --execute "
        f"--to-datetime {moment}.{millis:03d}+05:30",
    )
    assert (told.status, without_undo(told.stderr)) == (0, "")
    assert fetch_offsets(alone.bootstrap, "halves") == {(HALVES, 0): 50}


def test_vanished_topic_hides_nothing(alone: KafkaCluster) -> None:
    """A deleted topic's commits are a row with dashes, a failure; no group is hidden by it.

    A reset leaves that group out by name, and is done for the others.
    """
    only(alone, {"mourner": {(ONE, 0): 1}, "other": {(ONE, 0): 100}})
    commit_to_vanished_topic(alone, "mourner", "was-here", {0: 5})
    told = ask(alone, "--describe --all-groups")
    rows = [line.split()[:6] for line in told.stdout.splitlines() if line]
    assert ["mourner", "was-here", "0", "5", "-", "-"] in rows
    assert ["mourner", ONE, "0", "1", "100", "99"] in rows
    assert ["other", ONE, "0", "100", "100", "0"] in rows
    assert "UnknownTopicOrPartitionException" in told.stderr
    assert told.status == 1
    told = ask(alone, "--reset-offsets --all-groups --all-topics --to-earliest --execute")
    assert told.status == 1
    assert "hint: group mourner is left out" in told.stderr
    assert "UnknownTopicOrPartitionException" in told.stderr
    assert fetch_offsets(alone.bootstrap, "other") == {(ONE, 0): 0}
    assert fetch_offsets(alone.bootstrap, "mourner")[ONE, 0] == 1


def test_a_guard_forbids_writes(alone: KafkaCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 4, and the group is still there; what only looks is not guarded."""
    only(alone, {"guarded": {(ONE, 0): 1}})
    monkeypatch.setenv("KGROUPS_EXPECT_CLUSTER_ID", "another-cluster")
    told = ask(alone, "--delete --group guarded")
    assert told.status == 4
    assert "not `another-cluster` as --expect-cluster-id expects" in told.stderr
    assert ask(alone, "--list").stdout.split() == ["guarded"]
    monkeypatch.delenv("KGROUPS_EXPECT_CLUSTER_ID")
    assert ask(alone, "--delete --group guarded").status == 0
