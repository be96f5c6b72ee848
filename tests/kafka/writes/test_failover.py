"""A coordinator dies while it is written to: what is said of every row is true."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli.process import start
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce

pytestmark = pytest.mark.kafka

NAMES = [f"failover-{number:03}" for number in range(60)]
AT = ("t", 0)


@pytest.fixture(scope="module")
def trio() -> Iterator[KafkaCluster]:
    """Three brokers that know quickly when one has died; the topic is on the first alone."""
    properties = {
        "offsets.topic.replication.factor": "3",
        "offsets.topic.num.partitions": "6",
        "broker.session.timeout.ms": "2000",
        "broker.heartbeat.interval.ms": "500",
    }
    with KafkaCluster(ClusterSpec(brokers=3, properties=properties)) as cluster:
        create_topics(cluster.bootstrap, {"t": 1}, replicas={"t": [[1]]})
        produce(cluster.bootstrap, {AT: 50})
        yield cluster


def stands(cluster: KafkaCluster) -> dict[str, int]:
    """Where each group stands."""
    line = ("-b", cluster.bootstrap, "describe", "failover-*", "--timeout", "60s", "-o", "json")

    def look() -> dict[str, int]:
        outcome = run(*line)
        items = outcome.document["items"] if outcome.stdout else []
        found = {
            item["group"]: row["committed_offset"] for item in items for row in item["offsets"]
        }
        return found if len(found) == len(NAMES) else {}

    return wait_until(look, "every group is shown", timeout_s=90)


@pytest.mark.parametrize(("victim", "timeout"), [(2, "60s"), (3, "6s")])
def test_a_coordinator_dies(trio: KafkaCluster, tmp_path: Path, victim: int, timeout: str) -> None:
    """`done` is written, `failed` is not, `unknown` is either; a resume ends it."""
    commit_offsets(trio.bootstrap, {name: {AT: 10} for name in NAMES})
    assert set(stands(trio).values()) == {10}
    line = ("reset-offsets", "failover-*", "--to", "+7", "--all-topics", "--yes", "-o", "json")
    more = ("--undo-dir", str(tmp_path), "--timeout", timeout)
    with start("-b", trio.bootstrap, *line, *more) as process:
        wait_until(lambda: bool(list(tmp_path.glob("*.json"))), "the undo file is there")
        trio.kill(victim)
        stdout, stderr = process.communicate(timeout=120)
    try:
        items = json.loads(stdout)["items"]
        assert {item["group"] for item in items} == set(NAMES)
        said = {item["group"]: item["result"] for item in items}
        assert set(said.values()) <= {"done", "failed", "unknown"}, stderr
        assert process.returncode == (0 if set(said.values()) == {"done"} else 3), stderr
        if timeout == "60s":
            assert set(said.values()) == {"done"}, stderr
        held = stands(trio)
        wrong = {
            name: (said[name], held[name])
            for name in NAMES
            if held[name] not in {"done": (17,), "failed": (10,)}.get(said[name], (10, 17))
        }
        assert wrong == {}
    finally:
        trio.start()
    (undo,) = tmp_path.glob("*.json")
    resume = ("reset-offsets", "--resume", str(undo), "--yes", "--no-undo", "--timeout", "60s")
    assert run("-b", trio.bootstrap, *resume).exit_code == 0
    assert fetch_offsets(trio.bootstrap, NAMES[0]) == {AT: 17}
    assert set(stands(trio).values()) == {17}
