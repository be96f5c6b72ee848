"""A cluster of which a part is away: what is left is shown, what is missing is said."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kgroups.core.errors import ClusterError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.snapshot import CommittedOffset
from tests.support.cli.process import finish
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.vanished import commit_to_vanished_topic
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce
from tests.support.own_waiting import OwnWaiting

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("two brokers; embedded ones: tests/core/kafka/test_odd_brokers.py"),
]


@pytest.fixture(scope="module")
def pair() -> Iterator[KafkaCluster]:
    """Two brokers; each test leaves both running."""
    with KafkaCluster(ClusterSpec(brokers=2, racks=("left", "right"))) as cluster:
        yield cluster


def test_cluster_without_groups(pair: KafkaCluster) -> None:
    """Nothing is an answer, not an error."""
    with ClusterAdmin(ClientSettings(pair.bootstrap)) as admin:
        admin.delete_groups(admin.group_names())
        listing, snapshot = admin.list_groups(), admin.snapshot()
        assert admin.snapshot([]).groups == ()
        assert admin.delete_groups([]) == ()
        assert admin.coordinators([]).errors == ()
    assert (listing.groups, listing.errors) == ((), ())
    assert (snapshot.groups, dict(snapshot.topics), snapshot.errors) == ((), {}, ())
    assert [(broker.id, broker.rack) for broker in listing.brokers] == [(1, "left"), (2, "right")]


def test_stopped_broker_takes_its_share_only(pair: KafkaCluster) -> None:
    """Groups of broker 1 are shown; those of broker 2 and its partitions are rows in `errors`."""
    create_topics(pair.bootstrap, {"away": 2}, replicas={"away": [[1], [2]]})
    produce(pair.bootstrap, {("away", 0): 5, ("away", 1): 6})
    names = [f"away-{number}" for number in range(12)]
    commit_offsets(pair.bootstrap, {name: {("away", 0): 1, ("away", 1): 2} for name in names})
    settings = ClientSettings(pair.bootstrap)
    with ClusterAdmin(settings) as admin:
        whole = admin.snapshot(names)
        assert whole.errors == ()
        assert [log.racks for log in whole.topics["away"].partitions.values()] == [
            ("left",),
            ("right",),
        ]
    at = {group.group: group.coordinator for group in whole.groups}
    assert sorted(at) == sorted(names)
    left = [name for name in names if at[name] == 1]
    assert set(at.values()) == {1, 2}
    pair.stop_brokers([2])
    try:
        with ClusterAdmin(settings, timeout_ms=4_000) as admin:
            with OwnWaiting() as waiting:
                everything = admin.snapshot()
                named = admin.snapshot(names)
            assert waiting.seconds < 2 * (4.0 + 2)
    finally:
        pair.restart()
    for snapshot in (everything, named):
        shown = [group.group for group in snapshot.groups if group.group in names]
        assert sorted(shown) == sorted(left)
        logs = snapshot.topics["away"].partitions
        assert (logs[0].log_end_offset, logs[0].error) == (5, None)
        assert (logs[1].leader, logs[1].log_end_offset) == (None, None)
        assert logs[1].error == "LEADER_NOT_AVAILABLE"
        assert ("away-1", "LEADER_NOT_AVAILABLE", 3) in [
            (error.target, error.code, error.exit_code) for error in snapshot.errors
        ]
    missing = {error.target for error in named.errors} - {"away-1"}
    assert set(names) - set(left) <= missing | {"away-1"}


def test_a_refused_reset_tells_the_dead_broker_once(pair: KafkaCluster, tmp_path: Path) -> None:
    """Each group is an error of the document; stderr has a line for all of a cause."""
    create_topics(pair.bootstrap, {"stays": 1}, replicas={"stays": [[1]]})
    names = [f"told-{number:03}" for number in range(200)]
    commit_offsets(pair.bootstrap, {name: {("stays", 0): 0} for name in names})
    pair.stop_brokers([2])
    try:
        code, stdout, stderr = finish(
            *("reset-offsets", *names, "--all-topics", "--to", "latest", "--yes", "-o", "json"),
            *("-b", pair.address(1), "--timeout", "4s", "--undo-dir", str(tmp_path)),
        )
    finally:
        pair.restart()
    document = json.loads(stdout)
    lost = [error for error in document["errors"] if error["target"] in names]
    assert len(lost) > 50
    assert code == 3
    assert {error["code"] for error in lost} <= {
        "COORDINATOR_NOT_AVAILABLE",
        "BROKER_NOT_AVAILABLE",
    }
    told = [line for line in stderr.splitlines() if line.startswith("error: ")]
    assert len(told) <= 2
    assert f"and {len(lost) - 3} more: " in told[0]
    assert len(stderr.splitlines()) < 10


def test_copying_from_a_group_whose_coordinator_is_dead(pair: KafkaCluster, tmp_path: Path) -> None:
    """The cluster's failure, exit 3, with the group's name; so does what else asks for it."""
    create_topics(pair.bootstrap, {"kept": 1}, replicas={"kept": [[1]]})
    names = [f"orphan-{number}" for number in range(64)]
    commit_offsets(pair.bootstrap, {name: {("kept", 0): 0} for name in names})
    with ClusterAdmin(ClientSettings(pair.bootstrap)) as admin:
        at = {name: place.id for name, place in admin.coordinators(names).coordinators.items()}
    assert set(at.values()) == {1, 2}, at
    orphan, spare = (next(name for name in names if at[name] == number) for number in (2, 1))
    way = ("-b", pair.address(1), "--timeout", "4s")
    undo = ("--undo-dir", str(tmp_path), "--yes")
    commands = (
        ("copy-offsets", "--from", orphan, "--to", spare, *undo),
        ("reset-offsets", spare, "--to", f"group:{orphan}", *undo),
        ("delete-records", "kept", "--before", f"group:{orphan}", "--yes"),
        ("remove-members", orphan, "--all", "--yes"),
        ("simulate", "--from-group", orphan),
    )
    pair.stop_brokers([2])
    try:
        ends = [finish(*command, *way) for command in commands]
    finally:
        pair.restart()
    for command, (code, stdout, stderr) in zip(commands, ends, strict=True):
        assert (code, stdout) == (3, ""), (command, stderr)
        assert f"error: `{orphan}`: the group has no coordinator at the moment" in stderr
    assert fetch_offsets(pair.bootstrap, spare) == {("kept", 0): 0}


def test_broker_that_comes_back_is_asked_again(pair: KafkaCluster) -> None:
    """One adapter, before, while and after its broker is away."""
    commit_offsets(pair.bootstrap, {"back": {}})
    with ClusterAdmin(ClientSettings(pair.bootstrap), timeout_ms=5_000) as admin:
        assert len(admin.list_groups().brokers) == 2
        pair.stop_brokers([2])
        admin.list_groups()
        pair.restart()
        listing = admin.list_groups()
    assert listing.errors == ()
    assert len(listing.brokers) == 2


def test_vanished_topic_is_missing_from_the_topics() -> None:
    """Its commits are shown; the topic itself is absent; other topics have their bounds."""
    with KafkaCluster() as cluster:
        create_topics(cluster.bootstrap, {"still-here": 1})
        produce(cluster.bootstrap, {("still-here", 0): 4})
        commit_offsets(cluster.bootstrap, {"mourner": {("still-here", 0): 1}})
        commit_to_vanished_topic(cluster, "mourner", "was-here", {0: 5})
        with ClusterAdmin(ClientSettings(cluster.bootstrap)) as admin:
            snapshot = admin.snapshot(["mourner"])
        assert snapshot.errors == ()
        (group,) = snapshot.groups
        assert (group.offsets or {})["was-here"] == {0: CommittedOffset(5)}
        assert set(snapshot.topics) == {"still-here"}
        assert snapshot.topics["still-here"].partitions[0].log_end_offset == 4
        cluster.stop()
        with (
            ClusterAdmin(ClientSettings(cluster.bootstrap)) as admin,
            pytest.raises(ClusterError, match="connection refused"),
        ):
            admin.snapshot(["mourner"])


def test_a_log_that_a_replica_lags_behind(pair: KafkaCluster) -> None:
    """LOG-END is what every in-sync replica has, LEADER-END what the leader has."""
    create_topics(pair.bootstrap, {"ahead": 1}, replicas={"ahead": [[1, 2]]})
    produce(pair.bootstrap, {("ahead", 0): 3})
    names = [f"ahead-{number}" for number in range(12)]
    commit_offsets(pair.bootstrap, {name: {("ahead", 0): 1} for name in names})
    with ClusterAdmin(ClientSettings(pair.bootstrap)) as admin:
        place = admin.coordinators(names).coordinators
    group = next(name for name in names if place[name].id == 1)
    pair.pause(2)
    try:
        producer = Producer({"bootstrap.servers": pair.address(1), "acks": 1, "log_level": 0})
        for number in range(4):
            producer.produce("ahead", str(number).encode(), partition=0)
        assert producer.flush(30) == 0, "the leader takes records"
        line = ("describe", group, "-b", pair.address(1), "--verbose", "-o", "json")
        code, stdout, stderr = finish(*line)
    finally:
        pair.go_on(2)
    assert code == 0, stderr
    (row,) = json.loads(stdout)["items"][0]["offsets"]
    assert (row["log_end_offset"], row["leader_end_offset"], row["lag"]) == (3, 7, 2)
    assert set(row["in_sync_replicas"]) == {1, 2}
