"""Coordinators that move, full groups, configurations without a group: what doctor finds."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Final, NamedTuple

import pytest
from confluent_kafka import ElectionType, TopicPartition

from kgroups.cli.exits import now_ms
from kgroups.core.coordinator.placement import OFFSETS_TOPIC, offsets_partition
from kgroups.core.times import timestamp
from tests.support.cli.runner import run
from tests.support.doctor.findings import Findings, examined, findings, of_code
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.waiting import wait_for_thread, wait_until
from tests.support.kafka.workload import (
    admin_of,
    commit_offsets,
    coordinators_of,
    create_topics,
    produce,
)

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "two brokers; each detector by itself: tests/core/doctor/test_cluster_detectors.py"
    ),
]

SPEC: Final = ClusterSpec(
    brokers=2,
    properties={
        "offsets.topic.replication.factor": "2",
        "group.max.size": "3",
        "broker.session.timeout.ms": "20000",  # so long does one that restarts wait
    },
)
TOPIC: Final = "around"
SESSION: Final = "consumer.session.timeout.ms"
RESTARTS: Final = 4
"""Each moves a coordinator away and back again."""


class Looks(NamedTuple):
    """What was found at three times, by group.

    Args:
        steady: while nothing happened.
        facts: at that time.
        moving: while a broker went down.
        restarted: after it had been away again and again.
        logged: the same, with the log of the other broker.
        began: when it went down for the first time, as JSON has it.
        groups: one whose coordinator was on that broker, and one whose was not.
    """

    steady: Findings
    facts: dict[str, dict[str, Any]]
    moving: Findings
    restarted: Findings
    logged: Findings
    began: str
    groups: tuple[str, str]


@pytest.fixture(scope="module")
def looks() -> Iterator[Looks]:
    """All of them, one after the other."""
    with KafkaCluster(SPEC) as cluster, ExitStack() as held:
        address = cluster.bootstrap
        create_topics(address, {TOPIC: 4}, replicas={TOPIC: [[1]] * 4})
        produce(address, {(TOPIC, number): 5 for number in range(4)})
        names = [f"app-{number}" for number in range(12)]
        commit_offsets(address, {name: {(TOPIC, 0): 5} for name in names})
        placed = coordinators_of(address, names)
        groups = placed[cluster.address(2)][0], placed[cluster.address(1)][0]
        for name in ("orphan", "own"):
            line = ("config", name, "--set", f"{SESSION}=50000", "--yes", "-b", address)
            assert run(*line).exit_code == 0
        for name, count in (("full", 3), ("roomy", 2)):
            members = [MemberSpec(f"{name}-{number}", (TOPIC,)) for number in range(count)]
            held.enter_context(LiveGroup(address, name, members)).wait_stable(4)
        own = LiveGroup(address, "own", [MemberSpec("own", (TOPIC,))], protocol="consumer")
        held.enter_context(own).wait_stable(4)
        items = examined(address, "--all-groups")
        held.close()
        steady = {group: item["findings"] for group, item in items.items()}
        facts = {group: item["facts"] for group, item in items.items()}
        began = timestamp(now_ms())
        going = threading.Timer(2, cluster.stop_brokers, args=([2],))
        going.start()
        moving = findings(cluster.address(1), *groups, "--over", "12s")
        wait_for_thread(going)
        for _ in range(RESTARTS):
            cluster.start()
            elect(cluster, groups[0])
            cluster.stop_brokers([2])
        # A group that has changed tells how far apart the clocks are.
        changed = LiveGroup(cluster.address(1), groups[1], [MemberSpec("late", (TOPIC,))])
        held.enter_context(changed).wait_stable(4)
        restarted = findings(cluster.address(1), *groups)
        logged = findings(cluster.address(1), *groups, "--log", str(cluster.log_path(1)))
        yield Looks(steady, facts, moving, restarted, logged, began, groups)


def elect(cluster: KafkaCluster, group: str) -> None:
    """Let the second broker coordinate the group again."""
    admin = admin_of(cluster.address(1))
    place = TopicPartition(OFFSETS_TOPIC, offsets_partition(group, 50))

    def is_back() -> bool:
        admin.elect_leaders(ElectionType.PREFERRED, [place]).result(60)
        return cluster.address(2) in coordinators_of(cluster.address(1), [group])

    wait_until(is_back, "broker 2 coordinates the group", pause_s=0.5)


def test_a_group_that_is_full(looks: Looks) -> None:
    """With the setting that limits it; one that has room for another member is not."""
    (finding,) = looks.steady["full"]
    assert (finding["code"], finding["level"]) == ("GROUP_NEAR_LIMIT", "warning")
    assert finding["evidence"] == {"member_count": 3, "max_size": 3, "setting": "group.max.size"}
    assert looks.steady["roomy"] == []


def test_a_configuration_without_a_group(looks: Looks) -> None:
    """Of a name; a group that has one of its own is no orphan."""
    (finding,) = looks.steady["orphan"]
    assert (finding["code"], finding["evidence"]) == ("ORPHAN_CONFIG", {"settings": [SESSION]})
    assert looks.steady["own"] == []


def test_settings_in_force(looks: Looks) -> None:
    """And who sets them: the group, the broker's file, the member."""
    own, classic = looks.facts["own"], looks.facts["full"]
    assert (own["session_timeout_seconds"], own["session_timeout_source"]) == (50, "group")
    assert own["heartbeat_interval_seconds"] == 0.2
    assert own["heartbeat_interval_source"] == "static_broker"
    assert classic["session_timeout_source"] == "member"
    assert "heartbeat_interval_seconds" not in classic


