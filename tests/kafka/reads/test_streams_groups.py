"""Streams groups on the real broker: tasks and who has them, lag, and why there are none."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.snapshot_file import read_snapshot
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, produce
from tests.support.streams.application import word_count
from tests.support.streams.heartbeats import HandMember, hand_member, subtopology

pytestmark = pytest.mark.kafka


def described(kafka: KafkaCluster, group: str, *args: str) -> Any:
    """The group as `describe` tells it."""
    outcome = run("-b", kafka.bootstrap, "describe", group, *args, "-o", "json")
    return outcome.document["items"][0] if outcome.document["items"] else {}


def test_tasks_of_two_threads(kafka: KafkaCluster) -> None:
    """Active tasks are shared out; what they read counts as the members' partitions."""
    group, topic = "tasks-hand", "tasks-hand-t"
    create_topics(kafka.bootstrap, {topic: 4})
    produce(kafka.bootstrap, {(topic, 0): 5})
    part = subtopology("0", [topic], f"{group}-store-changelog")
    with (
        hand_member(kafka.address(), group, [part]) as one,
        hand_member(kafka.address(), group, [part], "another") as two,
    ):

        def shared_out() -> bool:
            one.beat()
            two.beat()
            return [len(row.partitions) for row in (*one.active, *two.active)] == [2, 2]

        wait_until(shared_out, "each has two tasks", pause_s=0.2)
        item = described(
            kafka, group, "--tasks", "--members", "--offsets", "--uncommitted", "start"
        )
        assert [(row["partition"], row["role"], row["status"]) for row in item["tasks"]] == [
            (number, "active", "assigned") for number in range(4)
        ]
        holder = {row["partition"]: row for row in item["tasks"]}
        assert {holder[n]["member_id"] for n in one.active[0].partitions} == {one.member_id}
        assert (holder[0]["lag"], holder[1]["lag"], holder[0]["topics"]) == (5, 0, [topic])
        members = {row["member_id"]: row for row in item["members"]}
        assert members[two.member_id]["streams"]["process_id"] == "another"
        assert members[one.member_id]["assignment"] == {topic: sorted(one.active[0].partitions)}
        assert sorted(row["lag"] for row in members.values()) == [0, 5]
        owners = {row["partition"]: row["member_id"] for row in item["offsets"]}
        assert owners == {n: row["member_id"] for n, row in holder.items()}
        table = run("-b", kafka.bootstrap, "describe", group, "--tasks").stdout.splitlines()
        assert len(table) == 5
        assert table[0].split()[:4] == ["GROUP", "SUBTOPOLOGY", "PARTITION", "ROLE"]


def test_internal_topics_and_states(kafka: KafkaCluster) -> None:
    """Ends of changelogs, lag of repartition topics, and what states lack."""
    group, topic = "tasks-internal", "tasks-internal-t"
    log, between = f"{group}-store-changelog", f"{group}-by-key-repartition"
    create_topics(kafka.bootstrap, {topic: 1, between: 1})
    commit_offsets(kafka.bootstrap, {group: {(between, 0): 2}})
    parts = [subtopology("0", [topic], log, repartition=between)]
    with hand_member(kafka.address(), group, parts) as member:

        def has_task() -> bool:
            member.beat()
            return bool(member.active) and described(kafka, group)["state"] == "Stable"

        wait_until(has_task, "it has its task", pause_s=0.2)
        produce(kafka.bootstrap, {(log, 0): 7, (between, 0): 5})
        member.state = {("0", 0): 4}

        def is_told() -> bool:
            member.beat()
            (task,) = described(kafka, group, "--tasks")["tasks"]
            return (task["state_offset"], task["state_lag"]) == (4, 3)

        wait_until(is_told, "the broker tells the state", pause_s=0.2)
        item = described(kafka, group, "--tasks")
        rows = [tuple(row.values()) for row in item["internal_topics"]]
        assert rows == [
            ("0", between, "repartition", 0, 0, 5, 3),
            ("0", log, "changelog", 0, 0, 7, None),
        ]
        line = ("-b", kafka.bootstrap, "describe", group, "--tasks")
        assert "STATE-LAG" in run(*line).stdout
        assert "INTERNAL-TOPIC" not in run(*line).stdout
        table = run(*line, "--verbose").stdout
        assert ["0", log, "changelog", "0", "0", "7", "-"] in [
            row.split()[1:] for row in table.splitlines()
        ]
        assert len(run(*line, "--verbose", "-o", "csv").stdout.splitlines()) == 2


