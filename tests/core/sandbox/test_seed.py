"""A cluster that begins as a snapshot file says."""

from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from kgroups.core.errors import KgroupsError
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    PartitionLog,
    Topic,
)
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.clusters import fleet
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, fetch_offsets
from tests.support.sandbox.frame_client import WireClient
from tests.support.sandbox.librdkafka_members import Member, produce

SNAPSHOT = ClusterSnapshot(
    captured_at_ms=1_700_000_000_000,
    groups=(
        Group(
            "billing",
            "classic",
            "Stable",
            protocol_type="consumer",
            offsets={
                "orders": {
                    0: CommittedOffset(120, 3, "note"),
                    2: CommittedOffset(7),
                },
                "gone": {0: CommittedOffset(5)},
            },
        ),
        Group("by-admin", "classic", "Empty", offsets={"orders": {1: CommittedOffset(1)}}),
    ),
    topics={
        "orders": Topic(
            "orders",
            {
                0: PartitionLog(100, 150),
                1: PartitionLog(0, 5_000_000_000),
                2: PartitionLog(None, None, error="LEADER_NOT_AVAILABLE"),
            },
        )
    },
)


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """The snapshot as a file."""
    path = tmp_path / "snapshot.yaml"
    write_snapshot(SNAPSHOT, path)
    return path


def test_a_large_file_takes_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit on the start of an empty cluster is none on the filling of another."""
    file = tmp_path / "fleet.jsonl.zst"
    write_snapshot(fleet(200, 24), file)
    monkeypatch.setattr("kgroups.core.sandbox.sandbox._START_TIMEOUT_S", 0.0)
    with Sandbox(brokers=1, snapshot=file) as running:
        assert running.bootstrap_servers


def test_topics_and_offsets(snapshot: Path) -> None:
    """Log bounds, groups and commits are those of the file."""
    with Sandbox(brokers=1, snapshot=snapshot) as cluster:
        servers = cluster.bootstrap_servers
        assert cluster.log_end_offsets("orders") == {0: 150, 1: 5_000_000_000, 2: 0}
        consumer = Consumer({"bootstrap.servers": servers, "group.id": "billing", "log_level": 0})
        assert consumer.get_watermark_offsets(TopicPartition("orders", 0), timeout=60) == (100, 150)
        consumer.close()
        found = fetch_offsets(servers, "billing")
        assert found == {("orders", 0): 120, ("orders", 2): 7, ("gone", 0): 5}
        with WireClient(servers) as client:  # confluent-kafka reads past the end of the metadata
            body = {"groups": [{"group_id": "billing", "topics": None}], "require_stable": False}
            (group,) = client.ask(Api.OFFSET_FETCH, 8, body)["groups"]
        notes = {
            one["metadata"]: one["committed_leader_epoch"]
            for topic in group["topics"]
            for one in topic["partitions"]
        }
        assert notes == {"note": 3, "": -1}
        admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
        groups = admin.list_consumer_groups().result(60).valid
        assert {group.group_id: group.state.name for group in groups} == {
            "billing": "EMPTY",
            "by-admin": "EMPTY",
        }


def test_consumers_pass_over_the_gap(snapshot: Path) -> None:
    """A member begins at its commit, passes what has no records, and reads what is new."""
    with Sandbox(brokers=1, snapshot=snapshot) as cluster:
        servers = cluster.bootstrap_servers
        produce(servers, "orders", 2, partitions=2)
        with Member(servers, "billing", ["orders"], "m") as member:
            wait_until(lambda: sorted(member.values) == ["v0", "v1"], what="the new records")
        assert cluster.log_end_offsets("orders") == {0: 151, 1: 5_000_000_001, 2: 0}


def test_the_directory_wins_over_the_file(snapshot: Path, tmp_path: Path) -> None:
    """A second start with both does not take offsets back to the file's."""
    data_dir = tmp_path / "data"
    for expected in (120, 140):
        with Sandbox(brokers=1, snapshot=snapshot, data_dir=data_dir) as cluster:
            servers = cluster.bootstrap_servers
            assert fetch_offsets(servers, "billing")["orders", 0] == expected
            commit_offsets(servers, {"billing": {("orders", 0): 140}})


def test_wrong_file(tmp_path: Path) -> None:
    """A file that is no snapshot is refused before a port is taken."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("groups: 3\n")
    for path in (wrong, tmp_path / "missing.yaml"):
        with pytest.raises(KgroupsError) as raised:
            Sandbox(brokers=1, snapshot=path).start()
        assert raised.value.exit_code == 2