def test_a_coordinator_that_moved(looks: Looks) -> None:
    """While it was watched; the other group's stayed."""
    gone, stayed = looks.groups
    (finding,) = of_code(looks.moving[gone], "COORDINATOR_UNSTABLE")
    evidence = finding["evidence"]
    assert (finding["level"], finding["certainty"]) == ("info", "certain")
    assert (evidence["coordinator_id_before"], evidence["coordinator_id"]) == (2, 1)
    assert of_code(looks.moving[stayed], "COORDINATOR_UNSTABLE") == []


def test_a_partition_of_commits_that_lacks_a_copy(looks: Looks) -> None:
    """As of any topic; with both brokers it has two."""
    for group in looks.groups:
        (finding,) = of_code(looks.moving[group], "PARTITIONS_UNAVAILABLE")
        assert finding["where"]["topic"] == OFFSETS_TOPIC
        assert finding["evidence"] == {"in_sync_replicas": 1, "replicas": 2}
        assert of_code(looks.steady[group], "PARTITIONS_UNAVAILABLE") == []


def test_a_coordinator_that_moves_again_and_again(looks: Looks) -> None:
    """As often as its leader was elected; the other group's stayed."""
    often, stayed = looks.groups
    (finding,) = of_code(looks.restarted[often], "COORDINATOR_UNSTABLE")
    assert finding["level"] == "warning"
    assert finding["evidence"]["elections_per_hour"] >= 2 * RESTARTS
    assert of_code(looks.restarted[stayed], "COORDINATOR_UNSTABLE") == []


def test_the_log_of_a_broker_dates_elections(looks: Looks) -> None:
    """It tells of as many as the records do, and when the last one was."""
    often, stayed = looks.groups
    (finding,) = of_code(looks.logged[often], "COORDINATOR_UNSTABLE")
    (untold,) = of_code(looks.restarted[often], "COORDINATOR_UNSTABLE")
    dated = finding["evidence"].pop("last_election_at")
    assert looks.began < dated < timestamp(now_ms())
    assert finding["evidence"]["elections_per_hour"] >= 2 * RESTARTS + 1
    assert (finding["level"], finding["certainty"]) == ("warning", "certain")
    assert "last_election_at" not in untold["evidence"]
    assert of_code(looks.logged[stayed], "COORDINATOR_UNSTABLE") == []


def test_a_group_that_has_lost_its_coordinator() -> None:
    """Its partition of the topic has no leader: that is its finding, and others are examined."""
    with KafkaCluster(ClusterSpec(brokers=2)) as cluster:
        address = cluster.address(1)
        create_topics(address, {TOPIC: 1}, replicas={TOPIC: [[1]]})
        produce(address, {(TOPIC, 0): 5})
        names = [f"app-{number}" for number in range(12)]
        commit_offsets(address, {name: {(TOPIC, 0): 5} for name in names})
        placed = coordinators_of(address, names)
        lost, other = placed[cluster.address(2)][0], placed[address][0]
        cluster.stop_brokers([2])
        items = examined(address, lost, other)
    assert items[other]["findings"] == []
    (finding,) = items[lost]["findings"]
    where = {"topic": OFFSETS_TOPIC, "partition": offsets_partition(lost, 50)}
    assert (finding["code"], finding["level"]) == ("PARTITIONS_UNAVAILABLE", "error")
    assert finding["where"] == where
    assert finding["impact"] == "its members can neither join nor commit"
    assert items[lost]["facts"]["type"] is None
    reasons = {each["reason"] for each in items[lost]["not_examined"]}
    assert reasons == {"the group has no coordinator"}