def test_a_plan_comes_true(kafka: KafkaCluster) -> None:
    """Planned without one of three members, with standby tasks; then that one leaves."""
    group, topic = "tasks-planned", "tasks-planned-t"
    create_topics(kafka.bootstrap, {topic: 5})
    part = subtopology("0", [topic], f"{group}-store-changelog")
    set_up = ("config", group, "--set", "streams.num.standby.replicas=1", "--yes")
    assert run("-b", kafka.bootstrap, *set_up).exit_code == 0
    with ExitStack() as stack:
        one, two = (
            stack.enter_context(hand_member(kafka.address(), group, [part], name))
            for name in ("p-1", "p-2")
        )
        with hand_member(kafka.address(), group, [part], "p-3") as three:
            wait_until(lambda: _settled(kafka, group, [one, two, three]), "all have tasks")
            grown = run("-b", kafka.bootstrap, "plan", group, "--add-members", "1", "-o", "json")
            assert (grown.exit_code, grown.document["items"][0]["member_count"]) == (0, 4)
            line = ("plan", group, "--remove-member", three.member_id, "-o", "json")
            outcome = run("-b", kafka.bootstrap, *line)
        (plan,) = outcome.document["items"]
        assert (plan["confidence"], plan["standby_replicas"]) == ("exact", 1)
        assert (plan["assignment_interval_seconds"], plan["member_count"]) == (1.0, 2)
        wanted = {(row["partition"], row["role"], row["to"]) for row in plan["tasks"] if row["to"]}
        assert len(wanted) == 10

        def came_true() -> bool:
            _settled(kafka, group, [one, two])
            rows = described(kafka, group, "--tasks")["tasks"]
            found = {(row["partition"], row["role"], row["member_id"]) for row in rows}
            return found == wanted

        wait_until(came_true, "the plan came true", pause_s=0.2)
    refused = run("-b", kafka.bootstrap, "plan", group, "--assignor", "range")
    assert refused.exit_code == 2


def _settled(kafka: KafkaCluster, group: str, members: Sequence[HandMember]) -> bool:
    """Whether every member has its tasks; each sends a heartbeat."""
    for member in members:
        member.beat()
    return bool(described(kafka, group).get("state") == "Stable") and all(m.active for m in members)


def test_not_ready(kafka: KafkaCluster) -> None:
    """A note says which topics are missing, and which differ in partitions."""
    create_topics(kafka.bootstrap, {"tasks-narrow": 1, "tasks-wide": 3})
    parts = [
        subtopology("0", ["tasks-absent"]),
        subtopology("1", ["tasks-narrow", "tasks-wide"]),
    ]
    with hand_member(kafka.address(), "tasks-not-ready", parts) as member:
        wait_until(
            lambda: (
                member.beat() is not None
                and described(kafka, "tasks-not-ready").get("state") == "NotReady"
            ),
            "it is NotReady",
            pause_s=0.2,
        )
        outcome = run("-b", kafka.bootstrap, "describe", "tasks-not-ready", "--tasks")
        plan = run("-b", kafka.bootstrap, "plan", "tasks-not-ready", "-o", "json").document
        line = ("plan", "tasks-not-ready", "--remove-member", "nobody")
        nobody = run("-b", kafka.bootstrap, *line)
        alone = run("-b", kafka.bootstrap, *line[:-1], "streamer")
    assert "has no members" in alone.stderr  # its client id
    assert "NOT_READY" in {note["code"] for note in plan["notes"]}
    assert (nobody.exit_code, "`tasks-not-ready` has no member `nobody`" in nobody.stderr) == (
        5,
        True,
    )
    assert "is not ready: source topic `tasks-absent` does not exist" in outcome.stderr
    assert "`tasks-narrow` has 1, `tasks-wide` has 3" in outcome.stderr


def test_other_groups_have_no_tasks(kafka: KafkaCluster) -> None:
    """Asked for, a note says so; the document has null."""
    create_topics(kafka.bootstrap, {"tasks-other": 1})
    commit_offsets(kafka.bootstrap, {"tasks-classic": {("tasks-other", 0): 0}})
    outcome = run("-b", kafka.bootstrap, "describe", "tasks-classic", "--tasks", "-o", "json")
    assert outcome.document["items"][0]["tasks"] is None
    assert "NO_TASKS" in outcome.note_codes


