"""The seeders bring about what they promise, seen through Kafka's own tool."""

import pytest

from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.kip848_heartbeats import HeartbeatGroup
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.vanished import commit_to_vanished_topic
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    delete_topics,
    end_offsets,
    expire_records,
    fetch_offsets,
    many_commits,
    produce,
)

pytestmark = pytest.mark.kafka


def rows(stdout: str) -> list[list[str]]:
    """Cells of each row of an official table, without its header."""
    lines = [line.split() for line in stdout.splitlines() if line.strip()]
    return lines[1:]


def test_a_live_classic_group_is_seen_by_the_official_tool(
    kafka: KafkaCluster, official: WarmTools
) -> None:
    """Two librdkafka members share six partitions; the commits of one show as lag."""
    create_topics(kafka.bootstrap, {"wl-classic": 6})
    produce(kafka.bootstrap, {("wl-classic", 0): 10})
    specs = [MemberSpec("one", ("wl-classic",)), MemberSpec("two", ("wl-classic",))]
    with LiveGroup(kafka.bootstrap, "wl-classic", specs).wait_stable(6) as group:
        owner = next(each for each in group.members if ("wl-classic", 0) in each.assignment)
        owner.commit({("wl-classic", 0): 4})
        listed = official.groups_tool(kafka.bootstrap, "--list", "--state")
        assert ["wl-classic", "Stable"] in rows(listed.stdout)
        answer = official.groups_tool(kafka.bootstrap, "--describe", "--group", "wl-classic")
        found = {row[2]: [*row[3:6], row[8]] for row in rows(answer.stdout)}
    assert found["0"] == ["4", "10", "6", owner.spec.client_id]
    assert {row[3] for row in found.values()} == {"one", "two"}
    assert len(found) == 6


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "cooperative-sticky"])
def test_a_classic_group_grows_and_shrinks(kafka: KafkaCluster, assignor: str) -> None:
    """Eager and cooperative members alike settle again after one joined and one left."""
    topic = f"wl-{assignor}"
    create_topics(kafka.bootstrap, {topic: 4})
    first = MemberSpec("first", (topic,), instance_id="static-1")
    with LiveGroup(kafka.bootstrap, topic, [first], assignor=assignor) as group:
        group.wait_stable(4)
        second = group.add(MemberSpec("second", (topic,)))
        group.wait_stable(4)
        assert len(second.assignment) == 2
        group.remove(second)
        group.wait_stable(4)


def test_a_live_kip_848_group_is_seen_by_the_official_tool(
    kafka: KafkaCluster, official: WarmTools
) -> None:
    """Members with `group.protocol=consumer` make a group of type Consumer."""
    create_topics(kafka.bootstrap, {"wl-kip848": 4})
    specs = [MemberSpec("one", ("wl-kip848",)), MemberSpec("two", ("wl-kip848",))]
    with LiveGroup(kafka.bootstrap, "wl-kip848", specs, protocol="consumer").wait_stable(4):
        listed = official.groups_tool(kafka.bootstrap, "--list", "--state", "--type")
    assert ["wl-kip848", "Consumer", "Stable"] in rows(listed.stdout)


@pytest.mark.slow("a broker of its own, and many members: the harness of the tests")
def test_a_kip_848_group_of_many_members_settles(kafka: KafkaCluster, official: WarmTools) -> None:
    """Two hundred members over one connection own two partitions each."""
    create_topics(kafka.bootstrap, {"wl-crowd": 400})
    group = HeartbeatGroup(kafka.address(), "wl-crowd", ["wl-crowd"], 200, client_id="rows")
    with group.join(400):
        assert {member.partition_count for member in group.members} == {2}
        answer = official.groups_tool(
            kafka.bootstrap, "--describe", "--group", "wl-crowd", "--state"
        )
    assert rows(answer.stdout)[0][-2:] == ["Stable", "200"]
    delete_topics(kafka.bootstrap, ["wl-crowd"])


def test_commits_of_many_groups_are_all_there(kafka: KafkaCluster, official: WarmTools) -> None:
    """Every partition of every group has the offset that was sent."""
    create_topics(kafka.bootstrap, {"wl-many": 24})
    groups = {f"wl-{name}": offsets for name, offsets in many_commits(300, "wl-many", 24).items()}
    commit_offsets(kafka.bootstrap, groups)
    assert fetch_offsets(kafka.bootstrap, "wl-group-0299") == groups["wl-group-0299"]
    listed = official.groups_tool(kafka.bootstrap, "--list").stdout.split()
    assert set(groups) <= set(listed)


def test_expired_records_move_the_log_start(kafka: KafkaCluster, official: WarmTools) -> None:
    """After expiry a commit below the log start stays where it was."""
    create_topics(kafka.bootstrap, {"wl-expired": 1})
    produce(kafka.bootstrap, {("wl-expired", 0): 20})
    commit_offsets(kafka.bootstrap, {"wl-expired": {("wl-expired", 0): 3}})
    expire_records(kafka.bootstrap, {("wl-expired", 0): 12})
    assert end_offsets(kafka.bootstrap, [("wl-expired", 0)]) == {("wl-expired", 0): 20}
    answer = official.groups_tool(
        kafka.bootstrap,
        *("--reset-offsets", "--group", "wl-expired", "--topic", "wl-expired"),
        *("--to-earliest", "--dry-run"),
    )
    assert rows(answer.stdout) == [["wl-expired", "wl-expired", "0", "12"]]
    assert fetch_offsets(kafka.bootstrap, "wl-expired") == {("wl-expired", 0): 3}


@pytest.mark.slow("a broker of its own, and many members: the harness of the tests")
def test_commits_of_a_vanished_topic_survive_a_restart(official: WarmTools) -> None:
    """The official tool fails on such a group, which is how we know that it is really there."""
    with KafkaCluster() as cluster:
        commit_to_vanished_topic(
            cluster, "haunted", "was-here", {0: 5, 1: 6}, now_ms=4_102_444_800_000
        )
        assert fetch_offsets(cluster.bootstrap, "haunted") == {
            ("was-here", 0): 5,
            ("was-here", 1): 6,
        }
        answer = official.groups_tool(cluster.bootstrap, "--describe", "--group", "haunted")
    assert "UnknownTopicOrPartitionException" in answer.stdout
