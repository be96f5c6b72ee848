"""Share and streams groups with members of other kinds: listed and described, left as they are."""

from pathlib import Path

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.snapshot_file import read_snapshot, write_snapshot
from tests.support.cli.runner import Outcome, run
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics, produce
from tests.support.official.running import run_ours
from tests.support.official.stuck import share, share_beat
from tests.support.streams.heartbeats import hand_member, subtopology

pytestmark = pytest.mark.kafka


def test_share_group_is_listed_and_described(kafka: KafkaCluster) -> None:
    """Type, state, epochs, members and assignment; it has no start offsets yet."""
    create_topics(kafka.bootstrap, {"other-share": 2})
    with (
        WireConnection(kafka.address(), client_id="sharer") as connection,
        ClusterAdmin(ClientSettings(kafka.bootstrap)) as admin,
    ):
        member = share(connection, "other-share", "other-share")
        (listed,) = (g for g in admin.list_groups().groups if g.group == "other-share")
        snapshot = admin.snapshot(["other-share"])
        share_beat(connection, "other-share", member, "other-share", -1)
    assert (listed.type, listed.state) == ("share", "Stable")
    assert snapshot.errors == ()
    (group,) = snapshot.groups
    assert (group.type, group.state, group.offsets) == ("share", "Stable", {})
    assert group.group_epoch is not None
    (only,) = group.members or ()
    assert (only.member_id, only.client_id) == (member, "sharer")
    assert only.assignment == {"other-share": (0, 1)}
    assert only.target_assignment is None
    assert set(snapshot.topics) == {"other-share"}


def listed(kafka: KafkaCluster, name: str) -> dict[str, object]:
    """The group's row of `list`; empty if it has none."""
    rows = run("-b", kafka.bootstrap, "list", "-o", "json").document["items"]
    return next((dict(row) for row in rows if row["group"] == name), {})


def described(kafka: KafkaCluster, name: str) -> Outcome:
    """Members and state of the group."""
    return run("-b", kafka.bootstrap, "describe", name, "--members", "--state", "-o", "json")


def agree_that_it_is_foreign(kafka: KafkaCluster, official: WarmTools, name: str) -> None:
    """Both tools leave it out of their lists and say the same of it when it is named."""
    for line in (["--list"], ["--list", "--state", "--type"]):
        ours = run_ours(["--bootstrap-server", kafka.bootstrap, *line])
        theirs = official.groups_tool(kafka.bootstrap, *line)
        assert name not in ours.stdout + theirs.stdout
    ours = run_ours(["--bootstrap-server", kafka.bootstrap, "--describe", "--group", name])
    theirs = official.groups_tool(kafka.bootstrap, "--describe", "--group", name)
    assert (ours.stdout, ours.stderr, ours.status) == ("", theirs.stdout, 1)
    assert f"Group {name} is not a consumer group." in theirs.stdout
    deleted = run_ours(["--bootstrap-server", kafka.bootstrap, "--delete", "--group", name])
    theirs = official.groups_tool(kafka.bootstrap, "--delete", "--group", name)
    assert (deleted.stdout, deleted.stderr) == ("", theirs.stdout)
    assert "GroupNotEmptyException" in deleted.stderr


@pytest.mark.slow("a program of Java: consumers of their kind")
def test_java_share_consumer(kafka: KafkaCluster, official: WarmTools) -> None:
    """Kafka's own share consumer: alive, then gone; resets refuse its group while it is."""
    name, topic = "java-share", "java-share-topic"
    create_topics(kafka.bootstrap, {topic: 2})
    produce(kafka.bootstrap, {(topic, 0): 3, (topic, 1): 2})
    config = {"bootstrap.servers": kafka.bootstrap, "group.id": name, "client.id": "sharer"}
    with HostPool() as hosts:
        java = hosts.alone("java")
        java.ask("open", name="one", config=config, topics=[topic], share=True)
        wait_until(lambda: listed(kafka, name).get("state") == "Stable", "it is Stable")
        assert listed(kafka, name)["type"] == "share"

        def assigned() -> bool:
            (item,) = described(kafka, name).document["items"]
            return [member["partitions"] for member in item["members"]] == [2]

        wait_until(assigned, "the member owns both partitions")
        told = described(kafka, name)
        (item,) = told.document["items"]
        assert (told.exit_code, item["type"], item["state"]) == (0, "share", "Stable")
        assert item["group_epoch"] == item["target_epoch"]
        assert item["members"][0]["client_id"] == "sharer"
        filtered = run("-b", kafka.bootstrap, "list", "--type", "share", "-o", "json")
        assert name in {row["group"] for row in filtered.document["items"]}
        agree_that_it_is_foreign(kafka, official, name)
        line = ("reset-offsets", name, "--topic", topic, "--to", "earliest", "--dry-run")
        refused = run("-b", kafka.bootstrap, *line)
        assert refused.exit_code == 4
        assert "the group is Stable with 1 member" in refused.stderr
        java.ask("close", name="one")
    wait_until(lambda: listed(kafka, name).get("state") == "Empty", "it is Empty")
    (item,) = described(kafka, name).document["items"]
    assert (item["state"], item["members"]) == ("Empty", [])
    assert run("-b", kafka.bootstrap, "delete", name, "--yes").exit_code == 0
    assert listed(kafka, name) == {}


@pytest.mark.slow("a program of Java: consumers of their kind")
def test_streams_group(kafka: KafkaCluster, official: WarmTools, tmp_path: Path) -> None:
    """A streams application of one task a partition, spoken to the broker by hand."""
    name, topic = "streams-app", "streams-app-topic"
    create_topics(kafka.bootstrap, {topic: 2})
    part = subtopology("0", [topic], f"{name}-store-changelog")
    with hand_member(kafka.address(), name, [part]) as streamer:

        def stable() -> bool:
            streamer.beat()
            return bool(listed(kafka, name).get("state") in ("Stable", "Reconciling"))

        wait_until(stable, "it has a member", pause_s=0.2)
        row = listed(kafka, name)
        assert (row["type"], row["protocol_type"]) == ("streams", "streams")
        told = described(kafka, name)
        (item,) = told.document["items"]
        assert (told.exit_code, item["type"]) == (0, "streams")
        assert item["state"] in ("Stable", "Reconciling")
        assert item["group_epoch"] is not None
        (only,) = item["members"]
        assert (only["member_id"], only["client_id"]) == (streamer.member_id, "streamer")
        (told_part,) = item["topology"]
        assert (told_part["subtopology_id"], told_part["source_topics"]) == ("0", [topic])
        assert told_part["state_changelog_topics"] == [f"{name}-store-changelog"]
        shown = run("-b", kafka.bootstrap, "describe", name, "--state", "--verbose").stdout
        assert f"0 ({topic})" in shown
        with ClusterAdmin(ClientSettings(kafka.bootstrap)) as admin:
            snapshot = admin.snapshot([name])
        write_snapshot(snapshot, tmp_path / "streams.json")
        assert read_snapshot(tmp_path / "streams.json").groups == snapshot.groups
        agree_that_it_is_foreign(kafka, official, name)
        line = ("reset-offsets", name, "--topic", topic, "--to", "earliest", "--dry-run")
        refused = run("-b", kafka.bootstrap, *line)
        assert refused.exit_code == 4
    wait_until(lambda: listed(kafka, name).get("state") == "Empty", "it is Empty")