@pytest.mark.slow(
    "a JVM with Kafka Streams; its tasks by hand: tests/kafka/reads/test_streams_groups.py"
)
def test_a_real_application(kafka: KafkaCluster, tmp_path: Any) -> None:
    """Two subtopologies, two threads, standby replicas; lag goes to 0; a snapshot holds it all."""
    group, topics = "tasks-real", ("tasks-real-in", "tasks-real-out")
    create_topics(kafka.bootstrap, dict.fromkeys(topics, 2))
    produce(kafka.bootstrap, {(topics[0], 0): 20, (topics[0], 1): 20})
    set_up = ("config", group, "--set", "streams.num.standby.replicas=1", "--yes")
    assert run("-b", kafka.bootstrap, *set_up).exit_code == 0
    with (
        word_count(kafka.bootstrap, group, topics) as one,
        word_count(kafka.bootstrap, group, topics) as two,
    ):
        one.line_that("RUNNING")
        two.line_that("RUNNING")

        def roles() -> dict[str, int]:
            rows = described(kafka, group, "--tasks")["tasks"]
            found = [row["role"] for row in rows if row["status"] == "assigned"]
            return {role: found.count(role) for role in set(found)}

        wait_until(lambda: roles() == {"active": 4, "standby": 2}, "all tasks are given out")
        wait_until(lambda: described(kafka, group)["lag"] == 0, "it has read all")
        item = described(kafka, group, "--tasks")
        assert {row["subtopology_id"] for row in item["tasks"]} == {"0", "1"}
        assert {row["subtopology_id"] for row in item["tasks"] if row["role"] == "standby"} == {"1"}
        file = tmp_path / "groups.json"
        assert run("-b", kafka.bootstrap, "snapshot", "save", str(file)).exit_code == 0
        planned = run("plan", group, "--from", str(file), "-o", "json")
        assert planned.document["items"][0]["standby_replicas"] == 1
        live = run("-b", kafka.bootstrap, "plan", group, "-o", "json")
        assert planned.document["items"] == live.document["items"]
        kept = run("describe", group, "--from", str(file), "--tasks", "-o", "json")
        assert len(kept.document["items"][0]["tasks"]) == 6
        with ClusterAdmin(ClientSettings(kafka.bootstrap)) as admin:
            now = admin.snapshot([group]).groups[0]
        (then,) = [each for each in read_snapshot(file).groups if each.group == group]
        assert then.members == now.members


@pytest.mark.slow(
    "a broker that keeps topologies, and a JVM; quick twin: tests/core/kafka/test_odd_brokers.py"
)
def test_topology_nodes_of_a_real_application() -> None:
    """As Kafka Streams described them to the broker, in the document and below the tasks."""
    kept = {"group.streams.topology.description.plugin.class": "KeptTopologies"}
    with KafkaCluster(ClusterSpec(properties=kept)) as cluster:
        topics = ("nodes-in", "nodes-out")
        create_topics(cluster.bootstrap, dict.fromkeys(topics, 1))
        with word_count(cluster.bootstrap, "nodes", topics) as application:
            application.line_that("RUNNING")
            wait_until(
                lambda: described(cluster, "nodes", "--tasks", "--verbose")["topology_description"],
                "the broker has the description",
            )
            item = described(cluster, "nodes", "--tasks", "--verbose")
            table = run("-b", cluster.bootstrap, "describe", "nodes", "--tasks", "--verbose")
        parts = item["topology_description"]["subtopologies"]
        assert [part["subtopology_id"] for part in parts] == ["0", "1"]
        nodes = [node for part in parts for node in part["nodes"]]
        assert {topic for node in nodes for topic in node["topics"]} >= {*topics}
        assert len([store for node in nodes for store in node["stores"]]) == 1
        assert all(f": {node['name']} (" in table.stdout for node in nodes)
        assert described(cluster, "nodes", "--tasks").get("topology_description") is None


@pytest.mark.slow(
    "a broker started anew; groups that it serves: tests/kafka/reads/test_streams_groups.py"
)
def test_brokers_that_serve_them_no_more() -> None:
    """The group is listed; one sentence names the settings, also where it is asked for by name."""
    with KafkaCluster(ClusterSpec()) as cluster:
        create_topics(cluster.bootstrap, {"tasks-off": 1})
        with hand_member(cluster.address(), "tasks-off", [subtopology("0", ["tasks-off"])]) as one:
            one.beat()
        cluster.stop()
        file = cluster.folder / "broker-1" / "server.properties"
        file.write_text(
            file.read_text() + "group.coordinator.rebalance.protocols=classic,consumer\n"
        )
        cluster.start()
        for which in ("tasks-off", "--all-groups"):
            outcome = run("-b", cluster.bootstrap, "describe", which)
            assert outcome.exit_code == 1
            assert "`group.coordinator.rebalance.protocols` lacks `streams`" in outcome.stderr
