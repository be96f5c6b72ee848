"""The broker of the tests is a real one, keeps its data, and never outlives whoever started it."""

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest
from confluent_kafka.admin import AdminClient

from tests.support.kafka.broker import BrokerDied, KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.child import WAIT_S, Child
from tests.support.kafka.waiting import wait_until
from tests.support.processes import is_running

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).parents[3]


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
    wait_until(lambda: not is_running(int(pid)), "the broker has ended")
    wait_until(lambda: not (Path(folder) / "broker-1").exists(), "its data are gone")


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
