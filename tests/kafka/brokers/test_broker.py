"""The broker of the tests is a real one, keeps its data, and never outlives whoever started it."""

import os
import signal
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec

from tests.support.kafka.broker import BrokerDied, KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.child import WAIT_S, Child
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce
from tests.support.processes import is_running

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).parents[3]


def test_the_session_broker_answers_with_its_cluster_id(kafka: KafkaCluster) -> None:
    """A client library sees one broker with the id that the storage was formatted with."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    cluster = admin.describe_cluster().result(60)
    assert cluster.cluster_id == kafka.cluster_id
    assert [node.id for node in cluster.nodes] == [1]


@pytest.mark.slow("a broker of its own: the harness of the tests")
def test_a_restart_keeps_topics_records_and_commits() -> None:
    """Everything written before an orderly stop is there after the next start, same address.

    Nor is a record removed because its time is long ago, where the topic does not say so.
    """
    often = {"log.initial.task.delay.ms": "200", "log.retention.check.interval.ms": "200"}
    with KafkaCluster(ClusterSpec(properties=often)) as cluster:
        address = cluster.bootstrap
        create_topics(address, {"kept": 3})
        create_topics(address, {"expires": 1}, config={"retention.ms": "60000"})
        produce(address, {("kept", 0): 7, ("kept", 2): 2})
        commit_offsets(address, {"keeper": {("kept", 0): 5}})
        _produce_of_long_ago(address, "kept", 1)
        for count in (1, 2):  # the second is removed in a later look at all logs than the first
            _produce_of_long_ago(address, "expires", 0)
            wait_until(partial(_starts_at, address, "expires", 0, count), f"{count} are removed")
        assert _starts_at(address, "kept", 1, 0)
        cluster.restart()
        assert cluster.bootstrap == address
        assert fetch_offsets(address, "keeper") == {("kept", 0): 5}
        topics = AdminClient({"bootstrap.servers": address}).list_topics(timeout=60).topics
        assert len(topics["kept"].partitions) == 3


def _produce_of_long_ago(address: str, topic: str, partition: int) -> None:
    """A record that its producer says is of the year 2001."""
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    producer.produce(topic, b"old", partition=partition, timestamp=1_000_000_000_000)
    assert producer.flush(60) == 0


def _starts_at(address: str, topic: str, partition: int, offset: int) -> bool:
    """Whether that is the first offset of a log."""
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    earliest = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
    (answer,) = admin.list_offsets({TopicPartition(topic, partition): earliest}).values()
    return bool(answer.result(60).offset == offset)


def test_a_bad_property_is_reported_with_the_brokers_own_words() -> None:
    """A broker that ends at start is an error with the end of its log, not a time-out."""
    spec = ClusterSpec(properties={"offsets.topic.num.partitions": "many"})
    with pytest.raises(BrokerDied, match=r"offsets\.topic\.num\.partitions"), KafkaCluster(spec):
        pass


@pytest.mark.slow("a broker of its own: the harness of the tests")
def test_brokers_end_when_whoever_started_them_is_killed(tmp_path: Path) -> None:
    """A killed test run leaves neither a JVM nor its data behind."""
    script = (
        "import signal\n"
        "from tests.support.kafka.broker import KafkaCluster\n"
        "cluster = KafkaCluster().start()\n"
        "print(cluster.folder, cluster._running[1].pid, flush=True)\n"
        "signal.pause()\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with Child([sys.executable, "-c", script], cwd=ROOT, env=environment) as runner:
        folder, pid = runner.line().split()
        assert psutil.pid_exists(int(pid))
        runner.send_signal(signal.SIGKILL)
    wait_until(lambda: not is_running(int(pid)), "the broker has ended", timeout_s=60)
    wait_until(lambda: not (Path(folder) / "broker-1").exists(), "its data are gone")


@pytest.mark.slow("a broker of its own: the harness of the tests")
def test_a_stopped_broker_leaves_its_partitions_without_leader() -> None:
    """With two brokers, what only the second holds is leaderless while that one is stopped."""
    with KafkaCluster(ClusterSpec(brokers=2, racks=("a", "b"))) as cluster:
        create_topics(cluster.bootstrap, {"away": 2}, replicas={"away": [[1], [2]]})
        admin = AdminClient({"bootstrap.servers": cluster.address(1)})

        def leaders() -> list[int]:
            partitions = admin.list_topics("away", timeout=60).topics["away"].partitions
            return [partitions[number].leader for number in sorted(partitions)]

        assert leaders() == [1, 2]
        cluster.stop_brokers([2])
        wait_until(lambda: leaders() == [1, -1], "partition 1 has no leader")
        cluster.restart()
        wait_until(lambda: leaders() == [1, 2], "partition 1 has its leader back")


@pytest.mark.slow("a broker of its own: the harness of the tests")
def test_one_started_by_hand_prints_its_address_and_ends_quietly() -> None:
    """`make kafka`: stdout is one address that a client can use; an interrupt ends it with 0."""
    with Child([sys.executable, "-m", "tests.support.kafka.serve"], cwd=ROOT) as served:
        address = served.line().strip()
        admin = AdminClient({"bootstrap.servers": address})
        assert len(admin.list_topics(timeout=60).brokers) == 1
        served.send_signal(signal.SIGINT)
        assert served.communicate(timeout=WAIT_S)[0] == ""
        assert served.returncode == 0
